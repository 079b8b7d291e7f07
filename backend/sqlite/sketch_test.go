package sqlite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// sketchOf returns the sketch of a whole relation.
func sketchOf(rel *backend.Relation, apart bool) *backend.Relation {
	return &backend.Relation{Num: rel.Num, Source: rel.Source, Chunk: rel.Chunk, From: rel.From, To: rel.To, Predicate: rel.Predicate, Origin: rel.Origin,
		Confidence: rel.Confidence, Functional: rel.Functional, Sketch: true, Apart: apart}
}

// Checks that sketches are the relations that a query finds, in its order and up to its limit, that reading them touches no text, and that
// relations read by their numbers are whole.
func TestSketchesAreRelations(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	s.SetWordHash(fakeWords)
	s.wholeMost = 0
	r := rand.New(rand.NewPCG(4, 5))
	in, ix, fin := memory(r, 1000)
	fin.Relations[0].Context, fin.Relations[1].Context = "of another text", ""
	finish(t, s, in, ix, fin)
	ingest(t, s, r, 0, 60)
	in, ix, fin = memory(r, 1001) // retires the relations about anna's boats
	fin.Relations[0].Functional, fin.Relations[1].Retracts = true, true
	finish(t, s, in, ix, fin)

	es, err := s.ListEntities(ctx, backend.EntityQuery{Part: testPart, Limit: 60})
	require.NoError(t, err)
	var nums []int64
	for _, e := range es {
		nums = append(nums, e.Num)
	}
	require.Greater(t, len(nums), 20)
	apart, found := 0, 0
	for _, some := range [][]int64{nums[:1], nums[:2], nums[:5], nums[3:11], nums[:20], {nums[0], nums[0]}, {1 << 40}} {
		for _, limit := range []int{1, 7, 200} {
			for _, after := range []int64{0, 40} {
				q := backend.RelationQuery{Part: testPart, Entities: some, Limit: limit, After: after}
				whole, err := s.readRelations(ctx, q)
				require.NoError(t, err)
				for range 2 { // the second time from the cache
					got, err := s.SketchRelations(ctx, q)
					require.NoError(t, err)
					require.Len(t, got, len(whole))
					for i, rel := range got {
						if rel.Sketch { // of many entities they are whole
							outside := whole[i].Context == "of another text"
							require.Equal(t, sketchOf(whole[i], outside), rel)
							found++
							if outside {
								apart++
							}
						}
					}
				}
				var which []int64
				for _, rel := range whole {
					which = append(which, rel.Num, rel.Num)
				}
				for range 2 {
					got, err := s.RelationsByNum(ctx, testPart, which)
					require.NoError(t, err)
					if len(whole) == 0 {
						require.Empty(t, got)
					} else {
						require.Equal(t, whole, withoutWords(t, got))
					}
					got, err = s.RelationsByNum(ctx, backend.Partition{Sub: "nobody"}, which)
					require.NoError(t, err)
					require.Empty(t, got, "relations of another partition")
				}
			}
		}
	}
	require.Positive(t, apart)
	require.Greater(t, found, 100)
	q := backend.RelationQuery{Part: testPart, Entities: nums[:1], Limit: 200}
	require.Zero(t, rowsOf(t, s, "FROM chunks t", func() {
		s.cache.empty()
		_, err := s.SketchRelations(ctx, q)
		require.NoError(t, err)
	}), "rows with texts")
	s.wholeMost = 1 << 20
	s.cache.empty()
	rels, err := s.SketchRelations(ctx, q)
	require.NoError(t, err)
	for _, rel := range rels {
		require.False(t, rel.Sketch, "in a small store")
	}
}

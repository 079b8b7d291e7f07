package sqlite

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestPagesOfEntities compares the pages of the relations of entities with those of the whole partition: a page has the
// first relations by number, from whichever end and whichever entity they come.
func TestPagesOfEntities(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	ingest(t, s, rand.New(rand.NewPCG(4, 17)), 0, 150)
	all, err := s.readRelations(ctx, backend.RelationQuery{Part: testPart, AllTime: true, Limit: 1 << 20})
	require.NoError(t, err)
	met := map[int64]int{}
	for _, r := range all {
		met[r.From]++
		met[r.To]++
	}
	delete(met, 0)
	ents := make([]int64, 0, len(met))
	for e := range met {
		ents = append(ents, e)
	}
	slices.SortFunc(ents, func(a, b int64) int { return met[b] - met[a] })
	require.Greater(t, len(ents), 10)
	require.Greater(t, met[ents[0]], 2*fewRelations, "more than the first query reads")
	for _, some := range [][]int64{ents[:1], ents[1:3], ents[:10], ents} {
		var want []int64
		for _, r := range all {
			if slices.Contains(some, r.From) || r.To != 0 && slices.Contains(some, r.To) {
				want = append(want, r.Num)
			}
		}
		for _, limit := range []int{1, 3, 20, 1000} {
			var got []int64
			q := backend.RelationQuery{Part: testPart, Entities: some, AllTime: true, Limit: limit}
			for {
				page, err := s.Relations(ctx, q)
				require.NoError(t, err)
				for _, r := range page {
					got = append(got, r.Num)
				}
				if len(page) < limit {
					break
				}
				q.After = page[len(page)-1].Num
			}
			assert.Equal(t, want, got, "%d entities, pages of %d", len(some), limit)
		}
	}
}

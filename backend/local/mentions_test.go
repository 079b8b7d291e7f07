package local

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestPutGraphAgain checks that mentions that replace similar ones are the same as those that are put where the former ones were removed before.
func TestPutGraphAgain(t *testing.T) {
	t.Parallel()
	const sources, rows = 4, 6
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 11))
		c := &content{}
		for i := range sources {
			s := storedSource{num: int64(10 + i), source: source{time: noTime, first: uint32(i * rows), rows: rows}}
			for j := range rows {
				s.at = append(s.at, storedRow{chunk: int64(i*rows + j)})
			}
			c.sources = append(c.sources, s)
		}
		var ps [2]*partition
		for i := range ps {
			p, err := loadPartition(backend.Knowledge, []*block{graphBlock(t, c, sources*rows, true, secLinks)})
			require.NoError(t, err)
			_, err = p.need(allFacets)
			require.NoError(t, err)
			ps[i] = p
		}
		random := func(at int) backend.MentionRef {
			return backend.MentionRef{Chunk: int64(at*rows + r.IntN(rows)), Entity: int64(r.IntN(12)), Key: fmt.Sprint("key ", r.IntN(12)), Weight: float32(1 + r.IntN(2))}
		}
		said := make([][]backend.MentionRef, sources)
		for step := range 60 {
			at := r.IntN(sources)
			refs := slices.Clone(said[at])
			switch r.IntN(4) {
			case 0: // other mentions
				refs = nil
				for range r.IntN(15) {
					refs = append(refs, random(at))
				}
			case 1: // two entities become one
				from, into := int64(r.IntN(12)), int64(r.IntN(12))
				for i := range refs {
					if refs[i].Entity == from {
						refs[i].Entity = into
					}
				}
			case 2: // one mention moves
				if len(refs) > 0 {
					refs[r.IntN(len(refs))] = random(at)
				}
			}
			said[at] = refs
			ps[0].putGraph(int64(10+at), nil)
			ps[0].putGraph(int64(10+at), slices.Clone(refs))
			ps[1].putGraph(int64(10+at), slices.Clone(refs))
			require.Equal(t, ps[0].state(), ps[1].state(), "seed %d, step %d", seed, step)
		}
	}
}

// TestFoldEntity checks that a fold leaves what putting the mentions of all sources again leaves.
func TestFoldEntity(t *testing.T) {
	t.Parallel()
	const sources, rows = 4, 6
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 12))
		c := &content{}
		for i := range sources {
			s := storedSource{num: int64(10 + i), source: source{time: noTime, first: uint32(i * rows), rows: rows}}
			for j := range rows {
				s.at = append(s.at, storedRow{chunk: int64(i*rows + j)})
			}
			c.sources = append(c.sources, s)
		}
		var ps [2]*partition
		for i := range ps {
			p, err := loadPartition(backend.Knowledge, []*block{graphBlock(t, c, sources*rows, true, secLinks)})
			require.NoError(t, err)
			_, err = p.need(allFacets)
			require.NoError(t, err)
			ps[i] = p
		}
		said := make([][]backend.MentionRef, sources)
		for at := range said {
			for range r.IntN(15) {
				said[at] = append(said[at], backend.MentionRef{Chunk: int64(at*rows + r.IntN(rows)), Entity: int64(r.IntN(12)), Key: fmt.Sprint("key ", r.IntN(12)), Weight: float32(1 + r.IntN(2))})
			}
			for _, p := range ps {
				p.putGraph(int64(10+at), slices.Clone(said[at]))
			}
		}
		for step := range 8 {
			from, into := int64(r.IntN(12)), int64(r.IntN(16))
			for at, refs := range said {
				for i := range refs {
					if refs[i].Entity == from {
						refs[i].Entity = into
					}
				}
				ps[0].putGraph(int64(10+at), slices.Clone(refs))
			}
			ps[1].foldEntity(from, into)
			require.Equal(t, ps[0].state(), ps[1].state(), "seed %d, step %d", seed, step)
			require.Equal(t, ps[0].changedGraph, ps[1].changedGraph, "seed %d, step %d", seed, step)
		}
	}
}

// TestPutGraphUnchanged checks that the same mentions, put again, leave those in memory where they are.
func TestPutGraphUnchanged(t *testing.T) {
	t.Parallel()
	c := &content{sources: []storedSource{{num: 10, source: source{time: noTime, rows: 2}, at: []storedRow{{chunk: 1}, {chunk: 2}}}}}
	p, err := loadPartition(backend.Knowledge, []*block{graphBlock(t, c, 2, true, secLinks)})
	require.NoError(t, err)
	_, err = p.need(allFacets)
	require.NoError(t, err)
	refs := []backend.MentionRef{{Chunk: 2, Entity: 5, Key: "b", Weight: 1}, {Chunk: 1, Entity: 4, Key: "a", Weight: 1}, {Chunk: 1, Entity: 5, Key: "b", Weight: .5}}
	p.putGraph(10, refs)
	before := p.refsOf[0]
	p.putGraph(10, refs)
	require.Same(t, &before[0], &p.refsOf[0][0])
	refs[0].Entity = 4
	p.putGraph(10, refs)
	require.Len(t, p.refsOf[0], 3)
	require.Equal(t, before[:2], p.refsOf[0][:2], "the first row")
}

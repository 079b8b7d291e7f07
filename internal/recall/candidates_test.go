package recall

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/rank"
)

// fakeStore is a Store and a keyword index of chunks in several partitions. Chunks that are gone are only in the index.
type fakeStore struct {
	backend.Store
	backend.Keywords
	found map[backend.Partition][]backend.Hit
	rows  map[int64]*backend.Hydrated
}

func (s *fakeStore) Chunks(_ context.Context, nums []int64, _ time.Time) (out []*backend.Hydrated, err error) {
	for _, n := range nums {
		if row := s.rows[n]; row != nil {
			out = append(out, row)
		}
	}
	return out, nil
}

func (s *fakeStore) Terms(_ context.Context, part backend.Partition, _ string) ([]backend.TermInfo, int, float32, error) {
	return nil, len(s.found[part]), 10, nil
}

func (s *fakeStore) SearchKeywords(_ context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	all := slices.Clone(s.found[q.Part])
	slices.SortFunc(all, func(a, b backend.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Chunk, b.Chunk))
	})
	return all[:min(len(all), q.K)], nil
}

// TestBest compares the hits that best returns with a sort of all hits. Sources have too many hits, rows are gone, and
// several partitions are searched.
func TestBest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 9))
	few, whole, flooded, gone := 0, 0, 0, 0
	for range 300 {
		s := &fakeStore{found: map[backend.Partition][]backend.Hit{}, rows: map[int64]*backend.Hydrated{}}
		req := &Request{Query: "kettle", MaxResults: 1 + rng.IntN(18), Now: time.Now()}
		chunk := int64(0)
		for sub := range 1 + rng.IntN(3) {
			part := backend.Partition{Class: backend.Knowledge, Sub: string(rune('a' + sub))}
			req.Scopes = append(req.Scopes, Scope{Part: part, Weight: 1 - .1*float64(sub)})
			sources := 1 + rng.IntN(40)
			for range rng.IntN(80) {
				chunk++
				src := &backend.Source{Num: int64(100*sub + rng.IntN(sources) + 1), Part: part}
				s.found[part] = append(s.found[part], backend.Hit{Chunk: chunk, Source: src.Num, Score: float32(1 + rng.IntN(30))})
				if rng.IntN(6) > 0 {
					s.rows[chunk] = &backend.Hydrated{Chunk: backend.Chunk{Num: chunk}, Src: src}
				}
			}
		}
		r := newRun(t.Context(), &Engine{Ranker: &rank.Engine{}}, &Workspace{Store: s, Keywords: s}, req)
		require.NoError(t, r.search())
		want := req.MaxResults + 2 + rng.IntN(3)
		found, err := r.best(want)
		require.NoError(t, err)
		got := nums(found)
		searched := len(r.hits)
		all, err := r.gather(r.most)
		require.NoError(t, err)
		if searched < len(r.hits) {
			few++
		} else if all {
			whole++
		}
		if r.dominated(r.hits) {
			flooded++
		}
		r.hits = r.diversify(r.hits)
		every, err := r.hydrate(len(r.hits))
		require.NoError(t, err)
		if len(every) < len(r.hits) {
			gone++
		}
		require.GreaterOrEqual(t, len(got), min(len(every), want))
		require.Equal(t, nums(every[:len(got)]), got)
		r.res.Release()
	}
	require.Greater(t, min(few, whole, flooded, gone), 10, "%d, %d, %d, %d", few, whole, flooded, gone)
}

func nums(hits []*Hit) (nums []int64) {
	for _, h := range hits {
		nums = append(nums, h.Row.Num)
	}
	return nums
}

// TestBounded checks that a search that stops at maxCandidates warns, and that one that has considered all hits does not.
func TestBounded(t *testing.T) {
	t.Parallel()
	then, now := time.UnixMilli(1e12), time.UnixMilli(2e12)
	part := backend.Partition{Class: backend.Knowledge}
	for _, c := range []struct {
		later   int // chunks learnt after KnownAt, all with better scores than the one known
		found   []int64
		bounded bool
	}{{100, []int64{0}, false}, {5000, []int64{0}, false}, {20_000, nil, true}} {
		t.Run(fmt.Sprint(c.later), func(t *testing.T) {
			s := &fakeStore{found: map[backend.Partition][]backend.Hit{part: {{Chunk: 0, Source: 1, Score: 1}}},
				rows: map[int64]*backend.Hydrated{0: {Src: &backend.Source{Num: 1, Part: part, Time: then}}}}
			for i := range int64(c.later) {
				s.found[part] = append(s.found[part], backend.Hit{Chunk: i + 1, Source: i + 2, Score: 2})
				s.rows[i+1] = &backend.Hydrated{Chunk: backend.Chunk{Num: i + 1}, Src: &backend.Source{Num: i + 2, Part: part, Time: now}}
			}
			r := newRun(t.Context(), &Engine{Ranker: &rank.Engine{}}, &Workspace{Store: s, Keywords: s}, &Request{Query: "kettle", MaxResults: 5, Now: now, KnownAt: then,
				Scopes: []Scope{{Part: part, Weight: 1}}})
			require.NoError(t, r.search())
			got, err := r.best(5)
			require.NoError(t, err)
			require.Equal(t, c.found, nums(got))
			require.Equal(t, c.bounded, len(r.res.Warnings) == 1, "%v", r.res.Warnings)
			r.res.Release()
		})
	}
}

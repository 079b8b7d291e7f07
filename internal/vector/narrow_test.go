package vector

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/bitset"
)

// TestNarrowKept checks that a cached filter never answers for another one: not for the same set after
// a change, not for a longer or a shorter set, and not for a query whose hits are all its rows.
func TestNarrowKept(t *testing.T) {
	t.Parallel()
	for _, dim := range dimensions(64, 128, 256) {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			const n = 6000
			gen := newClusters(uint64(dim), dim, 40, 1.5)
			vs := gen.take(n)
			queries := gen.take(8)
			kept := segmentOf(t, dim, InnerProduct, vs, smallIVF)
			for _, r := range []io.ReaderAt{nil, bytes.NewReader(kept.data)} {
				kept.reader = r
				rnd := rand.New(rand.NewPCG(uint64(dim), 8))
				accept := share(rnd, n, .015)
				for i := range 60 {
					switch i % 6 {
					case 3: // change the set in place, with the same count
						var one uint32
						accept.Each(func(row uint32) bool { one = row; return rnd.IntN(8) > 0 })
						accept.Remove(one)
						for row := rnd.Uint32N(n); ; row = rnd.Uint32N(n) {
							if !accept.Has(row) {
								accept.Add(row)
								break
							}
						}
					case 5:
						accept = share(rnd, n-rnd.IntN(200), .015)
					}
					q := &Query{Vector: queries[i%len(queries)], K: 10, Accept: accept, Recall: []float32{.8, .98, .999}[i%3]}
					if i%7 == 6 {
						q.K = 100
					}
					got, err := kept.Search(t.Context(), q, nil)
					require.NoError(t, err)
					fresh, err := OpenSegment(kept.data)
					require.NoError(t, err)
					fresh.reader = r
					want, err := fresh.Search(t.Context(), q, nil)
					require.NoError(t, err)
					require.Equal(t, want, got, "search %d, dim %d", i, dim)
					for _, h := range got {
						require.True(t, accept.Has(h.Row))
					}
				}
				all := keptNarrows(kept)
				require.NotEmpty(t, all, "a filter met again is kept")
				for _, k := range all {
					require.Equal(t, dim > bitsFromDim, k.records != nil)
					require.Equal(t, dim > leanFromDim && r != nil, k.rows != nil)
				}
				kept.ivf.filters.kept = [keptFilters]atomic.Pointer[narrowFilter]{}
			}
		})
	}
}

func keptNarrows(s *Segment) (all []*narrowFilter) {
	for i := range s.ivf.filters.kept {
		if k := s.ivf.filters.kept[i].Load(); k != nil {
			all = append(all, k)
		}
	}
	return all
}

// TestNarrowTurns uses several filters in turn. Up to keptFilters of them are cached; if there are more, none is. A new filter evicts the
// oldest, and further ones if the cache exceeds its bytes.
func TestNarrowTurns(t *testing.T) {
	t.Parallel()
	const dim, n = 256, 6000
	gen := newClusters(dim, dim, 40, 1.5)
	s := segmentOf(t, dim, InnerProduct, gen.take(n), smallIVF)
	queries := gen.take(30)
	var filters []*bitset.Set
	for i := range uint64(keptFilters + 3) {
		filters = append(filters, share(rand.New(rand.NewPCG(3, i)), n, .01))
	}
	fresh, err := OpenSegment(s.data)
	require.NoError(t, err)
	fresh.ReadRows(bytes.NewReader(s.data))
	reads := &countingReader{ReaderAt: bytes.NewReader(s.data)}
	s.ReadRows(reads)
	turns := func(filters []*bitset.Set) int64 {
		before := reads.n.Load()
		for _, v := range queries {
			for _, accept := range filters {
				q := &Query{Vector: v, K: 10, Accept: accept}
				got, err := s.Search(t.Context(), q, nil)
				require.NoError(t, err)
				want, err := fresh.Search(t.Context(), q, nil)
				require.NoError(t, err)
				require.Equal(t, want, got)
				require.LessOrEqual(t, s.KeptBytes(), s.mayKeep())
			}
		}
		return reads.n.Load() - before
	}
	all := turns(filters)
	require.Empty(t, keptNarrows(s))
	require.Equal(t, all, turns(filters))
	one := turns(filters[:1])
	require.Len(t, keptNarrows(s), 1)
	require.Less(t, turns(filters[:1]), one)
	turns(filters[:keptFilters])
	require.Len(t, keptNarrows(s), keptFilters)
	require.Less(t, turns(filters[:keptFilters]), all*keptFilters/int64(len(filters))*3/4, "a third of the rows fit")
	first := keptNarrows(s)[0]
	turns(filters[keptFilters:])
	require.NotContains(t, keptNarrows(s), first)
}

// countingReader counts reads.
type countingReader struct {
	io.ReaderAt
	n atomic.Int64
}

func (c *countingReader) ReadAt(b []byte, at int64) (int, error) {
	c.n.Add(1)
	return c.ReaderAt.ReadAt(b, at)
}

// TestNarrowRowsKept checks that rows of a cached filter are read only once, that rows beyond the bound are not
// cached, and that concurrent searches share the cached rows.
func TestNarrowRowsKept(t *testing.T) {
	t.Parallel()
	const dim, n = 256, 6000
	gen := newClusters(dim, dim, 40, 1.5)
	s := segmentOf(t, dim, InnerProduct, gen.take(n), smallIVF)
	queries := gen.take(40)
	for _, c := range []struct {
		share float64
		fits  bool
	}{{.012, true}, {.028, false}} {
		t.Run(fmt.Sprint(c.share), func(t *testing.T) {
			accept := share(rand.New(rand.NewPCG(3, 8)), n, c.share)
			fresh, err := OpenSegment(s.data)
			require.NoError(t, err)
			fresh.ReadRows(bytes.NewReader(s.data))
			s, err := OpenSegment(s.data)
			require.NoError(t, err)
			reads := &countingReader{ReaderAt: bytes.NewReader(s.data)}
			s.ReadRows(reads)
			round := func() int64 {
				before := reads.n.Load()
				var wg sync.WaitGroup
				for from := range 2 {
					wg.Go(func() {
						for i := from; i < len(queries); i++ {
							q := &Query{Vector: queries[i], K: 10, Accept: accept}
							got, err := s.Search(t.Context(), q, nil)
							assert.NoError(t, err)
							want, err := fresh.Search(t.Context(), q, nil)
							assert.NoError(t, err)
							assert.Equal(t, want, got)
						}
					})
				}
				wg.Wait()
				return reads.n.Load() - before
			}
			require.Zero(t, s.KeptBytes())
			for range 2 { // the second use caches the filter
				_, err := s.Search(t.Context(), &Query{Vector: queries[0], K: 10, Accept: accept}, nil)
				require.NoError(t, err)
			}
			first := round()
			require.Positive(t, first)
			second := round()
			if c.fits {
				require.Zero(t, second, "all rows were read before")
			} else {
				require.Positive(t, second)
				require.Less(t, second, first)
			}
			require.Greater(t, s.KeptBytes(), int64(n*keptBytes/2))
			require.LessOrEqual(t, s.KeptBytes(), int64(n*keptBytes+2*4*dim), "two at once may each add a row")
		})
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		length := 1 + rnd.IntN(400)
		n := 1 + rnd.IntN(400)
		accept := share(rnd, length, []float64{0, .01, .03, .3, 1}[rnd.IntN(5)])
		s := &search{accept: accept}
		want := []uint32{7}
		accept.Each(func(row uint32) bool {
			if int(row) < n {
				want = append(want, row)
			}
			return true
		})
		got, err := s.pick(t.Context(), []uint32{7}, n, s.accepted(n))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// TestFormFollowsQuery checks that a pooled search keeps nothing of the query before.
func TestFormFollowsQuery(t *testing.T) {
	t.Parallel()
	const dim = 256
	var f form
	a, b := make([]float32, dim), make([]float32, dim)
	a[0], b[1] = 1, 2
	rot := rotationOf(dim)
	of := func(v []float32, m Metric) form {
		var g form
		g.set(v, m)
		g.quantise()
		g.rotate(rot)
		return g
	}
	for _, v := range [][]float32{a, a, b, a[:200], b} {
		for _, m := range []Metric{InnerProduct, Cosine, Cosine} {
			f.set(v, m)
			f.quantise()
			if len(v) == dim {
				f.rotate(rot)
				assert.Equal(t, of(v, m).rotated, f.rotated)
			}
			var g form
			g.set(v, m)
			g.quantise()
			assert.Equal(t, g.q, f.q)
			assert.Equal(t, g.q8, f.q8)
			assert.Equal(t, g.scale, f.scale)
			assert.Equal(t, g.bias, f.bias)
		}
	}
}

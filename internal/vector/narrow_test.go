package vector

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is kept of a narrow filter never answers for another one: not for the same set after it
// changed, not for a longer or a shorter one, and not for a query whose hits are all its rows.
func TestNarrowKept(t *testing.T) {
	t.Parallel()
	for _, dim := range []int{64, 256} {
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
				case 3: // in place; the count stays
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
			require.NotNil(t, kept.ivf.narrow.Load(), "a filter met again is kept")
		}
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

// A search that is borrowed again for another query has nothing of the one before.
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
		g.turn(rot)
		return g
	}
	for _, v := range [][]float32{a, a, b, a[:200], b} {
		for _, m := range []Metric{InnerProduct, Cosine, Cosine} {
			f.set(v, m)
			f.quantise()
			if len(v) == dim {
				f.turn(rot)
				assert.Equal(t, of(v, m).turned, f.turned)
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

package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Checks that a floor removes hits below it and no others, and that an exact search then scores few rows by float32, also if rows
// have very different lengths.
func TestFloor(t *testing.T) {
	t.Parallel()
	const dim, n, k = 96, 3000, 100
	r := rand.New(rand.NewPCG(3, 8))
	for _, spread := range []float64{0, .3, 2} {
		vs := newClusters(21, dim, 30, .6).take(n)
		for _, v := range vs {
			length := float32(math.Exp(r.NormFloat64() * spread))
			for i := range v {
				v[i] *= length
			}
		}
		for name, p := range parts(t, dim, InnerProduct, vs) {
			for i := range 20 {
				q := &Query{Vector: vs[i*77], K: k}
				all, err := p.Search(t.Context(), q, nil)
				require.NoError(t, err)
				require.Len(t, all, k)
				for _, rank := range []int{0, 3, 40, k - 1} {
					q.Floor = all[rank].Score
					got, err := p.Search(t.Context(), q, nil)
					require.NoError(t, err)
					require.GreaterOrEqual(t, len(got), rank+1)
					require.Equal(t, all[:rank+1], got[:rank+1], "%s, spread %v", name, spread)
				}
			}
		}
	}
}

// Checks that a floor spares an exact search of most rows.
func TestFloorSparesRows(t *testing.T) {
	t.Parallel()
	const dim, n = 96, 3000
	vs := newClusters(21, dim, 30, .6).take(n)
	for name, p := range map[string]interface {
		rows
		part
	}{"mem": memOf(dim, InnerProduct, vs), "segment": segmentOf(t, dim, InnerProduct, vs, nil)} {
		all, err := p.Search(t.Context(), &Query{Vector: vs[5], K: 256}, nil)
		require.NoError(t, err)
		s := begin(&Query{Vector: vs[5], K: 256, Floor: all[9].Score}, InnerProduct, 256)
		require.True(t, s.finite())
		require.NoError(t, s.exact(t.Context(), p, n))
		require.GreaterOrEqual(t, len(s.best.hits), 10, name)
		require.Less(t, len(s.best.hits), 60, name)
		s.end()
	}
}

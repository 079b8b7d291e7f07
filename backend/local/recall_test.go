package local

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestRecallOfQuery searches a block by lists at several recalls, beside all inner products.
func TestRecallOfQuery(t *testing.T) {
	t.Parallel()
	const n, dim, k, queries = 6000, 32, 10, 60
	r := rand.New(rand.NewPCG(1, 2))
	random := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	owner, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	owner.limits.exactRows = 500
	x := openTest(t, owner)
	changes := make([]backend.Change, n)
	for i := range changes {
		changes[i] = backend.Change{Seq: uint64(i + 1), Kind: backend.PutChunks, Part: benchPart, Source: int64(i + 1),
			Rows: []backend.Row{{Chunk: int64(i + 1), Text: "x", Vector: random()}}}
	}
	require.NoError(t, x.Apply(t.Context(), changes))
	require.NoError(t, x.Flush(t.Context()))
	share := func(recall float32) float64 {
		r = rand.New(rand.NewPCG(3, 4))
		found := 0
		for range queries {
			q := random()
			all := make([]backend.Hit, n)
			for i := range all {
				all[i].Chunk = int64(i + 1)
				for j, y := range changes[i].Rows[0].Vector {
					all[i].Score += q[j] * y
				}
			}
			slices.SortFunc(all, func(a, b backend.Hit) int { return cmp.Compare(b.Score, a.Score) })
			hits, err := x.SearchVectors(t.Context(), backend.VectorQuery{Part: benchPart, Vector: q, K: k, Recall: recall})
			require.NoError(t, err)
			for _, h := range hits {
				if slices.ContainsFunc(all[:k], func(a backend.Hit) bool { return a.Chunk == h.Chunk }) {
					found++
				}
			}
		}
		return float64(found) / (queries * k)
	}
	rough := share(.9)
	assert.Greater(t, rough, .85)
	assert.Less(t, rough, 1.0, "it is approximate")
	assert.GreaterOrEqual(t, share(0), .96, "the default")
	assert.InDelta(t, 1, share(1), 0, "exact")
}

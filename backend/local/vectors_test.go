package local

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/bitset"
)

func TestShifted(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		rows := bitset.New(1 + r.IntN(400))
		for range r.IntN(200) {
			rows.Add(uint32(r.IntN(rows.Len())))
		}
		first := uint32(r.IntN(rows.Len()))
		n := r.IntN(rows.Len() - int(first) + 1)
		got := shifted(rows, first, n)
		require.GreaterOrEqual(t, got.Len(), n)
		for i := range uint32(n) {
			require.Equal(t, rows.Has(first+i), got.Has(i), "row %d from %d", i, first)
		}
	}
}

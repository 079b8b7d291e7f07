package local

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/bitset"
)

func TestRank(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 9))
	for range 200 {
		var rows []uint32
		row, gap := uint32(r.IntN(300)), 1+r.IntN(40)
		for range 1 + r.IntN(900) {
			rows = append(rows, row)
			row++
			if r.IntN(gap) == 0 {
				row += uint32(r.IntN(200))
			}
		}
		set, share := bitset.New(1+r.IntN(int(row)+100)), 1+r.IntN(20)
		for i := range set.Len() {
			if r.IntN(share) == 0 {
				set.Add(uint32(i))
			}
		}
		got := newRank(rows).places(set, len(rows))
		require.Equal(t, len(rows), got.Len())
		n := 0
		for place, row := range rows {
			require.Equal(t, set.Has(row), got.Has(uint32(place)), "row %d", row)
			if set.Has(row) {
				n++
			}
		}
		require.Equal(t, n, got.Count())
	}
	require.Zero(t, newRank(nil).places(bitset.New(5), 0).Len())
}

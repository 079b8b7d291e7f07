package numtable

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var table Table
	_, ok := table.Get(nil, 7)
	require.False(t, ok)
	for range 3 { // as after Clear
		var column []int64
		want := map[int64]uint32{}
		for range 2000 {
			num := rng.Int64N(1500) << (rng.Int64N(2) * 32)
			column = append(column, num)
			want[num] = uint32(len(column) - 1)
			table.Put(column, want[num])
			if rng.IntN(20) > 0 {
				continue
			}
			for num, place := range want {
				got, ok := table.Get(column, num)
				require.True(t, ok)
				require.Equal(t, place, got)
			}
			_, ok := table.Get(column, -1)
			require.False(t, ok)
		}
		require.GreaterOrEqual(t, table.Bytes(), 4*len(want))
		table.Clear()
		_, ok := table.Get(nil, column[0])
		require.False(t, ok)
	}
}

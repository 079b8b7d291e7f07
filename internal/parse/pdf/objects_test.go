package pdf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestObjectTable compares the table with a map, for numbers that are consecutive, far apart or descending.
func TestObjectTable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		var table objectTable
		want := map[int]xrefEntry{}
		for i := range 3000 {
			num := i
			switch r.IntN(int(seed)%4 + 1) {
			case 1:
				num = r.IntN(4000)
			case 2:
				num = r.IntN(math.MaxInt)
			case 3:
				num = 100_000 - i
			}
			e := xrefEntry{uint8(r.IntN(3)), r.IntN(maxPackedPos)}
			table.set(num, e)
			want[num] = e
		}
		table.set(-3, xrefEntry{entryOffset, 7})
		want[-3] = xrefEntry{entryOffset, 7}
		require.Equal(t, len(want), table.count)
		got := map[int]xrefEntry{}
		for num, e := range table.all() {
			_, twice := got[num]
			require.False(t, twice)
			got[num] = e
			found, ok := table.get(num)
			require.True(t, ok)
			require.Equal(t, e, found)
		}
		require.Equal(t, want, got)
		require.LessOrEqual(t, len(table.dense), 2*table.count+maxGap)
	}
	var table objectTable
	_, ok := table.get(0)
	assert.False(t, ok)
	for num, pos := range []int{-1, math.MinInt, math.MaxInt, maxPackedPos + 1} {
		t.Run(fmt.Sprint(pos), func(t *testing.T) {
			table.set(num, xrefEntry{entryOffset, pos})
			assert.Equal(t, -1, table.offset(num), "no such offset")
		})
	}
}

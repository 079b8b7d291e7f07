package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTable compares tables of all sizes around fewNums with a map; each table is used again after a reset.
func TestTable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var got table[string]
	for round := range 60 {
		want := map[int64]*string{}
		var order []int64
		for range rng.IntN(3 * fewNums) {
			num := rng.Int64N(4 * fewNums)
			v := got.get(num)
			require.Same(t, want[num], v, "round %d", round)
			if v == nil {
				v = got.add(num)
				require.Empty(t, *v, "a value of an earlier round")
				*v, want[num], order = "set", v, append(order, num)
			}
		}
		for num := range int64(4 * fewNums) {
			require.Same(t, want[num], got.get(num), "round %d", round)
		}
		require.True(t, slices.Equal(order, got.nums), "round %d", round)
		for i, num := range got.nums {
			require.Same(t, want[num], got.values[i])
		}
		got.reset()
	}
}

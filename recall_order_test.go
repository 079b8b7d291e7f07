package contextmem

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSourceCount compares the table with a map, for few sources and for many.
func TestSourceCount(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var c sourceCount
		want := map[int64]int{}
		for range n {
			num := rng.Int64N(int64(1+n/(1+n%3))) << rng.IntN(50)
			want[num]++
			require.Equal(t, want[num], c.add(num))
		}
	}
}

package lexical

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArrange checks that arrange sorts any number of offsets, and leaves its marks all zero.
func TestArrange(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	w := new(windowed)
	for _, n := range []int{0, 1, fewTouched, fewTouched + 1, 1000, maxWindow} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			places := make([]uint16, 0, n)
			for _, at := range r.Perm(maxWindow)[:n] {
				places = append(places, uint16(at))
			}
			want := slices.Sorted(slices.Values(places))
			w.arrange(places)
			require.True(t, slices.Equal(want, places), n)
			require.Zero(t, w.marks)
		})
	}
}

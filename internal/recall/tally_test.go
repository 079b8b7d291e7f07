package recall

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTally checks that sources beyond the list are counted too, and that reset sets all counts to 0.
func TestTally(t *testing.T) {
	t.Parallel()
	var c tally
	for round := range 2 {
		for n := 1; n <= 3; n++ {
			for source := range int64(2 * tallied) {
				require.Equal(t, n, c.add(source), "round %d, source %d", round, source)
			}
		}
		c.reset()
	}
}

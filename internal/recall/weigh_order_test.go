package recall

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInOrder checks that scores follow the order of values, and that hits that did not move keep their scores.
func TestInOrder(t *testing.T) {
	t.Parallel()
	at := func(score, gains float64) weighed { return weighed{Hit: &Hit{Score: score}, gains: gains} }
	got := inOrder([]weighed{at(1, 3), at(.5, 0), at(.3, 0), at(1.2, 0)})
	require.Equal(t, []float64{1.2, .5, .3}, got[:3], "the first was lifted over what fell behind all")
	require.Less(t, got[3], .3)
	require.InDelta(t, .3, got[3], 1e-9)
	require.Equal(t, []float64{.9, .4, .2}, inOrder([]weighed{at(.9, 0), at(.4, 0), at(.2, 2)}), "nothing is before what it belongs behind")
	got = inOrder([]weighed{at(.6, 0), {Hit: &Hit{Score: .1}, lifted: true}, at(.4, 0)})
	require.Equal(t, []float64{.6, .4}, got[:2])
	require.Less(t, got[2], .4, "two never share a score")
}

package recall

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPooled checks that hits behind a hit raise its relevance, and that one of them alone does not decide it.
func TestPooled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		probs []float64
		want  float64
	}{
		{"alone", []float64{.3}, .3},
		{"certain", []float64{1, .2, 0}, 1},
		{"certain behind", []float64{0, 1}, 1},
		{"never", []float64{0, 0, 0}, 0},
		{"three that may answer", []float64{.5, .5, .5}, 1.8 / 2.8},
		{"one behind stands out", []float64{.1, .1, .6}, .4304},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rated := make([]float64, len(c.probs))
			for i, p := range c.probs {
				rated[i] = odds(p)
			}
			got := pooled(rated, behindShare)
			assert.InDelta(t, c.want, got, 1e-3)
			assert.False(t, math.IsNaN(got))
		})
	}
	assert.Less(t, pooled([]float64{odds(.1), odds(.1), odds(.6)}, behindShare), pooled([]float64{odds(.45), odds(.1), odds(.1)}, behindShare), "the judge's word on the hit itself counts most")
}

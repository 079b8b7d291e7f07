package change

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStandOut(t *testing.T) {
	t.Parallel()
	near := []*said{{like: .5}}
	for i := range maxNear - 1 {
		near = append(near, &said{like: .19 + .002*float64(i)})
	}
	standOut(near)
	assert.Greater(t, near[0].out, 2.5, "one is much nearer than the others")
	for _, x := range near[1:] {
		assert.Less(t, x.out, 0.0)
	}
	standOut(near[:4])
	assert.Less(t, near[0].out, .5, "among few that says little")
	even := []*said{{like: .300}, {like: .301}}
	standOut(even)
	assert.Less(t, even[1].out, .1, "two that are alike do not stand out")
	one := []*said{{like: .9}}
	standOut(one)
	assert.Zero(t, one[0].out, "nor does what stands alone")
	standOut(nil)

	assert.Greater(t, amongOthers(.5, 2), .8, "both say so")
	assert.Less(t, amongOthers(.5, 0), .2)
	assert.Less(t, amongOthers(.1, 2), amongOthers(.5, 2))
	assert.Positive(t, amongOthers(0, -9))
	assert.Less(t, amongOthers(1, 9), 1.0)
}

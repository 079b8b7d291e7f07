package change

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStandOut(t *testing.T) {
	t.Parallel()
	near := []*statement{{like: .5}, {like: .2}, {like: .21}, {like: .19}}
	standOut(near, crowd(vectorsDeep))
	assert.Greater(t, near[0].out, 1.4, "one is much nearer than the others")
	for _, x := range near[1:] {
		assert.Less(t, x.out, 0.0)
	}
	standOut(near, crowd(maxNear+2))
	assert.Less(t, near[0].out, .3, "where little else is known that says little")
	assert.Zero(t, crowd(3))
	assert.InDelta(t, 1, crowd(1000), 0)
	even := []*statement{{like: .300}, {like: .301}}
	standOut(even, 1)
	assert.Less(t, even[1].out, .1, "two that are alike do not stand out")
	one := []*statement{{like: .9}}
	standOut(one, 1)
	assert.Zero(t, one[0].out, "nor does what stands alone")
	standOut(nil, 1)

	assert.Greater(t, amongOthers(.5, 2), .8, "both say so")
	assert.Less(t, amongOthers(.5, 0), .2)
	assert.Less(t, amongOthers(.1, 2), amongOthers(.5, 2))
	assert.Positive(t, amongOthers(0, -9))
	assert.Less(t, amongOthers(1, 9), 1.0)
}

package simd

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each finite value, by the definition of the format.
func TestHalves(t *testing.T) {
	t.Parallel()
	var src []uint16
	var want []float32
	for i := range 1 << 16 {
		h := uint16(i)
		exp, frac := int(h>>10&31), float64(h&1023)
		if exp == 31 {
			continue
		}
		v := math.Ldexp(frac, -24)
		if exp > 0 {
			v = math.Ldexp(1024+frac, exp-25)
		}
		if h>>15 == 1 {
			v = -v
		}
		src, want = append(src, h), append(want, float32(v))
	}
	for _, k := range levels() {
		if k.halves == nil {
			continue
		}
		got := make([]float32, len(src))
		k.halves(got, src)
		require.Equal(t, bitsOf(want), bitsOf(got), k.name)
		got = make([]float32, 32)
		k.halves(got[:16], src[5:])
		require.Equal(t, want[5:21], got[:16], k.name)
		require.Zero(t, got[16], k.name)
	}
	Halves(nil, nil)
	assert.Panics(t, func() { Halves(make([]float32, 16), make([]uint16, 15)) })
	assert.Panics(t, func() { Halves(make([]float32, 15), make([]uint16, 15)) })
}

func BenchmarkHalves(b *testing.B) {
	for _, k := range levels() {
		if k.halves == nil {
			continue
		}
		for _, n := range []int{128, 384} {
			b.Run(fmt.Sprintf("%s/%d", k.name, n), func(b *testing.B) {
				dst, src := make([]float32, n), make([]uint16, n)
				for i := range src {
					src[i] = uint16(0x2000 + 17*i)
				}
				for b.Loop() {
					k.halves(dst, src)
				}
			})
		}
	}
}

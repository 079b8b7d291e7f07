package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddScaledMatchesPlain(t *testing.T) {
	t.Parallel()
	for _, k := range levels() {
		if k.add == nil {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(9, 10))
			for n := 16; n <= 4096; n += 16 * (1 + n/256) {
				off := r.IntN(64)
				row, got := unaligned[uint8](n, off), unaligned[float32](n+16, off&^3)
				fillBytes(r, row, nil)
				fillFloats(r, got)
				want := append([]float32(nil), got...)
				scale := float32(r.NormFloat64()) * float32(uint32(1)<<r.IntN(12))
				for i, q := range row {
					product := float32(float64(scale) * float64(int8(q))) // exact, then rounded once
					want[i] = float32(float64(want[i]) + float64(product))
				}
				k.add(got[:n], row, scale)
				require.Equal(t, bitsOf(want), bitsOf(got), "%s: %d values", k.name, n)
			}
		})
	}
}

func bitsOf(x []float32) []uint32 {
	out := make([]uint32, len(x))
	for i, v := range x {
		out[i] = math.Float32bits(v)
	}
	return out
}

func TestAddScaledShort(t *testing.T) {
	t.Parallel()
	AddScaled(nil, nil, 1)
	assert.Panics(t, func() { AddScaled(make([]float32, 32), make([]uint8, 31), 1) })
	assert.Panics(t, func() { AddScaled(make([]float32, 15), make([]uint8, 31), 1) })
}

func BenchmarkAddScaled(b *testing.B) {
	for _, k := range levels() {
		if k.add == nil {
			continue
		}
		for _, n := range []int{128, 1024} {
			b.Run(fmt.Sprint(k.name, "/", n), func(b *testing.B) {
				dst, row := make([]float32, n), make([]uint8, n)
				for b.Loop() {
					k.add(dst, row, .5)
				}
			})
		}
	}
}

package simd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each multiple that 12 bits have, at each place of a row.
func TestTwelves(t *testing.T) {
	t.Parallel()
	for _, k := range levels() {
		if k.twelve == nil {
			continue
		}
		for _, n := range []int{64, 128, 192} {
			row, rest, got, want := unaligned[uint8](n, 5), unaligned[uint8](n/2, 3), unaligned[float32](n+1, 4), make([]float32, n+1)
			for first := -2056; first < 2040; first += 7 {
				clear(rest)
				for i := range n {
					m := first + (i*1237)%(2040-first)
					row[i] = uint8((m+8)>>4 + Bias)
					if m < -2040 {
						row[i] = 0
					}
					left := m + Bias<<4 - int(row[i])<<4 + 8
					require.True(t, left >= 0 && left < 16, m)
					rest[i/64*32+i%32] |= uint8(left << (i % 64 / 32 * 4))
					want[i] = float32(m) * .0625
				}
				k.twelve(got[:n], row, rest, .0625)
				require.Equal(t, want, got, k.name)
			}
		}
	}
	Twelves(nil, nil, nil, 1)
	assert.Panics(t, func() { Twelves(make([]float32, 64), make([]uint8, 63), make([]uint8, 32), 1) })
	assert.Panics(t, func() { Twelves(make([]float32, 64), make([]uint8, 64), make([]uint8, 31), 1) })
	assert.Panics(t, func() { Twelves(make([]float32, 63), make([]uint8, 64), make([]uint8, 32), 1) })
}

func BenchmarkTwelves(b *testing.B) {
	for _, k := range levels() {
		if k.twelve != nil {
			b.Run(k.name, func(b *testing.B) {
				dst, row, rest := make([]float32, 128), make([]uint8, 128), make([]uint8, 64)
				for b.Loop() {
					k.twelve(dst, row, rest, .5)
				}
			})
		}
	}
}

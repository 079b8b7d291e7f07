package vector

import (
	"math"

	"github.com/contextmem/contextmem/internal/simd"
)

// codeStride is the number of bytes of an 8-bit row of dim dimensions.
func codeStride(dim int) int { return (dim + simd.AlignU8 - 1) &^ (simd.AlignU8 - 1) }

// floatStride is the number of values of a float32 row of dim dimensions.
func floatStride(dim int) int { return (dim + simd.AlignF32 - 1) &^ (simd.AlignF32 - 1) }

// scaleOf returns the largest magnitude in v over 127, the step of symmetric
// 8-bit quantisation; 0 for a zero vector and for one with a value that is not
// finite, which then quantises to zero.
func scaleOf(v []float32) float32 {
	var top uint32 // magnitudes order as their bits do
	for _, x := range v {
		top = max(top, math.Float32bits(x)&^signBit)
	}
	if top >= infBits {
		return 0
	}
	return math.Float32frombits(top) / 127
}

const (
	signBit = 1 << 31
	infBits = 0x7f800000
)

// round8 returns x*inv rounded to the nearest whole number, half away from zero,
// in -127..127; its magnitude is to be well below 2^31. There is no branch on the
// sign, which no processor could predict.
func round8(x, inv float32) int32 {
	y := x * inv
	half := math.Float32frombits(math.Float32bits(y)&signBit | math.Float32bits(.5))
	return max(min(int32(y+half), 127), -127)
}

// inverse returns 1/scale, or 0 where that is not a finite number: a scale that
// small belongs to a row that scores zero.
func inverse(scale float32) float32 {
	inv := 1 / scale
	if scale == 0 || math.IsInf(float64(inv), 0) {
		return 0
	}
	return inv
}

// quantiseRow writes v to row, shifted up by simd.Bias, and returns its scale.
// Bytes of row behind len(v) are left alone.
func quantiseRow(row []uint8, v []float32) float32 {
	scale := scaleOf(v)
	inv := inverse(scale)
	row = row[:len(v)]
	for i, x := range v {
		if inv == 0 {
			x = 0
		}
		row[i] = uint8(round8(x, inv) + simd.Bias)
	}
	return scale
}

// quantiseQuery writes v to q, clears the rest of q, and returns the scale and
// the sum of the values times simd.Bias, which is to be taken off each dot product.
func quantiseQuery(q []int8, v []float32) (scale float32, bias int32) {
	scale = scaleOf(v)
	inv := inverse(scale)
	for i, x := range v {
		if inv == 0 {
			x = 0
		}
		c := round8(x, inv)
		q[i] = int8(c)
		bias += c
	}
	clear(q[len(v):])
	return scale, bias * simd.Bias
}

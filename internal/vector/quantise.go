package vector

import (
	"math"

	"github.com/contextmem/contextmem/internal/simd"
)

// codeStride is the number of bytes of an 8-bit row of dim dimensions.
func codeStride(dim int) int { return (dim + simd.AlignU8 - 1) &^ (simd.AlignU8 - 1) }

// floatStride is the number of values of a float32 row of dim dimensions.
func floatStride(dim int) int { return (dim + simd.AlignF32 - 1) &^ (simd.AlignF32 - 1) }

// scaleOf returns the step of symmetric 8-bit quantisation: the largest magnitude in v divided by
// 127. For a zero vector, and for one with a value that is not finite, it returns 0. Such a
// vector is quantised to zero.
func scaleOf(v []float32) float32 {
	var top uint32 // magnitudes compare like their bits
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

// round8 returns x*inv rounded to the nearest integer, half away from zero, and limited to
// -127..127. The magnitude of x*inv must be well below 2^31. round8 does not branch on the
// sign, since the branch would be mispredicted too often.
func round8(x, inv float32) int32 {
	y := x * inv
	half := math.Float32frombits(math.Float32bits(y)&signBit | math.Float32bits(.5))
	return max(min(int32(y+half), 127), -127)
}

// inverse returns 1/scale, or 0 if that is not finite. A row with so small a scale scores zero.
func inverse(scale float32) float32 {
	inv := 1 / scale
	if scale == 0 || math.IsInf(float64(inv), 0) {
		return 0
	}
	return inv
}

// quantiseRow writes the codes of v plus simd.Bias to row, and returns the scale. It does not
// change row[len(v):].
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

// quantiseQuery writes the codes of v to q and clears the rest of q. It returns the scale, and the
// bias that must be subtracted from each dot product of q and a row.
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

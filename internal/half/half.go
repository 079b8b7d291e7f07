// Package half converts numbers to and from IEEE 754 binary16. It also rounds vectors to binary16 values, which halves their
// storage.
package half

import (
	"math"
	"slices"
)

// Bounds of the greatest magnitude of a vector that is rounded. Below the lower bound, significant numbers would lose digits.
// Above the upper bound, numbers would overflow.
const (
	least = 1. / 256
	most  = 65504
)

// Rounded returns v with each number rounded to the nearest binary16 value, ties to even. That is 11 significant bits, or a
// multiple of 2^-24 for numbers below 2^-14. The result uses the memory of dst if its capacity suffices. If the greatest
// magnitude is not between 2^-8 and 65504, rounding would lose too much, and Rounded returns v itself. dst may be overwritten
// in either case.
func Rounded(dst, v []float32) []float32 {
	dst = slices.Grow(dst[:0], len(v))[:len(v)]
	if top := round(dst, v); top < math.Float32bits(least) || top > math.Float32bits(most) {
		return v
	}
	return dst
}

// isNormal reports whether the magnitude of a number, given by its bits, is at least 2^-14 and below 65536. In that range
// binary16 has eleven significant bits.
func isNormal(b uint32) bool { return b&0x7FFFFFFF-0x38800000 < 0x47800000-0x38800000 }

// Exact reports whether binary16 represents f exactly.
func Exact(f float32) bool {
	b := math.Float32bits(f)
	if isNormal(b) {
		return b&0x1FFF == 0
	}
	return math.Float32bits(Float(Of(f))) == b
}

// Of returns the binary16 bits nearest to f, or infinity if f is too large.
func Of(f float32) uint16 {
	b := math.Float32bits(f)
	sign, abs := uint16(b>>16)&0x8000, b&0x7FFFFFFF
	switch {
	case abs > 0x7F800000: // NaN
		return sign | 0x7E00
	case abs >= 0x477FF000: // 65520 and above
		return sign | 0x7C00
	case abs < 0x38800000: // below 2^-14: multiples of 2^-24
		// After adding 0.5, the lowest bit of the sum stands for 2^-24, and the addition rounds.
		return sign | uint16(math.Float32bits(math.Float32frombits(abs)+0.5)-0x3F000000)
	}
	abs += 0xFFF + abs>>13&1 // rounds to even
	return sign | uint16((abs-0x38000000)>>13)
}

// Float returns the number represented by binary16 bits.
func Float(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1F), uint32(h&0x3FF)
	switch exp {
	case 0:
		f := float32(frac) * (1. / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1F:
		return math.Float32frombits(sign | 0x7F800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

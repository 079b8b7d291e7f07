// Package fixed rounds vectors to integer multiples of a step, so that each number takes 12 bits.
package fixed

import (
	"math"
	"slices"
)

const (
	// Most is the greatest magnitude of a multiple. A multiple is stored as the nearest multiple of 16, at most 127 times 16, in 8
	// bits, and the remainder, from -8 to 7, in 4 bits.
	Most = 2039
	// MinDim and MaxDim bound the dimension of vectors that are rounded. Shorter vectors take little space anyway. In longer ones
	// single numbers are more often much greater than the rest.
	MinDim, MaxDim = 33, 199
)

const (
	least = 1. / (1 << 40) // lower bound of a vector's greatest magnitude, so that no product loses digits
	most  = 1 << 40
	// noise is the largest relative rounding error: both are root mean squares without the greatest number.
	noise = 1. / 100
	// stepBits masks the zero bits of a step. A step has 12 significant bits, so its product with a multiple of up to 11 bits is
	// exact.
	stepBits = 1<<12 - 1
)

// Rounded returns v with each number rounded to the nearest multiple of a step. The step is the vector's greatest magnitude
// divided by [Most]. The result uses the memory of dst if its capacity suffices. Rounded returns v unchanged and false if v has
// fewer than [MinDim] or more than [MaxDim] numbers, or if rounding would change v too much, for example because one number is
// far greater than the others.
func Rounded(dst, v []float32) (rounded []float32, ok bool) {
	top, square := magnitude(v), 0.
	for _, f := range v {
		square += float64(f) * float64(f)
	}
	if len(v) < MinDim || len(v) > MaxDim || !(top >= least && top <= most) {
		return v, false
	}
	b := math.Float32bits(top / Most)
	step := math.Float32frombits((b + stepBits/2 + b>>12&1) &^ stepBits)
	if s, t := float64(step), float64(top); s*s/12*float64(len(v)-1) > (square-t*t)*noise*noise {
		return v, false
	}
	dst = slices.Grow(dst[:0], len(v))[:len(v)]
	for i, f := range v {
		dst[i] = float32(nearest(f/step)) * step
	}
	return dst, true
}

// magnitude returns the greatest magnitude in v, or NaN if v contains one.
func magnitude(v []float32) float32 {
	top := uint32(0) // the bits of magnitudes compare as the magnitudes do, with NaN above all others
	for _, f := range v {
		top = max(top, math.Float32bits(f)&(1<<31-1))
	}
	return math.Float32frombits(top)
}

// nearest returns the integer nearest to x, rounding halves away from 0.
func nearest(x float32) int32 {
	half := math.Float32frombits(math.Float32bits(x)&(1<<31) | math.Float32bits(.5))
	return int32(x + half)
}

// Step returns the step of a vector that [Rounded] returned, or 0 for a vector of zeros. It returns false for a vector that is
// not a result of [Rounded].
func Step(v []float32) (step float32, ok bool) {
	top := magnitude(v)
	if top == 0 {
		return 0, true
	}
	step = top / Most
	if !(top >= least/2 && top <= 2*most) || math.Float32bits(step)&stepBits != 0 {
		return 0, false
	}
	inverse := 1 / step // the product with a multiple is far nearer to its integer than to any other
	for _, f := range v {
		if k := nearest(f * inverse); float32(k)*step != f {
			return 0, false
		}
	}
	return step, true
}

// Multiple returns f divided by step, rounded to an integer.
func Multiple(f, step float32) int32 {
	if step == 0 {
		return 0
	}
	return int32(f / step)
}

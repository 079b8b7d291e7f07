// Package fixed rounds vectors to whole multiples of a step, so that a number takes 12 bits.
package fixed

import (
	"math"
	"slices"
)

const (
	// Most is the greatest magnitude of a multiple. The nearest multiple of 16 is at most 127 times 16, so that it takes 8 of the 12 bits
	// and what is left, -8 to 7, the other 4.
	Most = 2039
	// MinDim and MaxDim are the dimensions of vectors that are rounded: shorter ones take little room anyway, and in longer ones single numbers
	// stand out more.
	MinDim, MaxDim = 33, 199
)

const (
	least = 1. / (1 << 40) // of the greatest magnitude, so that no product loses digits
	most  = 1 << 40
	// noise is the greatest part of a number that rounding changes, both as root mean squares and without the greatest number.
	noise = 1. / 100
	// stepBits are the bits of a step that are 0: it has 12 significant ones, and a multiple of up to 11 bits has all of its own.
	stepBits = 1<<12 - 1
)

// Rounded returns v with each number rounded to the nearest multiple of the vector's step, its greatest magnitude over [Most]. The result
// lies in dst where that has the room. ok is false, and v unchanged, where v has fewer than [MinDim] or more than [MaxDim] numbers or rounding would change too much, as where one number is far
// greater than the others.
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

// magnitude is the greatest of a vector; not a number where one of it is none.
func magnitude(v []float32) float32 {
	top := uint32(0) // magnitudes compare as their bits do, and what is not a number comes behind all others
	for _, f := range v {
		top = max(top, math.Float32bits(f)&(1<<31-1))
	}
	return math.Float32frombits(top)
}

// nearest is the whole number that is nearest to x, away from 0 in the middle.
func nearest(x float32) int32 {
	half := math.Float32frombits(math.Float32bits(x)&(1<<31) | math.Float32bits(.5))
	return int32(x + half)
}

// Step returns the step whose multiples the numbers of a vector are, 0 for a vector of zeros; false: they are not what [Rounded] returns.
func Step(v []float32) (step float32, ok bool) {
	top := magnitude(v)
	if top == 0 {
		return 0, true
	}
	step = top / Most
	if !(top >= least/2 && top <= 2*most) || math.Float32bits(step)&stepBits != 0 {
		return 0, false
	}
	inverse := 1 / step // the product with a multiple is far nearer to the whole number than to any other
	for _, f := range v {
		if k := nearest(f * inverse); float32(k)*step != f {
			return 0, false
		}
	}
	return step, true
}

// Multiple returns how many steps a number of a vector is.
func Multiple(f, step float32) int32 {
	if step == 0 {
		return 0
	}
	return int32(f / step)
}

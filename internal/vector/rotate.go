package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// rotationSeed is the seed of the random signs of rotations. It is part of the format, since codes
// are only valid under the rotation that made them.
const rotationSeed = 0x636f6e74657874

// rotationRounds is the number of rounds of sign flips and Hadamard transforms. Three rounds
// spread a single coordinate over all others.
const rotationRounds = 3

// rotation is a random orthonormal map. One bit per dimension only makes a good code if no
// direction is special, and a random rotation ensures that (RaBitQ, Gao & Long 2024). It is a
// product of random sign flips and fast Hadamard transforms. If the number of dimensions is
// not a power of two, transforms of the first and of the last coordinates alternate and overlap.
type rotation struct {
	dim   int         // a multiple of 64
	power int         // largest power of two up to dim
	signs [][]float32 // signs for each transform, multiplied by the transform's factor 1/sqrt(power)
}

var rotations sync.Map // dimensions -> *rotation

// rotationOf returns the rotation of dim dimensions padded to a multiple of 64.
func rotationOf(dim int) *rotation {
	dim = (dim + 63) &^ 63
	if r, ok := rotations.Load(dim); ok {
		return r.(*rotation)
	}
	r, _ := rotations.LoadOrStore(dim, newRotation(dim))
	return r.(*rotation)
}

func newRotation(dim int) *rotation {
	r := &rotation{dim: dim, power: 64}
	for r.power*2 <= dim {
		r.power *= 2
	}
	rnd := rand.New(rand.NewPCG(rotationSeed, uint64(dim)))
	unit := float32(1 / math.Sqrt(float64(r.power)))
	add := func(from int) {
		s := make([]float32, dim)
		for i := range s {
			s[i] = 1
			if i >= from && i < from+r.power {
				s[i] = unit
			}
			if rnd.Uint64()&1 == 1 {
				s[i] = -s[i]
			}
		}
		r.signs = append(r.signs, s)
	}
	for range rotationRounds {
		add(0)
		if r.power < dim {
			add(dim - r.power)
		}
	}
	return r
}

// apply rotates x, of r.dim values, in place.
func (r *rotation) apply(x []float32) {
	for i, signs := range r.signs {
		for j, s := range signs {
			x[j] *= s
		}
		if r.power < r.dim && i%2 == 1 {
			hadamard(x[r.dim-r.power:])
		} else {
			hadamard(x[:r.power])
		}
	}
}

// appendRotated appends x, padded with zeros and rotated, to dst.
func (r *rotation) appendRotated(dst, x []float32) []float32 {
	at := len(dst)
	dst = slices.Grow(dst, r.dim)[:at+r.dim]
	clear(dst[at+copy(dst[at:], x):])
	r.apply(dst[at:])
	return dst
}

// hadamard applies the unscaled Walsh-Hadamard transform in place. len(x) must be a power
// of two and at least 4. It does two levels at a time, which halves the loads and stores.
func hadamard(x []float32) {
	for i := 0; i+4 <= len(x); i += 4 {
		v := (*[4]float32)(x[i:])
		p, q, r, s := v[0]+v[1], v[0]-v[1], v[2]+v[3], v[2]-v[3]
		v[0], v[1], v[2], v[3] = p+r, q+s, p-r, q-s
	}
	h := 4
	for ; h*4 <= len(x); h *= 4 {
		for i := 0; i < len(x); i += 4 * h {
			a, b, c, d := x[i:i+h], x[i+h:i+2*h], x[i+2*h:i+3*h], x[i+3*h:i+4*h]
			for j := range a {
				p, q := a[j]+b[j], a[j]-b[j]
				r, s := c[j]+d[j], c[j]-d[j]
				a[j], b[j], c[j], d[j] = p+r, q+s, p-r, q-s
			}
		}
	}
	if h < len(x) {
		a, b := x[:h], x[h:2*h]
		for j := range a {
			a[j], b[j] = a[j]+b[j], a[j]-b[j]
		}
	}
}

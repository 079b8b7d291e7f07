package half

import "math"

// kernelWidth is the number of values that a kernel processes at once.
const kernelWidth = 8

// inWide returns how many of n values the kernels process.
func inWide(n int) int {
	if !kernels {
		return 0
	}
	return n &^ (kernelWidth - 1)
}

// Pack sets dst[i] to the binary16 bits nearest to src[i], as [Of] does. It reports whether all values are represented exactly.
// dst must be at least as long as src.
func Pack(dst []uint16, src []float32) (exact bool) {
	exact = true
	n := inWide(len(src))
	if n > 0 {
		exact = packWide(dst[:n], src[:n])
	}
	for i := n; i < len(src); i++ {
		dst[i] = Of(src[i])
		exact = exact && Exact(src[i])
	}
	return exact
}

// round sets dst[i] to the binary16 value nearest to src[i]. It returns the bits of the greatest magnitude in src. Bits compare
// as the magnitudes do, with NaN above all others. If the greatest magnitude is above most, the content of dst is unusable.
func round(dst, src []float32) (top uint32) {
	n := inWide(len(src))
	if n > 0 {
		top = roundWide(dst[:n], src[:n])
	}
	for i := n; i < len(src); i++ {
		b := math.Float32bits(src[i])
		top = max(top, b&0x7FFFFFFF)
		if isNormal(b) { // the common case; rounding cannot reach infinity
			dst[i] = math.Float32frombits((b + 0xFFF + b>>13&1) &^ 0x1FFF)
		} else {
			dst[i] = Float(Of(src[i]))
		}
	}
	return top
}

package half

import "math"

// kernelWidth is how many numbers the kernels take at once.
const kernelWidth = 8

// inWide is how many of n numbers the kernels take.
func inWide(n int) int {
	if !kernels {
		return 0
	}
	return n &^ (kernelWidth - 1)
}

// Pack sets dst[i] to the 16 bits that are nearest to src[i], as [Of] does, and reports whether they hold each number as it is. dst is at
// least as long as src.
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

// round sets dst[i] to the number that 16 bits hold nearest to src[i], and returns the greatest magnitude in src, as bits: these compare as the
// magnitudes do, and those of what is not a number are above all others. Where it is beyond most, dst is of no use.
func round(dst, src []float32) (top uint32) {
	n := inWide(len(src))
	if n > 0 {
		top = roundWide(dst[:n], src[:n])
	}
	for i := n; i < len(src); i++ {
		b := math.Float32bits(src[i])
		top = max(top, b&0x7FFFFFFF)
		if isNormal(b) { // most are; it is not so near to infinity that it gets there
			dst[i] = math.Float32frombits((b + 0xFFF + b>>13&1) &^ 0x1FFF)
		} else {
			dst[i] = Float(Of(src[i]))
		}
	}
	return top
}

package simd

import "math"

// Halves sets dst[i] to the value of the IEEE 754 binary16 bits src[i]. src must not contain infinities or NaN.
//
// len(dst) is a multiple of AlignF32; len(src) is at least len(dst).
func Halves(dst []float32, src []uint16) {
	if len(dst) == 0 {
		return
	}
	_ = src[len(dst)-1]
	_ = dst[len(dst)&^(AlignF32-1)-1]
	halves(dst, src)
}

func halvesGeneric(dst []float32, src []uint16) {
	for i := range dst {
		// The exponent bias is 15 in binary16 and 127 in float32. The product corrects it, also for subnormal numbers.
		f := math.Float32frombits(uint32(src[i]&0x7FFF)<<13) * (1 << 112)
		dst[i] = math.Float32frombits(math.Float32bits(f) | uint32(src[i]&0x8000)<<16)
	}
}

package simd

import "math"

// Halves sets dst[i] to the number that src[i] stands for in IEEE 754 binary16. None is an infinity or not a number.
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
		// Exponents are biased by 15 there and by 127 here: the product makes up for it, also where they are 0.
		f := math.Float32frombits(uint32(src[i]&0x7FFF)<<13) * (1 << 112)
		dst[i] = math.Float32frombits(math.Float32bits(f) | uint32(src[i]&0x8000)<<16)
	}
}

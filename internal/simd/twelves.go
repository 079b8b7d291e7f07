package simd

// Twelves sets dst[i] to step times a signed integer of up to 12 bits: 16*(row[i]-[Bias]) plus a remainder from -8 to 7. rest
// holds the remainders, each increased by 8, in 4 bits. For each 64 numbers it has 32 bytes: the low halves of the bytes hold
// the first 32 remainders, the high halves the other 32.
//
// len(dst) is a multiple of AlignU8; len(row) is at least len(dst), and len(rest) at least len(dst)/2.
func Twelves(dst []float32, row, rest []uint8, step float32) {
	if len(dst) == 0 {
		return
	}
	_ = row[len(dst)-1]
	_ = rest[len(dst)/2-1]
	_ = dst[len(dst)&^(AlignU8-1)-1]
	twelves(dst, row, rest, step)
}

func twelvesGeneric(dst []float32, row, rest []uint8, step float32) {
	for ; len(dst) >= AlignU8; dst, row, rest = dst[AlignU8:], row[AlignU8:], rest[AlignU8/2:] {
		for i, r := range rest[:AlignU8/2] {
			dst[i] = float32(int32(row[i])<<4+int32(r&15)-(Bias<<4+8)) * step
			dst[i+AlignU8/2] = float32(int32(row[i+AlignU8/2])<<4+int32(r>>4)-(Bias<<4+8)) * step
		}
	}
}

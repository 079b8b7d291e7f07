//go:build !amd64 && !arm64

package simd

func supported() []Level { return []Level{Generic} }

func dotU8(dst []int32, rows []uint8, q []int8) { dotU8Generic(dst, rows, q) }

func dotF32(dst []float32, rows []float32, q []float32) { dotF32Generic(dst, rows, q) }

func estimateBits(dst []float32, recs []byte, b *BitQuery) { estimateBitsGeneric(dst, recs, b) }

func prefetch(*byte, int) {}

func pickBits(dst []float32, recs []byte, positions []uint32, b *BitQuery) {
	pickEach(dst, recs, positions, b, estimateBits)
}

func addScaled(dst []float32, row []uint8, scale float32) { addScaledGeneric(dst, row, scale) }

func halves(dst []float32, src []uint16) { halvesGeneric(dst, src) }

func twelves(dst []float32, row, rest []uint8, step float32) { twelvesGeneric(dst, row, rest, step) }

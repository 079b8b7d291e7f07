package simd

import "golang.org/x/sys/cpu"

func supported() []Level {
	if cpu.ARM64.HasASIMDDP {
		return []Level{Generic, NEON}
	}
	return []Level{Generic}
}

// For the next two: n rows of stride elements each (bytes, or values for float32). n and stride are positive.

//go:noescape
func dotU8NEON(dst *int32, rows *uint8, q *int8, stride, n int)

//go:noescape
func dotF32NEON(dst *float32, rows *float32, q *float32, stride, n int)

//go:noescape
func prefetch(p *byte, n int)

// n is the number of records of stride bytes, positive. meta is the position of factor and offset in a record.

//go:noescape
func estimateBitsNEON(dst *float32, recs *byte, planes *uint64, stride, meta, n int, scale, shift float32)

// n is the number of records of HalfLine bytes, positive.
//
//go:noescape
func estimateHalfNEON(dst *float32, recs *byte, planes *uint64, n int, scale, shift float32)

func dotU8(dst []int32, rows []uint8, q []int8) {
	if active == NEON {
		dotU8NEON(&dst[0], &rows[0], &q[0], len(q), len(dst))
		return
	}
	dotU8Generic(dst, rows, q)
}

func dotF32(dst []float32, rows []float32, q []float32) {
	if active == NEON {
		dotF32NEON(&dst[0], &rows[0], &q[0], len(q), len(dst))
		return
	}
	dotF32Generic(dst, rows, q)
}

func estimateBits(dst []float32, recs []byte, b *BitQuery) {
	if active == NEON {
		bitsNEON(dst, recs, b)
		return
	}
	estimateBitsGeneric(dst, recs, b)
}

func bitsNEON(dst []float32, recs []byte, b *BitQuery) {
	if b.stride == HalfLine {
		estimateHalfNEON(&dst[0], &recs[0], &b.planes[0], len(dst), b.scale, b.shift)
		return
	}
	estimateBitsNEON(&dst[0], &recs[0], &b.planes[0], b.stride, b.meta, len(dst), b.scale, b.shift)
}

func pickBits(dst []float32, recs []byte, positions []uint32, b *BitQuery) {
	pickEach(dst, recs, positions, b, estimateBits)
}

func addScaled(dst []float32, row []uint8, scale float32) { addScaledGeneric(dst, row, scale) }

func halves(dst []float32, src []uint16) { halvesGeneric(dst, src) }

func twelves(dst []float32, row, rest []uint8, step float32) { twelvesGeneric(dst, row, rest, step) }

package simd

import "golang.org/x/sys/cpu"

func supported() []Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2:
		return []Level{Generic}
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL &&
		x.HasAVX512VNNI && x.HasAVX512VPOPCNTDQ:
		return []Level{Generic, AVX2, AVX512}
	}
	return []Level{Generic, AVX2}
}

// For the dot products: n rows of stride elements each (bytes, or values for float32). n and stride are positive.

//go:noescape
func dotU8AVX512(dst *int32, rows *uint8, q *int8, stride, n int)

//go:noescape
func dotU8AVX2(dst *int32, rows *uint8, q *int8, stride, n int)

//go:noescape
func dotF32AVX512(dst *float32, rows *float32, q *float32, stride, n int)

//go:noescape
func dotF32AVX2(dst *float32, rows *float32, q *float32, stride, n int)

//go:noescape
func prefetch(p *byte, n int)

// n is the number of values, a positive multiple of AlignF32.
//
//go:noescape
func addScaledAVX2(dst *float32, row *uint8, scale float32, n int)

// n is the number of values, a positive multiple of AlignF32.
//
//go:noescape
func halvesF16C(dst *float32, src *uint16, n int)

// n is the number of values, a positive multiple of AlignU8.
//
//go:noescape
func twelvesAVX2(dst *float32, row *uint8, rest *uint8, step float32, n int)

// For both estimates: n is the number of records of stride bytes, positive. meta is the position of factor and offset in a
// record.

//go:noescape
func estimateBitsAVX512(dst *float32, recs *byte, planes *uint64, stride, meta, n int, scale, shift float32)

//go:noescape
func estimateBitsAVX2(dst *float32, recs *byte, planes *uint64, stride, meta, n int, scale, shift float32)

// pickBitsAVX512 is estimateBitsAVX512 for the records at n positions.
//
//go:noescape
func pickBitsAVX512(dst *float32, recs *byte, positions *uint32, planes *uint64, stride, meta, n int, scale, shift float32)

// For both estimates: n is the number of records of HalfLine bytes, positive.

//go:noescape
func estimateHalfAVX512(dst *float32, recs *byte, planes *uint64, n int, scale, shift float32)

//go:noescape
func estimateHalfAVX2(dst *float32, recs *byte, planes *uint64, n int, scale, shift float32)

// pickHalfAVX512 is estimateHalfAVX512 for the records at n positions.
//
//go:noescape
func pickHalfAVX512(dst *float32, recs *byte, positions *uint32, planes *uint64, n int, scale, shift float32)

func dotU8(dst []int32, rows []uint8, q []int8) {
	switch active {
	case AVX512:
		dotU8AVX512(&dst[0], &rows[0], &q[0], len(q), len(dst))
	case AVX2:
		dotU8AVX2(&dst[0], &rows[0], &q[0], len(q), len(dst))
	default:
		dotU8Generic(dst, rows, q)
	}
}

func dotF32(dst []float32, rows []float32, q []float32) {
	switch active {
	case AVX512:
		dotF32AVX512(&dst[0], &rows[0], &q[0], len(q), len(dst))
	case AVX2:
		dotF32AVX2(&dst[0], &rows[0], &q[0], len(q), len(dst))
	default:
		dotF32Generic(dst, rows, q)
	}
}

func estimateBits(dst []float32, recs []byte, b *BitQuery) {
	switch active {
	case AVX512:
		bitsAVX512(dst, recs, b)
	case AVX2:
		bitsAVX2(dst, recs, b)
	default:
		estimateBitsGeneric(dst, recs, b)
	}
}

func bitsAVX512(dst []float32, recs []byte, b *BitQuery) {
	if b.stride == HalfLine {
		estimateHalfAVX512(&dst[0], &recs[0], &b.planes[0], len(dst), b.scale, b.shift)
		return
	}
	estimateBitsAVX512(&dst[0], &recs[0], &b.planes[0], b.stride, b.meta, len(dst), b.scale, b.shift)
}

func bitsAVX2(dst []float32, recs []byte, b *BitQuery) {
	if b.stride == HalfLine {
		estimateHalfAVX2(&dst[0], &recs[0], &b.planes[0], len(dst), b.scale, b.shift)
		return
	}
	estimateBitsAVX2(&dst[0], &recs[0], &b.planes[0], b.stride, b.meta, len(dst), b.scale, b.shift)
}

func pickBits(dst []float32, recs []byte, positions []uint32, b *BitQuery) {
	if active == AVX512 {
		picksAVX512(dst, recs, positions, b)
		return
	}
	pickEach(dst, recs, positions, b, estimateBits)
}

func picksAVX512(dst []float32, recs []byte, positions []uint32, b *BitQuery) {
	if b.stride == HalfLine {
		pickHalfAVX512(&dst[0], &recs[0], &positions[0], &b.planes[0], len(dst), b.scale, b.shift)
		return
	}
	pickBitsAVX512(&dst[0], &recs[0], &positions[0], &b.planes[0], b.stride, b.meta, len(dst), b.scale, b.shift)
}

func addScaled(dst []float32, row []uint8, scale float32) {
	if active == Generic {
		addScaledGeneric(dst, row, scale)
		return
	}
	addScaledAVX2(&dst[0], &row[0], scale, len(dst))
}

// f16c reports whether the F16C extension is available. Processors with AVX2 have it, but a virtual machine may hide it.
var f16c = active != Generic && cpu.X86.HasF16C

func halves(dst []float32, src []uint16) {
	if f16c {
		halvesF16C(&dst[0], &src[0], len(dst))
		return
	}
	halvesGeneric(dst, src)
}

func twelves(dst []float32, row, rest []uint8, step float32) {
	if active == Generic {
		twelvesGeneric(dst, row, rest, step)
		return
	}
	twelvesAVX2(&dst[0], &row[0], &rest[0], step, len(dst))
}

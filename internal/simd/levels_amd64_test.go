package simd

func levels() []kernels {
	ks := []kernels{portable}
	if best(supported()) >= AVX2 {
		ks = append(ks, kernels{
			name: "avx2",
			dotU8: func(dst []int32, rows []uint8, q []int8) {
				dotU8AVX2(&dst[0], &rows[0], &q[0], len(q), len(dst))
			},
			dotF32: func(dst, rows, q []float32) {
				dotF32AVX2(&dst[0], &rows[0], &q[0], len(q), len(dst))
			},
			bits: func(dst []float32, recs []byte, b *BitQuery) {
				estimateBitsAVX2(&dst[0], &recs[0], &b.planes[0], b.stride, b.meta, len(dst), b.scale, b.shift)
			},
		})
	}
	if best(supported()) >= AVX512 {
		ks = append(ks, kernels{
			name: "avx512",
			dotU8: func(dst []int32, rows []uint8, q []int8) {
				dotU8AVX512(&dst[0], &rows[0], &q[0], len(q), len(dst))
			},
			dotF32: func(dst, rows, q []float32) {
				dotF32AVX512(&dst[0], &rows[0], &q[0], len(q), len(dst))
			},
			bits: func(dst []float32, recs []byte, b *BitQuery) {
				estimateBitsAVX512(&dst[0], &recs[0], &b.planes[0], b.stride, b.meta, len(dst), b.scale, b.shift)
			},
			pick: func(dst []float32, recs []byte, positions []uint32, b *BitQuery) {
				pickBitsAVX512(&dst[0], &recs[0], &positions[0], &b.planes[0], b.stride, b.meta, len(dst), b.scale, b.shift)
			},
		})
	}
	return ks
}

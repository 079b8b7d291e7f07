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
			bits: bitsAVX2,
			add:  func(dst []float32, row []uint8, scale float32) { addScaledAVX2(&dst[0], &row[0], scale, len(dst)) },
			twelve: func(dst []float32, row, rest []uint8, step float32) {
				twelvesAVX2(&dst[0], &row[0], &rest[0], step, len(dst))
			},
		})
	}
	if f16c {
		ks[len(ks)-1].halves = func(dst []float32, src []uint16) { halvesF16C(&dst[0], &src[0], len(dst)) }
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
			bits: bitsAVX512,
			pick: picksAVX512,
		})
	}
	return ks
}

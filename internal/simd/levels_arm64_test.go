package simd

func levels() []kernels {
	ks := []kernels{portable}
	if best(supported()) == NEON {
		ks = append(ks, kernels{
			name: "neon",
			dotU8: func(dst []int32, rows []uint8, q []int8) {
				dotU8NEON(&dst[0], &rows[0], &q[0], len(q), len(dst))
			},
			dotF32: func(dst, rows, q []float32) {
				dotF32NEON(&dst[0], &rows[0], &q[0], len(q), len(dst))
			},
			bits: bitsNEON,
		})
	}
	return ks
}

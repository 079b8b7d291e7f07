package transformer

// AVX-VNNI has the 8-bit multiply of AVX-512 VNNI for 256-bit registers, on processors without AVX-512. The other kernels are those
// for AVX2.
var avxVNNIKernels = kernels{
	name: "avxvnni", valueSize: 1, gemm: gemmAVXVNNI, matmul: matmulAVX2, softmax: softmaxAVX2,
	activate: activateAVX2, quantise: quantiseAVXVNNI, addNorm: addNormAVX2,
}

// n rows times the sixteen columns of a panel.
//
//go:noescape
func gemmTilesAVXVNNI(dst *float32, ldd int, a *uint8, lda int, w *byte, steps int, rows *rowScale, cols *float32, n int)

// n values, a multiple of rowMultiple.
//
//go:noescape
func bytesAVXVNNI(dst *uint8, src *float32, n int, low, inv float32)

func gemmAVXVNNI(dst []float32, ldd int, a []uint8, lda int, rows []rowScale, w []byte, steps int, cols []float32) {
	if len(rows) == 0 {
		return
	}
	checkGemm(dst, ldd, a, lda, rows, w, steps, 1, cols)
	for c := 0; c < groupCols; c += panelCols {
		gemmTilesAVXVNNI(&dst[c], 4*ldd, &a[0], lda, &w[c*packDepth*steps], steps, &rows[0], &cols[c], len(rows))
	}
}

func quantiseAVXVNNI(dst []uint8, src []float32) rowScale {
	if len(src)%rowMultiple != 0 {
		return quantiseGeneric(dst, src)
	}
	_ = dst[len(src)-1]
	lo, hi := spanAVX2(&src[0], len(src))
	s := rowScale{(hi - lo) / levels, lo}
	bytesAVXVNNI(&dst[0], &src[0], len(src), lo, inverse(s.scale))
	return s
}

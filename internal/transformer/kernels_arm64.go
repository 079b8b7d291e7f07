package transformer

import (
	"github.com/contextmem/contextmem/internal/simd"
)

func bestKernels() *kernels {
	if simd.Active() == simd.NEON {
		return &neonKernels
	}
	return &genericKernels
}

var neonKernels = kernels{
	name: "neon", valueSize: 1, signed: true, gemm: gemmNEON, matmul: matmulNEON, softmax: softmaxNEON,
	activate: activateNEON, quantise: quantiseNEON, addNorm: addNormNEON,
}

// ldd, lda, ldb and ld are in bytes; counts are above 0.

// n rows of signed values times the sixteen columns of a panel.
//
//go:noescape
func gemmTilesNEON(dst *float32, ldd int, a *uint8, lda int, w *byte, steps int, rows *rowScale, cols *float32, n int)

// m rows times sixteen columns.
//
//go:noescape
func matmul16NEON(dst *float32, ldd int, a *float32, lda int, b *float32, ldb, k, m int)

// Rows of n values, a multiple of rowMultiple.

//go:noescape
func geluNEON(v *float32, n int, p *gelu)

//go:noescape
func spanNEON(src *float32, n int) (lo, hi float32)

//go:noescape
func bytesNEON(dst *uint8, src *float32, n int, low, inv float32)

//go:noescape
func normNEON(x, res, gain, bias *float32, n int, eps float32)

// n is a multiple of 4.
//
//go:noescape
func expRowsNEON(s *float32, ld, rows, n int, consts *[10]float32)

func gemmNEON(dst []float32, ldd int, a []uint8, lda int, rows []rowScale, w []byte, steps int, cols []float32) {
	if len(rows) == 0 {
		return
	}
	checkGemm(dst, ldd, a, lda, rows, w, steps, 1, cols)
	for c := 0; c < groupCols; c += panelCols {
		gemmTilesNEON(&dst[c], 4*ldd, &a[0], lda, &w[c*packDepth*steps], steps, &rows[0], &cols[c], len(rows))
	}
}

// softmaxNEON fills rows up to a multiple of 4 with scores that have no weight.
func softmaxNEON(s []float32, ld, rows, n int) {
	padded := padScores(s, ld, rows, n, 4)
	expRowsNEON(&s[0], 4*ld, rows, padded, &expConsts)
}

func matmulNEON(dst []float32, ldd int, a []float32, lda int, b []float32, ldb, m, n, k int) {
	if n%16 != 0 {
		matmulGeneric(dst, ldd, a, lda, b, ldb, m, n, k)
		return
	}
	checkMatmul(dst, ldd, a, lda, b, ldb, m, n, k)
	for c := 0; c < n; c += 16 {
		matmul16NEON(&dst[c], 4*ldd, &a[0], 4*lda, &b[c], 4*ldb, k, m)
	}
}

func activateNEON(v []float32, p *gelu) {
	whole := len(v) &^ (rowMultiple - 1)
	if whole > 0 {
		geluNEON(&v[0], whole, p)
	}
	activateGeneric(v[whole:], p)
}

func quantiseNEON(dst []uint8, src []float32) rowScale {
	var s rowScale
	if len(src)%rowMultiple != 0 {
		s = quantiseGeneric(dst, src)
		for i := range src {
			dst[i] ^= 0x80
		}
	} else {
		_ = dst[len(src)-1]
		lo, hi := spanNEON(&src[0], len(src))
		s = rowScale{(hi - lo) / levels, lo}
		bytesNEON(&dst[0], &src[0], len(src), lo, inverse(s.scale))
	}
	s.low += 128 * s.scale
	return s
}

func addNormNEON(x, res []float32, n *norm, eps float32) {
	if len(x)%rowMultiple != 0 {
		addNormGeneric(x, res, n, eps)
		return
	}
	_, _, _ = res[len(x)-1], n.gain[len(x)-1], n.bias[len(x)-1]
	normNEON(&x[0], &res[0], &n.gain[0], &n.bias[0], len(x), eps)
}

package transformer

// Lengths of rows and columns are given with each function. ldd, lda, ldb and ld are in bytes. Counts are above 0.

// n rows times the 64 columns of a group, whose panels are panel bytes apart.
//
//go:noescape
func gemmTilesAVX512(dst *float32, ldd int, a *uint8, lda int, w *byte, panel, steps int, rows *rowScale, cols *float32, n int)

// m rows times 32 columns.
//
//go:noescape
func matmul32AVX512(dst *float32, ldd int, a *float32, lda int, b *float32, ldb, k, m int)

// m rows times 16 columns.
//
//go:noescape
func matmul16AVX512(dst *float32, ldd int, a *float32, lda int, b *float32, ldb, k, m int)

// Rows of n values, a multiple of rowMultiple.

//go:noescape
func geluAVX512(v *float32, n int, p *gelu)

//go:noescape
func spanAVX512(src *float32, n int) (lo, hi float32)

//go:noescape
func bytesAVX512(dst *uint8, src *float32, n int, low, inv float32)

//go:noescape
func normAVX512(x, res, gain, bias *float32, n int, eps float32)

// n is any number.
//
//go:noescape
func expRowsAVX512(s *float32, ld, rows, n int, consts *[10]float32)

func gemmAVX512(dst []float32, ldd int, a []uint8, lda int, rows []rowScale, w []byte, steps int, cols []float32) {
	if len(rows) == 0 {
		return
	}
	checkGemm(dst, ldd, a, lda, rows, w, steps, 1, cols)
	gemmTilesAVX512(&dst[0], 4*ldd, &a[0], lda, &w[0], panelCols*packDepth*steps, steps, &rows[0], &cols[0], len(rows))
}

func softmaxAVX512(s []float32, ld, rows, n int) {
	_ = s[(rows-1)*ld+n-1]
	expRowsAVX512(&s[0], 4*ld, rows, n, &expConsts)
}

func matmulAVX512(dst []float32, ldd int, a []float32, lda int, b []float32, ldb, m, n, k int) {
	if n%16 != 0 {
		matmulGeneric(dst, ldd, a, lda, b, ldb, m, n, k)
		return
	}
	checkMatmul(dst, ldd, a, lda, b, ldb, m, n, k)
	c := 0
	for ; c+32 <= n; c += 32 {
		matmul32AVX512(&dst[c], 4*ldd, &a[0], 4*lda, &b[c], 4*ldb, k, m)
	}
	if c < n {
		matmul16AVX512(&dst[c], 4*ldd, &a[0], 4*lda, &b[c], 4*ldb, k, m)
	}
}

func activateAVX512(v []float32, p *gelu) {
	whole := len(v) &^ (rowMultiple - 1)
	if whole > 0 {
		geluAVX512(&v[0], whole, p)
	}
	activateGeneric(v[whole:], p)
}

func quantiseAVX512(dst []uint8, src []float32) rowScale {
	if len(src)%rowMultiple != 0 {
		return quantiseGeneric(dst, src)
	}
	_ = dst[len(src)-1]
	lo, hi := spanAVX512(&src[0], len(src))
	s := rowScale{(hi - lo) / levels, lo}
	bytesAVX512(&dst[0], &src[0], len(src), lo, inverse(s.scale))
	return s
}

func addNormAVX512(x, res []float32, n *norm, eps float32) {
	if len(x)%rowMultiple != 0 {
		addNormGeneric(x, res, n, eps)
		return
	}
	_, _, _ = res[len(x)-1], n.gain[len(x)-1], n.bias[len(x)-1]
	normAVX512(&x[0], &res[0], &n.gain[0], &n.bias[0], len(x), eps)
}

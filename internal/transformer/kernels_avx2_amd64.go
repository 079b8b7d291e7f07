package transformer

// Lengths of rows and columns are given with each function. ldd, lda, ldb and ld are in bytes. Counts are above 0.

// n rows of 16-bit values times eight columns: the half of a panel that w points to.
//
//go:noescape
func gemmTilesAVX2(dst *float32, ldd int, a *uint8, lda int, w *byte, steps int, rows *rowScale, cols *float32, n int)

// m rows times 16 columns.
//
//go:noescape
func matmul16AVX2(dst *float32, ldd int, a *float32, lda int, b *float32, ldb, k, m int)

// m rows times 8 columns.
//
//go:noescape
func matmul8AVX2(dst *float32, ldd int, a *float32, lda int, b *float32, ldb, k, m int)

// Rows of n values, a multiple of rowMultiple.

//go:noescape
func geluAVX2(v *float32, n int, p *gelu)

//go:noescape
func spanAVX2(src *float32, n int) (lo, hi float32)

//go:noescape
func bytesAVX2(dst *uint8, src *float32, n int, low, inv float32)

//go:noescape
func normAVX2(x, res, gain, bias *float32, n int, eps float32)

// n is a multiple of 8.
//
//go:noescape
func expRowsAVX2(s *float32, ld, rows, n int, consts *[10]float32)

func gemmAVX2(dst []float32, ldd int, a []uint8, lda int, rows []rowScale, w []byte, steps int, cols []float32) {
	if len(rows) == 0 {
		return
	}
	checkGemm(dst, ldd, a, lda, rows, w, steps, 2, cols)
	const half = panelCols / 2
	for c := 0; c < groupCols; c += half {
		panel := c/panelCols*panelCols*packDepth*steps + c%panelCols*packDepth
		gemmTilesAVX2(&dst[c], 4*ldd, &a[0], lda, &w[panel], steps, &rows[0], &cols[c], len(rows))
	}
}

// softmaxAVX2 fills rows up to a multiple of 8 with scores that have no weight.
func softmaxAVX2(s []float32, ld, rows, n int) {
	padded := padScores(s, ld, rows, n, 8)
	expRowsAVX2(&s[0], 4*ld, rows, padded, &expConsts)
}

func matmulAVX2(dst []float32, ldd int, a []float32, lda int, b []float32, ldb, m, n, k int) {
	if n%8 != 0 {
		matmulGeneric(dst, ldd, a, lda, b, ldb, m, n, k)
		return
	}
	checkMatmul(dst, ldd, a, lda, b, ldb, m, n, k)
	c := 0
	for ; c+16 <= n; c += 16 {
		matmul16AVX2(&dst[c], 4*ldd, &a[0], 4*lda, &b[c], 4*ldb, k, m)
	}
	if c < n {
		matmul8AVX2(&dst[c], 4*ldd, &a[0], 4*lda, &b[c], 4*ldb, k, m)
	}
}

func activateAVX2(v []float32, p *gelu) {
	whole := len(v) &^ (rowMultiple - 1)
	if whole > 0 {
		geluAVX2(&v[0], whole, p)
	}
	activateGeneric(v[whole:], p)
}

func quantiseAVX2(dst []uint8, src []float32) rowScale {
	if len(src)%rowMultiple != 0 {
		return quantiseWide(dst, src)
	}
	_ = dst[2*len(src)-1]
	lo, hi := spanAVX2(&src[0], len(src))
	s := rowScale{(hi - lo) / levels, lo}
	bytesAVX2(&dst[0], &src[0], len(src), lo, inverse(s.scale))
	return s
}

func addNormAVX2(x, res []float32, n *norm, eps float32) {
	if len(x)%rowMultiple != 0 {
		addNormGeneric(x, res, n, eps)
		return
	}
	_, _, _ = res[len(x)-1], n.gain[len(x)-1], n.bias[len(x)-1]
	normAVX2(&x[0], &res[0], &n.gain[0], &n.bias[0], len(x), eps)
}

// quantiseWide is quantise with 16-bit values.
func quantiseWide(dst []uint8, src []float32) rowScale {
	s := quantiseGeneric(dst, src)
	for i := len(src) - 1; i >= 0; i-- {
		dst[2*i], dst[2*i+1] = dst[i], 0
	}
	return s
}

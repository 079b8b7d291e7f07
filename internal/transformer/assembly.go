//go:build amd64 || arm64

package transformer

import "math"

// Code shared by the wrappers of assembly.

// expConsts are the constants of exp in the order in which the assembly reads them.
var expConsts = [10]float32{
	math.Log2E, math.Ln2, expMin, 1,
	expCoef[0], expCoef[1], expCoef[2], expCoef[3], expCoef[4], expCoef[5],
}

// rowMultiple divides the length of every row that the assembly kernels accept; rows of other lengths use the Go version.
const rowMultiple = 16

// checkGemm panics when a slice is shorter than gemm requires.
func checkGemm(dst []float32, ldd int, a []uint8, lda int, rows []rowScale, w []byte, steps, valueSize int, cols []float32) {
	_ = w[groupCols*packDepth*steps-1]
	_ = cols[3*groupCols-1]
	_ = dst[(len(rows)-1)*ldd+groupCols-1]
	_ = a[(len(rows)-1)*lda+steps*packDepth*valueSize-1]
}

// checkMatmul panics when a slice is shorter than matmul requires.
func checkMatmul(dst []float32, ldd int, a []float32, lda int, b []float32, ldb, m, n, k int) {
	_ = dst[(m-1)*ldd+n-1]
	_ = a[(m-1)*lda+k-1]
	_ = b[(k-1)*ldb+n-1]
}

// padScores fills rows up to a multiple of width with scores that have no weight, and returns the new length.
func padScores(s []float32, ld, rows, n, width int) int {
	padded := roundUp(n, width)
	_ = s[(rows-1)*ld+padded-1]
	for r := range rows {
		for i := r*ld + n; i < r*ld+padded; i++ {
			s[i] = -math.MaxFloat32
		}
	}
	return padded
}

package transformer

import "math"

// rowScale converts the values of a quantised row to floats: value*scale + low.
type rowScale struct{ scale, low float32 }

// kernels are the inner loops for one instruction set. All versions of a kernel compute the same. Integer sums are exact; float32 sums may
// be taken in another order.
type kernels struct {
	name string

	// valueSize is the size of a quantised value in bytes: 1, or 2 in little-endian order.
	valueSize int

	// signed reports whether quantised values are stored minus 128, as signed bytes; rowScale.low then is the value of a stored 0.
	signed bool

	// gemm multiplies quantised rows with one group of a linear layer's columns:
	//
	//	dst[r*ldd+c] = sum(a[r][k]*w[c][k])*cols[c].scale*rows[r].scale + rows[r].low*cols[c].sum + bias[c]
	//
	// for len(rows) rows of a, lda bytes apart, and groupCols columns. Rows are quantised by
	// the same level's quantise. w holds the four
	// panels of the group, steps of packDepth bytes each; cols as in linear.
	gemm func(dst []float32, ldd int, a []uint8, lda int, rows []rowScale, w []byte, steps int, cols []float32)

	// matmul sets dst (m rows of n) to a (m rows of k) times b (k rows of n); rows are
	// ldd, lda and ldb values apart.
	matmul func(dst []float32, ldd int, a []float32, lda int, b []float32, ldb, m, n, k int)

	// softmax turns each of rows rows of n values, ld apart, into exp(v)/sum(exp(v)).
	softmax func(s []float32, ld, rows, n int)

	// activate applies a GELU to every value.
	activate func(v []float32, p *gelu)

	// quantise sets dst to the quantised values, 0 to levels, of src over its whole range.
	quantise func(dst []uint8, src []float32) rowScale

	// addNorm adds res to x and normalises the sum: mean 0, variance 1, then gain and bias.
	addNorm func(x, res []float32, n *norm, eps float32)
}

// gelu approximates x*Phi(x), Phi the normal distribution function, by
//
//	x*(1/2 + t*P(t*t)), t = x clamped to +-clip
//
// with P chosen so that the factor of x is 1 above clip and 0 below -clip, within 4e-6.
// Coefficients: minimax fits of the absolute error by iteratively reweighted least squares.
type gelu struct {
	clip float32
	c    [9]float32 // of P, lowest power first
}

// geluErf is within 7e-5 of x/2*(1+erf(x/sqrt 2)).
var geluErf = gelu{4.25, [9]float32{
	0.399114162, -0.0666728243, 0.00999625586, -0.00115752243, 0.000100889753,
	-6.29831175e-06, 2.60896059e-07, -6.33467367e-09, 6.76386863e-11,
}}

// geluTanh is within 5e-5 of x/2*(1+tanh(sqrt(2/pi)*(x+0.044715*x^3))).
var geluTanh = gelu{4.25, [9]float32{
	0.398787767, -0.0664529949, 0.00990483258, -0.00112865062, 9.54725328e-05,
	-5.7222228e-06, 2.26471926e-07, -5.25392663e-09, 5.37470658e-11,
}}

// activations maps hidden_act to its function; nil is max(x, 0).
var activations = map[string]*gelu{
	"gelu": &geluErf, "gelu_new": &geluTanh, "gelu_pytorch_tanh": &geluTanh, "relu": nil,
}

// norm holds the parameters of a layer normalisation.
type norm struct{ gain, bias []float32 }

// levels is the number of steps in the range of a quantised row.
const levels = 255

var genericKernels = kernels{
	name: "generic", valueSize: 1, gemm: gemmGeneric, matmul: matmulGeneric, softmax: softmaxGeneric,
	activate: activateGeneric, quantise: quantiseGeneric, addNorm: addNormGeneric,
}

func gemmGeneric(dst []float32, ldd int, a []uint8, lda int, rows []rowScale, w []byte, steps int, cols []float32) {
	cols = cols[:3*groupCols]
	for r, s := range rows {
		row := a[r*lda:][:steps*packDepth]
		for c := 0; c < groupCols; c += panelCols {
			panel := w[c*steps*packDepth:][:panelCols*steps*packDepth]
			sums := dotPanel(row, panel)
			out := dst[r*ldd+c:][:panelCols]
			for i := range out {
				out[i] = float32(sums[i])*cols[c+i]*s.scale + (s.low*cols[c+i+groupCols] + cols[c+i+2*groupCols])
			}
		}
	}
}

// dotPanel returns the products of a row with the channels of a panel.
func dotPanel(row []uint8, panel []byte) (sums [panelCols]int32) {
	for len(row) >= packDepth && len(panel) >= panelCols*packDepth {
		a0, a1, a2, a3 := int32(row[0]), int32(row[1]), int32(row[2]), int32(row[3])
		p := panel[:panelCols*packDepth]
		for i := range sums {
			b := p[packDepth*i : packDepth*i+packDepth]
			sums[i] += a0*int32(int8(b[0])) + a1*int32(int8(b[1])) + a2*int32(int8(b[2])) + a3*int32(int8(b[3]))
		}
		row, panel = row[packDepth:], panel[panelCols*packDepth:]
	}
	return sums
}

func matmulGeneric(dst []float32, ldd int, a []float32, lda int, b []float32, ldb, m, n, k int) {
	for i := range m {
		out := dst[i*ldd:][:n]
		clear(out)
		for j, v := range a[i*lda:][:k] {
			row := b[j*ldb:][:n]
			for c, w := range row {
				out[c] += v * w
			}
		}
	}
}

func softmaxGeneric(s []float32, ld, rows, n int) {
	for r := range rows {
		row := s[r*ld:][:n]
		top := row[0]
		for _, v := range row {
			top = max(top, v)
		}
		var sum float32
		for i, v := range row {
			row[i] = exp(v - top)
			sum += row[i]
		}
		inv := 1 / sum
		for i := range row {
			row[i] *= inv
		}
	}
}

// expMin is the lower limit of exp, at 9e-27. It is far from subnormal float32 numbers, whose arithmetic takes a hundred times as
// long, and negligible beside the 1 of a softmax's largest value.
const expMin = -60

// The polynomial of exp on +-ln(2)/2, from the Cephes library's expf: e^r is
// 1 + r + r*r*P(r), highest power first.
var expCoef = [6]float32{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1}

// exp returns e^x for x <= 0; below expMin it returns e^expMin.
func exp(x float32) float32 {
	x = max(x, expMin)
	n := nearest(x * math.Log2E)
	r := x - float32(n)*math.Ln2
	p := expCoef[0]
	for _, c := range expCoef[1:] {
		p = p*r + c
	}
	p = p*r*r + r + 1
	return p * math.Float32frombits(uint32(n+127)<<23)
}

func activateGeneric(v []float32, p *gelu) {
	c := &p.c
	for i, x := range v {
		t := min(max(x, -p.clip), p.clip)
		u := t * t
		y := c[8]
		y = y*u + c[7]
		y = y*u + c[6]
		y = y*u + c[5]
		y = y*u + c[4]
		y = y*u + c[3]
		y = y*u + c[2]
		y = y*u + c[1]
		y = y*u + c[0]
		v[i] = x * (t*y + 0.5)
	}
}

func quantiseGeneric(dst []uint8, src []float32) rowScale {
	lo, hi := src[0], src[0]
	for _, x := range src {
		lo, hi = min(lo, x), max(hi, x)
	}
	s := rowScale{(hi - lo) / levels, lo}
	inv := inverse(s.scale)
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = uint8(nearest((x - lo) * inv))
	}
	return s
}

// inverse returns 1/scale, or 0 if scale is too small to divide by.
func inverse(scale float32) float32 {
	if scale < tiny {
		return 0
	}
	return 1 / scale
}

func addNormGeneric(x, res []float32, n *norm, eps float32) {
	res, gain, bias := res[:len(x)], n.gain[:len(x)], n.bias[:len(x)]
	var sum, squares float32
	for i := range x {
		x[i] += res[i]
		sum += x[i]
	}
	mean := sum / float32(len(x))
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	f := float32(1 / math.Sqrt(float64(squares/float32(len(x))+eps)))
	for i, v := range x {
		x[i] = (v-mean)*f*gain[i] + bias[i]
	}
}

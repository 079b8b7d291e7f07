package transformer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guard is the value that tests put after the end of results, to check that kernels do not overwrite it.
const guard = 12345

// randoms returns n normally distributed numbers.
func randoms(rng *rand.Rand, n int, spread float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64() * spread)
	}
	return out
}

// guarded returns n zeros followed by guards.
func guarded(n int) []float32 {
	out := make([]float32, n+16)
	for i := n; i < len(out); i++ {
		out[i] = guard
	}
	return out
}

func assertGuard(t *testing.T, v []float32, n int) {
	t.Helper()
	for _, x := range v[n:] {
		require.EqualValues(t, guard, x, "written behind the end")
	}
}

func eachLevel(t *testing.T, test func(t *testing.T, k *kernels, rng *rand.Rand)) {
	for _, k := range testKernels() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			test(t, k, rand.New(rand.NewPCG(11, 5)))
		})
	}
}

// TestGemmSums wants the exact integer sums: with scales 1 and lows 0 a result is its sum,
// below 2^24 exact in float32. The extremes would overflow 16 bits.
func TestGemmSums(t *testing.T) {
	t.Parallel()
	eachLevel(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for _, in := range []int{4, 12, 64, 384} {
			for rows := 1; rows <= 14; rows++ {
				l := newLinear(groupCols, in)
				w, a := make([][]byte, groupCols), make([][]byte, rows)
				for o := range w {
					w[o] = extremes(rng, in, 0x81, 0x7F) // -127, 127
					l.set(o, w[o], 1)
				}
				q, scales := make([]byte, rows*in*k.valueSize), make([]rowScale, rows)
				for r := range a {
					a[r] = extremes(rng, in, 0, 255)
					for i, v := range a[r] {
						q[(r*in+i)*k.valueSize] = v
					}
					scales[r] = rowScale{1, 0}
				}
				if k.signed {
					for i := range q {
						q[i] ^= 0x80
					}
					for r := range scales {
						scales[r].low = 128
					}
				}
				dst := guarded(rows * groupCols)
				k.gemm(dst, groupCols, q, in*k.valueSize, scales, l.groups[0], l.steps, l.cols)
				assertGuard(t, dst, rows*groupCols)
				for r := range a {
					for o := range w {
						want := 0
						for i := range in {
							want += int(a[r][i]) * int(int8(w[o][i]))
						}
						require.EqualValues(t, want, dst[r*groupCols+o], "%d inputs, row %d of %d, column %d", in, r, rows, o)
					}
				}
			}
		}
	})
}

// extremes returns random bytes, half of which are lo or hi.
func extremes(rng *rand.Rand, n int, lo, hi byte) []byte {
	out := make([]byte, n)
	for i := range out {
		switch rng.IntN(4) {
		case 0:
			out[i] = lo
		case 1:
			out[i] = hi
		default:
			out[i] = byte(rng.IntN(256))
		}
		if lo == 0x81 && out[i] == 0x80 {
			out[i] = lo
		}
	}
	return out
}

// TestGemmScales compares scaled results with the Go version.
func TestGemmScales(t *testing.T) {
	t.Parallel()
	eachLevel(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		const in, rows = 96, 9
		l := newLinear(groupCols, in)
		for o := range groupCols {
			l.set(o, extremes(rng, in, 0x81, 0x7F), rng.Float32()/100)
			l.column(o)[2*groupCols] = rng.Float32()
		}
		x := randoms(rng, rows*in, 2)
		run := func(k *kernels) []float32 {
			q, scales := make([]byte, rows*in*k.valueSize), make([]rowScale, rows)
			for r := range scales {
				scales[r] = k.quantise(q[r*in*k.valueSize:], x[r*in:][:in])
			}
			dst := make([]float32, rows*groupCols)
			k.gemm(dst, groupCols, q, in*k.valueSize, scales, l.groups[0], l.steps, l.cols)
			return dst
		}
		assert.InDeltaSlice(t, run(&genericKernels), run(k), 1e-3)
	})
}

func TestQuantise(t *testing.T) {
	t.Parallel()
	eachLevel(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for _, n := range []int{1, 5, 16, 48, 60, 384, 1536} {
			for name, src := range map[string][]float32{
				"random": randoms(rng, n, 3), "constant": make([]float32, n), "huge": randoms(rng, n, 1e30),
				"one sided": append(randoms(rng, n-1, .1), 900),
			} {
				dst, want := make([]byte, n*k.valueSize+8), make([]byte, n)
				for i := n * k.valueSize; i < len(dst); i++ {
					dst[i] = 99
				}
				wantScale, scale := quantiseGeneric(want, src), k.quantise(dst, src)
				for _, v := range dst[n*k.valueSize:] {
					require.EqualValues(t, 99, v, "written behind the end")
				}
				if k.signed {
					wantScale.low += 128 * wantScale.scale
				}
				assert.Equal(t, wantScale, scale, "%s %d", name, n)
				for i := range want {
					got := dst[i*k.valueSize]
					if k.signed {
						got ^= 0x80
					}
					require.Equal(t, want[i], got, "%s %d: value %d", name, n, i)
				}
			}
		}
	})
}

func TestMatmul(t *testing.T) {
	t.Parallel()
	eachLevel(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for _, n := range []int{8, 12, 16, 32, 48, 64, 80} {
			for _, depth := range []int{1, 5, 32} {
				for m := 1; m <= 13; m++ {
					t.Run(fmt.Sprintf("%dx%dx%d", m, n, depth), func(t *testing.T) {
						lda, ldb, ldd := depth+3, n+5, n+2
						a, b := randoms(rng, m*lda, 1), randoms(rng, depth*ldb, 1)
						got := guarded(m * ldd)
						for i := range got {
							got[i] = guard
						}
						k.matmul(got, ldd, a, lda, b, ldb, m, n, depth)
						for i := range m {
							for j := range n {
								want := 0.0
								for d := range depth {
									want += float64(a[i*lda+d]) * float64(b[d*ldb+j])
								}
								require.InDelta(t, want, got[i*ldd+j], 1e-4)
							}
							assertGuard(t, got[:i*ldd+ldd], i*ldd+n)
						}
						assertGuard(t, got, m*ldd)
					})
				}
			}
		}
	})
}

func TestSoftmax(t *testing.T) {
	t.Parallel()
	eachLevel(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for n := 1; n <= 70; n++ {
			const rows = 3
			ld := roundUp(n, scorePad)
			s := guarded(rows * ld)
			copy(s, randoms(rng, rows*ld, 20))
			want := make([][]float64, rows)
			for r := range want {
				total := 0.0
				for _, v := range s[r*ld:][:n] {
					want[r] = append(want[r], math.Exp(float64(v-s[r*ld])))
					total += want[r][len(want[r])-1]
				}
				for i := range want[r] {
					want[r][i] /= total
				}
			}
			k.softmax(s, ld, rows, n)
			assertGuard(t, s, rows*ld)
			for r := range want {
				for i, w := range want[r] {
					require.InDelta(t, w, s[r*ld+i], 2e-6, "%d values, row %d", n, r)
				}
			}
		}
	})
}

func TestSoftmaxFar(t *testing.T) {
	t.Parallel()
	eachLevel(t, func(t *testing.T, k *kernels, _ *rand.Rand) {
		s := make([]float32, 16)
		copy(s, []float32{-1e30, 1000, -1000, 1000})
		k.softmax(s, 16, 1, 4)
		for i, want := range []float64{0, .5, 0, .5} {
			assert.InDelta(t, want, s[i], 1e-6)
		}
	})
}

func TestActivate(t *testing.T) {
	t.Parallel()
	exact := map[*gelu]func(float64) float64{
		&geluErf:  func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) },
		&geluTanh: func(x float64) float64 { return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) },
	}
	eachLevel(t, func(t *testing.T, k *kernels, _ *rand.Rand) {
		for p, f := range exact {
			var v []float32
			for x := -12.0; x < 12; x += .001 {
				v = append(v, float32(x))
			}
			v = append(v, 1e4, -1e4, 0)
			got := append([]float32(nil), v...)
			k.activate(got, p)
			for i, x := range v {
				require.InDelta(t, f(float64(x)), got[i], 8e-5+4e-6*math.Abs(float64(x)), "at %g", x)
			}
		}
	})
}

func TestAddNorm(t *testing.T) {
	t.Parallel()
	eachLevel(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		for _, n := range []int{1, 7, 16, 60, 64, 384} {
			x, res := guarded(n), randoms(rng, n, 2)
			copy(x, randoms(rng, n, 30))
			p := norm{randoms(rng, n, 1), randoms(rng, n, 1)}
			var mean, variance float64
			for i, v := range x[:n] {
				mean += float64(v+res[i]) / float64(n)
			}
			for i, v := range x[:n] {
				variance += math.Pow(float64(v+res[i])-mean, 2) / float64(n)
			}
			want := make([]float64, n)
			for i, v := range x[:n] {
				want[i] = (float64(v+res[i])-mean)/math.Sqrt(variance+1e-5)*float64(p.gain[i]) + float64(p.bias[i])
			}
			k.addNorm(x[:n], res, &p, 1e-5)
			assertGuard(t, x, n)
			for i, w := range want {
				require.InDelta(t, w, x[i], 2e-4, "%d values", n)
			}
		}
	})
}

package transformer

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const readerHidden, readerWidth = 12, 5

// readerTensors are random tensors of a Reader.
func readerTensors() map[string]matrix {
	rng := rand.New(rand.NewPCG(3, 3))
	const h, w = readerHidden, readerWidth
	ts := map[string]matrix{}
	for _, t := range []struct {
		name       string
		rows, cols int
	}{
		{"mean", h, 0}, {"question", h, 3 * w}, {"passage", h, 3 * w}, {"weigh", 2, h}, {"pick", w, 0}, {"out", w, 0}, {"bias", 1, 0},
		{"asked.weight", 4*w + 1, w}, {"asked.bias", w, 0}, {"said.weight", 3*w + 2, w}, {"said.bias", w, 0}, {"last.weight", 5*w + 4, w}, {"last.bias", w, 0},
	} {
		v := make([]float32, t.rows*max(t.cols, 1))
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		ts[t.name] = matrix{t.rows, t.cols, v}
	}
	return ts
}

// cells are rows of values.
type cells [][]float64

// times returns the product with a tensor of as many rows as x has columns.
func (x cells) times(m matrix) cells {
	out := make(cells, len(x))
	for i := range x {
		out[i] = make([]float64, m.cols)
		for k, v := range x[i] {
			for c := range m.cols {
				out[i][c] += v * float64(m.v[k*m.cols+c])
			}
		}
	}
	return out
}

// gelu adds a bias and applies the function of the layers.
func (x cells) gelu(bias matrix) cells {
	for _, row := range x {
		for c := range row {
			v := row[c] + float64(bias.v[c])
			row[c] = v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+.044715*v*v*v)))
		}
	}
	return x
}

// column returns a column.
func (x cells) column(c int) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i][c]
	}
	return out
}

// mean returns the sum of rows by their weights.
func (x cells) mean(weights []float64) []float64 {
	out := make([]float64, len(x[0]))
	for i, row := range x {
		for c, v := range row {
			out[c] += weights[i] * v
		}
	}
	return out
}

// greatest returns the greatest value of each column.
func (x cells) greatest() []float64 {
	out := make([]float64, len(x[0]))
	for c := range out {
		out[c] = math.Inf(-1)
		for _, row := range x {
			out[c] = max(out[c], row[c])
		}
	}
	return out
}

func softmaxed(x []float64) []float64 {
	out, sum := make([]float64, len(x)), 0.0
	for i, v := range x {
		out[i] = math.Exp(v)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// readBy is the reference: the logit, in float64, by the formulas of models/change-multilingual/build/reader.py.
func readBy(ts map[string]matrix, question, passage []float32) float64 {
	const w = readerWidth
	units := func(states []float32) (out cells) {
		for i := readerHidden; i < len(states)-readerHidden; i += readerHidden {
			u, length := make([]float64, readerHidden), 0.0
			for k := range u {
				u[k] = float64(states[i+k]) - float64(ts["mean"].v[k])
				length += u[k] * u[k]
			}
			for k := range u {
				u[k] /= math.Sqrt(length)
			}
			out = append(out, u)
		}
		return out
	}
	qu, pu := units(question), units(passage)
	q, p := qu.times(ts["question"]), pu.times(ts["passage"])
	weigh := matrix{readerHidden, 2, make([]float32, 2*readerHidden)}
	for k := range readerHidden {
		weigh.v[2*k], weigh.v[2*k+1] = ts["weigh"].v[k], ts["weigh"].v[readerHidden+k]
	}
	scores := qu.times(weigh)
	first, second := softmaxed(scores.column(0)), softmaxed(scores.column(1))
	match := make(cells, len(q))
	for i := range q {
		match[i] = make([]float64, len(p))
		for j := range p {
			for c := range w {
				match[i][j] += q[i][c] * p[j][c]
			}
		}
	}
	var compared, said, values, may cells
	for j := range p {
		values, may = append(values, p[j][w:2*w]), append(may, p[j][2*w:])
	}
	best := make([]float64, len(q))
	for i := range q {
		best[i] = match[i : i+1].most()
		v, found := q[i][w:2*w], values.mean(softmaxed(match[i]))
		row := append(append([]float64{}, v...), found...)
		for c := range w {
			row = append(row, v[c]*found[c])
		}
		for c := range w {
			row = append(row, math.Abs(v[c]-found[c]))
		}
		compared = append(compared, append(row, best[i]))
	}
	var asks cells
	for i := range q {
		asks = append(asks, q[i][2*w:])
	}
	asked := asks.mean(second)
	for j := range p {
		row := append([]float64{}, may[j]...)
		for c := range w {
			row = append(row, may[j][c]*asked[c])
		}
		row = append(row, asked...)
		top, mean := math.Inf(-1), 0.0
		for i := range q {
			top, mean = max(top, match[i][j]), mean+first[i]*match[i][j]
		}
		said = append(said, append(row, top, mean))
	}
	g, h := compared.times(ts["asked.weight"]).gelu(ts["asked.bias"]), said.times(ts["said.weight"]).gelu(ts["said.bias"])
	chosen := softmaxed(h.times(matrix{w, 1, ts["pick"].v}).column(0))
	f := append(append(append(append(append([]float64{}, g.mean(first)...), g.mean(second)...), g.greatest()...), h.mean(chosen)...), h.greatest()...)
	two := [2]float64{}
	for i := range q {
		two[0], two[1] = two[0]+first[i]*best[i], two[1]+second[i]*best[i]
	}
	f = append(f, two[0], two[1], math.Log(float64(len(q)))-2, math.Log(float64(len(p)))-3.5)
	o := cells{f}.times(ts["last.weight"]).gelu(ts["last.bias"])
	return o.times(matrix{w, 1, ts["out"].v})[0][0] + float64(ts["bias"].v[0])
}

// most returns the greatest of all values.
func (x cells) most() float64 {
	top := math.Inf(-1)
	for _, row := range x {
		for _, v := range row {
			top = max(top, v)
		}
	}
	return top
}

func TestReader(t *testing.T) {
	t.Parallel()
	ts := readerTensors()
	r, err := LoadReader(compareFile(ts), readerHidden)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(4, 4))
	states := func(tokens int) []float32 {
		v := make([]float32, tokens*readerHidden)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	for _, asked := range []int{3, 4, 9, 20} {
		for _, said := range []int{3, 5, 40, 126} {
			a, b := states(asked), states(said)
			q, err := r.Question(a)
			require.NoError(t, err)
			p, err := r.Passage(b)
			require.NoError(t, err)
			want := readBy(ts, a, b)
			assert.InDelta(t, want, float64(r.Logit(q, p)), .2+.03*math.Abs(want), "%d and %d tokens", asked, said) // passages have 8 bits
			assert.Equal(t, r.Logit(q, p), r.Logit(q, p))
			assert.Positive(t, q.Bytes())
			assert.Greater(t, p.Bytes(), 3*readerWidth*(said-2))
		}
	}
	q, err := r.Question(states(5))
	require.NoError(t, err)
	p, err := r.Passage(states(2))
	require.NoError(t, err)
	assert.Zero(t, r.Logit(q, p), "there is nothing to compare")
	assert.Zero(t, r.Logit(Question{}, p))
	_, err = r.Question(states(1))
	require.Error(t, err)
	_, err = r.Passage(make([]float32, 3*readerHidden+1))
	require.Error(t, err)
}

func TestLoadReaderRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(map[string]matrix){
		"no mean":     func(ts map[string]matrix) { delete(ts, "mean") },
		"no out":      func(ts map[string]matrix) { delete(ts, "out") },
		"no bias":     func(ts map[string]matrix) { delete(ts, "last.bias") },
		"other width": func(ts map[string]matrix) { ts["out"] = matrix{readerWidth + 1, 0, make([]float32, readerWidth+1)} },
		"other shape": func(ts map[string]matrix) {
			ts["weigh"] = matrix{1, 2 * readerHidden, make([]float32, 2*readerHidden)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ts := readerTensors()
			spoil(ts)
			_, err := LoadReader(compareFile(ts), readerHidden)
			require.ErrorContains(t, err, "safetensors")
		})
	}
	_, err := LoadReader(compareFile(readerTensors()), 0)
	require.Error(t, err)
	_, err = LoadReader(compareFile(readerTensors())[:40], readerHidden)
	require.Error(t, err)
	ts := readerTensors()
	ts["said.weight"].v[7] = float32(math.NaN())
	r, err := LoadReader(compareFile(ts), readerHidden)
	require.NoError(t, err, "values are read by the first text")
	_, err = r.Passage(make([]float32, 4*readerHidden))
	require.ErrorIs(t, err, errNotFinite)
}

// BenchmarkReader compares a question of 10 tokens with a passage of 40, at the size of the bundled model.
func BenchmarkReader(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 5))
	const h, w = 384, 48
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64()) / 20
		}
		return v
	}
	r := &Reader{hidden: h, width: w, k: bestKernels(), mean: random(h), question: random(h * 3 * w), passage: random(h * 3 * w), weigh: random(2 * h), pick: random(w), out: random(w),
		asked: readerLayer{random((4*w + askedExtra) * w), random(w)}, said: readerLayer{random((3*w + saidExtra) * w), random(w)}, last: readerLayer{random((5*w + lastExtra) * w), random(w)},
		load: func() error { return nil }}
	q, err := r.Question(random(12 * h))
	require.NoError(b, err)
	p, err := r.Passage(random(42 * h))
	require.NoError(b, err)
	for b.Loop() {
		r.Logit(q, p)
	}
}

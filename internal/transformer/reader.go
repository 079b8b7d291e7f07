package transformer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Reader compares a question with a passage token by token: what of the question the passage speaks of, and whether a token of the passage looks like
// what the question asks for. It is safe for concurrent use.
type Reader struct {
	hidden, width int
	k             *kernels
	mean          []float32   // subtracted from the vectors of tokens, which are then brought to unit length
	question      []float32   // [hidden, 3*width]: to be matched, to be compared, and what is asked for
	weigh         []float32   // [2, hidden]: how much each token of the question counts for the one and the other
	passage       []float32   // [hidden, 3*width]: to be matched, to be compared, and what the token may say
	asked         readerLayer // of a token of the question
	said          readerLayer // of a token of the passage
	last          readerLayer
	pick          []float32 // [width]: which tokens of the passage count
	out           []float32 // [width]
	bias          float32
	load          func() error // fills the fields above but hidden, width and k; the first text calls it once
}

// readerLayer is a layer of a Reader with a GELU behind it.
type readerLayer struct{ weight, bias []float32 } // [in, width], [width]

// Inputs of the layers of a Reader beside vectors: of a token of the question its best match, of a token of the passage the best and the mean match, of
// the last layer the two means of the question's best matches and the logarithms of both numbers of tokens.
const (
	askedExtra   = 1
	saidExtra    = 2
	lastExtra    = 4
	readerAsked  = -2.  // added to the logarithm of the number of tokens of a question
	readerPassed = -3.5 // and of a passage
	readerTokens = 1    // special tokens at each end of a text, which are not compared
	maxReader    = 1 << 10
)

// LoadReader reads a safetensors file; hidden is 1 to 16384. It checks shapes; the first text reads and checks the values.
func LoadReader(safetensors []byte, hidden int) (*Reader, error) {
	if hidden < 1 || hidden > maxWidth {
		return nil, fmt.Errorf("hidden must be in 1..%d", maxWidth)
	}
	ts, err := readTensors(safetensors)
	if err != nil {
		return nil, err
	}
	width := ts["out"].shape
	if len(width) != 1 || width[0] < 1 || width[0] > maxReader {
		return nil, fmt.Errorf("safetensors: out must be 1 to %d floats", maxReader)
	}
	r := &Reader{hidden: hidden, width: width[0], k: bestKernels()}
	if err := r.read(&loader{ts: ts, shapes: true}); err != nil {
		return nil, err
	}
	r.load = sync.OnceValue(func() error { return r.read(&loader{ts: ts}) })
	return r, nil
}

// read fills the weights.
func (r *Reader) read(l *loader) error {
	w := r.width
	r.mean, r.pick, r.out = l.vector(r.hidden, "mean"), l.vector(w, "pick"), l.vector(w, "out")
	r.question, r.passage = l.matrix("question", r.hidden, 3*w), l.matrix("passage", r.hidden, 3*w)
	r.weigh = l.matrix("weigh", 2, r.hidden)
	for _, x := range []struct {
		layer *readerLayer
		name  string
		in    int
	}{{&r.asked, "asked", 4*w + askedExtra}, {&r.said, "said", 3*w + saidExtra}, {&r.last, "last", 5*w + lastExtra}} {
		*x.layer = readerLayer{l.matrix(x.name+".weight", x.in, w), l.vector(w, x.name+".bias")}
	}
	if b := l.vector(1, "bias"); b != nil {
		r.bias = b[0]
	}
	return l.err
}

// matrix reads a tensor of in rows of out floats.
func (l *loader) matrix(name string, in, out int) []float32 {
	t := l.ts[name]
	if !t.floats() || !t.is(in, out) {
		l.fail(fmt.Errorf("safetensors: %s must be floats [%d, %d]", name, in, out))
		return nil
	}
	if l.shapes {
		return nil
	}
	m := make([]float32, in*out)
	if decode(m, t.data, t.dtype); !finite(m) {
		l.fail(errNotFinite)
	}
	return m
}

// Question is a question that a Reader has read.
type Question struct {
	keys, values []float32    // [tokens, width]
	asked        []float32    // [width]
	weights      [2][]float32 // [tokens] each, sums 1
}

// Bytes returns the memory size of a question.
func (q Question) Bytes() int { return 4*(2*len(q.keys)+len(q.asked)+2*len(q.weights[0])) + 96 }

// Passage is a passage that a Reader has read.
type Passage struct {
	codes []int8 // [tokens, 3*width], to be multiplied by scale
	scale float32
}

// Bytes returns the memory size of a passage.
func (p Passage) Bytes() int { return len(p.codes) + 32 }

// units returns the vectors of the tokens of a text between the special ones, less the mean and of unit length.
func (r *Reader) units(states []float32) (units []float32, n int, err error) {
	if err := r.load(); err != nil {
		return nil, 0, err
	}
	n = len(states)/r.hidden - 2*readerTokens
	if n < 0 || len(states)%r.hidden != 0 {
		return nil, 0, errors.New("states must be vectors of two or more tokens")
	}
	units = make([]float32, n*r.hidden)
	copy(units, states[readerTokens*r.hidden:])
	for u := range n {
		v := units[u*r.hidden:][:r.hidden]
		var length float32
		for i, m := range r.mean {
			v[i] -= m
			length += v[i] * v[i]
		}
		length = 1 / max(float32(math.Sqrt(float64(length))), 1e-12)
		for i := range v {
			v[i] *= length
		}
	}
	return units, n, nil
}

// Question reads the states of a question, as Model.States returns them.
func (r *Reader) Question(states []float32) (Question, error) {
	units, n, err := r.units(states)
	if err != nil || n == 0 {
		return Question{}, err
	}
	w := r.width
	y := r.project(units, r.question, n)
	q := Question{keys: make([]float32, n*w), values: make([]float32, n*w), asked: make([]float32, w)}
	for k := range q.weights {
		q.weights[k] = make([]float32, n)
		for i := range n {
			q.weights[k][i] = dot(r.weigh[k*r.hidden:][:r.hidden], units[i*r.hidden:])
		}
		softmaxGeneric(q.weights[k], n, 1, n)
	}
	for i := range n {
		row := y[3*i*w:][:3*w]
		copy(q.keys[i*w:], row[:w])
		copy(q.values[i*w:], row[w:2*w])
		addScaled(q.asked, row[2*w:], q.weights[1][i])
	}
	return q, nil
}

// Passage reads the states of a passage, as Model.States returns them.
func (r *Reader) Passage(states []float32) (Passage, error) {
	units, n, err := r.units(states)
	if err != nil || n == 0 {
		return Passage{}, err
	}
	y := r.project(units, r.passage, n)
	var top float32
	for _, v := range y {
		top = max(top, v, -v)
	}
	p := Passage{codes: make([]int8, len(y)), scale: top / math.MaxInt8}
	f := inverse(p.scale)
	for i, v := range y {
		p.codes[i] = int8(nearest(v * f))
	}
	return p, nil
}

// project returns the products of n vectors with a matrix of 3*width columns.
func (r *Reader) project(units, matrix []float32, n int) []float32 {
	y := make([]float32, 3*n*r.width)
	r.k.matmul(y, 3*r.width, units, r.hidden, matrix, 3*r.width, n, 3*r.width, r.hidden)
	return y
}

// Logit returns the logit of the passage answering the question, 0 if either has no token.
func (r *Reader) Logit(q Question, p Passage) float32 {
	w := r.width
	nq, n := len(q.weights[0]), len(p.codes)/(3*w)
	if nq == 0 || n == 0 {
		return 0
	}
	keys, values, may := make([]float32, w*n), make([]float32, n*w), make([]float32, n*w) // keys: [width, tokens]
	for j := range n {
		row := p.codes[3*j*w:][:3*w]
		for c := range w {
			keys[c*n+j], values[j*w+c], may[j*w+c] = float32(row[c])*p.scale, float32(row[w+c])*p.scale, float32(row[2*w+c])*p.scale
		}
	}
	matches := make([]float32, nq*n)
	r.k.matmul(matches, n, q.keys, w, keys, n, nq, n, w)
	last := make([]float32, 5*w+lastExtra)
	r.passed(q, may, matches, last[3*w:5*w])
	best := r.compared(q, values, matches, last[:3*w])
	extra := last[5*w:]
	for k, weights := range q.weights {
		extra[k] = dot(weights, best)
	}
	extra[2], extra[3] = float32(math.Log(float64(nq)))+readerAsked, float32(math.Log(float64(n)))+readerPassed
	return dot(r.last.apply(r.k, last, 1), r.out) + r.bias
}

// passed sets dst to what the tokens of a passage say: of the chosen ones, and the greatest values. may is what each may say, matches the products of
// the keys, a row for each token of the question.
func (r *Reader) passed(q Question, may, matches, dst []float32) {
	w, nq := r.width, len(q.weights[0])
	n := len(matches) / nq
	x := make([]float32, n*(3*w+saidExtra))
	for j := range n {
		row := x[j*(3*w+saidExtra):][:3*w+saidExtra]
		copy(row, may[j*w:][:w])
		for c, asked := range q.asked {
			row[w+c], row[2*w+c] = row[c]*asked, asked
		}
		row[3*w] = matches[j]
	}
	for i, weight := range q.weights[0] {
		for j, match := range matches[i*n:][:n] {
			extra := x[j*(3*w+saidExtra)+3*w:][:saidExtra]
			extra[0], extra[1] = max(extra[0], match), extra[1]+weight*match
		}
	}
	h := r.said.apply(r.k, x, n)
	chosen := make([]float32, n)
	for j := range n {
		chosen[j] = dot(r.pick, h[j*w:])
	}
	softmaxGeneric(chosen, n, 1, n)
	for j, weight := range chosen {
		addScaled(dst[:w], h[j*w:][:w], weight)
	}
	greatest(dst[w:], h)
}

// compared sets dst to what the tokens of a question find in a passage: with either weight, and the greatest values. It returns the best match of each.
// It changes matches.
func (r *Reader) compared(q Question, values, matches, dst []float32) (best []float32) {
	w, nq := r.width, len(q.weights[0])
	n, wide := len(matches)/nq, 4*w+askedExtra
	best = make([]float32, nq)
	x := make([]float32, nq*wide)
	for i := range nq {
		best[i] = slices.Max(matches[i*n:][:n])
	}
	softmaxGeneric(matches, n, nq, n)
	r.k.matmul(x[w:], wide, matches, n, values, w, nq, w, n)
	for i := range nq {
		row := x[i*wide:][:wide]
		found := row[w:][:w]
		for c, v := range q.values[i*w:][:w] {
			row[c], row[2*w+c], row[3*w+c] = v, v*found[c], max(v-found[c], found[c]-v)
		}
		row[4*w] = best[i]
	}
	g := r.asked.apply(r.k, x, nq)
	for k, weights := range q.weights {
		for i, weight := range weights {
			addScaled(dst[k*w:][:w], g[i*w:][:w], weight)
		}
	}
	greatest(dst[2*w:], g)
	return best
}

// greatest sets dst to the greatest values of each column of x, which has rows as long as dst.
func greatest(dst, x []float32) {
	copy(dst, x)
	for x = x[len(dst):]; len(x) > 0; x = x[len(dst):] {
		for c, v := range x[:len(dst)] {
			dst[c] = max(dst[c], v)
		}
	}
}

// apply returns the output of the layer for n rows.
func (l *readerLayer) apply(k *kernels, x []float32, n int) []float32 {
	w := len(l.bias)
	in := len(x) / n
	y := make([]float32, n*w)
	k.matmul(y, w, x, in, l.weight, w, n, w, in)
	for i := range n {
		addScaled(y[i*w:][:w], l.bias, 1)
	}
	k.activate(y, &geluTanh)
	return y
}

// dot returns the inner product of a and the beginning of b.
func dot(a, b []float32) (sum float32) {
	b = b[:len(a)]
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// addScaled adds factor times src to dst.
func addScaled(dst, src []float32, factor float32) {
	for i, v := range src {
		dst[i] += factor * v
	}
}

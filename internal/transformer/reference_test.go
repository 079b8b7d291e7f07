package transformer

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkpoint is a random model: float32 tensors by name.
type checkpoint struct {
	cfg     Config
	tensors map[string]matrix
}

type matrix struct {
	rows, cols int // cols 0: a vector
	v          []float32
}

// randomCheckpoint makes a checkpoint of cfg whose tensors are called as Hugging Face
// calls them.
func randomCheckpoint(cfg Config, seed uint64) checkpoint {
	c := checkpoint{cfg, map[string]matrix{}}
	rng := rand.New(rand.NewPCG(seed, 1))
	add := func(name string, rows, cols int, spread, mean float64) {
		v := make([]float32, rows*max(cols, 1))
		for i := range v {
			v[i] = float32(rng.NormFloat64()*spread + mean)
		}
		c.tensors[name] = matrix{rows, cols, v}
	}
	dense := func(name string, out, in int) {
		add(name+".weight", out, in, 1.5/math.Sqrt(float64(in)), 0)
		add(name+".bias", out, 0, .1, 0)
	}
	norm := func(name string) {
		add(name+".weight", cfg.Hidden, 0, .2, 1)
		add(name+".bias", cfg.Hidden, 0, .2, 0)
	}
	p := c.prefix()
	add(p+"embeddings.word_embeddings.weight", cfg.Vocab, cfg.Hidden, 1, 0)
	add(p+"embeddings.position_embeddings.weight", cfg.MaxPositions, cfg.Hidden, .5, 0)
	if cfg.TypeVocab > 0 {
		add(p+"embeddings.token_type_embeddings.weight", cfg.TypeVocab, cfg.Hidden, .5, 0)
	}
	norm(p + "embeddings.LayerNorm")
	for i := range cfg.Layers {
		l := fmt.Sprintf("%sencoder.layer.%d.", p, i)
		for _, n := range []string{"query", "key", "value"} {
			dense(l+"attention.self."+n, cfg.Hidden, cfg.Hidden)
		}
		dense(l+"attention.output.dense", cfg.Hidden, cfg.Hidden)
		norm(l + "attention.output.LayerNorm")
		dense(l+"intermediate.dense", cfg.Intermediate, cfg.Hidden)
		dense(l+"output.dense", cfg.Hidden, cfg.Intermediate)
		norm(l + "output.LayerNorm")
	}
	switch {
	case cfg.Labels == 0:
	case cfg.offsetsPositions():
		dense("classifier.dense", cfg.Hidden, cfg.Hidden)
		dense("classifier.out_proj", cfg.Labels, cfg.Hidden)
	default:
		dense(p+"pooler.dense", cfg.Hidden, cfg.Hidden)
		if len(cfg.NamedHeads) == 0 {
			dense("classifier", cfg.Labels, cfg.Hidden)
		}
		for _, h := range cfg.NamedHeads {
			dense("classifiers."+h.Name, h.Labels, cfg.Hidden)
		}
	}
	return c
}

// stored is a tensor of a safetensors file.
type stored struct {
	dtype string
	shape []int
	data  []byte
}

// safetensors writes a file of tensors.
func safetensors(tensors map[string]stored) []byte {
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte(nil)
	names := make([]string, 0, len(tensors))
	for n := range tensors {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		t := tensors[n]
		header[n] = entry{t.dtype, t.shape, [2]int{len(data), len(data) + len(t.data)}}
		data = append(data, t.data...)
	}
	h, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(h)))
	return append(append(out, h...), data...)
}

// f32 stores a matrix as it is.
func f32(m matrix) stored {
	s := stored{dtype: "F32", shape: []int{m.rows, m.cols}}
	if m.cols == 0 {
		s.shape = s.shape[:1]
	}
	for _, v := range m.v {
		s.data = binary.LittleEndian.AppendUint32(s.data, math.Float32bits(v))
	}
	return s
}

// file stores the whole checkpoint as float32.
func (c checkpoint) file() []byte {
	ts := map[string]stored{}
	for n, m := range c.tensors {
		ts[n] = f32(m)
	}
	return safetensors(ts)
}

func (c checkpoint) load(t testing.TB) *Model {
	t.Helper()
	m, err := Load(c.cfg, c.file(), nil)
	require.NoError(t, err)
	return m
}

// The reference: the encoder in float64, one token and one head at a time, with the
// unquantised weights.

func (c checkpoint) prefix() string {
	switch {
	case c.cfg.Labels == 0:
		return ""
	case c.cfg.offsetsPositions():
		return "roberta."
	}
	return "bert."
}

func (c checkpoint) row(name string, i int) []float64 {
	m := c.tensors[name]
	out := make([]float64, m.cols)
	for j := range out {
		out[j] = float64(m.v[i*m.cols+j])
	}
	return out
}

func (c checkpoint) dense(name string, x []float64) []float64 {
	w, b := c.tensors[name+".weight"], c.tensors[name+".bias"]
	out := make([]float64, w.rows)
	for o := range out {
		out[o] = float64(b.v[o])
		for i, v := range x {
			out[o] += float64(w.v[o*w.cols+i]) * v
		}
	}
	return out
}

func (c checkpoint) normalise(name string, x []float64) []float64 {
	g, b := c.tensors[name+".weight"], c.tensors[name+".bias"]
	var mean, variance float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = (v-mean)/math.Sqrt(variance+c.cfg.LayerNormEps)*float64(g.v[i]) + float64(b.v[i])
	}
	return out
}

func sum(vs ...[]float64) []float64 {
	out := make([]float64, len(vs[0]))
	for _, v := range vs {
		for i, x := range v {
			out[i] += x
		}
	}
	return out
}

func (c checkpoint) act(x float64) float64 {
	switch c.cfg.Act {
	case "relu":
		return max(x, 0)
	case "gelu":
		return x / 2 * (1 + math.Erf(x/math.Sqrt2))
	}
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

// encode returns the last layer's vector of every token.
func (c checkpoint) encode(text, types []int32) [][]float64 {
	p := c.prefix()
	var xs [][]float64
	position := 0
	for i, id := range text {
		at := position
		if c.cfg.offsetsPositions() {
			at += c.cfg.PadID + 1
		}
		position++
		x := sum(c.row(p+"embeddings.word_embeddings.weight", int(id)), c.row(p+"embeddings.position_embeddings.weight", at))
		if c.cfg.TypeVocab > 0 {
			kind := int32(0)
			if types != nil {
				kind = types[i]
			}
			x = sum(x, c.row(p+"embeddings.token_type_embeddings.weight", int(kind)))
		}
		xs = append(xs, c.normalise(p+"embeddings.LayerNorm", x))
	}
	for i := range c.cfg.Layers {
		xs = c.layer(fmt.Sprintf("%sencoder.layer.%d.", p, i), xs)
	}
	return xs
}

func (c checkpoint) layer(l string, xs [][]float64) [][]float64 {
	var qs, ks, vs [][]float64
	for _, x := range xs {
		qs = append(qs, c.dense(l+"attention.self.query", x))
		ks = append(ks, c.dense(l+"attention.self.key", x))
		vs = append(vs, c.dense(l+"attention.self.value", x))
	}
	out := make([][]float64, len(xs))
	for i, x := range xs {
		a := c.dense(l+"attention.output.dense", c.attend(qs[i], ks, vs))
		y := c.normalise(l+"attention.output.LayerNorm", sum(x, a))
		wide := c.dense(l+"intermediate.dense", y)
		for j, v := range wide {
			wide[j] = c.act(v)
		}
		out[i] = c.normalise(l+"output.LayerNorm", sum(y, c.dense(l+"output.dense", wide)))
	}
	return out
}

func (c checkpoint) attend(q []float64, ks, vs [][]float64) []float64 {
	size := c.cfg.Hidden / c.cfg.Heads
	out := make([]float64, c.cfg.Hidden)
	for h := 0; h < c.cfg.Hidden; h += size {
		weights, total := make([]float64, len(ks)), 0.0
		for j, k := range ks {
			s := 0.0
			for d := range size {
				s += q[h+d] * k[h+d]
			}
			weights[j] = math.Exp(s / math.Sqrt(float64(size)))
			total += weights[j]
		}
		for j, v := range vs {
			for d := range size {
				out[h+d] += weights[j] / total * v[h+d]
			}
		}
	}
	return out
}

func (c checkpoint) pooled(text []int32, pool Pooling) []float64 {
	return pooled(c.encode(text, nil), pool)
}

// pooled returns the vector of a text from those of its tokens.
func pooled(xs [][]float64, pool Pooling) []float64 {
	if pool == PoolCLS {
		return xs[0]
	}
	out := sum(xs...)
	for i := range out {
		out[i] /= float64(len(xs))
	}
	return out
}

func (c checkpoint) logits(text, types []int32) []float64 {
	x := c.encode(text, types)[0]
	dense, heads := c.prefix()+"pooler.dense", []string{"classifier"}
	if c.cfg.offsetsPositions() {
		dense, heads = "classifier.dense", []string{"classifier.out_proj"}
	}
	if len(c.cfg.NamedHeads) > 0 {
		heads = nil
		for _, h := range c.cfg.NamedHeads {
			heads = append(heads, "classifiers."+h.Name)
		}
	}
	x = c.dense(dense, x)
	for i, v := range x {
		x[i] = math.Tanh(v)
	}
	var out []float64
	for _, h := range heads {
		out = append(out, c.dense(h, x)...)
	}
	return out
}

// cosine returns the cosine of two vectors.
func cosine[A, B float32 | float64](a []A, b []B) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

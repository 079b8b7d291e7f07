package transformer

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// Compare scores pairs of texts by the means of their tokens' vectors. Each of several heads is a small layer over products and
// differences of the two means, plus a direct layer. It is safe for concurrent use.
type Compare struct {
	hidden int
	mean   []float32 // mean over many texts, subtracted before vectors are compared
	heads  []compareHead
	load   func() error // fills mean and heads; the first text calls it once
}

// compareHead is one head. For means u and v of unit length, its inputs are u*v,
// u-v
// , u and v by value, then the cosine, then the logarithms of both numbers of tokens.
type compareHead struct {
	dense  logitHead // [width, 4*hidden+3]
	out    logitHead // [1, width]
	direct logitHead // [1, 3], of the last three inputs
}

// extraInputs is the number of inputs of a head that are not values of vectors.
const extraInputs = 3

// LoadCompare reads a safetensors file: "mean" [hidden], and for each head NAME.dense, NAME.out and NAME.direct with weight and bias,
// as floats. hidden is 1 to 16384. LoadCompare checks shapes; the first text reads and checks the values.
func LoadCompare(safetensors []byte, hidden int, heads []string) (*Compare, error) {
	if hidden < 1 || hidden > maxWidth {
		return nil, fmt.Errorf("hidden must be in 1..%d", maxWidth)
	}
	ts, err := readTensors(safetensors)
	if err != nil {
		return nil, err
	}
	c := &Compare{hidden: hidden}
	if err := c.read(loader{cfg: Config{Hidden: hidden}, ts: ts, shapes: true}, heads); err != nil {
		return nil, err
	}
	c.load = sync.OnceValue(func() error { return c.read(loader{cfg: Config{Hidden: hidden}, ts: ts}, heads) })
	return c, nil
}

// read fills mean and heads.
func (c *Compare) read(l loader, heads []string) error {
	c.mean, c.heads = l.vector(c.hidden, "mean"), nil
	for _, name := range heads {
		width := l.ts[name+".dense.bias"].shape
		if len(width) != 1 || width[0] < 1 || width[0] > maxWidth {
			return fmt.Errorf("safetensors: %s.dense.bias must be 1 to %d floats", name, maxWidth)
		}
		c.heads = append(c.heads, compareHead{
			dense:  l.dense(name+".dense", width[0], 4*c.hidden+extraInputs),
			out:    l.dense(name+".out", 1, width[0]),
			direct: l.dense(name+".direct", 1, extraInputs),
		})
	}
	return l.err
}

// dense reads a layer that is kept in float32.
func (l *loader) dense(name string, out, in int) logitHead {
	t := l.ts[name+".weight"]
	if !t.floats() || !t.is(out, in) {
		l.fail(fmt.Errorf("safetensors: %s.weight must be floats [%d, %d]", name, out, in))
		return logitHead{}
	}
	if l.shapes {
		return logitHead{bias: l.vector(out, name+".bias")}
	}
	h := logitHead{make([]float32, out*in), l.vector(out, name+".bias")}
	if decode(h.weight, t.data, t.dtype); !finite(h.weight) {
		l.fail(errNotFinite)
	}
	return h
}

// Text is the result of reading a text, for comparisons.
type Text struct {
	unit   []float32
	tokens float32 // logarithm of the number of tokens
}

// Bytes returns the memory size of a text.
func (t Text) Bytes() int { return 4*len(t.unit) + 32 }

// Text reads the states of a text: the vectors of its tokens, one after the other, as Model.States returns them. The first call reads
// the values of the heads.
func (c *Compare) Text(states []float32) (Text, error) {
	if err := c.load(); err != nil {
		return Text{}, err
	}
	if len(states) == 0 || len(states)%c.hidden != 0 {
		return Text{}, errors.New("states must be vectors of one or more tokens")
	}
	n := len(states) / c.hidden
	sums := make([]float64, c.hidden)
	for i, v := range states {
		sums[i%c.hidden] += float64(v)
	}
	var length float64
	for i := range sums {
		sums[i] = sums[i]/float64(n) - float64(c.mean[i])
		length += sums[i] * sums[i]
	}
	t := Text{make([]float32, c.hidden), float32(math.Log(float64(n)))}
	for i, v := range sums {
		t.unit[i] = float32(v / max(math.Sqrt(length), 1e-12))
	}
	return t, nil
}

// Last is another last layer for a head: its own out and direct, the sum of their biases, and the factor of a Reader's logit.
type Last struct {
	Out    []float32 `json:"out"`    // [width]
	Direct []float32 `json:"direct"` // [3]
	Bias   float32   `json:"bias"`
	Reader float32   `json:"reader"` // 0: there is no Reader
}

// Check reports whether a layer has the shape of the last one of a head, counted from 0, and finite values. It needs only the shapes of the heads.
func (c *Compare) Check(head int, l *Last) error {
	if width := len(c.heads[head].dense.bias); len(l.Out) != width || len(l.Direct) != extraInputs {
		return fmt.Errorf("out must be %d numbers, direct %d", width, extraInputs)
	}
	if !finite(l.Out) || !finite(l.Direct) || !finite([]float32{l.Bias, l.Reader}) {
		return errNotFinite
	}
	return nil
}

// Logit returns the logit of a head, counted from 0, for two texts.
func (c *Compare) Logit(head int, a, b Text) float32 {
	h := &c.heads[head]
	wide, extra := c.wide(h, a, b)
	out, direct := [1]float32{}, [1]float32{}
	h.out.apply(out[:], wide)
	h.direct.apply(direct[:], extra)
	return out[0] + direct[0]
}

// LogitBy returns the logit of a head with another last layer, which [Compare.Check] has passed.
func (c *Compare) LogitBy(head int, last *Last, a, b Text) float32 {
	wide, extra := c.wide(&c.heads[head], a, b)
	sum := last.Bias
	for i, w := range last.Out {
		sum += w * wide[i]
	}
	for i, w := range last.Direct {
		sum += w * extra[i]
	}
	return sum
}

// wide returns the inputs of a head's last layer: those of out and those of direct.
func (c *Compare) wide(h *compareHead, a, b Text) (wide, extra []float32) {
	n := c.hidden
	inputs := make([]float32, 4*n+extraInputs)
	var cosine float32
	for i, u := range a.unit {
		v := b.unit[i]
		inputs[i], inputs[2*n+i], inputs[3*n+i] = u*v, u, v
		inputs[n+i] = max(u-v, v-u)
		cosine += u * v
	}
	extra = inputs[4*n:]
	extra[0], extra[1], extra[2] = cosine, a.tokens, b.tokens
	wide = make([]float32, len(h.dense.bias))
	h.dense.apply(wide, inputs)
	for i, x := range wide {
		wide[i] = x / 2 * float32(1+math.Erf(float64(x)/math.Sqrt2))
	}
	return wide, extra
}

// apply sets the first values of dst to the output of the layer for x. It sums in four lanes.
func (h *logitHead) apply(dst, x []float32) {
	for o, bias := range h.bias {
		row := h.weight[o*len(x):][:len(x)]
		var s0, s1, s2, s3 float32
		i := 0
		for ; i+4 <= len(row); i += 4 {
			s0 += row[i] * x[i]
			s1 += row[i+1] * x[i+1]
			s2 += row[i+2] * x[i+2]
			s3 += row[i+3] * x[i+3]
		}
		for ; i < len(row); i++ {
			s0 += row[i] * x[i]
		}
		dst[o] = bias + s0 + s1 + s2 + s3
	}
}

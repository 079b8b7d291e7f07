package joint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// head classifies a vector by the slot of its text, with a layer of rectified units and a softmax over slots. The first slot, "", means
// none of the others.
type head struct {
	dim, hidden int
	names       []string
	in, inBias  []float32 // [hidden][dim], [hidden]
	out, bias   []float32 // [len(names)][hidden], [len(names)]
}

// Bounds of heads.
const (
	mostUnits = 4096
	mostNames = 1 << 16 // bytes
)

// WithSlots returns the embedder with trained weights that recognise the slot of a question: see embed.SlotReader. The vectors and
// Model stay the same.
//
// The weights begin with four little-endian 32-bit numbers: the dimensions of the base model, the units, the slots and the length of
// the names in bytes. The classifier reads only the base model's part of a vector, so the second model may change. Then come the
// names, one a line, the first of which is empty and means no slot, and in 16-bit floats [units, dim], [units], [slots, units] and
// [slots]. The weights are copied.
func (e *Embedder) WithSlots(weights []byte) (*Embedder, error) {
	h, err := readHead(weights, e.base.dim)
	if err != nil {
		return nil, fmt.Errorf("joint: weights of slots %w", err)
	}
	out := *e
	out.slots = h
	return &out, nil
}

func readHead(b []byte, dim int) (*head, error) {
	cut := errors.New("are cut off or too long")
	if len(b) < 16 {
		return nil, cut
	}
	var n [4]int
	for i := range n {
		n[i] = int(binary.LittleEndian.Uint32(b[4*i:]))
	}
	units, slots, letters := n[1], n[2], n[3]
	switch {
	case n[0] != dim:
		return nil, fmt.Errorf("are not of %d dimensions", dim)
	case units < 1 || units > mostUnits || letters > mostNames || slots < 2 || slots > letters+1:
		return nil, errors.New("are of no size that there is")
	}
	if b = b[16:]; len(b) != letters+2*(units*dim+units+slots*units+slots) {
		return nil, cut
	}
	h := &head{dim: dim, hidden: units, names: strings.Split(string(b[:letters]), "\n")}
	if len(h.names) != slots || h.names[0] != "" || slices.Contains(h.names[1:], "") {
		return nil, errors.New("do not name their slots")
	}
	b = b[letters:]
	all, err := floats(b)
	if err != nil {
		return nil, err
	}
	take := func(n int) (part []float32) {
		part, all = all[:n:n], all[n:]
		return part
	}
	h.in, h.inBias = take(units*dim), take(units)
	h.out, h.bias = take(slots*units), take(slots)
	return h, nil
}

// floats returns the values of 16-bit floats; it returns an error unless all are finite.
func floats(b []byte) ([]float32, error) {
	all := make([]float32, len(b)/2)
	for i := range all {
		x, ok := half(binary.LittleEndian.Uint16(b[2*i:]))
		if !ok {
			return nil, errors.New("are not finite")
		}
		all[i] = x
	}
	return all, nil
}

// half returns the value of a 16-bit float, and reports whether it is finite.
func half(bits uint16) (float32, bool) {
	exp, frac := int(bits>>10&31), float64(bits&1023)
	x := math.Ldexp(1+frac/1024, exp-15)
	switch exp {
	case 31:
		return 0, false
	case 0:
		x = math.Ldexp(frac, -24)
	}
	if bits>>15 != 0 {
		x = -x
	}
	return float32(x), true
}

// QuestionSlot returns the slot that a question asks about, given its vector by EmbedQuery, and the probability that the slot is
// right. The name is "" when the question is about no slot. Without weights, or for a vector of another embedder, it returns "" and 0.
func (e *Embedder) QuestionSlot(query []float32) (name string, probability float64) {
	return e.slots.of(query, e.Dim())
}

func (h *head) of(v []float32, dim int) (string, float64) {
	if h == nil || len(v) != dim {
		return "", 0
	}
	v = v[:h.dim]
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return "", 0
	}
	scale := float32(1 / math.Sqrt(square)) // the length depends on the language, so it is normalised away
	units := make([]float32, h.hidden)
	for i := range units {
		units[i] = max(0, scale*product(h.in[i*h.dim:], v)+h.inBias[i])
	}
	scores := make([]float64, len(h.names))
	best := 0
	for i := range scores {
		scores[i] = float64(product(h.out[i*h.hidden:], units) + h.bias[i])
		if scores[i] > scores[best] {
			best = i
		}
	}
	sum := 0.0
	for _, x := range scores {
		sum += math.Exp(x - scores[best])
	}
	return h.names[best], 1 / sum
}

// product is the inner product of v and the first len(v) weights.
func product(weights, v []float32) (sum float32) {
	weights = weights[:len(v)]
	for i, x := range v {
		sum += weights[i] * x
	}
	return sum
}

package joint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/contextmem/contextmem/embed"
)

// turn makes of the vector of a question the one by which memories are looked for: q + to * (from * q).
type turn struct {
	from, to [][]float32 // [rank][dim]
}

const mostRank = 1024

// WithMemoriesOf returns the embedder with another one for memories and questions to them: see embed.MemoryEmbedder. m must have the
// same Dim, else it is an error; it keeps its own weights of WithMemories.
func (e *Embedder) WithMemoriesOf(m *Embedder) (*Embedder, error) {
	if m == nil || m.Dim() != e.Dim() {
		return nil, errors.New("joint: an embedder of memories has the dimensions of that of other texts")
	}
	id := fnv.New32a()
	fmt.Fprint(id, e.model, "\x00", m.model)
	out := *e
	out.model, out.ofMemories = fmt.Sprintf("joint/%08x", id.Sum32()), m
	return &out, nil
}

// Memories returns the embedder of memories, nil for itself.
func (e *Embedder) Memories() embed.Embedder {
	if e.ofMemories == nil {
		return nil // not a nil *Embedder in an interface
	}
	return e.ofMemories
}

// WithMemories returns the embedder with weights, learnt of conversations, that turn the vector of a question towards what people
// say of themselves: see embed.MemoryQuerier. Vectors of documents stay the same, and so does Model. The weights are little-endian: the rank r as a 32-bit number, then in 32-bit floats
// [r, Dim] what is read of a question and [r, Dim] what is added for each. They are not referred to afterwards.
func (e *Embedder) WithMemories(weights []byte) (*Embedder, error) {
	dim := e.Dim()
	if len(weights) < 4 {
		return nil, fmt.Errorf("joint: weights of memories are cut off")
	}
	rank := int(binary.LittleEndian.Uint32(weights))
	if rank < 1 || rank > mostRank || len(weights) != 4+8*dim*rank {
		return nil, fmt.Errorf("joint: weights of memories are not of %d dimensions", dim)
	}
	rows := make([][]float32, 2*rank)
	b := weights[4:]
	for i := range rows {
		rows[i] = make([]float32, dim)
		for k := range rows[i] {
			x := math.Float32frombits(binary.LittleEndian.Uint32(b))
			if b = b[4:]; math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return nil, fmt.Errorf("joint: weights of memories are not finite")
			}
			rows[i][k] = x
		}
	}
	out := *e
	out.memories = &turn{from: rows[:rank], to: rows[rank:]}
	return &out, nil
}

// MemoryQuery returns the vector by which memories are looked for, given that of a question, which it does not change. Without weights
// it is that of the question.
func (e *Embedder) MemoryQuery(query []float32) []float32 {
	t := e.memories
	if t == nil || len(query) != len(t.to[0]) {
		return query
	}
	out := slices.Clone(query)
	for i, from := range t.from {
		var sum float32
		for k, x := range query {
			sum += from[k] * x
		}
		for k, x := range t.to[i] {
			out[k] += sum * x
		}
	}
	return out
}

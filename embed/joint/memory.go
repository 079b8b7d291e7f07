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

// turn is a low-rank map from the vector q of a question to the vector that searches memories: q + to * (from * q).
type turn struct {
	from, to [][]float32 // [rank][dim]
}

const mostRank = 1024

// WithMemoriesOf returns the embedder with m as the embedder of memories and of questions about them: see embed.MemoryEmbedder. It
// returns an error when m has another Dim. m keeps its own weights of WithMemories.
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

// Memories returns the embedder of memories, nil when it is e itself.
func (e *Embedder) Memories() embed.Embedder {
	if e.ofMemories == nil {
		return nil // not a nil *Embedder in an interface
	}
	return e.ofMemories
}

// WithMemories returns the embedder with trained weights that move the vector of a question towards what people say about themselves:
// see embed.MemoryQuerier. The vectors of documents and Model stay the same.
//
// The weights are little-endian: the rank r as a 32-bit number, then two matrices of 32-bit floats: from, [r, Dim], and to, [r, Dim].
// They are copied.
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

// MemoryQuery returns the vector that searches memories, given the vector of a question, which it does not change. Without weights it
// returns the question's vector.
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

package contextmem

import (
	"slices"
	"strings"
	"sync"
)

// resultMemory is what the chunks, the sources and the graph context of a result lie in.
type resultMemory struct {
	chunks  []Chunk
	sources []SourceInfo
	parts   []Explain

	graph    *GraphContext // with memory for paths and groups
	triplets []Triplet
	texts    []string
}

var resultMemories = sync.Pool{New: func() any { return new(resultMemory) }}

// newGraph returns an empty graph context.
func (m *resultMemory) newGraph() *GraphContext {
	if m.graph == nil {
		m.graph = &GraphContext{QueryPaths: []Path{}, ChunkRelations: []Path{}, ChunkGroups: map[string][]string{}}
	}
	return m.graph
}

// forgetGraph empties the graph context, for the next one.
func (m *resultMemory) forgetGraph() {
	g := m.graph
	if g == nil {
		return
	}
	if cap(m.triplets) > maxResultMemory || cap(m.texts) > 8*maxResultMemory || cap(g.QueryPaths) > maxResultMemory || cap(g.ChunkRelations) > maxResultMemory {
		m.graph, m.triplets, m.texts = nil, nil, nil
		return
	}
	for _, paths := range [...][]Path{g.QueryPaths, g.ChunkRelations} {
		clear(paths[:cap(paths)])
	}
	clear(g.ChunkGroups)
	clear(m.triplets)
	clear(m.texts)
	*g = GraphContext{QueryPaths: g.QueryPaths[:0], ChunkRelations: g.ChunkRelations[:0], ChunkGroups: g.ChunkGroups}
	m.triplets, m.texts = m.triplets[:0], m.texts[:0]
}

// take returns n zero elements behind those that were taken before, which stay where they are.
func take[T any](memory *[]T, n int) []T {
	at := len(*memory)
	if cap(*memory)-at < n {
		*memory, at = make([]T, 0, max(n, 2*at, 16)), 0
	}
	*memory = (*memory)[:at+n]
	return (*memory)[at : at+n : at+n]
}

// textBlock makes short texts that share memory. What was made stays as it is.
type textBlock struct{ b *strings.Builder }

// textBlockBytes is the size of the shared memory.
const textBlockBytes = 640

// room returns memory for n more bytes.
func (t *textBlock) room(n int) *strings.Builder {
	if t.b == nil || t.b.Cap()-t.b.Len() < n {
		t.b = new(strings.Builder)
		t.b.Grow(max(n, textBlockBytes))
	}
	return t.b
}

func (t *textBlock) join(x, y string) string {
	b := t.room(len(x) + len(y))
	from := b.Len()
	b.WriteString(x)
	b.WriteString(y)
	return b.String()[from:]
}

func (t *textBlock) keep(text []byte) string {
	b := t.room(len(text))
	from := b.Len()
	b.Write(text)
	return b.String()[from:]
}

// maxResultMemory keeps the memory of a rare large result from being kept.
const maxResultMemory = 128

// zeroed returns n zero elements, never nil, in memory where it is large enough.
func zeroed[T any](memory []T, n int) []T {
	memory = slices.Grow(memory[:0], max(n, 1))[:n]
	clear(memory)
	return memory
}

// Release gives the memory of the result to later recalls, which then leave less to the
// garbage collector. Nothing of the result may be used any more, nor may a copy of it be
// released too. Calling it is optional: without it the result is a value like any other.
func (r *Result) Release() {
	m := r.memory
	if m == nil {
		return
	}
	*r = Result{}
	if cap(m.chunks) > maxResultMemory || cap(m.sources) > maxResultMemory || cap(m.parts) > maxResultMemory {
		return
	}
	clear(m.chunks)
	clear(m.sources)
	m.chunks, m.sources = m.chunks[:0], m.sources[:0]
	m.forgetGraph()
	resultMemories.Put(m)
}

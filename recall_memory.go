package contextmem

import (
	"slices"
	"sync"
)

// resultMemory is what the chunks and sources of a result lie in.
type resultMemory struct {
	chunks  []Chunk
	sources []SourceInfo
	parts   []Explain
}

var resultMemories = sync.Pool{New: func() any { return new(resultMemory) }}

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
	resultMemories.Put(m)
}

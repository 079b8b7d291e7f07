package weaviate

import (
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/simd"
)

// partitionVectors is the vectors of one length in a lane of a partition.
type partitionVectors struct {
	part   backend.Partition
	lane   backend.Lane
	dim    int
	stride int // length of a row
	chunks []cachedChunk
	tags   map[int64][]uint64 // tags of each source that has vectors
	blocks [][]float32        // a row for each chunk, blockRows in each block but the last: its vector, and zeros
}

// blockRows is the number of rows in a block. A partition that grows copies at most one block.
const blockRows = 1024

func newPartitionVectors(k partitionKey) *partitionVectors {
	return &partitionVectors{part: k.part, lane: k.lane, dim: k.dim, stride: strideOf(k.dim), tags: make(map[int64][]uint64)}
}

// strideOf returns the length of a row for vectors of a length.
func strideOf(dim int) int { return (dim + simd.AlignF32 - 1) / simd.AlignF32 * simd.AlignF32 }

// size implements [cachedContent].
func (v *partitionVectors) size() int {
	n := 24*cap(v.chunks) + 64*len(v.tags)
	for _, b := range v.blocks {
		n += 4 * cap(b)
	}
	return n
}

// row returns the row of a chunk, by its position.
func (v *partitionVectors) row(at int) []float32 {
	b := v.blocks[at/blockRows]
	return b[at%blockRows*v.stride:][:v.stride]
}

// count implements [cachedContent].
func (v *partitionVectors) count() int { return len(v.chunks) }

// addObject implements [readContent].
func (v *partitionVectors) addObject(c cachedChunk, tags []uint64, o object) error {
	vec := o.vector()
	if len(vec) != v.dim {
		return fmt.Errorf("weaviate: an object has a vector of %d numbers among those of %d: %w", len(vec), v.dim, backend.ErrCorrupt)
	}
	v.add(c, tags, vec)
	return nil
}

// readEnded implements [readContent].
func (v *partitionVectors) readEnded() {}

func (v *partitionVectors) add(c cachedChunk, tags []uint64, vec []float32) {
	if len(v.chunks)%blockRows == 0 {
		v.blocks = append(v.blocks, nil)
	}
	last := &v.blocks[len(v.blocks)-1]
	at := len(*last)
	if at == cap(*last) {
		rows := min(max(2*at/v.stride, 8), blockRows)
		*last = append(make([]float32, 0, rows*v.stride), *last...)
	}
	*last = (*last)[:at+v.stride]
	clear((*last)[at+copy((*last)[at:], vec):])
	v.chunks = append(v.chunks, c)
	v.tags[c.source] = tags
}

// remove removes the vectors of sources. The last rows take their places.
func (v *partitionVectors) remove(gone map[int64]bool) {
	for i := 0; i < len(v.chunks); {
		if !gone[v.chunks[i].source] {
			i++
			continue
		}
		delete(v.tags, v.chunks[i].source)
		end := len(v.chunks) - 1
		copy(v.row(i), v.row(end))
		v.chunks[i] = v.chunks[end]
		v.chunks = v.chunks[:end]
		last := &v.blocks[len(v.blocks)-1]
		if *last = (*last)[:len(*last)-v.stride]; len(*last) == 0 {
			v.blocks = v.blocks[:len(v.blocks)-1]
		}
	}
}

// apply implements [cachedContent]. It returns false for vectors of versions that stay, since they may name chunks that the
// index does not have.
func (v *partitionVectors) apply(p *plan) bool {
	if p.sub != nil && *p.sub == v.part.Sub || p.lane != nil && *p.lane == v.lane {
		return false
	}
	for k, c := range p.vectors {
		if k.lane == v.lane && c.Part == v.part {
			return false
		}
	}
	for source := range p.gone {
		if _, ok := v.tags[source]; ok {
			v.remove(p.gone)
			break
		}
	}
	for source, c := range p.tags {
		if _, ok := v.tags[source]; ok {
			v.tags[source] = slices.Clone(c.Tags)
		}
	}
	for source, put := range p.puts {
		if put.put.Part != v.part {
			continue
		}
		tags := slices.Clone(put.tags)
		for chunk, vec := range put.vectors[v.lane] {
			if len(vec) == v.dim {
				v.add(cachedChunk{chunk: chunk, source: source}, tags, vec)
			}
		}
	}
	return true
}

// search returns the k chunks that have a vector, pass a filter and have the greatest inner products with vec. It reuses the
// memory of into.
func (v *partitionVectors) search(vec []float32, f backend.Filter, k int, into []backend.Hit) []backend.Hit {
	query, scores := v.padded(vec), make([]float32, min(blockRows, len(v.chunks)))
	best := bestHits{k: k, hits: into[:0]}
	for b, rows := range v.blocks {
		chunks := v.chunks[b*blockRows:][:len(rows)/v.stride]
		simd.DotF32(scores[:len(chunks)], rows, query)
		for i := range chunks {
			h := backend.Hit{Chunk: chunks[i].chunk, Source: chunks[i].source, Score: scores[i]}
			if best.wants(h) && f.Matches(v.tags[h.Source]) {
				best.add(h)
			}
		}
	}
	return best.sorted()
}

// padded returns a vector with the length of a row.
func (v *partitionVectors) padded(vec []float32) []float32 {
	out := make([]float32, v.stride)
	copy(out, vec)
	return out
}

// score returns the inner products of chunks with vec, in any order.
func (v *partitionVectors) score(vec []float32, chunks []int64) (out []backend.Hit) {
	query, want := v.padded(vec), slices.Sorted(slices.Values(chunks))
	for i := range v.chunks {
		c := &v.chunks[i]
		if _, ok := slices.BinarySearch(want, c.chunk); ok {
			var score [1]float32
			simd.DotF32(score[:], v.row(i), query)
			out = append(out, backend.Hit{Chunk: c.chunk, Source: c.source, Score: score[0]})
		}
	}
	return out
}

package weaviate

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/simd"
)

// partitionVectors is the vectors of one length in a lane of a small partition.
type partitionVectors struct {
	part   backend.Partition
	lane   backend.Lane
	dim    int
	stride int // length of a row
	chunks []cachedChunk
	tags   map[int64][]string // tags of each source that has vectors
	rows   []float32          // a row for each chunk: its vector, and zeros
}

func newPartitionVectors(k partitionKey) *partitionVectors {
	return &partitionVectors{part: k.part, lane: k.lane, dim: k.dim, stride: strideOf(k.dim), tags: make(map[int64][]string)}
}

// strideOf returns the length of a row for vectors of a length.
func strideOf(dim int) int { return (dim + simd.AlignF32 - 1) / simd.AlignF32 * simd.AlignF32 }

// size implements [cachedContent].
func (v *partitionVectors) size() int {
	return 4*len(v.rows) + 24*len(v.chunks) + 100*len(v.tags)
}

func (v *partitionVectors) add(c cachedChunk, tags []string, vec []float32) {
	at := len(v.rows)
	v.rows = slices.Grow(v.rows, v.stride)[:at+v.stride]
	clear(v.rows[at+copy(v.rows[at:], vec):])
	v.chunks = append(v.chunks, c)
	v.tags[c.source] = tags
}

// remove removes the vectors of sources.
func (v *partitionVectors) remove(gone map[int64]bool) {
	n := 0
	for i, c := range v.chunks {
		if gone[c.source] {
			delete(v.tags, c.source)
			continue
		}
		copy(v.rows[n*v.stride:], v.rows[i*v.stride:(i+1)*v.stride])
		v.chunks[n] = c
		n++
	}
	v.chunks, v.rows = v.chunks[:n], v.rows[:n*v.stride]
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
			v.tags[source] = tagsOf(c.Tags)
		}
	}
	for source, put := range p.puts {
		if put.put.Part != v.part {
			continue
		}
		tags := tagsOf(put.tags)
		for chunk, vec := range put.vectors[v.lane] {
			if len(vec) != v.dim {
				continue
			}
			if len(v.chunks) == smallPartition || 4*len(v.rows) > maxCachedVectorBytes {
				return false
			}
			v.add(cachedChunk{chunk: chunk, source: source}, tags, vec)
		}
	}
	return true
}

// passing returns a function that reports whether a source passes a filter.
func (v *partitionVectors) passing(f backend.Filter) func(source int64) bool {
	if len(f.All)+len(f.Not) == 0 {
		return func(int64) bool { return true }
	}
	all, not := make([][]string, len(f.All)), tagsOf(f.Not)
	for i, group := range f.All {
		all[i] = tagsOf(group)
	}
	has := func(tags, any []string) bool {
		return slices.ContainsFunc(any, func(t string) bool { return slices.Contains(tags, t) })
	}
	known := make(map[int64]bool, len(v.tags))
	for source, tags := range v.tags {
		known[source] = !has(tags, not) && !slices.ContainsFunc(all, func(group []string) bool { return !has(tags, group) })
	}
	return func(source int64) bool { return known[source] }
}

// search returns the chunks that have a vector and pass a filter, in descending order of their inner products with vec. It
// reuses the memory of into.
func (v *partitionVectors) search(vec []float32, f backend.Filter, into []backend.Hit) []backend.Hit {
	query, scores := make([]float32, v.stride), make([]float32, len(v.chunks))
	copy(query, vec)
	simd.DotF32(scores, v.rows, query)
	hits, passes := slices.Grow(into[:0], len(v.chunks)), v.passing(f)
	for i, c := range v.chunks {
		if passes(c.source) {
			hits = append(hits, backend.Hit{Chunk: c.chunk, Source: c.source, Score: scores[i]})
		}
	}
	sortHits(hits)
	return hits
}

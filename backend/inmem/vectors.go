package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// checkEvery is the number of rows that a search visits between two checks of its context.
const checkEvery = 1 << 12

// bestHits sorts hits by descending score and then by ascending chunk, and keeps the first k.
func bestHits(hits []backend.Hit, k int) []backend.Hit {
	slices.SortFunc(hits, func(a, b backend.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Chunk, b.Chunk))
	})
	return firstN(hits, k)
}

func (x *index) SearchVectors(ctx context.Context, q backend.VectorQuery) (hits []backend.Hit, err error) {
	err = x.read(ctx, q.Part, func(p *indexPart) error {
		lengths := p.lengths[q.Lane]
		if lengths[len(q.Vector)] == 0 {
			for n := range lengths {
				return fmt.Errorf("search vectors: a query of %d dimensions in a partition with vectors of %d", len(q.Vector), n)
			}
		}
		steps := 0
		for _, r := range p.rows {
			if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if v := r.lanes[q.Lane]; len(v) == len(q.Vector) && v != nil && q.Filter.Matches(r.of.tags) {
				hits = append(hits, backend.Hit{Chunk: r.Chunk, Source: r.of.num, Score: dot(q.Vector, v)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return bestHits(hits, q.K), nil
}

// dot returns the inner product of two vectors of equal length.
func dot(a, b []float32) float32 {
	var sum float32
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// ScoreChunks implements [backend.ChunkScorer].
func (x *index) ScoreChunks(ctx context.Context, q backend.ScoreQuery) (hits []backend.Hit, err error) {
	err = x.read(ctx, q.Part, func(p *indexPart) error {
		for _, c := range q.Chunks {
			r := p.rows[c]
			if r == nil {
				continue
			}
			if v := r.lanes[q.Lane]; v != nil && len(v) == len(q.Vector) {
				hits = append(hits, backend.Hit{Chunk: c, Source: r.of.num, Score: dot(q.Vector, v)})
			}
		}
		return nil
	})
	return hits, err
}

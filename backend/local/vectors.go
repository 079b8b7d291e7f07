package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/vector"
)

// vectorPart is the vectors of one length in a block, or in memory. Lengths stand
// side by side while a workspace moves to another embedder.
type vectorPart struct {
	dim    int
	mem    *vector.Mem // nil in a block
	sealed bool        // mem belongs to a sealed tail
	search interface {
		Search(ctx context.Context, q *vector.Query, dst []vector.Hit) ([]vector.Hit, error)
		Score(ctx context.Context, q []float32, places []uint32, dst []float32) ([]float32, error)
		Vector(place uint32, buf []float32) []float32
		Len() int
	}
	places places // of the rows
	live   int    // live rows with a vector here
}

// vectorPart returns the part in memory for vectors of a length, making it when it
// is new. The caller holds mu.
func (p *partition) vectorPart(dim int) *vectorPart {
	for _, v := range p.vectors {
		if v.dim == dim && v.mem != nil && !v.sealed {
			return v
		}
	}
	mem := vector.NewMem(dim, vector.InnerProduct)
	v := &vectorPart{dim: dim, mem: mem, search: mem}
	p.vectors = append(p.vectors, v)
	return v
}

// checkVector refuses what a part cannot hold.
func checkVector(v []float32) error {
	if len(v) > vector.MaxDim {
		return fmt.Errorf("a vector of %d dimensions, at most %d are possible", len(v), vector.MaxDim)
	}
	return nil
}

// add indexes the vector of a row above all before.
func (v *vectorPart) add(row uint32, vec []float32) {
	v.mem.Append(vec)
	v.places.add(row, 1)
	v.live++
}

// row returns the row of a place.
func (v *vectorPart) row(place uint32) uint32 { return v.places.row(place) }

// forget counts live rows that go.
func (v *vectorPart) forget(first, n uint32) {
	v.live -= int(v.places.before(first+n) - v.places.before(first))
}

// SearchVectors finds the nearest chunks; see [backend.Vectors]. A partition that
// holds vectors of the query's length and of others answers with those of the
// query's length.
func (x *index) SearchVectors(ctx context.Context, q backend.VectorQuery) (hits []backend.Hit, err error) {
	err = x.read(ctx, inLane(q.Part, q.Lane), needOf(q.Filter), func(p *partition) error {
		parts, err := p.partsFor(nil, q.Vector)
		if err == nil && len(parts) > 0 {
			hits, err = p.searchVectors(ctx, parts, &q)
		}
		return err
	})
	return hits, err
}

// partsFor appends to parts those with live vectors of the length of a query's; none where the
// partition has no vectors.
func (p *partition) partsFor(parts []*vectorPart, v []float32) ([]*vectorPart, error) {
	other := 0
	for _, part := range p.vectors {
		switch {
		case part.live == 0:
		case part.dim == len(v):
			parts = append(parts, part)
		default:
			other = part.dim
		}
	}
	if len(parts) == 0 && other != 0 {
		return nil, fmt.Errorf("search vectors: a query of %d dimensions in a partition with vectors of %d", len(v), other)
	}
	return parts, nil
}

// accept returns the places of rows in a part; nil: all of them.
func (v *vectorPart) accept(p *partition, rows *bitset.Set, buf *[]uint64) *bitset.Set {
	if rows == p.live && v.live == v.search.Len() {
		return nil
	}
	return v.places.of(rows, buf)
}

func (p *partition) searchVectors(ctx context.Context, parts []*vectorPart, q *backend.VectorQuery) ([]backend.Hit, error) {
	rows, sc := p.accept(q.Filter)
	defer sc.release()
	g := gatherings.Get().(*gathered)
	defer g.release()
	accepts := make([]*bitset.Set, len(parts))
	for i, v := range parts {
		accepts[i] = v.accept(p, rows, g.set(i))
	}
	return p.best(q.K, q.Answer, func(k int, anyOrder bool) ([]found, error) {
		out := g.found[:0]
		for i, v := range parts {
			query := vector.Query{Vector: q.Vector, K: k, Accept: accepts[i], Recall: q.Recall, AnyOrder: anyOrder && len(parts) == 1}
			if len(out) == k {
				query.Floor = out[k-1].score
			}
			hits, err := v.search.Search(ctx, &query, g.near[:0])
			if err != nil {
				return nil, err
			}
			for _, h := range hits {
				out = append(out, found{v.row(h.Row), h.Score})
			}
			g.near = hits
			if i > 0 {
				slices.SortFunc(out, func(a, b found) int {
					return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.row, b.row))
				})
				out = out[:min(k, len(out))]
			}
		}
		g.found = out
		return out, nil
	})
}

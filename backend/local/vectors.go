package local

import (
	"cmp"
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/vector"
)

// vectorPart holds the vectors of one length, of a block or in memory. A partition can have
// vectors of several lengths while its workspace changes to another embedder.
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
	places places // maps rows to places in search
	live   int    // live rows with a vector here
}

// vectorPart returns the part in memory for vectors of a length, and creates it if needed.
// The caller holds mu.
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

// checkVector returns an error if a vector is too long for a part.
func checkVector(v []float32) error {
	if len(v) > vector.MaxDim {
		return fmt.Errorf("a vector of %d dimensions, at most %d are possible", len(v), vector.MaxDim)
	}
	return nil
}

// add appends the vector of a row, which is above all rows so far.
func (v *vectorPart) add(row uint32, vec []float32) {
	v.mem.Append(vec)
	v.places.add(row, 1)
	v.live++
}

// row returns the row of the vector at a place.
func (v *vectorPart) row(place uint32) uint32 { return v.places.row(place) }

// forget subtracts the vectors of n rows from first on, which are removed, from the live count.
func (v *vectorPart) forget(first, n uint32) {
	v.live -= int(v.places.before(first+n) - v.places.before(first))
}

// SearchVectors finds the nearest chunks; see [backend.Vectors]. It searches only vectors
// of the query's length.
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

// partsFor appends to parts those parts that have live vectors of the length of v. It returns an error
// if the partition only has live vectors of another length.
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

// accept returns the places of rows in a part as a set, or nil for all places.
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
			g.near = hits
			if i == 0 {
				for _, h := range hits {
					out = append(out, found{v.row(h.Row), h.Score})
				}
				continue
			}
			g.merged = v.mergeHits(g.merged[:0], out, hits, k)
			out, g.merged = g.merged, out
		}
		g.found = out
		return out, nil
	})
}

// mergeHits appends to dst the first k of some found rows and of the hits of a part. Both are sorted by score and then by row, and so is
// the result.
func (v *vectorPart) mergeHits(dst, rows []found, hits []vector.Hit, k int) []found {
	for len(dst) < k && len(rows)+len(hits) > 0 {
		if len(hits) > 0 {
			h := found{v.row(hits[0].Row), hits[0].Score}
			if len(rows) == 0 || cmp.Or(cmp.Compare(rows[0].score, h.score), cmp.Compare(h.row, rows[0].row)) < 0 {
				dst, hits = append(dst, h), hits[1:]
				continue
			}
		}
		dst, rows = append(dst, rows[0]), rows[1:]
	}
	return dst
}

package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/vector"
)

// vectorPart is the vectors of one length in a block, or in memory. Lengths stand
// side by side while a workspace moves to another embedder.
type vectorPart struct {
	dim    int
	mem    *vector.Mem // nil in a block
	search interface {
		Search(ctx context.Context, q *vector.Query, dst []vector.Hit) ([]vector.Hit, error)
		Vector(place uint32) []float32
		Len() int
	}
	first uint32   // row of the first vector
	rows  []uint32 // row by place, rising; nil: first, first+1, ...
	live  int      // live rows with a vector here

	ranked sync.Once
	rank   *rank // of rows, in a block, once a filter needed it
}

// vectorPart returns the part in memory for vectors of a length, making it when it
// is new. The caller holds mu.
func (p *partition) vectorPart(dim int, row uint32) *vectorPart {
	for _, v := range p.vectors {
		if v.dim == dim && v.mem != nil {
			return v
		}
	}
	mem := vector.NewMem(dim, vector.InnerProduct)
	v := &vectorPart{dim: dim, mem: mem, search: mem, first: row}
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
	at := v.mem.Append(vec)
	if v.rows == nil && row != v.first+at {
		v.rows = make([]uint32, at, 2*at+8)
		for i := range v.rows {
			v.rows[i] = v.first + uint32(i)
		}
	}
	if v.rows != nil {
		v.rows = append(v.rows, row)
	}
	v.live++
}

// row returns the row of a place.
func (v *vectorPart) row(place uint32) uint32 {
	if v.rows != nil {
		return v.rows[place]
	}
	return v.first + place
}

// forget counts live rows that go.
func (v *vectorPart) forget(first, n uint32) {
	if v.rows == nil {
		from, to := max(first, v.first), min(first+n, v.first+uint32(v.search.Len()))
		v.live -= int(max(to, from) - from)
		return
	}
	from, _ := slices.BinarySearch(v.rows, first)
	to, _ := slices.BinarySearch(v.rows, first+n)
	v.live -= to - from
}

// acceptOf turns a set of rows into one of places in the part.
func (v *vectorPart) acceptOf(rows *bitset.Set) *bitset.Set {
	if v.rows == nil {
		return shifted(rows, v.first, v.search.Len())
	}
	if v.mem == nil {
		v.ranked.Do(func() { v.rank = newRank(v.rows) })
		return v.rank.places(rows, len(v.rows))
	}
	set := bitset.New(len(v.rows))
	for i, r := range v.rows {
		if rows.Has(r) {
			set.Add(uint32(i))
		}
	}
	return set
}

// shifted returns the n members of a set from first on as a set from 0 on, which may
// share its words.
func shifted(rows *bitset.Set, first uint32, n int) *bitset.Set {
	from := rows.Words()[first/64:]
	by := first % 64
	if by == 0 {
		return bitset.FromWords(from, rows.Len()-int(first))
	}
	out := make([]uint64, (n+63)/64)
	for i := range min(len(out), len(from)) {
		out[i] = from[i] >> by
		if i+1 < len(from) {
			out[i] |= from[i+1] << (64 - by)
		}
	}
	return bitset.FromWords(out, n)
}

// SearchVectors finds the nearest chunks; see [backend.Vectors]. A partition that
// holds vectors of the query's length and of others answers with those of the
// query's length.
func (x *index) SearchVectors(ctx context.Context, q backend.VectorQuery) (hits []backend.Hit, err error) {
	err = x.read(ctx, q.Part, needOf(q.Filter), func(p *partition) error {
		var parts []*vectorPart
		other := 0
		for _, v := range p.vectors {
			switch {
			case v.live == 0:
			case v.dim == len(q.Vector):
				parts = append(parts, v)
			default:
				other = v.dim
			}
		}
		if len(parts) == 0 && other != 0 {
			return fmt.Errorf("search vectors: a query of %d dimensions in a partition with vectors of %d", len(q.Vector), other)
		}
		if len(parts) > 0 {
			hits, err = p.searchVectors(ctx, parts, &q)
		}
		return err
	})
	return hits, err
}

func (p *partition) searchVectors(ctx context.Context, parts []*vectorPart, q *backend.VectorQuery) ([]backend.Hit, error) {
	rows, sc := p.accept(q.Filter)
	defer sc.release()
	accepts := make([]*bitset.Set, len(parts)) // nil: all
	for i, v := range parts {
		if rows != p.live || v.live < v.search.Len() {
			accepts[i] = v.acceptOf(rows)
		}
	}
	g := gatherings.Get().(*gathered)
	defer g.release()
	return p.best(q.K, q.Answer, func(k int, anyOrder bool) ([]found, error) {
		out := g.found[:0]
		for i, v := range parts {
			hits, err := v.search.Search(ctx, &vector.Query{Vector: q.Vector, K: k, Accept: accepts[i], AnyOrder: anyOrder && len(parts) == 1}, g.near[:0])
			if err != nil {
				return nil, err
			}
			for _, h := range hits {
				out = append(out, found{v.row(h.Row), h.Score})
			}
			g.near = hits
		}
		g.found = out
		if len(parts) > 1 {
			slices.SortFunc(out, func(a, b found) int {
				return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.row, b.row))
			})
			out = out[:min(k, len(out))]
		}
		return out, nil
	})
}

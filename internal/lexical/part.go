package lexical

import (
	"context"
	"math"
	"slices"

	"github.com/contextmem/contextmem/internal/bitset"
)

// Part is one of the indexes that make up a partition: a [Mem] or a [Segment]. The parts of a
// partition have no row in common. Methods are safe for concurrent use.
type Part interface {
	// Delete deletes a row and reports whether it was live.
	Delete(row uint32) (bool, error)
	// Forward appends the terms of a live row to dst, in no particular order.
	Forward(row uint32, dst []TermFreq) ([]TermFreq, error)
	// Has reports whether a row is live in this part.
	Has(row uint32) bool
	// Length returns the document length of a live row, or 0 if the row is not live.
	Length(row uint32) int64
	// Len returns the number of live rows.
	Len() int
	// EachPosting calls f with every live row in accept (nil: all) that has a term, in ascending
	// order, and with the term's frequency. f must not call the part.
	EachPosting(term string, accept *bitset.Set, f func(row, tf uint32)) error

	// count adds the part's statistics to r. It may store in ids the numbers of r's terms, for search.
	count(r *run, ids []uint32) error
	// search pushes the matching live rows in accept (nil: all) to r.top. ids holds what count
	// stored.
	search(ctx context.Context, r *run, ids []uint32, accept *bitset.Set) error
	snapshot() snapshot
}

var (
	_ Part = (*Mem)(nil)
	_ Part = (*Segment)(nil)
)

// View is a part together with the rows that a search may find; nil means all live rows.
type View struct {
	Part   Part
	Accept *bitset.Set
}

// Counts holds the statistics of an Or query whose terms are distinct.
type Counts struct {
	Stats
	DF []int // number of live rows that have each of Query.Terms
}

func (c *Counts) set(r *run) { c.Stats, c.DF = r.stats, append(c.DF[:0], r.df...) }

// Count sets c to the statistics of q over all live rows of the parts.
func Count(q *Query, views []View, c *Counts) error {
	r := newRun(q, 0, len(views))
	defer r.release()
	if err := r.count(views); err != nil {
		return err
	}
	c.set(r)
	return nil
}

// Search returns the k best rows of all parts, best first.
func Search(ctx context.Context, q *Query, k int, views []View) ([]Hit, error) {
	return appendHits(ctx, nil, q, k, views, true, nil)
}

// Append is [Search] that appends the rows to dst, in no particular order.
func Append(ctx context.Context, dst []Hit, q *Query, k int, views []View) ([]Hit, error) {
	return appendHits(ctx, dst, q, k, views, false, nil)
}

// AppendCounted appends all matching rows to dst, in no particular order, and sets c to the statistics
// under which they were scored.
func AppendCounted(ctx context.Context, dst []Hit, q *Query, views []View, c *Counts) ([]Hit, error) {
	return appendHits(ctx, dst, q, math.MaxInt, views, false, c)
}

func appendHits(ctx context.Context, dst []Hit, q *Query, k int, views []View, sorted bool, c *Counts) ([]Hit, error) {
	if err := ctx.Err(); err != nil || k <= 0 {
		return dst, err
	}
	r := newRun(q, k, len(views))
	defer r.release()
	if err := r.count(views); err != nil {
		return dst, err
	}
	if c != nil {
		c.set(r)
	}
	if !sorted && k >= r.stats.Docs {
		r.top.k = r.stats.Docs + 1 // more than all rows, so push never needs a heap
	}
	r.weigh()
	for i, v := range views {
		if err := v.Part.search(ctx, r, r.idsOf(i), v.Accept); err != nil {
			return dst, err
		}
	}
	if sorted {
		slices.Sort(r.top.keys)
	}
	return r.top.appendHits(dst, r.unit), nil
}

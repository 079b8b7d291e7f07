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
	// FindAny sets has[i] for each of rows that has one of terms, and known[i] for each that is live in this part. It leaves other places as they
	// are.
	FindAny(terms []string, rows []uint32, has, known []bool) error
	// Has reports whether a row is live in this part.
	Has(row uint32) bool
	// Length returns the document length of a live row, or 0 if the row is not live.
	Length(row uint32) int64
	// Len returns the number of live rows.
	Len() int
	// EachPosting calls f with every live row in accept (nil: all) that has a term, in ascending
	// order, and with the term's frequency in each. A call has some of the rows, at least one. f must not call the part, and
	// the slices are valid until f returns.
	EachPosting(term string, accept *bitset.Set, f func(rows, tfs []uint32)) error

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
	// Below is a row up to which, exclusively, all rows are in Accept. It saves asking for each; 0 is right for any set.
	Below uint32
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
	return appendHits(ctx, nil, q, k, views, true)
}

// Append is [Search] that appends the rows to dst, in no particular order.
func Append(ctx context.Context, dst []Hit, q *Query, k int, views []View) ([]Hit, error) {
	return appendHits(ctx, dst, q, k, views, false)
}

// Score sets dst[row] to the score of each row that Search finds, and c to the statistics that they were scored by. dst is all zero and
// has a place for every row that may be found.
func Score(ctx context.Context, dst []float32, q *Query, views []View, c *Counts) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := newRun(q, math.MaxInt, len(views))
	defer r.release()
	if err := r.prepare(views); err != nil {
		return err
	}
	c.set(r)
	r.scores, r.top.k = dst, r.stats.Docs+1 // never full: no heap is needed
	if err := r.search(ctx, views); err != nil {
		return err
	}
	for _, key := range r.top.keys {
		dst[^uint32(key)] = float32(key>>32) * r.unit
	}
	return nil
}

func appendHits(ctx context.Context, dst []Hit, q *Query, k int, views []View, sorted bool) ([]Hit, error) {
	if err := ctx.Err(); err != nil || k <= 0 {
		return dst, err
	}
	r := newRun(q, k, len(views))
	defer r.release()
	if err := r.prepare(views); err != nil {
		return dst, err
	}
	if !sorted && k >= r.stats.Docs {
		r.top.k = r.stats.Docs + 1 // more than all rows, so push never needs a heap
	}
	if err := r.search(ctx, views); err != nil {
		return dst, err
	}
	if sorted {
		slices.Sort(r.top.keys)
	}
	return r.top.appendHits(dst, r.unit), nil
}

package lexical

import (
	"context"
	"math"
	"slices"

	"github.com/contextmem/contextmem/internal/bitset"
)

// Part is what a partition is made of: a [Mem] or a [Segment]. Parts of one
// partition hold different rows. Methods are safe for concurrent use.
type Part interface {
	// Delete forgets a row, and reports whether it was live here.
	Delete(row uint32) (bool, error)
	// Forward appends the terms of a live row to dst, in no particular order.
	Forward(row uint32, dst []TermFreq) ([]TermFreq, error)
	// Has reports whether a row is live here.
	Has(row uint32) bool
	// Length returns the length of a live row, 0 if there is none.
	Length(row uint32) int64
	// Len returns the number of live rows.
	Len() int
	// EachPosting calls f for every live row with a term that is in accept (nil: all),
	// in rising order, with the term's frequency there. f must not call the part.
	EachPosting(term string, accept *bitset.Set, f func(row, tf uint32)) error

	// count adds what the part has of the statistics to r, and notes in ids what it wants
	// to know of the terms again when it is searched.
	count(r *run, ids []uint32) error
	// search offers the live rows that match and are in accept (nil: all) to r. ids is what
	// count left there.
	search(ctx context.Context, r *run, ids []uint32, accept *bitset.Set) error
	snapshot() snapshot
}

var (
	_ Part = (*Mem)(nil)
	_ Part = (*Segment)(nil)
)

// View is a part with the rows of it that may be found; nil is all live rows.
type View struct {
	Part   Part
	Accept *bitset.Set
}

// Counts are statistics of a query for any of its terms, none of which comes twice.
type Counts struct {
	Stats
	DF []int // live rows with each of Query.Terms
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

// Append appends what Search returns to dst, in any order.
func Append(ctx context.Context, dst []Hit, q *Query, k int, views []View) ([]Hit, error) {
	return appendHits(ctx, dst, q, k, views, false, nil)
}

// AppendCounted appends all rows that Search finds to dst, in any order, and sets c to the statistics that
// they were scored by.
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
		r.top.k = r.stats.Docs + 1 // never full: no heap is needed
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

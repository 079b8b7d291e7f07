package lexical

import (
	"context"
	"slices"

	"github.com/contextmem/contextmem/internal/bitset"
)

// Part is what a partition is made of: a [Mem] or a [Segment]. Parts of one
// partition hold different rows. Methods are safe for concurrent use.
type Part interface {
	// Search appends the k best live rows that match q and are in accept (nil: all)
	// to dst, best first.
	Search(ctx context.Context, q *Query, st *Stats, k int, accept *bitset.Set, dst []Hit) ([]Hit, error)
	// AddStats adds what the part has of the statistics for q to st.
	AddStats(q *Query, st *Stats) error
	// Delete forgets a row, and tells whether it was live here.
	Delete(row uint32) (bool, error)
	// Forward appends the terms of a live row to dst, in no particular order.
	Forward(row uint32, dst []TermFreq) ([]TermFreq, error)
	// Has tells whether a row is live here.
	Has(row uint32) bool
	// Length returns the length of a live row, 0 if there is none.
	Length(row uint32) int64
	// Len returns the number of live rows.
	Len() int
	// EachPosting calls f for every live row with a term that is in accept (nil: all),
	// in rising order, with the term's frequency there. f must not call the part.
	EachPosting(term string, accept *bitset.Set, f func(row, tf uint32)) error

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

// Collect returns the statistics of q over all live rows of the parts.
func Collect(q *Query, views []View) (*Stats, error) {
	st := new(Stats)
	for _, v := range views {
		if err := v.Part.AddStats(q, st); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// Search returns the k best rows of all parts, best first, with the statistics
// that their scores follow.
func Search(ctx context.Context, q *Query, k int, views []View) ([]Hit, *Stats, error) {
	st, err := Collect(q, views)
	if err != nil {
		return nil, nil, err
	}
	var hits []Hit
	for _, v := range views {
		if hits, err = v.Part.Search(ctx, q, st, k, v.Accept, hits); err != nil {
			return nil, nil, err
		}
	}
	if len(views) > 1 {
		slices.SortFunc(hits, CompareHits)
		hits = hits[:min(len(hits), max(k, 0))]
	}
	return hits, st, nil
}

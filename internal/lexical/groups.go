package lexical

import (
	"cmp"
	"context"
	"math"
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

	eachGroupPosting(term string, accept *bitset.Set, f func(group int64, tf uint32)) error
	group(group int64) groupSum
	groupCount() int
	eachGroup(f func(group int64, sum groupSum))
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

// GroupHit is a group that matches a query.
type GroupHit struct {
	Group int64
	Score float32
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

// SearchGroups returns the k best groups, best first and ties by the smaller group,
// by BM25 over documents that are the live rows of a group glued together. Rows
// outside an accept set lend their length and their statistics but no terms. And
// and Phrase require their terms somewhere in the group; phrases are not checked.
// Every posting of the query is read.
func SearchGroups(ctx context.Context, q *Query, k int, views []View) ([]GroupHit, error) {
	if k <= 0 {
		return nil, ctx.Err()
	}
	var seen termSet
	q.eachTerm(func(term string) { seen.place(term) })
	found := make([]map[int64]uint64, len(seen.terms)) // group to frequency, per term
	st := &Stats{DF: make(map[string]int, len(seen.terms))}
	for i, term := range seen.terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found[i] = make(map[int64]uint64)
		all := found[i] // df counts rows outside accept as well
		filtered := false
		for _, v := range views {
			filtered = filtered || v.Accept != nil
			if err := v.Part.eachGroupPosting(term, v.Accept, func(g int64, tf uint32) { found[i][g] += uint64(tf) }); err != nil {
				return nil, err
			}
		}
		if filtered {
			all = make(map[int64]uint64)
			for _, v := range views {
				if err := v.Part.eachGroupPosting(term, nil, func(g int64, tf uint32) { all[g] += uint64(tf) }); err != nil {
					return nil, err
				}
			}
		}
		st.DF[term] = len(all)
	}
	st.Docs, st.TotalLen = countGroups(views)

	s := newScorer(q, st)
	scores := make(map[int64]uint32)
	counts := make(map[int64]int)
	lengths := make(map[int64]float32) // norms of the groups that were met
	for i := range s.terms {
		t := &s.terms[i]
		place, _ := seen.place(t.term)
		for g, tf := range found[place] {
			norm, ok := lengths[g]
			if !ok {
				norm = s.norm(groupLength(views, g))
				lengths[g] = norm
			}
			scores[g] += t.units(uint32(min(tf, math.MaxUint32)), norm)
			if i < s.required {
				counts[g]++
			}
		}
	}
	hits := make([]GroupHit, 0, len(scores))
	for g, score := range scores {
		if counts[g] == s.required && (score > 0 || !s.any) {
			hits = append(hits, GroupHit{g, float32(score) * s.unit})
		}
	}
	slices.SortFunc(hits, func(x, y GroupHit) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Group, y.Group))
	})
	return hits[:min(len(hits), k)], nil
}

// countGroups returns how many groups the parts have together, and their length.
func countGroups(views []View) (n int, length int64) {
	order := slices.Clone(views)
	slices.SortFunc(order, func(x, y View) int { return y.Part.groupCount() - x.Part.groupCount() })
	for i, v := range order {
		v.Part.eachGroup(func(g int64, sum groupSum) {
			length += sum.length
			for _, earlier := range order[:i] {
				if earlier.Part.group(g).docs > 0 {
					return
				}
			}
			n++
		})
	}
	return n, length
}

func groupLength(views []View, group int64) uint32 {
	length := int64(0)
	for _, v := range views {
		length += v.Part.group(group).length
	}
	return uint32(min(length, math.MaxUint32))
}

package recall

import (
	"cmp"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/rank"
)

// handBack serves questions about a former state, such as "which doctor did I see before Folan?": their words often match the memory that
// superseded the answer. Each hit that superseded others hands its score to the latest of them and comes just below it; the ones before
// follow. nums are the versions of the hits of a scope.
func (s *succession) handBack(sc *scope, nums []int64, hits []*Hit) ([]*Hit, error) {
	found, err := s.Store.Successions(s.ctx, backend.SuccessionQuery{Part: s.part, Later: nums})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(s.concerned(found), func(f backend.Succession) bool {
		return f.Confidence <= change.Orders || f.Retracts && s.askedOf.IsZero()
	})
	if len(found) == 0 {
		return hits, nil
	}
	ends := make([]end, len(found))
	for i, f := range found {
		ends[i] = end{f.Earlier, f.EarlierChunk}
	}
	rows, err := s.rows(ends)
	if err != nil {
		return nil, err
	}
	best := s.bestOf(hits)
	given := map[*Hit]bool{} // hits that others handed their scores to: the question is about these, not about what they superseded
	anchors := slices.Clone(hits)
	slices.SortStableFunc(anchors, func(a, b *Hit) int { return cmp.Compare(b.Score, a.Score) })
	for _, later := range anchors {
		if later.Row.Src.Part != s.part || given[later] || !s.askedOf.IsZero() && !s.afterwards(later.Row.Src) {
			continue
		}
		var former []*backend.Hydrated
		for i := range found {
			f := &found[i]
			if row := rows[f.Earlier]; f.Later == later.Row.Src.Num && row != nil && (f.LaterChunk < 0 || ordinalOf(later) < 0 || f.LaterChunk == ordinalOf(later)) {
				former = append(former, row)
			}
		}
		slices.SortStableFunc(former, func(a, b *backend.Hydrated) int { return -item.StatedAt(a.Src).Compare(item.StatedAt(b.Src)) })
		score := later.Score
		for n, row := range former[:min(len(former), maxSuccessors)] {
			h := best[row.Src.Num]
			if h == nil {
				h = &Hit{Row: row, Parts: &Parts{}, scope: sc, ranked: rank.Scored{Chunk: row.Num, Source: row.Src.Num}}
				best[row.Src.Num] = h
				hits = append(hits, h)
			}
			given[h] = true
			h.raise(score * (1 - standBelow*float64(n)))
			h.Relevance = max(h.Relevance, later.Relevance) // a judge may change it later
			if n == 0 {
				later.lower(h.Score * (1 - standBelow/2))
			}
		}
	}
	return hits, nil
}

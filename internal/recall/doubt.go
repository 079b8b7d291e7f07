package recall

import (
	"cmp"
	"slices"
)

// doubt limits the relevance of hits where the question asks what happened. Their order leaves uncertain hints out (see asksWhatHappened), and what did not
// happen has memories too: "what did the fair cost me?" finds the plan to go, and a hint names the memory that called it off. So no hit is more relevant than the best
// one would be if hints counted. The errors are those of the Store.
func (r *run) doubt(hits []*Hit) error {
	sc := hits[0].scope
	if sc == nil || len(sc.hinted) == 0 || slices.Equal(sc.hinted, hits[:min(len(hits), len(sc.hinted))]) {
		return nil
	}
	g, rated, err := r.rated(sc.hinted, judgedFast)
	if err != nil || rated == nil {
		return err
	}
	most := pooled(rated[:min(len(rated), 1+judgedBehind)], g.behind)
	for _, h := range hits {
		if h.scope == sc {
			h.Relevance = min(h.Relevance, most)
		}
	}
	return nil
}

// hinted returns the hits that would be the first ones if uncertain hints counted, best first.
func (s *succession) hinted(of map[int64][]*weighed, all []weighed, talk float64) (first []*Hit) {
	s.happened = false
	s.value(of, all, talk, func(h *Hit) float64 { return h.Score })
	s.happened = true
	best := make([]*weighed, len(all))
	for i := range all {
		best[i] = &all[i]
	}
	slices.SortStableFunc(best, func(a, b *weighed) int { return cmp.Or(cmp.Compare(b.value, a.value), compareScores(a.Hit, b.Hit)) })
	for _, x := range best {
		if len(first) < hintedMost && !slices.ContainsFunc(first, func(h *Hit) bool { return h.Row.Src.Num == x.Row.Src.Num }) {
			first = append(first, x.Hit)
		}
	}
	for i := range all {
		all[i].gains, all[i].loses, all[i].lifted = 0, 0, false
	}
	return first
}

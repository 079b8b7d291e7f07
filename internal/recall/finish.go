package recall

import (
	"cmp"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/rank"
)

// finish reorders the hits by what their rows say, and adds the context that the request asks for.
func (r *run) finish() error {
	choose := r.best
	if r.RecencyBias > 0 {
		choose = r.newest
	}
	hits, err := r.spread(r.wanted(), choose)
	if err != nil {
		return err
	}
	r.Laps.Lap("read")
	r.parts = slices.Grow(r.parts, len(hits))[:len(hits)]
	for i, h := range hits {
		r.parts[i] = partsOf(h.scope.answer.Parts(&h.ranked))
		h.Parts = &r.parts[i]
		h.Parts.Recency = h.recency
	}
	if hits, err = r.reorder(hits); err != nil {
		return err
	}
	r.rate(hits)
	r.realise(hits)
	r.Laps.Lap("order")
	if !r.AsOf.IsZero() {
		r.asOf(hits)
	}
	if hits, err = r.succeed(hits); err != nil {
		return err
	}
	slices.SortStableFunc(hits, compareScores)
	before := r.asked(hits)
	if hits, err = r.condense(hits); err != nil {
		return err
	}
	r.rejectMissing(before, hits, WhySource)
	hits = r.diversify(hits)
	for _, h := range hits[min(len(hits), r.MaxResults):] {
		r.reject(h, WhyRank)
	}
	r.Laps.Lap("succeed")
	hits = hits[:min(len(hits), r.MaxResults)]
	// diversify may have moved hits behind others that score less.
	slices.SortStableFunc(hits, func(a, b *Hit) int { return cmp.Compare(b.Score, a.Score) })
	if err := r.judge(hits); err != nil {
		return err
	}
	before = r.asked(hits)
	hits = r.relevant(hits)
	r.rejectMissing(before, hits, WhyRelevance)
	r.Laps.Lap("judge")
	r.toldLater(hits)
	r.setHits(hits)
	r.passages()
	if err := r.related(); err != nil {
		return err
	}
	if r.res.Thinking && !r.SkipForceful {
		if err := r.forceful(); err != nil {
			return err
		}
	}
	r.Laps.Lap("context")
	if r.Request.Graph {
		if err := r.graph(); err != nil {
			return err
		}
		r.Laps.Lap("graph")
	}
	if r.Request.Temporal != nil {
		r.dated()
		r.Laps.Lap("temporal")
	}
	return r.hint()
}

// setHits sets the result's hits and counts their sources.
func (r *run) setHits(hits []*Hit) {
	r.counts.reset()
	for _, h := range hits {
		if r.counts.add(h.Row.Src.Num) == 1 {
			h.First = true
			r.res.Sources++
		}
	}
	r.res.Hits = hits
}

func partsOf(p rank.Parts) Parts {
	return Parts{Semantic: p.Semantic, Keyword: p.Keyword, Context: p.Context, Speaker: p.Speaker, Time: p.Time, Entity: p.Entity, Graph: p.Graph,
		Bridge: p.Bridge, Expansion: p.Expansion, Late: p.Late, RawDense: p.RawDense, RawKeyword: p.RawKeyword, Refined: p.Refined}
}

// related adds the neighbouring chunks of hits in their sources.
func (r *run) related() error {
	if r.RelatedChunks == 0 {
		return nil
	}
	have := map[int64]bool{}
	for _, h := range r.res.Hits {
		have[h.Row.Num] = true
	}
	for i, h := range r.res.Hits {
		near, err := r.Store.SourceChunks(r.ctx, h.Row.Src.Num, max(0, h.Row.Ordinal-r.RelatedChunks), h.Row.Ordinal+r.RelatedChunks+1, false)
		if err != nil {
			return err
		}
		for _, n := range near {
			if have[n.Num] || len(r.res.Hits)+len(r.res.Related) >= maxFanOut {
				continue
			}
			have[n.Num] = true
			r.res.Related = append(r.res.Related, Related{Row: &backend.Hydrated{Chunk: n, Src: h.Row.Src}, Hit: i})
		}
	}
	return nil
}

// hint adds a warning to an empty result that says where the caller could search instead.
func (r *run) hint() error {
	if len(r.res.Hits) > 0 || len(r.Filter.All) > 0 {
		return nil
	}
	subs, err := r.Store.Subs(r.ctx)
	if err != nil {
		return err
	}
	here, elsewhere := false, 0
	for _, x := range subs {
		if slices.ContainsFunc(r.scopes, func(sc scope) bool { return sc.Part.Sub == x.Sub }) {
			here = true
		} else {
			elsewhere++
		}
	}
	if !here && elsewhere > 0 {
		r.warn("hint", "Sub", "the sub-tenant searched holds nothing; other sub-tenants of this tenant that hold data: %d", elsewhere)
	}
	return nil
}

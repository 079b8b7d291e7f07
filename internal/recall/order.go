package recall

import (
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/item"
)

const (
	recencyHalfLife = 30 * 24 * time.Hour
	maxSourceShare  = 3 // a source may take a third of the results, and at least minSourceShare, while there are hits of others
	minSourceShare  = 3
)

// reorder applies the steps that need rows: the app lane, fading, feedback and the reranker.
func (r *run) reorder(hits []*Hit) ([]*Hit, error) {
	var err error
	if r.fades() {
		if err := r.fade(hits); err != nil {
			return nil, err
		}
	}
	if r.Apps {
		if hits, err = r.apps(hits); err != nil {
			return nil, err
		}
	}
	if r.Boosts {
		if err := r.boost(hits); err != nil {
			return nil, err
		}
	}
	if r.Reranker != nil {
		slices.SortStableFunc(hits, compareScores)
		began := r.Laps.Clock()
		if err := r.rerank(hits); err != nil {
			return nil, err
		}
		r.Laps.Part("rerank", began)
	}
	slices.SortStableFunc(hits, compareScores)
	return hits, nil
}

// freshness is 1 for a new source and halves every 30 days. A source without a time counts by the time at which it was
// accepted. A source from the future counts as new.
func freshness(src *backend.Source, now time.Time) float64 {
	t := src.Time
	if t.IsZero() {
		t = src.CreatedAt
	}
	age := max(now.Sub(t), 0)
	return math.Exp2(-float64(age) / float64(recencyHalfLife))
}

// fades reports whether fade applies. It does not if the request asks for the past.
func (r *run) fades() bool { return r.Uses != nil && r.AsOf.IsZero() && r.KnownAt.IsZero() }

// fade lowers the scores of memories by age, and less if they were used often.
func (r *run) fade(hits []*Hit) error {
	nums := make([]int64, len(hits))
	for i, h := range hits {
		nums[i] = h.Row.Src.Num
	}
	uses, err := r.Uses.Uses(r.ctx, nums)
	if err != nil {
		return err
	}
	for i, h := range hits {
		if src := h.Row.Src; src.Part.Class == backend.Memory {
			before := h.Score
			h.Score *= uses[i].Factor(item.StatedAt(src), r.Now)
			h.Parts.Forgetting = h.Score - before
		}
	}
	return nil
}

// boost changes the scores of hits by the feedback that their sources got for similar questions.
func (r *run) boost(hits []*Hit) error {
	lifts, err := feedback.Lifts(r.ctx, r.Store, r.Query)
	if err != nil || len(lifts) == 0 || len(hits) == 0 {
		return err
	}
	top := hits[0].Score
	for _, h := range hits {
		if w := lifts[feedback.Target{Part: h.Row.Src.Part, ID: h.Row.Src.ID}]; w != 0 {
			h.Parts.Feedback = top * w
			h.Score += h.Parts.Feedback
		}
	}
	return nil
}

// dominated reports whether one source has more of the hits than shareOf allows.
func (r *run) dominated(hits []*Hit) bool {
	share := shareOf(r.MaxResults)
	if len(hits) <= share {
		return false
	}
	r.counts.reset()
	for _, h := range hits {
		if r.counts.add(h.ranked.Source) > share {
			return true
		}
	}
	return false
}

// shareOf returns the number of the first n hits that one source may have while there are hits of others.
func shareOf(n int) int { return max(minSourceShare, (n+maxSourceShare-1)/maxSourceShare) }

// diversify keeps one source from filling the result: it moves the hits of a source beyond its share behind all others.
func (r *run) diversify(hits []*Hit) []*Hit {
	if !r.dominated(hits) {
		return hits
	}
	share := shareOf(r.MaxResults)
	r.counts.reset()
	var over []*Hit
	kept := hits[:0]
	for _, h := range hits {
		if r.counts.add(h.ranked.Source) > share {
			over = append(over, h)
		} else {
			kept = append(kept, h)
		}
	}
	return append(kept, over...)
}

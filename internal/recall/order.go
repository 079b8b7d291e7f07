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
	floodShare      = 3 // a source may hold a third of the results, and at least floodFloor, while others wait
	floodFloor      = 3
)

// reorder applies what depends on rows: the app lane, feedback, the reranker.
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

// freshness halves every 30 days of age. A source without a time counts by when it was accepted, and one from the
// future as new.
func freshness(src *backend.Source, now time.Time) float64 {
	t := src.Time
	if t.IsZero() {
		t = src.CreatedAt
	}
	age := max(now.Sub(t), 0)
	return math.Exp2(-float64(age) / float64(recencyHalfLife))
}

// fades reports whether memories are weighed by use and age: not where the past is asked for.
func (r *run) fades() bool { return r.Uses != nil && r.AsOf.IsZero() && r.KnownAt.IsZero() }

// fade weighs memories by how much they were used and how old they are.
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
			h.Score *= uses[i].Factor(item.Told(src), r.Now)
			h.Parts.Forgetting = h.Score - before
		}
	}
	return nil
}

// boost moves hits by what feedback on similar questions said of their sources.
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

// floods reports whether a source has more of the hits than unflood lets it have among the first places.
func (r *run) floods(hits []*Hit) bool {
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

// shareOf returns how many of the first n places a source may hold while others wait.
func shareOf(n int) int { return max(floodFloor, (n+floodShare-1)/floodShare) }

// unflood keeps one source from taking the places of a result while others wait: what it has over its share comes
// behind the rest.
func (r *run) unflood(hits []*Hit) []*Hit {
	if !r.floods(hits) {
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

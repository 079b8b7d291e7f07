package recall

import (
	"cmp"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// Why says why a candidate is not in a result.
type Why string

// Reasons.
const (
	WhyRank       Why = "rank"       // others fit the question better
	WhySource     Why = "source"     // its source has the places that it may take
	WhyRepeats    Why = "repeats"    // an inferred statement that a better hit states too, or that stands beside its memory
	WhySuperseded Why = "superseded" // another memory took its place, and those are left out
	WhyRelevance  Why = "relevance"  // it is less relevant than asked for
	WhyLater      Why = "later"      // it was learnt after the time whose knowledge is asked for
	WhyFilter     Why = "filter"     // the filters of the question leave its source out
	WhyUnmatched  Why = "unmatched"  // neither its words nor its meaning brought it among the candidates
	WhyUnindexed  Why = "unindexed"  // its source is not indexed yet, or ended in an error
	WhyUnknown    Why = "unknown"    // there is no such source in what is searched
)

// Asked says which candidates that are not in the result are to be told of.
type Asked struct {
	Most   int    // the best of them
	Source string // and the best of this source, wherever it stands; empty: of none
}

// Ask returns what a request asks of the candidates that are not in its result; nil: nothing.
func Ask(most int, source string) *Asked {
	if most == 0 && source == "" {
		return nil
	}
	return &Asked{Most: most, Source: source}
}

// Rejected is a candidate that is not in the result. Row is nil for a source without a candidate.
type Rejected struct {
	Row   *backend.Hydrated
	Why   Why
	Place int // among all candidates, from 1; 0: it is none
	Score float64
	Parts Parts
	By    string // of WhySuperseded: the id of what took its place
	State backend.State
}

// verdict is what became of a candidate on its way.
type verdict struct {
	why   Why
	score float64
	parts *Parts
	by    string
}

// reject notes why a hit leaves the result, where that is asked for.
func (r *run) reject(h *Hit, why Why) {
	if r.Asked == nil {
		return
	}
	v := verdict{why: why, score: h.Score}
	if h.Parts != nil {
		p := *h.Parts
		v.parts = &p
	}
	if h.SupersededBy != nil {
		v.by = h.SupersededBy.By.ID
	}
	if r.verdicts == nil {
		r.verdicts = map[int64]verdict{}
	}
	if _, ok := r.verdicts[h.ranked.Chunk]; !ok {
		r.verdicts[h.ranked.Chunk] = v
	}
}

// rejectMissing notes why those of before that are not in after leave the result. before is a copy.
func (r *run) rejectMissing(before, after []*Hit, why Why) {
	for _, h := range before {
		if !slices.Contains(after, h) {
			r.reject(h, why)
		}
	}
}

// asked copies hits where rejectMissing will be called with them.
func (r *run) asked(hits []*Hit) []*Hit {
	if r.Asked == nil {
		return nil
	}
	return slices.Clone(hits)
}

// tellRejected fills Result.Rejected. It changes nothing of the hits.
func (r *run) tellRejected() error {
	if r.Asked == nil {
		return nil
	}
	in := map[int64]bool{}
	for _, h := range r.res.Hits {
		in[h.ranked.Chunk] = true
	}
	n := r.Asked.Most + len(in)
	if r.Asked.Source != "" {
		n = maxCandidates
	}
	var all []*Hit
	for i := range r.scopes {
		sc := &r.scopes[i]
		if sc.answer == nil {
			continue
		}
		for _, s := range sc.answer.Best(n) {
			all = append(all, &Hit{Score: s.Score * sc.Weight, ranked: s, scope: sc})
		}
	}
	slices.SortStableFunc(all, compareScores)
	source, err := r.askedSource()
	if err != nil {
		return err
	}
	var tell []*Hit
	places := map[*Hit]int{}
	told := r.Asked.Source == "" || source == nil
	for i, h := range all {
		mine := !told && h.ranked.Source == source.Num
		if mine && in[h.ranked.Chunk] { // it is in the result after all
			told = true
		}
		if in[h.ranked.Chunk] || len(tell) >= r.Asked.Most && !mine {
			continue
		}
		told = told || mine
		places[h] = i + 1
		tell = append(tell, h)
	}
	if err := r.describe(tell, places); err != nil {
		return err
	}
	switch {
	case r.Asked.Source == "" || slices.ContainsFunc(r.res.Hits, func(h *Hit) bool { return h.Row.Src.ID == r.Asked.Source }),
		slices.ContainsFunc(r.res.Rejected, func(x Rejected) bool { return x.Row.Src.ID == r.Asked.Source }):
	case source == nil:
		r.res.Rejected = append(r.res.Rejected, Rejected{Why: WhyUnknown})
	case source.State != backend.Completed && source.State != backend.GraphCreation:
		r.res.Rejected = append(r.res.Rejected, Rejected{Why: WhyUnindexed, State: source.State})
	case !item.Live(r.Filter, source.Tags):
		r.res.Rejected = append(r.res.Rejected, Rejected{Why: WhyFilter, State: source.State})
	case r.later(source):
		r.res.Rejected = append(r.res.Rejected, Rejected{Why: WhyLater, State: source.State})
	default:
		r.res.Rejected = append(r.res.Rejected, Rejected{Why: WhyUnmatched, State: source.State})
	}
	return nil
}

// askedSource finds the source that is asked for among what is searched; nil: there is none that the caller may see.
func (r *run) askedSource() (*backend.Source, error) {
	if r.Asked.Source == "" {
		return nil, nil
	}
	for i := range r.scopes {
		srcs, err := r.store.told(r.ctx, r.scopes[i].Part, []string{r.Asked.Source})
		if err != nil {
			return nil, err
		}
		if len(srcs) == 0 || srcs[0] == nil || !item.Live(r.Visible, srcs[0].Tags) || !srcs[0].ExpiresAt.IsZero() && !srcs[0].ExpiresAt.After(r.Now) {
			continue
		}
		return srcs[0], nil
	}
	return nil, nil
}

// describe reads the rows of candidates and says why each is not in the result. What the caller may not see is left out.
func (r *run) describe(tell []*Hit, places map[*Hit]int) error {
	nums := make([]int64, len(tell))
	for i, h := range tell {
		nums[i] = h.ranked.Chunk
	}
	rows, err := r.Store.Chunks(r.ctx, nums, r.Now)
	if err != nil {
		return err
	}
	hidden, err := item.Hidden(r.ctx, r.Store, r.Visible, rows)
	if err != nil {
		return err
	}
	byNum := make(map[int64]*backend.Hydrated, len(rows))
	for _, row := range rows {
		byNum[row.Num] = row
	}
	for _, h := range tell {
		row := byNum[h.ranked.Chunk]
		if row == nil || row.Src.Part != h.scope.Part || hidden[row.Src.Num] || !item.Live(r.Visible, row.Src.Tags) {
			continue
		}
		x := Rejected{Row: row, Why: WhyRank, Place: places[h], Score: h.Score, State: row.Src.State}
		if v, ok := r.verdicts[h.ranked.Chunk]; ok {
			x.Why, x.By, x.Score = v.why, v.by, v.score
			if v.parts != nil {
				x.Parts = *v.parts
			}
		} else if r.later(row.Src) {
			x.Why = WhyLater
		}
		if x.Parts == (Parts{}) {
			x.Parts = partsOf(h.scope.answer.Parts(&h.ranked))
		}
		r.res.Rejected = append(r.res.Rejected, x)
	}
	slices.SortStableFunc(r.res.Rejected, func(a, b Rejected) int { return cmp.Compare(a.Place, b.Place) })
	return nil
}

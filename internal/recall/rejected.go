package recall

import (
	"cmp"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// Why is the reason why a candidate is not in a result.
type Why string

// Reasons.
const (
	WhyRank       Why = "rank"       // its score is too low
	WhySource     Why = "source"     // its source has as many hits as it may have
	WhyRepeats    Why = "repeats"    // an inferred statement that a better hit states too, or that is in the Statements of its memory
	WhySuperseded Why = "superseded" // it is superseded, and the request drops superseded memories
	WhyRelevance  Why = "relevance"  // its relevance is below the least one asked for
	WhyLater      Why = "later"      // it was learnt after KnownAt
	WhyFilter     Why = "filter"     // its source does not pass the filter
	WhyUnmatched  Why = "unmatched"  // neither keyword nor semantic search found it
	WhyUnindexed  Why = "unindexed"  // its source is not indexed yet, or indexing failed
	WhyUnknown    Why = "unknown"    // the partitions searched have no such source
)

// Asked says which candidates that are not in the result to report.
type Asked struct {
	Most   int    // number of best ones to report
	Source string // also report the best candidate of this source; empty: none
}

// Ask returns the Asked for the most best candidates and a source, or nil if it asks for nothing.
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
	Place int // rank among all candidates, from 1; 0: it is no candidate
	Score float64
	Parts Parts
	By    string // for WhySuperseded: the id of the superseding memory
	State backend.State
}

// verdict is the reason for which a candidate was rejected.
type verdict struct {
	why   Why
	score float64
	parts *Parts
	by    string
}

// reject records why a hit leaves the result, if the request asks for rejected candidates.
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

// rejectMissing records why the hits in before that are not in after leave the result. before is a copy made by asked.
func (r *run) rejectMissing(before, after []*Hit, why Why) {
	for _, h := range before {
		if !slices.Contains(after, h) {
			r.reject(h, why)
		}
	}
}

// asked returns a copy of hits for rejectMissing, or nil if the request does not ask for rejected candidates.
func (r *run) asked(hits []*Hit) []*Hit {
	if r.Asked == nil {
		return nil
	}
	return slices.Clone(hits)
}

// reportRejected fills Result.Rejected. It does not change the hits.
func (r *run) reportRejected() error {
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
		if err := sc.answer.Settle(n); err != nil {
			return err
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
		if mine && in[h.ranked.Chunk] { // the result contains it, so it is not rejected
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

// askedSource returns the source asked for from the partitions searched, or nil if there is none that the caller may see.
func (r *run) askedSource() (*backend.Source, error) {
	if r.Asked.Source == "" {
		return nil, nil
	}
	for i := range r.scopes {
		srcs, err := r.settledSources(r.scopes[i].Part, []string{r.Asked.Source})
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

// describe reads the rows of candidates and adds each to Result.Rejected with its reason. It leaves out candidates that
// the caller may not see.
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

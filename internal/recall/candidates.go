package recall

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/rank"
)

const (
	maxFanOut = 1000 // chunks of a result, including the neighbours of hits
	minHits   = 50   // least number of ranked hits of a scope that are considered
	moreHits  = 4    // factor by which that number grows if too few hits pass the checks
	// maxCandidates bounds the ranked hits of a scope that are considered. maxRecent bounds them for recency, in a scope
	// of which the index ranks only a part.
	maxCandidates = 16_000
	maxRecent     = 1000
	fewMore       = 3  // hits beyond those wanted that the first attempt of best considers
	overFetch     = 3  // rows read per missing hit, since some rows may be gone
	hydrateBatch  = 10 // least number of rows read in one call
	scopesAtOnce  = 4
)

// cueKinds returns the cues that ranking, the graph context and dated facts need.
func (r *run) cueKinds() language.CueKind {
	var k language.CueKind
	for i := range r.scopes {
		if r.scopes[i].Part.Class == backend.Memory {
			k |= language.CueTimes
		} else {
			k |= language.CueWindows
		}
	}
	if r.Mode == Auto || r.Alpha.Auto {
		k |= language.CueRest
	}
	if r.Request.Temporal != nil {
		k |= language.CueIntent
	}
	if r.Request.Graph {
		k |= language.CueWindows
	}
	return k
}

// cuesAt returns the cues of the query for a time that resolves its relative dates.
func (r *run) cuesAt(now time.Time) *language.Cues {
	if r.cues != nil && now.Equal(r.Now) {
		return r.cues
	}
	c := language.QueryCues(r.Query, now)
	return &c
}

// search ranks every scope.
func (r *run) search() error {
	query := r.Query
	if r.Hint != "" {
		query = r.Hint + "\n" + query
	}
	began := r.Laps.Clock()
	if r.words == nil {
		r.words = new(rank.Question)
	}
	question := r.Ranker.AskIn(r.words, query, r.Now, r.cueKinds())
	r.Laps.Part("question", began)
	if r.Hint == "" {
		r.cues = question.Cues()
	}
	if r.AsOf.IsZero() && r.Superseded != Mark {
		r.askedOf = askedOf(r.Query, question.Cues(), r.Now)
	}
	r.question = question
	r.most = max(r.MaxResults*overFetch, minHits)
	if r.RecencyBias > 0 {
		r.most = max(r.most, maxRecent)
	}
	if err := r.readAhead(); err != nil {
		return err
	}
	if err := r.rankAll(); err != nil {
		return err
	}
	r.resolved()
	return nil
}

// rankAll ranks the chunks of every scope.
func (r *run) rankAll() error {
	if err := r.rankEach(); err != nil {
		return err
	}
	for i := range r.scopes {
		r.Laps.Parts(r.scopes[i].answer.Stages())
	}
	return nil
}

func (r *run) rankEach() error {
	if len(r.scopes) == 1 {
		return r.rank(&r.scopes[0])
	}
	var g errgroup.Group
	g.SetLimit(scopesAtOnce)
	for i := range r.scopes {
		g.Go(func() error { return r.rank(&r.scopes[i]) })
	}
	return g.Wait()
}

// rank ranks the chunks of a scope.
func (r *run) rank(sc *scope) error {
	return fault.Guard(func() (err error) {
		sc.answer, err = r.Ranker.Search(r.ctx, rank.Space{Store: r.Store, Vectors: r.Vectors, Keywords: r.Keywords, Graph: r.Workspace.Graph, DenseOff: r.DenseOff, Lane: r.Lane, FastLane: r.FastLane},
			rank.Request{Part: sc.Part, Question: r.question, K: r.most, First: r.first(), Thinking: r.Mode == Thinking, Auto: r.Mode == Auto, Alpha: r.Alpha,
				Filter: r.Filter, Now: r.Now, Deadline: r.Now.Add(r.Budget), Timed: r.Laps.Details()})
		return err
	})
}

// wanted returns the number of hits that finish asks for at first.
func (r *run) wanted() int {
	if r.RecencyBias > 0 || r.fades() || r.Apps || r.Boosts || r.Reranker != nil || r.Superseded == Drop || !r.AsOf.IsZero() {
		return max(r.MaxResults*overFetch, minHits)
	}
	return r.MaxResults + 2 + r.MaxResults/10 // later steps may drop some
}

// first returns the number of hits of each scope that best or newest gathers first.
func (r *run) first() int {
	if r.RecencyBias > 0 {
		return maxCandidates
	}
	return min(r.wanted()+fewMore, r.most)
}

// deepen ranks all scopes again for n hits each. It does nothing and returns false if that cannot bring more hits.
func (r *run) deepen(n int) (bool, error) {
	if !slices.ContainsFunc(r.scopes, func(sc scope) bool { return sc.answer.Cut }) {
		return false, nil
	}
	r.most = n
	for i := range r.scopes {
		r.scopes[i].answer.Release()
	}
	return true, r.rankAll()
}

// resolved adds warnings about the modes that the rankings chose, and about the stages that they left out.
func (r *run) resolved() {
	var degraded []string
	for i := range r.scopes {
		a := r.scopes[i].answer
		if a.Thinking {
			r.res.Thinking = true
		}
		if i == 0 {
			r.res.Alpha = a.Alpha
		}
		for _, d := range a.Degraded {
			if !slices.Contains(degraded, d) {
				degraded = append(degraded, d)
				r.warn("degraded", "Mode", "%s", d)
			}
		}
	}
	if r.DenseOff {
		r.warn("degraded", "Alpha", "the tenant is being embedded again: keywords alone were searched")
	}
	if r.Alpha.Auto {
		r.warn("resolved", "Alpha", "alpha auto was resolved to %.2f", r.res.Alpha)
	}
	if r.AskedForceful && !r.res.Thinking {
		r.warn("ignored_flag", "ForcefulRelations", "forceful relations are used in thinking mode only")
	}
}

// best returns the best want hits of all scopes, best first, or fewer if there are not so many. It leaves out hits that
// fail the checks of read.
func (r *run) best(want int) ([]*Hit, error) {
	// Mostly the first few hits all pass, and no source has too many of them. The other hits then need not be sorted.
	if few := want + fewMore; few < r.most {
		all, err := r.gather(few)
		if err != nil {
			return nil, err
		}
		if !all {
			r.hits = r.hits[:few]
		}
		if !r.dominated(r.hits) {
			if hits, err := r.hydrate(want); err != nil || len(hits) >= want || all && !r.cut() {
				return hits, err
			}
		}
	}
	for n := r.most; ; n = min(n*moreHits, maxCandidates) {
		all, err := r.gather(n)
		if err != nil {
			return nil, err
		}
		r.hits = r.diversify(r.hits)
		hits, err := r.hydrate(want)
		if err != nil || len(hits) >= want {
			return hits, err
		}
		if n >= maxCandidates {
			r.bounded()
			return hits, nil
		}
		if !all {
			continue
		}
		if more, err := r.deepen(min(n*moreHits, maxCandidates)); err != nil || !more {
			return hits, err
		}
	}
}

// cut reports whether a scope may have more hits than its ranking contains.
func (r *run) cut() bool {
	return slices.ContainsFunc(r.scopes, func(sc scope) bool { return sc.answer.Cut })
}

// bounded warns that the search ended at maxCandidates with too few hits.
func (r *run) bounded() {
	r.warn("bounded", "MaxResults", "too few of the best %d candidates fit: others were not looked at", maxCandidates)
}

// newest is best with scores lowered for age. Recency only lowers scores, so newest stops reading as soon as the next
// ranked hit scores no more than the last of the want best (threshold algorithm; Fagin, Lotem and Naor, 2001).
func (r *run) newest(want int) ([]*Hit, error) {
	if _, err := r.gather(maxCandidates); err != nil {
		return nil, err
	}
	var out []*Hit
	ranked := r.hits
	for batch := max(want, minHits); len(ranked) > 0; batch *= 2 {
		n := min(batch, len(ranked))
		r.hits, ranked = ranked[:n], ranked[n:]
		hits, err := r.read(r.hits, nil)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			before := h.Score
			h.Score *= 1 - r.RecencyBias*(1-freshness(h.Row.Src, r.Now))
			h.recency = h.Score - before
		}
		out = append(out, hits...)
		slices.SortStableFunc(out, compareScores)
		if len(out) >= want && (len(ranked) == 0 || out[want-1].Score >= ranked[0].Score) {
			break
		}
	}
	return out[:min(len(out), want)], nil
}

// gather sets r.hits to the n best hits of each scope, sorted. It reports whether these are all hits of the rankings.
func (r *run) gather(n int) (all bool, err error) {
	all = true
	r.room, r.hits, r.said = r.room[:0], r.hits[:0], statements{}
	for i := range r.scopes {
		sc := &r.scopes[i]
		if err := sc.answer.Settle(n); err != nil {
			return false, err
		}
		some := sc.answer.Best(n)
		all = all && len(some) < n
		for _, s := range some {
			r.room = append(r.room, Hit{Score: s.Score * sc.Weight, ranked: s, scope: sc})
		}
	}
	for i := range r.room {
		r.hits = append(r.hits, &r.room[i])
	}
	if len(r.scopes) > 1 {
		slices.SortStableFunc(r.hits, compareScores)
	}
	return all, nil
}

// compareScores orders hits by descending score.
func compareScores(a, b *Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ranked.Chunk, b.ranked.Chunk))
}

// hydrate reads the rows of r.hits until want hits have passed the checks of read, and returns these.
func (r *run) hydrate(want int) ([]*Hit, error) {
	out := r.live[:0]
	r.said = statements{}
	for start, batch := 0, 0; start < len(r.hits) && len(out) < want; {
		batch = max(want-len(out), hydrateBatch, 2*batch)
		end := min(len(r.hits), start+batch)
		var err error
		if out, err = r.read(r.hits[start:end], out); err != nil {
			return nil, err
		}
		start = end
	}
	r.live = out
	return out[:min(len(out), want)], nil
}

// read reads the rows of hits and appends those that pass its checks to out. The row must exist, be visible and not
// expired, pass the filter, and have been known at KnownAt. An inferred statement must not repeat an earlier hit.
func (r *run) read(hits []*Hit, out []*Hit) ([]*Hit, error) {
	nums := r.nums[:0]
	for _, h := range hits {
		nums = append(nums, h.ranked.Chunk)
	}
	r.nums = nums
	rows, err := r.Store.Chunks(r.ctx, nums, r.Now)
	if err != nil {
		return nil, err
	}
	hidden, err := item.Hidden(r.ctx, r.Store, r.Visible, rows)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		if len(rows) == 0 || rows[0].Num != h.ranked.Chunk { // the row is gone: rows come in the order of nums
			continue
		}
		row := rows[0]
		rows = rows[1:]
		if row.Src.Part != h.scope.Part || !r.allows(row.Src) || hidden[row.Src.Num] {
			continue
		}
		h.Row = row
		if h.scope.Part.Class != backend.Memory || !r.said.repeats(h) {
			out = append(out, h)
		} else {
			r.reject(h, WhyRepeats)
		}
	}
	return out, nil
}

// allows reports whether a source may be in the result by the filter and by KnownAt.
func (r *run) allows(src *backend.Source) bool { return item.Live(r.Filter, src.Tags) && !r.later(src) }

// unknown reports whether something that became known at a time was not known yet at KnownAt.
func (r *run) unknown(at time.Time) bool {
	return !r.KnownAt.IsZero() && at.After(r.KnownAt)
}

// later reports whether a source was written after KnownAt. A source without a time of its own counts by the time at
// which it was accepted.
func (r *run) later(src *backend.Source) bool {
	if src.Time.IsZero() {
		return r.unknown(src.CreatedAt)
	}
	return r.unknown(src.Time)
}

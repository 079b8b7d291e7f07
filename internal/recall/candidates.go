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
	maxFanOut = 1000 // chunks of a result, with the neighbours of its hits
	minHits   = 50   // hits of a scope that are looked at, where some are gone or a source floods
	moreHits  = 4    // times as many are looked at next, where too few of them fit
	// maxCandidates bounds the candidates of a scope that are looked at, and maxRecent those that recency weighs in
	// a scope whose index ranks a part of it only.
	maxCandidates = 16_000
	maxRecent     = 1000
	fewMore       = 3  // hits beyond those wanted that are looked at first
	overFetch     = 3  // rows read per result wanted, since some may be gone
	hydrateBatch  = 10 // rows that are read at least in one call
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
	r.question = question
	r.most = max(r.MaxResults*overFetch, minHits)
	if r.RecencyBias > 0 {
		r.most = max(r.most, maxRecent)
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
			rank.Request{Part: sc.Part, Question: r.question, K: r.most, Thinking: r.Mode == Thinking, Auto: r.Mode == Auto, Alpha: r.Alpha,
				Filter: r.Filter, Now: r.Now, Deadline: r.Now.Add(r.Budget), Timed: r.Laps.Details()})
		return err
	})
}

// deepen ranks anew for n hits of each scope, and reports whether that can bring more.
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

// resolved reports what the rankings chose and what they had to leave out.
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
	if r.Mode == Auto {
		ran := "fast"
		if r.res.Thinking {
			ran = "thinking"
		}
		r.warn("resolved", "Mode", "mode auto ran as %s", ran)
	}
	if r.Alpha.Auto {
		r.warn("resolved", "Alpha", "alpha auto was resolved to %.2f", r.res.Alpha)
	}
	if r.AskedForceful && !r.res.Thinking {
		r.warn("ignored_flag", "ForcefulRelations", "forceful relations are used in thinking mode only")
	}
}

// best returns the best hits of all scopes that are there and fit, best first: want of them where there are so many.
func (r *run) best(want int) ([]*Hit, error) {
	// Mostly the first few are all there and no source floods: then the others need no order.
	if few := want + fewMore; few < r.most {
		all := r.gather(few)
		if !all {
			r.hits = r.hits[:few]
		}
		if !r.floods(r.hits) {
			if hits, err := r.hydrate(want); err != nil || len(hits) >= want || all && !r.cut() {
				return hits, err
			}
		}
	}
	for n := r.most; ; n = min(n*moreHits, maxCandidates) {
		all := r.gather(n)
		r.hits = r.unflood(r.hits)
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

// cut reports whether a scope may have more hits than its ranking.
func (r *run) cut() bool {
	return slices.ContainsFunc(r.scopes, func(sc scope) bool { return sc.answer.Cut })
}

// bounded says that a search ended before it had all that was asked for.
func (r *run) bounded() {
	r.warn("bounded", "MaxResults", "too few of the best %d candidates fit: others were not looked at", maxCandidates)
}

// newest returns the best hits of all scopes that are there and fit, with their recency weighed: want of them where
// there are so many. Recency only takes from a score, so what stands behind the last of the want best needs no look
// (the threshold algorithm of Fagin, Lotem and Naor, 2001).
func (r *run) newest(want int) ([]*Hit, error) {
	r.gather(maxCandidates)
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

// gather sets hits to those of all scopes, the n best of each, and reports whether no ranking has more.
func (r *run) gather(n int) (all bool) {
	all = true
	r.room, r.hits, r.said = r.room[:0], r.hits[:0], statements{}
	for i := range r.scopes {
		sc := &r.scopes[i]
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
	return all
}

// compareScores orders hits, the best first.
func compareScores(a, b *Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ranked.Chunk, b.ranked.Chunk))
}

// hydrate returns the best hits that are there and fit, want of them where there are so many.
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

// read reads the rows of hits, checks each again, and appends those that pass: a hit must be there, visible, alive, fit
// the filter, be known at the time that was asked for, and say what none before it said.
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
		if len(rows) == 0 || rows[0].Num != h.ranked.Chunk { // gone: rows come in the order asked
			continue
		}
		row := rows[0]
		rows = rows[1:]
		if row.Src.Part != h.scope.Part || !r.allows(row.Src) || hidden[row.Src.Num] {
			continue
		}
		h.Row = row
		if h.scope.Part.Class != backend.Memory || !r.said.again(h) {
			out = append(out, h)
		} else {
			r.reject(h, WhyRepeats)
		}
	}
	return out, nil
}

// allows reports whether a source may be in the result.
func (r *run) allows(src *backend.Source) bool { return item.Live(r.Filter, src.Tags) && !r.later(src) }

// afterwards reports whether a memory was told after the moment that the request asks for. It may still speak of that
// moment, as "I lived in Porto then" does.
func (r *run) afterwards(src *backend.Source) bool {
	return !r.AsOf.IsZero() && src.Part.Class == backend.Memory && item.Told(src).After(r.AsOf)
}

// unknown reports whether something of a time was not known yet at the time that the request asks for.
func (r *run) unknown(at time.Time) bool {
	return !r.KnownAt.IsZero() && at.After(r.KnownAt)
}

// later reports whether a source was written after the time whose knowledge the request asks for: after its own time, or
// after it was accepted where it has none.
func (r *run) later(src *backend.Source) bool {
	if src.Time.IsZero() {
		return r.unknown(src.CreatedAt)
	}
	return r.unknown(src.Time)
}

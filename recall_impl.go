package contextmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/extract/rules"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/recall"
)

const (
	maxResults       = 1001 // wire contract, first generation
	maxFanOut        = 1000 // candidates over several sub-tenants
	minHits          = 50   // hits of a scope that are looked at, where some are gone or a source floods
	fewMore          = 3    // hits beyond those wanted that are looked at first
	resultsPerSub    = 10   // of several sub-tenants, where no number was asked for
	overFetch        = 3    // hydrated chunks per result wanted, since some may be gone
	scopesAtOnce     = 4
	recencyHalfLife  = 30 * 24 * time.Hour
	floodShare       = 3 // a source may hold a third of the results, and at least floodFloor, while others wait
	floodFloor       = 3
	maxRelatedPerHit = 50
)

// scopeHit is a chunk found in one of the partitions that a recall covers.
type scopeHit struct {
	recall.Scored
	*scope
	row   *backend.Hydrated
	parts *Explain // once its row is read
}

// newRanker returns the ranking for what the embedder can do.
func (s *Service) newRanker() *recall.Engine {
	e := &recall.Engine{Embedder: s.embedder, MemoryStrength: recall.DefaultAlpha, KnowledgeStrength: recall.DefaultAlpha}
	if c, ok := s.embedder.(Covering); ok {
		e.Coverage = c.Coverage
	}
	if t, ok := s.embedder.(*static.Embedder); ok { // itself: what wraps it may change its vectors
		e.Read = t.ReadQuery
	}
	if w, ok := s.embedder.(WordEmbedder); ok {
		e.Word = w.AppendWord
	}
	if r, ok := s.embedder.(Rated); ok {
		e.MemoryStrength, e.KnowledgeStrength = r.Strength()
	}
	return e
}

func (s *Service) recall(ctx context.Context, sub Sub, q Recall) (*Result, error) {
	const op = "recall"
	if err := q.complete(op); err != nil {
		return nil, err
	}
	h, err := s.open(ctx, op, sub.org, sub.tenant)
	if err != nil {
		return nil, err
	}
	defer h.release()
	run := recallRuns.Get().(*recallRun)
	scopes, err := sub.scopes(ctx, h, q.Class, q.Subs, run.room)
	if err != nil {
		return nil, wrap(op, ResourceSub, sub.sub, err)
	}
	if q.MaxResults == 0 {
		q.MaxResults = resultsPerSub
		if q.Subs != nil {
			q.MaxResults = min(maxFanOut, resultsPerSub*len(q.Subs))
		}
	}
	filter, warnings, err := s.sourceFilter(op, h.rec.data.Schema, q.Filters, q.IDs, q.Titles, q.Principals)
	if err != nil {
		return nil, err
	}
	if err := h.fresh(ctx); err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	*run = recallRun{svc: s, held: h, op: op, q: q, scopes: scopes, now: time.Now(), filter: filter, recallScratch: run.recallScratch,
		res: &Result{RequestID: q.RequestID, Mode: ModeFast, Warnings: warnings, memory: resultMemories.Get().(*resultMemory)}}
	if err := run.search(ctx); err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	if err := run.finish(ctx, sub); err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	res := run.res
	run.release()
	return res, nil
}

// recallRun is one recall on its way.
type recallRun struct {
	svc    *Service
	held   *held
	op     string
	q      Recall
	now    time.Time
	filter backend.Filter
	res    *Result
	scopes []scope
	cues   *rules.Cues // of the query without its hint, once read
	said   statements  // inferred ones among the hits
	layout layout      // of the chunk looked at last
	most   int         // hits of a scope that are looked at
	titles textBlock   // of chunks without one
	recallScratch
}

// recallScratch is what a recall needs and leaves clean for the next.
type recallScratch struct {
	room    []scope          // for scopes
	answers []*recall.Answer // by scope; hold the scores of the hits
	hits    []*scopeHit
	all     []scopeHit  // that hits point to
	live    []*scopeHit // that were read back
	nums    []int64
	graphScratch
}

var recallRuns = sync.Pool{New: func() any { return new(recallRun) }}

// maxRecallScratch keeps a rare large recall from staying in memory.
const maxRecallScratch = 1 << 12

// release gives the memory of a recall to the next one. One that failed lets it go.
func (r *recallRun) release() {
	for _, a := range r.answers {
		a.Release()
	}
	s := r.recallScratch
	if cap(s.all) > maxRecallScratch || cap(s.hits) > maxRecallScratch || cap(s.live) > maxRecallScratch {
		return
	}
	clear(r.scopes)
	clear(s.answers)
	clear(s.hits)
	clear(s.all)
	clear(s.live)
	s.room, s.hits, s.all, s.live, s.nums = r.scopes[:0], s.hits[:0], s.all[:0], s.live[:0], s.nums[:0]
	s.graphScratch.forget()
	*r = recallRun{recallScratch: s}
	recallRuns.Put(r)
}

func (r *recallRun) warn(code, field, format string, args ...any) {
	r.res.Warnings = append(r.res.Warnings, Warning{Code: code, Field: field, Message: fmt.Sprintf(format, args...)})
}

// cueKinds returns the cues that ranking, the graph context and dated facts need.
func (r *recallRun) cueKinds() rules.CueKind {
	var k rules.CueKind
	for _, sc := range r.scopes {
		if sc.part.Class == backend.Memory {
			k |= rules.CueTimes
		} else {
			k |= rules.CueWindows
		}
	}
	if r.q.Mode == ModeAuto || r.q.Alpha.auto {
		k |= rules.CueRest
	}
	if r.q.Temporal != nil {
		k |= rules.CueIntent
	}
	if r.q.GraphContext {
		k |= rules.CueWindows
	}
	return k
}

// cuesAt returns the cues of the query for a time that resolves its relative dates.
func (r *recallRun) cuesAt(now time.Time) *rules.Cues {
	if r.cues != nil && now.Equal(r.now) {
		return r.cues
	}
	cues := rules.QueryCues(r.q.Query, now)
	return &cues
}

// search ranks every scope and merges by score.
func (r *recallRun) search(ctx context.Context) error {
	scopes := r.scopes
	query := r.q.Query
	if r.q.Hint != "" {
		query = r.q.Hint + "\n" + query
	}
	question := r.svc.ranker.Ask(query, r.now, r.cueKinds())
	if r.q.Hint == "" {
		r.cues = question.Cues()
	}
	r.most = max(r.q.MaxResults*overFetch, minHits)
	if !r.q.KnownAt.IsZero() { // what was learnt later falls away
		r.most = max(r.most, maxFanOut)
	}
	r.answers = slices.Grow(r.answers[:0], len(scopes))[:len(scopes)]
	space := recall.Space{Store: r.held.store, Vectors: r.held.ws.Vectors(), Keywords: r.held.ws.Keywords(), Graph: r.held.ws.Graph(), DenseOff: r.held.reembedding.Load()}
	if len(scopes) == 1 {
		if err := r.ask(ctx, 0, space, question); err != nil {
			return err
		}
	} else {
		var g errgroup.Group
		g.SetLimit(scopesAtOnce)
		for i := range scopes {
			g.Go(func() error { return r.ask(ctx, i, space, question) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	var degraded []string
	for i := range scopes {
		sc, a := &scopes[i], r.answers[i]
		sc.answer = a
		if a.Thinking {
			r.res.Mode = ModeThinking
		}
		if i == 0 {
			r.res.Alpha = a.Alpha
		}
		if r.q.GraphContext {
			r.ents = append(r.ents, partEntities{sc.part, a.Entities})
		}
		for _, d := range a.Degraded {
			if !slices.Contains(degraded, d) {
				degraded = append(degraded, d)
				r.warn("degraded", "mode", "%s", d)
			}
		}
	}
	if r.held.reembedding.Load() {
		r.warn("degraded", "alpha", "the tenant is being embedded again: keywords alone were searched")
	}
	if r.q.Mode == ModeAuto {
		r.warn("resolved", "mode", "mode auto ran as %s", r.res.Mode)
	}
	if r.q.Alpha.auto {
		r.warn("resolved", "alpha", "alpha auto was resolved to %.2f", r.res.Alpha)
	}
	if r.q.Relations && r.res.Mode == ModeFast {
		r.warn("ignored_flag", "query_forceful_relations", "forceful relations are used in thinking mode only")
	}
	return nil
}

// ask ranks the chunks of a scope.
func (r *recallRun) ask(ctx context.Context, i int, space recall.Space, question *recall.Question) error {
	return guarded(func() (err error) {
		r.answers[i], err = r.svc.ranker.Search(ctx, space, recall.Request{Part: r.scopes[i].part, Question: question, K: r.most,
			Thinking: r.q.Mode == ModeThinking, Auto: r.q.Mode == ModeAuto, Alpha: recall.Alpha{Auto: r.q.Alpha.auto, Value: r.q.Alpha.value},
			Filter: r.filter, Now: r.now, Deadline: r.now.Add(r.svc.opts.RecallBudget)})
		return err
	})
}

// best returns the best hits of all scopes that are there and fit, best first: want of them
// where there are so many.
func (r *recallRun) best(ctx context.Context, want int) ([]*scopeHit, error) {
	// Mostly the first few are all there and no source floods: then the others need no order.
	if few := want + fewMore; few < r.most {
		all := r.gather(few)
		if !all {
			r.hits = r.hits[:few]
		}
		if !floods(r.hits, r.q.MaxResults) {
			if hits, err := r.hydrate(ctx, want); err != nil || all || len(hits) >= want {
				return hits, err
			}
		}
		r.said = statements{}
	}
	r.gather(r.most)
	r.hits = unflood(r.hits, r.q.MaxResults)
	return r.hydrate(ctx, want)
}

// gather sets hits to those of all scopes, the n best of each, and tells whether no scope has more.
func (r *recallRun) gather(n int) (all bool) {
	all = true
	r.all, r.hits = r.all[:0], r.hits[:0]
	for i := range r.scopes {
		sc := &r.scopes[i]
		some := sc.answer.Best(n)
		all = all && len(some) < n
		for _, h := range some {
			r.all = append(r.all, scopeHit{Scored: h, scope: sc})
		}
	}
	for i := range r.all {
		r.hits = append(r.hits, &r.all[i])
	}
	if len(r.scopes) > 1 {
		slices.SortStableFunc(r.hits, compareWeighted)
	}
	return all
}

// compareWeighted orders hits of several sub-tenants, the best first.
func compareWeighted(a, b *scopeHit) int {
	if c := cmp.Compare(b.Score*b.weight, a.Score*a.weight); c != 0 {
		return c
	}
	return cmp.Compare(a.Chunk, b.Chunk)
}

// hydrate reads the rows of the best hits and checks each again: it must be
// there, visible, alive and fit the filter. want bounds the rows that pass.
func (r *recallRun) hydrate(ctx context.Context, want int) ([]*scopeHit, error) {
	out := slices.Grow(r.live[:0], min(want, len(r.hits)))
	for start := 0; start < len(r.hits) && len(out) < want; {
		end := min(len(r.hits), start+max(want-len(out), 10))
		nums := r.nums[:0]
		for _, h := range r.hits[start:end] {
			nums = append(nums, h.Chunk)
		}
		r.nums = nums
		rows, err := r.held.store.Chunks(ctx, nums, r.now)
		if err != nil {
			return nil, err
		}
		for _, h := range r.hits[start:end] {
			if len(rows) == 0 || rows[0].Num != h.Chunk { // gone: rows come in the order asked
				continue
			}
			row := rows[0]
			rows = rows[1:]
			if row.Src.Part != h.part || !item.Live(r.filter, row.Src.Tags) || r.later(row.Src) {
				continue
			}
			h.row = row
			if h.part.Class != backend.Memory || !r.layout.of(row.Layout).inferred || !r.said.again(h) {
				out = append(out, h)
			}
		}
		start = end
	}
	r.live = out
	return out, nil
}

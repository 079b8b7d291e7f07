package contextmem

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/recall"
)

const (
	maxResults       = 1001 // wire contract, first generation
	maxFanOut        = 1000 // candidates over several sub-tenants
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
	*recall.Scored
	part   backend.Partition
	weight float64 // of its sub-tenant
	row    *backend.Hydrated
	parts  *Explain // once its row is read
}

// newRanker returns the ranking for what the embedder can do.
func (s *Service) newRanker() *recall.Engine {
	e := &recall.Engine{Embedder: s.embedder, MemoryStrength: recall.DefaultAlpha, KnowledgeStrength: recall.DefaultAlpha}
	if c, ok := s.embedder.(Covering); ok {
		e.Coverage = c.Coverage
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
	scopes, err := sub.scopes(ctx, h, q.Class, q.Subs)
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
	run := &recallRun{svc: s, held: h, op: op, q: q, now: time.Now(), filter: filter,
		res: &Result{RequestID: NewRequestID(), Mode: ModeFast, Warnings: warnings, Chunks: []Chunk{}, Sources: []SourceInfo{}}}
	if err := run.search(ctx, scopes); err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	if err := run.finish(ctx, sub, scopes); err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	for _, a := range run.answers {
		a.Release()
	}
	return run.res, nil
}

// recallRun is one recall on its way.
type recallRun struct {
	svc     *Service
	held    *held
	op      string
	q       Recall
	now     time.Time
	filter  backend.Filter
	res     *Result
	answers []*recall.Answer // hold the scores of the hits
	hits    []*scopeHit
	doc     []byte    // the record of a source that was decoded last
	last    *item.Doc // what it says; sources of one kind often have equal records
	ents    map[backend.Partition][]int64
}

func (r *recallRun) warn(code, field, format string, args ...any) {
	r.res.Warnings = append(r.res.Warnings, Warning{Code: code, Field: field, Message: fmt.Sprintf(format, args...)})
}

// search ranks every scope and merges by score.
func (r *recallRun) search(ctx context.Context, scopes []scope) error {
	query := r.q.Query
	if r.q.Hint != "" {
		query = r.q.Hint + "\n" + query
	}
	e := r.svc.ranker
	r.ents = map[backend.Partition][]int64{}
	want := r.q.MaxResults * overFetch
	if !r.q.KnownAt.IsZero() { // what was learnt later falls away
		want = max(want, maxFanOut)
	}
	answers := make([]*recall.Answer, len(scopes))
	r.answers = answers
	space := recall.Space{Store: r.held.store, Vectors: r.held.ws.Vectors(), Keywords: r.held.ws.Keywords(), Graph: r.held.ws.Graph(), DenseOff: r.held.reembedding.Load()}
	ask := func(i int) error {
		return guarded(func() (err error) {
			answers[i], err = e.Search(ctx, space, recall.Request{Part: scopes[i].part, Query: query, K: want, Thinking: r.q.Mode == ModeThinking, Auto: r.q.Mode == ModeAuto,
				Alpha: recall.Alpha{Auto: r.q.Alpha.auto, Value: r.q.Alpha.value}, Filter: r.filter, Now: r.now, Deadline: r.now.Add(r.svc.opts.RecallBudget)})
			return err
		})
	}
	if len(scopes) == 1 {
		if err := ask(0); err != nil {
			return err
		}
	} else {
		var g errgroup.Group
		g.SetLimit(scopesAtOnce)
		for i := range scopes {
			g.Go(func() error { return ask(i) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	n := 0
	for _, a := range answers {
		n += len(a.Hits)
	}
	all, degraded := make([]scopeHit, 0, n), []string(nil)
	for i, sc := range scopes {
		a := answers[i]
		if a.Thinking {
			r.res.Mode = ModeThinking
		}
		if i == 0 {
			r.res.Alpha = a.Alpha
		}
		r.ents[sc.part] = a.Entities
		for _, d := range a.Degraded {
			if !slices.Contains(degraded, d) {
				degraded = append(degraded, d)
				r.warn("degraded", "mode", "%s", d)
			}
		}
		for i := range a.Hits {
			all = append(all, scopeHit{Scored: &a.Hits[i], part: sc.part, weight: sc.weight})
		}
	}
	r.hits = make([]*scopeHit, len(all))
	for i := range all {
		r.hits[i] = &all[i]
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
	slices.SortStableFunc(r.hits, func(a, b *scopeHit) int {
		return cmp.Or(cmp.Compare(b.Score*b.weight, a.Score*a.weight), cmp.Compare(a.Chunk, b.Chunk))
	})
	return nil
}

// hydrate reads the rows of the best hits and checks each again: it must be
// there, visible, alive and fit the filter. want bounds the rows that pass.
func (r *recallRun) hydrate(ctx context.Context, want int) ([]*scopeHit, error) {
	out := make([]*scopeHit, 0, min(want, len(r.hits)))
	for start := 0; start < len(r.hits) && len(out) < want; {
		end := min(len(r.hits), start+max(want-len(out), 10))
		nums := make([]int64, 0, end-start)
		for _, h := range r.hits[start:end] {
			nums = append(nums, h.Chunk)
		}
		rows, err := r.held.store.Chunks(ctx, nums, r.now)
		if err != nil {
			return nil, err
		}
		for _, h := range r.hits[start:end] {
			if len(rows) == 0 || rows[0].Num != h.Chunk { // gone: rows come in the order asked
				continue
			}
			row := &rows[0]
			rows = rows[1:]
			if row.Src.Part != h.part || !item.Live(r.filter, row.Src.Tags) || r.later(row.Src) {
				continue
			}
			h.row = row
			out = append(out, h)
		}
		start = end
	}
	return out, nil
}

// finish turns hits into the result.
func (r *recallRun) finish(ctx context.Context, sub Sub, scopes []scope) error {
	want := r.q.MaxResults
	if r.q.RecencyBias > 0 || r.q.Apps || r.svc.opts.FeedbackBoosts || r.svc.opts.Reranker != nil {
		want = max(want*overFetch, 50)
	} else {
		want += 2 + want/10 // some may be gone, or belong to a source that floods
	}
	r.hits = unflood(r.hits, r.q.MaxResults)
	hits, err := r.hydrate(ctx, want)
	if err != nil {
		return err
	}
	parts := make([]Explain, len(hits))
	for i, h := range hits {
		parts[i] = explain(&h.Parts)
		h.parts = &parts[i]
		h.Score *= h.weight
	}
	if hits, err = r.reorder(ctx, hits); err != nil {
		return err
	}
	hits = unflood(hits, r.q.MaxResults)
	hits = hits[:min(len(hits), r.q.MaxResults)]
	// What filled up a short list may score above what stands before it.
	slices.SortStableFunc(hits, func(a, b *scopeHit) int { return cmp.Compare(b.Score, a.Score) })
	r.res.Chunks = make([]Chunk, len(hits))
	for i, h := range hits {
		c := &r.res.Chunks[i]
		if *c, err = r.chunk(h.row); err != nil {
			return err
		}
		c.Score, c.Explain = h.Score, h.parts
	}
	if err := r.related(ctx, hits); err != nil {
		return err
	}
	if r.res.Mode == ModeThinking && !r.q.SkipRelations {
		if err := r.forceful(ctx, hits); err != nil {
			return err
		}
	}
	if err := r.sources(hits); err != nil {
		return err
	}
	if r.q.GraphContext {
		if err := r.graph(ctx, hits); err != nil {
			return err
		}
	}
	if r.q.Temporal != nil {
		r.temporal(ctx, hits)
	}
	if len(r.res.Chunks) == 0 {
		if err := r.hint(ctx, sub, scopes); err != nil {
			return err
		}
	}
	r.remember(sub, scopes)
	return nil
}

func explain(p *recall.Parts) Explain {
	return Explain{Semantic: p.Semantic, Keyword: p.Keyword, Context: p.Context, Speaker: p.Speaker, Time: p.Time, Entity: p.Entity, Graph: p.Graph,
		Bridge: p.Bridge, Expansion: p.Expansion, Late: p.Late, RawDense: p.RawDense, RawKeyword: p.RawKeyword}
}

func (r *recallRun) chunk(row *backend.Hydrated) (Chunk, error) {
	src := row.Src
	c := Chunk{ID: row.Key, SourceID: src.ID, Sub: src.Part.Sub, Class: Class(src.Part.Class), Text: row.Text, Title: src.Title, Kind: src.Kind, Heading: row.Heading,
		CreatedAt: src.CreatedAt, UpdatedAt: src.UpdatedAt, Time: src.Time, Layout: string(row.Layout), Inferred: pipeline.IsInferred(row.Layout)}
	if c.Title == "" { // memories without one: titles are searched, so none is made up when they are stored
		c.Title = shortTitle(row.Text)
	}
	var err error
	if c.Metadata, err = decodeMap(src.Metadata); err != nil {
		return c, err
	}
	c.Additional, err = decodeMap(src.Additional)
	return c, err
}

// sources lists the sources of the chunks, best first; the first chunks of the result
// are those of the hits.
func (r *recallRun) sources(hits []*scopeHit) error {
	seen := make(map[int64]bool, len(hits))
	r.res.Sources = make([]SourceInfo, 0, len(hits))
	for at, h := range hits {
		if seen[h.row.Src.Num] {
			continue
		}
		seen[h.row.Src.Num] = true
		doc, err := r.decode(h.row.Src.Doc)
		if err != nil {
			return err
		}
		i, err := sourceInfoOf(h.row.Src, doc)
		if err != nil {
			return err
		}
		if i.Title == "" {
			i.Title = r.res.Chunks[at].Title // made of the same text
		}
		r.res.Sources = append(r.res.Sources, i)
	}
	return nil
}

// decode reads the record of a source, which nobody changes.
func (r *recallRun) decode(b []byte) (*item.Doc, error) {
	if r.last == nil || !bytes.Equal(b, r.doc) {
		doc, err := item.Decode(b)
		if err != nil {
			return nil, err
		}
		r.doc, r.last = b, doc
	}
	return r.last, nil
}

// related adds neighbours of the hits in their sources.
func (r *recallRun) related(ctx context.Context, hits []*scopeHit) error {
	if r.q.RelatedChunks == 0 {
		return nil
	}
	have := map[string]bool{}
	for _, c := range r.res.Chunks {
		have[c.ID] = true
	}
	for i, h := range hits {
		from := max(0, h.row.Ordinal-r.q.RelatedChunks)
		near, err := r.held.store.SourceChunks(ctx, h.row.Src.Num, from, h.row.Ordinal+r.q.RelatedChunks+1, false)
		if err != nil {
			return err
		}
		for _, n := range near {
			if have[n.Key] || len(r.res.Chunks) >= maxFanOut {
				continue
			}
			have[n.Key] = true
			c, err := r.chunk(&backend.Hydrated{Chunk: n, Src: h.row.Src})
			if err != nil {
				return err
			}
			c.Related, c.Score = true, hits[i].Score
			r.res.Chunks = append(r.res.Chunks, c)
		}
	}
	return nil
}

// hint says where a search that found nothing might have looked.
func (r *recallRun) hint(ctx context.Context, sub Sub, scopes []scope) error {
	if len(r.filter.All) > 0 {
		return nil
	}
	subs, err := r.held.store.Subs(ctx)
	if err != nil {
		return err
	}
	here, elsewhere := false, 0
	for _, x := range subs {
		in := false
		for _, sc := range scopes {
			in = in || sc.part.Sub == x.Sub
		}
		if in {
			here = true
		} else {
			elsewhere++
		}
	}
	if !here && elsewhere > 0 {
		r.warn("hint", "collection", "the collection searched holds nothing; %d other collections of this database hold data", elsewhere)
	}
	return nil
}

// remember notes the recall for feedback.
func (r *recallRun) remember(sub Sub, scopes []scope) {
	rec := recalled{org: sub.org, tenant: sub.tenant, query: r.q.Query, class: r.q.Class, subs: make([]string, 0, len(scopes)), sources: make([]string, 0, len(r.res.Sources))}
	for _, sc := range scopes {
		rec.subs = append(rec.subs, sc.part.Sub)
	}
	for _, x := range r.res.Sources {
		rec.sources = append(rec.sources, x.ID)
	}
	r.svc.requests.add(r.res.RequestID, rec)
}

func (s *Service) booleanRecall(ctx context.Context, sub Sub, q TextQuery) (*Result, error) {
	const op = "boolean recall"
	if err := checkQuery(op, "query", q.Query); err != nil {
		return nil, err
	}
	if q.Class == 0 {
		q.Class = ClassKnowledge
	}
	if q.Class != ClassKnowledge && q.Class != ClassMemory && q.Class != ClassAll {
		return nil, fieldError(op, KindInvalid, ResourceSearch, "type", "unknown class %d", q.Class)
	}
	if q.MaxResults == 0 {
		q.MaxResults = 10
	}
	if q.MaxResults < 1 || q.MaxResults > 1000 {
		return nil, fieldError(op, KindInvalid, ResourceSearch, "max_results", "must be between 1 and 1000")
	}
	ops := map[Operator]backend.Operator{"": backend.Or, OperatorOr: backend.Or, OperatorAnd: backend.And, OperatorPhrase: backend.Phrase}
	bop, ok := ops[q.Operator]
	if !ok {
		return nil, fieldError(op, KindInvalid, ResourceSearch, "operator", "must be or, and or phrase")
	}
	if err := checkNames(op, q.IDs, q.Titles, q.Principals); err != nil {
		return nil, err
	}
	if err := checkSubs(op, q.Subs); err != nil {
		return nil, err
	}
	h, err := s.open(ctx, op, sub.org, sub.tenant)
	if err != nil {
		return nil, err
	}
	defer h.release()
	scopes, err := sub.scopes(ctx, h, q.Class, q.Subs)
	if err != nil {
		return nil, wrap(op, ResourceSub, sub.sub, err)
	}
	filter, warnings, err := s.sourceFilter(op, h.rec.data.Schema, q.Filters, q.IDs, q.Titles, q.Principals)
	if err != nil {
		return nil, err
	}
	if err := h.fresh(ctx); err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	r := &recallRun{svc: s, held: h, op: op, now: time.Now(), filter: filter, q: Recall{Query: q.Query, Class: q.Class, MaxResults: q.MaxResults},
		res: &Result{RequestID: NewRequestID(), Mode: ModeFast, Warnings: warnings, Chunks: []Chunk{}, Sources: []SourceInfo{}}}
	for _, sc := range scopes {
		hits, err := h.ws.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: sc.part, Text: q.Query, Operator: bop, K: q.MaxResults + q.MaxResults/2, Filter: filter})
		if err != nil {
			return nil, wrap(op, ResourceSearch, "", err)
		}
		for _, x := range hits {
			r.hits = append(r.hits, &scopeHit{Scored: &recall.Scored{Chunk: x.Chunk, Source: x.Source, Score: float64(x.Score),
				Parts: recall.Parts{Keyword: float64(x.Score), RawKeyword: float64(x.Score)}}, part: sc.part, weight: sc.weight})
		}
	}
	slices.SortStableFunc(r.hits, func(a, b *scopeHit) int {
		return cmp.Or(cmp.Compare(b.Score*b.weight, a.Score*a.weight), cmp.Compare(a.Chunk, b.Chunk))
	})
	hits, err := r.hydrate(ctx, q.MaxResults)
	if err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	for _, x := range hits {
		c, err := r.chunk(x.row)
		if err != nil {
			return nil, wrap(op, ResourceSearch, "", err)
		}
		e := explain(&x.Parts)
		c.Score, c.Explain = x.Score, &e
		r.res.Chunks = append(r.res.Chunks, c)
	}
	if err := r.sources(hits); err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	if len(r.res.Chunks) == 0 {
		if err := r.hint(ctx, sub, scopes); err != nil {
			return nil, wrap(op, ResourceSearch, "", err)
		}
	}
	r.remember(sub, scopes)
	return r.res, nil
}

package contextmem

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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

// scope is what a recall covers.
type scope struct {
	part   backend.Partition
	weight float64
}

// checkQuery refuses a query text that can't be searched.
func checkQuery(op, field, q string) error {
	if strings.TrimSpace(q) == "" {
		return fieldError(op, KindInvalid, ResourceSearch, field, "is required and must not be blank")
	}
	if n := utf8.RuneCountInString(q); n > maxQueryChars {
		return fieldError(op, KindInvalid, ResourceSearch, field, "%d characters are over the limit of %d", n, maxQueryChars)
	}
	return checkText(op, field, q, len(q))
}

func (q *Recall) complete(op string) error {
	bad := func(field, format string, args ...any) error {
		return fieldError(op, KindInvalid, ResourceSearch, field, format, args...)
	}
	if err := checkQuery(op, "query", q.Query); err != nil {
		return err
	}
	switch q.Class {
	case 0:
		q.Class = ClassKnowledge
	case ClassKnowledge, ClassMemory, ClassAll:
	default:
		return bad("type", "unknown class %d", q.Class)
	}
	switch q.Mode {
	case "":
		q.Mode = ModeFast
	case ModeFast, ModeThinking, ModeAuto:
	default:
		return bad("mode", "must be fast, thinking or auto")
	}
	if q.MaxResults < 0 || q.MaxResults > maxResults {
		return bad("max_results", "must be between 1 and %d", maxResults)
	}
	if !q.Alpha.set {
		q.Alpha = FixedAlpha(recall.DefaultAlpha)
	}
	if v := q.Alpha.value; !q.Alpha.auto && (math.IsNaN(v) || v < 0 || v > 1) {
		return bad("alpha", "must be between 0 and 1, or auto")
	}
	if v := q.RecencyBias; math.IsNaN(v) || v < 0 || v > 1 {
		return bad("recency_bias", "must be between 0 and 1")
	}
	if q.RelatedChunks < 0 || q.RelatedChunks > maxRelatedPerHit {
		return bad("num_related_chunks", "must be between 0 and %d", maxRelatedPerHit)
	}
	if utf8.RuneCountInString(q.Hint) > maxQueryChars {
		return bad("additional_context", "is over %d characters", maxQueryChars)
	}
	if err := checkText(op, "additional_context", q.Hint, len(q.Hint)); err != nil {
		return err
	}
	if err := checkNames(op, q.IDs, q.Titles, q.Principals); err != nil {
		return err
	}
	return checkSubs(op, q.Subs)
}

// maxNames bounds the ids, titles and principals that limit a search.
const maxNames = 10_000

func checkNames(op string, ids, titles, principals []string) error {
	for _, l := range [...]struct {
		field string
		n     int
	}{{"ids", len(ids)}, {"titles", len(titles)}, {"acl", len(principals)}} {
		if l.n > maxNames {
			return fieldError(op, KindInvalid, ResourceSearch, l.field, "%d entries are over the limit of %d", l.n, maxNames)
		}
	}
	return nil
}

func checkSubs(op string, subs map[string]float64) error {
	if subs == nil {
		return nil
	}
	if len(subs) < 1 || len(subs) > 100 {
		return fieldError(op, KindInvalid, ResourceSearch, "collections", "needs 1 to 100 entries")
	}
	for name, w := range subs {
		if math.IsNaN(w) || w <= 0 || w > 1e6 {
			return fieldError(op, KindInvalid, ResourceSearch, "collections."+shortID(name), "a weight must be above 0")
		}
	}
	return nil
}

// scopes lists the partitions of a recall, heaviest first.
func (s Sub) scopes(ctx context.Context, h *held, class Class, subs map[string]float64) ([]scope, error) {
	named := subs
	if named == nil {
		named = map[string]float64{s.sub: 1}
	}
	top := 0.0
	for _, w := range named {
		top = max(top, w)
	}
	merged := make(map[string]float64, len(named))
	for name, w := range named {
		full, err := Sub{svc: s.svc, org: s.org, tenant: s.tenant, sub: name}.resolve(ctx, h)
		if err != nil {
			return nil, err
		}
		merged[full] = max(merged[full], w/top)
	}
	out := make([]scope, 0, 2*len(merged))
	for name, w := range merged {
		for _, c := range []Class{ClassKnowledge, ClassMemory} {
			if class == c || class == ClassAll {
				out = append(out, scope{backend.Partition{Class: backend.Class(c), Sub: name}, w})
			}
		}
	}
	slices.SortFunc(out, func(a, b scope) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.part.Sub, b.part.Sub), cmp.Compare(a.part.Class, b.part.Class))
	})
	return out, nil
}

// sourceFilter is the filter of ids, titles, principals and metadata.
func (s *Service) sourceFilter(op string, schema []Field, f Filters, ids, titles, principals []string) (backend.Filter, []Warning, error) {
	out, warnings, err := s.filter(op, schema, f, true)
	if err != nil {
		return out, nil, err
	}
	if ids != nil {
		g := []uint64{}
		for _, id := range ids {
			g = append(g, item.IDTag(id))
		}
		out.All = append(out.All, g)
	}
	if titles != nil {
		g := []uint64{}
		for _, t := range titles {
			g = append(g, item.TitleTag(t))
		}
		out.All = append(out.All, g)
	}
	if g := item.Visible(principals); g != nil {
		out.All = append(out.All, g)
	}
	return out, warnings, nil
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

// reorder applies what depends on rows: recency, the app lane, feedback, the reranker.
func (r *recallRun) reorder(ctx context.Context, hits []*scopeHit) ([]*scopeHit, error) {
	if r.q.RecencyBias > 0 {
		for i := range hits {
			before := hits[i].Score
			hits[i].Score *= 1 - r.q.RecencyBias*(1-freshness(hits[i].row.Src, r.now))
			hits[i].parts.Recency = hits[i].Score - before
		}
	}
	if r.q.Apps {
		if err := r.apps(ctx, &hits); err != nil {
			return nil, err
		}
	}
	if r.svc.opts.FeedbackBoosts {
		if err := r.boost(ctx, hits); err != nil {
			return nil, err
		}
	}
	if r.res.Mode == ModeThinking && r.svc.opts.Reranker != nil {
		r.rerank(ctx, hits)
	}
	slices.SortStableFunc(hits, func(a, b *scopeHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Chunk, b.Chunk))
	})
	return hits, nil
}

// freshness halves every 30 days of age; a source without a time counts by when it was
// accepted, and one from the future as new.
func freshness(src *backend.Source, now time.Time) float64 {
	t := src.Time
	if t.IsZero() {
		t = src.CreatedAt
	}
	age := max(now.Sub(t), 0)
	return math.Exp2(-float64(age) / float64(recencyHalfLife))
}

// rerank asks the Reranker for new scores. One that fails or is late leaves the order as it was.
func (r *recallRun) rerank(ctx context.Context, hits []*scopeHit) {
	if len(hits) == 0 {
		return
	}
	n := min(len(hits), 50)
	texts := make([]string, n)
	for i := range texts {
		texts[i] = hits[i].row.Text
	}
	ctx, cancel := context.WithDeadline(ctx, r.now.Add(r.svc.opts.RecallBudget))
	defer cancel()
	var scores []float64
	err := guarded(func() (err error) {
		scores, err = r.svc.opts.Reranker.Rerank(ctx, r.q.Query, texts)
		return err
	})
	if err == nil && len(scores) != n {
		err = errors.New("another number of scores")
	}
	if err != nil {
		r.svc.opts.Logger.Warn("reranking failed", "err", err)
		r.warn("degraded", "mode", "the reranker failed or was late: its order was left out")
		return
	}
	lo, hi := slices.Min(scores), slices.Max(scores)
	if hi == lo || math.IsNaN(hi) || math.IsNaN(lo) || math.IsInf(hi-lo, 0) {
		return
	}
	top := hits[0].Score
	for i := range texts {
		hits[i].parts.Rerank = top * (scores[i] - lo) / (hi - lo)
		hits[i].Score += hits[i].parts.Rerank
	}
}

// guarded runs a plug-in and turns its panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a plug-in panicked (%T)", p)
		}
	}()
	return f()
}

// unflood keeps one source from taking the first n places while others wait: what
// it has over its share comes behind the rest.
func unflood(hits []*scopeHit, n int) []*scopeHit {
	share := max(floodFloor, (n+floodShare-1)/floodShare)
	if len(hits) <= share {
		return hits
	}
	count := make(map[int64]int, len(hits))
	var over []*scopeHit
	kept := hits[:0]
	for _, h := range hits {
		n := count[h.Source] + 1
		if count[h.Source] = n; n > share {
			over = append(over, h)
		} else {
			kept = append(kept, h)
		}
	}
	return append(kept, over...)
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

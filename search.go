package contextmem

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/rank"
	"github.com/contextmem/contextmem/internal/recall"
	"github.com/contextmem/contextmem/internal/workspace"
	"github.com/contextmem/contextmem/observe"
)

// Bounds of searches.
const (
	maxResults       = 1001 // wire contract, first generation
	maxTextResults   = 1000
	maxFanOut        = 1000 // over several sub-tenants
	resultsPerSub    = 10   // where no number was asked for
	maxRelatedPerHit = 50
	maxRejected      = 200
)

// completeRequestID makes an id where the caller gave none.
func completeRequestID(op string, id *string) error {
	if *id == "" {
		*id = NewRequestID()
	} else if !isRequestID(*id) {
		return fault.Fieldf(op, fault.KindInvalid, fault.Search, "RequestID", "must be a UUID")
	}
	return nil
}

// maxQueryChars bounds a query text.
const maxQueryChars = 8000

// checkQuery refuses a query text that can't be searched.
func checkQuery(op, field, q string) error {
	if strings.TrimSpace(q) == "" {
		return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "is required and must not be blank")
	}
	if n := utf8.RuneCountInString(q); n > maxQueryChars {
		return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, "%d characters are over the limit of %d", n, maxQueryChars)
	}
	return fault.CheckText(op, field, q, len(q))
}

func (q *Recall) complete(op string) error {
	bad := func(field, format string, args ...any) error {
		return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, format, args...)
	}
	if err := checkQuery(op, "Query", q.Query); err != nil {
		return err
	}
	if err := completeRequestID(op, &q.RequestID); err != nil {
		return err
	}
	switch q.Class {
	case 0, ClassKnowledge, ClassMemory, ClassAll:
	default:
		return bad("Class", "unknown class %d", q.Class)
	}
	switch q.Mode {
	case "":
		q.Mode = ModeFast
	case ModeFast, ModeThinking, ModeAuto:
	default:
		return bad("Mode", "must be fast, thinking or auto")
	}
	if _, ok := supersededModes[q.Superseded]; !ok {
		return bad("Superseded", "must be mark, demote or drop")
	}
	if q.MaxResults < 0 || q.MaxResults > maxResults {
		return bad("MaxResults", "must be between 1 and %d", maxResults)
	}
	if v := q.MinRelevance; math.IsNaN(v) || v < 0 || v > 1 {
		return bad("MinRelevance", "must be between 0 and 1")
	}
	if q.PerSource < 0 || q.PerSource > maxResults {
		return bad("PerSource", "must be between 1 and %d", maxResults)
	}
	if !q.Alpha.set {
		q.Alpha = FixedAlpha(rank.DefaultAlpha)
	}
	if v := q.Alpha.value; !q.Alpha.auto && (math.IsNaN(v) || v < 0 || v > 1) {
		return bad("Alpha", "must be between 0 and 1, or auto")
	}
	if v := q.RecencyBias; math.IsNaN(v) || v < 0 || v > 1 {
		return bad("RecencyBias", "must be between 0 and 1")
	}
	if q.Rejected < 0 || q.Rejected > maxRejected {
		return bad("Rejected", "must be between 0 and %d", maxRejected)
	}
	if err := fault.CheckText(op, "Missing", q.Missing, intake.MaxGraphIdentifier); err != nil {
		return err
	}
	if q.RelatedChunks < 0 || q.RelatedChunks > maxRelatedPerHit {
		return bad("RelatedChunks", "must be between 0 and %d", maxRelatedPerHit)
	}
	if utf8.RuneCountInString(q.Hint) > maxQueryChars {
		return bad("Hint", "is over %d characters", maxQueryChars)
	}
	if err := fault.CheckText(op, "Hint", q.Hint, len(q.Hint)); err != nil {
		return err
	}
	if err := checkNames(op, q.IDs, q.Titles, q.Principals); err != nil {
		return err
	}
	return checkSubs(op, q.Subs)
}

func (q *BooleanRecallRequest) complete(op string) error {
	bad := func(field, format string, args ...any) error {
		return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, format, args...)
	}
	if err := checkQuery(op, "Query", q.Query); err != nil {
		return err
	}
	if err := completeRequestID(op, &q.RequestID); err != nil {
		return err
	}
	switch q.Class {
	case 0, ClassKnowledge, ClassMemory, ClassAll:
	default:
		return bad("Class", "unknown class %d", q.Class)
	}
	q.MaxResults = cmp.Or(q.MaxResults, resultsPerSub)
	if q.MaxResults < 1 || q.MaxResults > maxTextResults {
		return bad("MaxResults", "must be between 1 and %d", maxTextResults)
	}
	if _, ok := operators[q.Operator]; !ok {
		return bad("Operator", "must be or, and or phrase")
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
	}{{"IDs", len(ids)}, {"Titles", len(titles)}, {"Principals", len(principals)}} {
		if l.n > maxNames {
			return fault.Fieldf(op, fault.KindInvalid, fault.Search, l.field, "%d entries are over the limit of %d", l.n, maxNames)
		}
	}
	return nil
}

func checkSubs(op string, subs map[string]float64) error {
	if subs == nil {
		return nil
	}
	if len(subs) < 1 || len(subs) > 100 {
		return fault.Fieldf(op, fault.KindInvalid, fault.Search, "Subs", "needs 1 to 100 entries")
	}
	for name, w := range subs {
		if math.IsNaN(w) || w <= 0 || w > 1e6 {
			return fault.Fieldf(op, fault.KindInvalid, fault.Search, "Subs."+fault.ShortID(name), "a weight must be above 0")
		}
	}
	return nil
}

// scopes returns the partitions of a recall, heaviest first; class 0 is ClassKnowledge.
func (s scope) scopes(ctx context.Context, h *workspace.Ref, class Class, subs map[string]float64) ([]recall.Scope, error) {
	var out []recall.Scope
	class = cmp.Or(class, ClassKnowledge)
	add := func(name string, w float64) {
		for _, c := range [...]Class{ClassKnowledge, ClassMemory} {
			if class == c || class == ClassAll {
				out = append(out, recall.Scope{Part: backend.Partition{Class: backend.Class(c), Sub: name}, Weight: w})
			}
		}
	}
	if subs == nil {
		name, err := s.resolve(ctx, h)
		if err != nil {
			return nil, err
		}
		add(name, 1)
		return out, nil
	}
	top := 0.0
	for _, w := range subs {
		top = max(top, w)
	}
	merged := make(map[string]float64, len(subs))
	for name, w := range subs {
		full, err := Sub{scope{svc: s.svc, org: s.org, tenant: s.tenant, sub: name}}.resolve(ctx, h)
		if err != nil {
			return nil, err
		}
		merged[full] = max(merged[full], w/top)
	}
	for name, w := range merged {
		add(name, w)
	}
	slices.SortFunc(out, func(a, b recall.Scope) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Part.Sub, b.Part.Sub), cmp.Compare(a.Part.Class, b.Part.Class))
	})
	return out, nil
}

// sourceFilter is the filter of ids, titles, principals and metadata.
func (s *Service) sourceFilter(op string, schema []Field, f Filters, ids, titles, principals []string) (backend.Filter, []fault.Warning, error) {
	out, warnings, err := metadata.Filter(op, schema, f, true)
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

// scoped is what limits a search.
type scoped struct {
	class                   Class
	subs                    map[string]float64
	filters                 Filters
	ids, titles, principals []string
}

// searchCall is a search in an open tenant.
type searchCall struct {
	*workspace.Ref
	vectors  *workspace.Serving
	recaller *recall.Engine // of the embedder that made the vectors
	sub      scope
	class    Class
	ws       recall.Workspace
	scopes   []recall.Scope
	filter   backend.Filter
	warnings []fault.Warning
	laps     *observe.Laps // from lapsPool until the observer was told
}

// beginSearch opens the tenant of a sub-tenant and finds what is searched. Every success must be followed by release.
func (s scope) beginSearch(ctx context.Context, op string, q scoped) (_ *searchCall, err error) {
	c := &searchCall{sub: s, class: q.class, laps: lapsPool.Get().(*observe.Laps)}
	c.laps.Begin(observe.Recall, s.svc.observer != nil)
	defer func() {
		if err != nil {
			c.observed(ctx, err)
		}
	}()
	h, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	c.Ref, c.vectors = h, h.Use()
	c.ws = recall.Workspace{Store: h.Store, Vectors: h.Workspace.Vectors(), Keywords: h.Workspace.Keywords(), Graph: h.Workspace.Graph(), DocOf: h.Doc}
	c.chooseVectors(s.svc)
	if c.scopes, err = s.scopes(ctx, h, q.class, q.subs); err != nil {
		c.Release()
		return nil, fault.Wrap(op, fault.Sub, s.sub, err)
	}
	if c.filter, c.warnings, err = s.svc.sourceFilter(op, h.Record.Data.Schema, q.filters, q.ids, q.titles, q.principals); err != nil {
		c.Release()
		return nil, err
	}
	if err := h.Fresh(ctx); err != nil {
		c.Release()
		return nil, fault.Wrap(op, fault.Search, "", err)
	}
	c.laps.Lap("open")
	return c, nil
}

// observed tells the observer how the search went.
func (c *searchCall) observed(ctx context.Context, err error) {
	c.laps.Org, c.laps.Tenant, c.laps.Mode = c.sub.org, c.sub.tenant, cmp.Or(c.laps.Mode, "none")
	c.laps.End(ctx, c.sub.svc.observer, err)
	lapsPool.Put(c.laps)
	c.laps = nil
}

// lapsPool spares recalls the memory of their measures, which observers do not keep.
var lapsPool = sync.Pool{New: func() any { return new(observe.Laps) }}

// Release ends the search and gives the tenant back.
func (c *searchCall) Release() {
	c.vectors.Done()
	c.Ref.Release()
}

// answer runs a search, shapes what it found, and remembers it for feedback.
func (c *searchCall) answer(ctx context.Context, op, requestID string, req *recall.Request, search func() (*recall.Result, error)) (res *Result, err error) {
	defer func() { c.observed(ctx, err) }()
	req.Scopes = c.scopes
	found, err := search()
	if err == nil && len(found.Hits) == 0 && c.class == 0 {
		found, err = c.searchMemories(ctx, found, search)
	}
	if err != nil {
		return nil, fault.Wrap(op, fault.Search, "", err)
	}
	defer found.Release()
	c.laps.Skip()
	res, err = shapeResult(ctx, found, c.Doc)
	if err != nil {
		return nil, fault.Wrap(op, fault.Search, "", err)
	}
	if res.Instructions, err = c.sub.svc.profiles.Instructions(ctx, c.UID, c.Store, c.partitions, req.Now, req.KnownAt, req.Visible); err != nil {
		return nil, fault.Wrap(op, fault.Search, "", err)
	}
	res.RequestID = requestID
	res.Warnings = append(c.warnings, found.Warnings...)
	c.remember(requestID, req.Query, res.Sources)
	if c.laps.Lap("shape"); c.laps.On() {
		c.laps.Items, c.laps.Mode = len(res.Chunks), cmp.Or(c.laps.Mode, string(res.Mode))
		c.laps.Degraded = slices.ContainsFunc(res.Warnings, func(w fault.Warning) bool { return w.Code == "degraded" })
	}
	return res, nil
}

// remember keeps what a recall found, so that feedback may speak of it.
func (c *searchCall) remember(requestID, query string, found []SourceInfo) {
	var subs [4]string // most recalls need no more
	var sources [16]string
	seen := feedback.Recalled{Org: c.sub.org, Tenant: c.sub.tenant, Query: query, Class: uint8(cmp.Or(c.class, ClassKnowledge)), Subs: subs[:0], Sources: sources[:0]}
	for i := range c.scopes {
		seen.Subs = append(seen.Subs, c.scopes[i].Part.Sub)
	}
	for i := range found {
		seen.Sources = append(seen.Sources, found[i].ID)
	}
	c.sub.svc.requests.Add(requestID, &seen)
}

// partitions yields what is searched.
func (c *searchCall) partitions(yield func(backend.Partition) bool) {
	for i := range c.scopes {
		if !yield(c.scopes[i].Part) {
			return
		}
	}
}

// searchMemories searches the memories of sub-tenants that hold no knowledge, where no class was asked for and nothing was
// found.
func (c *searchCall) searchMemories(ctx context.Context, found *recall.Result, search func() (*recall.Result, error)) (*recall.Result, error) {
	subs, err := c.Store.Subs(ctx)
	if err != nil {
		return nil, err
	}
	memories := false
	for _, x := range subs {
		if !slices.ContainsFunc(c.scopes, func(sc recall.Scope) bool { return sc.Part.Sub == x.Sub }) {
			continue
		}
		if x.Knowledge > 0 {
			return found, nil
		}
		memories = memories || x.Memory > 0
	}
	if !memories {
		return found, nil
	}
	found.Release()
	c.class = ClassMemory
	for i := range c.scopes {
		c.scopes[i].Part.Class = backend.Memory
	}
	c.warnings = append(c.warnings, fault.Warning{Code: "resolved", Field: "Class", Message: "what is searched holds no knowledge: its memories were searched"})
	return search()
}

// newRecaller returns the recall engine for what an embedder can do.
func (s *Service) newRecaller(of Embedder) *recall.Engine {
	e := &rank.Engine{Embedder: of, MemoryStrength: rank.DefaultAlpha, KnowledgeStrength: rank.DefaultAlpha}
	if c, ok := of.(Covering); ok {
		e.Coverage = c.Coverage
	}
	if t, ok := of.(*static.Embedder); ok { // itself: what wraps it may change its vectors
		e.Read = t.ReadQuery
	}
	if w, ok := of.(WordEmbedder); ok {
		e.Word = w.AppendWord
	}
	if r, ok := of.(Rated); ok {
		e.MemoryStrength, e.KnowledgeStrength = r.Strength()
	}
	if c, ok := of.(Calibrated); ok {
		e.Unrelated = unrelated(c.Calibration())
	}
	return &recall.Engine{Ranker: e, Model: of.Model(), Reranker: s.opts.Reranker, Judge: s.judge, Budget: s.opts.RecallBudget, Boosts: s.opts.FeedbackBoosts, UserKey: extract.Key(intake.DefaultUserName), Logger: s.opts.Logger}
}

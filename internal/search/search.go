// Package search runs recalls. It validates the request, opens the tenant, selects the partitions and vectors to search, calls
// the recall engine, and records the results for feedback.
package search

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/profile"
	"github.com/contextmem/contextmem/internal/recall"
	"github.com/contextmem/contextmem/internal/workspace"
	"github.com/contextmem/contextmem/judge"
	"github.com/contextmem/contextmem/observe"
)

// Config configures an Engine.
type Config struct {
	Embedders
	Reranker recall.Reranker // for thinking mode; nil: none
	Judge    judge.Judge     // nil: none
	Budget   time.Duration   // time limit of the extra stages of thinking mode
	Forget   bool            // memories lose weight with age, less so if they are used
	Boosts   bool            // apply the boosts learned from feedback
	Profiles *profile.Engine
	Requests *feedback.Requests
	Observer observe.Observer // nil: none
	Detailed bool             // Observer wants the parts of stages
	Logger   *slog.Logger
}

// Engine runs recalls. It is safe for concurrent use once Set and Settle are set.
type Engine struct {
	Config
	Set *workspace.Set
	// Settle waits until recently completed memories of a workspace are ready to be searched; nil: the search does not wait.
	Settle func(context.Context, *workspace.Space)
	models
}

// New returns an Engine. The caller sets Set before its first use.
func New(c Config) *Engine {
	e := &Engine{Config: c}
	e.models = e.newModels()
	return e
}

// Place names the sub-tenant where a search begins, by the caller's names.
type Place struct{ Org, Tenant, Sub string }

// Query is a search. The caller fills in the question in Request; the engine sets scopes, filters and the time.
type Query struct {
	recall.Request
	RequestID               string        // default: a random UUID
	Class                   content.Class // 0: knowledge, or memories if there is no knowledge
	Subs                    map[string]float64
	Filters                 content.Filters
	IDs, Titles, Principals []string
}

// Found is the result of a search. It is valid until Release.
type Found struct {
	*recall.Result
	RequestID    string
	Instructions []facts.Instruction
	Docs         recall.Docs

	call *call
}

// Release ends the search, releases the tenant, and reports the search to the observer. err is the error that the caller met
// while using the result, if any.
func (f *Found) Release(ctx context.Context, err error) {
	c := f.call
	if c.laps.Lap("shape"); c.laps.On() {
		c.laps.Items = len(f.Hits) + len(f.Related)
		c.laps.Degraded = slices.ContainsFunc(f.Warnings, func(w fault.Warning) bool { return w.Code == "degraded" })
		if c.laps.Mode == "" {
			if c.laps.Mode = "fast"; f.Thinking {
				c.laps.Mode = "thinking"
			}
		}
	}
	f.Result.Release()
	c.release()
	c.observed(ctx, err)
}

// observed reports the search to the observer.
func (c *call) observed(ctx context.Context, err error) {
	c.laps.Org, c.laps.Tenant, c.laps.Mode = c.at.Org, c.at.Tenant, cmp.Or(c.laps.Mode, "none")
	c.laps.End(ctx, c.Observer, err)
}

// Room is the reusable memory of a search. One search owns it until that search is released or fails.
type Room struct{ call call }

// begin prepares the room for a search.
func (r *Room) begin(e *Engine, at Place, q *Query) *call {
	c := &r.call
	*c = call{}
	c.Engine, c.Query, c.at = e, *q, at
	return c
}

// Recall searches by keywords and by meaning.
func (e *Engine) Recall(ctx context.Context, op string, at Place, q Query, room *Room) (*Found, error) {
	c := room.begin(e, at, &q)
	if err := c.complete(op); err != nil {
		return nil, err
	}
	err := c.begin(ctx, op)
	if err != nil {
		return nil, err
	}
	return c.answer(ctx, op, func() (*recall.Result, error) { return c.recaller.Search(ctx, &c.ws, &c.Request) })
}

// Boolean searches by keywords only.
func (e *Engine) Boolean(ctx context.Context, op string, at Place, q Query, words backend.Operator, room *Room) (*Found, error) {
	c := room.begin(e, at, &q)
	if err := c.completeBoolean(op); err != nil {
		return nil, err
	}
	err := c.begin(ctx, op)
	if err != nil {
		return nil, err
	}
	c.laps.Mode = "text"
	return c.answer(ctx, op, func() (*recall.Result, error) { return c.recaller.Boolean(ctx, &c.ws, &c.Request, words) })
}

// call is a search in an open tenant.
type call struct {
	*Engine
	Query
	at       Place
	ref      *workspace.Ref
	vectors  *workspace.Serving
	recaller *recall.Engine // for the embedder that made the vectors
	ws       recall.Workspace
	warnings []fault.Warning
	found    Found
	laps     observe.Laps
	room     [2]recall.Scope // memory of Scopes; most recalls have no more
}

// begin opens the tenant and selects the partitions to search. After a success the caller must call release.
func (c *call) begin(ctx context.Context, op string) error {
	c.Scopes = c.room[:0]
	c.laps.Begin(observe.Recall, c.Observer != nil)
	c.laps.Detailed = c.Engine.Detailed
	ref, err := c.Set.Open(ctx, op, c.at.Org, c.at.Tenant)
	if err != nil {
		c.observed(ctx, err)
		return err
	}
	if c.Class != content.ClassKnowledge && c.Settle != nil {
		c.Settle(ctx, ref.Space)
	}
	c.Visible, c.Now, c.Laps = item.VisibleTo(c.Principals), time.Now(), &c.laps
	c.ref, c.vectors = ref, ref.Use()
	c.ws = recall.Workspace{Store: ref.Store, Vectors: ref.Workspace.Vectors(), Keywords: ref.Workspace.Keywords(), Graph: ref.Workspace.Graph(), Docs: ref, Notice: ref}
	if c.Forget {
		c.ws.Uses = ref.Uses()
	}
	c.chooseVectors()
	if err = c.scopes(ctx); err != nil {
		err = fault.Wrap(op, fault.Sub, c.at.Sub, err)
	} else if err = c.filter(op); err == nil {
		if err = c.fresh(ctx, op); err == nil {
			err = c.again(ctx, op)
		}
	}
	if err != nil {
		c.release()
		c.observed(ctx, err)
		return err
	}
	c.laps.Lap("open")
	return nil
}

// fresh waits until committed changes are indexed. If that takes too long, fresh adds a warning, and the search covers only the
// indexed changes.
func (c *call) fresh(ctx context.Context, op string) error {
	late, err := c.ref.FreshOrLate(ctx)
	if late > 0 {
		c.warnings = append(c.warnings, fault.Warning{Code: "partial", Message: fmt.Sprintf("the indexes are catching up and lack up to %d changes: what is not indexed yet was not searched", late)})
	}
	return fault.Wrap(op, fault.Search, "", err)
}

// again chooses the vectors anew if another process has changed them.
func (c *call) again(ctx context.Context, op string) error {
	v, err := c.ref.UseAgain(ctx, c.vectors)
	if err != nil {
		return fault.Wrap(op, fault.Search, "", err)
	}
	if v != c.vectors {
		c.vectors, c.ws.FastLane = v, 0
		c.chooseVectors()
	}
	return nil
}

func (c *call) release() {
	c.vectors.Done()
	c.ref.Release()
}

// scopes selects the partitions to search, by descending weight.
func (c *call) scopes(ctx context.Context) error {
	class := cmp.Or(c.Class, content.ClassKnowledge)
	add := func(name string, w float64) {
		for _, x := range [...]content.Class{content.ClassKnowledge, content.ClassMemory} {
			if class == x || class == content.ClassAll {
				c.Scopes = append(c.Scopes, recall.Scope{Part: backend.Partition{Class: backend.Class(x), Sub: name}, Weight: w})
			}
		}
	}
	if c.Subs == nil {
		name, err := c.ref.ResolveSub(ctx, c.at.Tenant, c.at.Sub)
		if err != nil {
			return err
		}
		add(name, 1)
		return nil
	}
	top := 0.0
	for _, w := range c.Subs {
		top = max(top, w)
	}
	merged := make(map[string]float64, len(c.Subs))
	for name, w := range c.Subs {
		full, err := c.ref.ResolveSub(ctx, c.at.Tenant, name)
		if err != nil {
			return err
		}
		merged[full] = max(merged[full], w/top)
	}
	for name, w := range merged {
		add(name, w)
	}
	slices.SortFunc(c.Scopes, func(a, b recall.Scope) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Part.Sub, b.Part.Sub), cmp.Compare(a.Part.Class, b.Part.Class))
	})
	return nil
}

// filter combines ids, titles, principals and metadata into one filter.
func (c *call) filter(op string) (err error) {
	if c.Filter, c.warnings, err = metadata.Filter(op, c.ref.Record.Data.Schema, c.Filters, true); err != nil {
		return err
	}
	add := func(names []string, tag func(string) uint64) {
		if names == nil {
			return
		}
		g := make([]uint64, len(names))
		for i, name := range names {
			g[i] = tag(name)
		}
		c.Filter.All = append(c.Filter.All, g)
	}
	add(c.IDs, item.IDTag)
	add(c.Titles, item.TitleTag)
	c.Filter.All = append(c.Filter.All, c.Visible.All...)
	return nil
}

// answer runs a search and records its results. It ends the call if the search fails.
func (c *call) answer(ctx context.Context, op string, search func() (*recall.Result, error)) (*Found, error) {
	c.Set.Traffic.Begin()
	defer c.Set.Traffic.End()
	found, err := search()
	if err == nil && len(found.Hits) == 0 && c.Class == 0 {
		found, err = c.searchMemories(ctx, found, search)
	}
	if err != nil {
		c.release()
		err = fault.Wrap(op, fault.Search, "", err)
		c.observed(ctx, err)
		return nil, err
	}
	c.laps.Skip()
	f := &c.found
	f.Result, f.RequestID, f.Docs, f.call = found, c.RequestID, c.ref, c
	var room [2]backend.Partition // most recalls need no more
	st := c.ref.Intact()
	if f.Instructions, err = c.Profiles.Instructions(ctx, c.ref.UID, st, c.partitions(room[:0]), c.Now, c.KnownAt, c.Visible); err != nil {
		err = fault.Wrap(op, fault.Search, "", err)
		f.Release(ctx, err)
		return nil, err
	}
	if f.Warnings = append(c.warnings, f.Warnings...); !slices.ContainsFunc(f.Warnings, func(w fault.Warning) bool { return w.Code == "damaged" }) {
		f.Warnings = append(f.Warnings, st.Warnings()...)
	}
	c.remember()
	c.used()
	return f, nil
}

// usedHits is the number of best hits of a recall that count as used.
const usedHits = 3

// used records a use of the best memories, if memories are weighted by use.
func (c *call) used() {
	if c.ws.Uses == nil || !c.AsOf.IsZero() || !c.KnownAt.IsZero() {
		return
	}
	var nums [usedHits]int64
	n := 0
	for _, h := range c.found.Hits {
		if src := h.Row.Src; n < usedHits && h.First && src.Part.Class == backend.Memory {
			nums[n] = src.Num
			n++
		}
	}
	c.ref.Uses().Note(c.Now, nums[:n]...)
}

// remember records the results of a recall, so that feedback can refer to them.
func (c *call) remember() {
	var subs [4]string // most recalls need no more
	var sources [16]string
	seen := feedback.Recalled{Org: c.at.Org, Tenant: c.at.Tenant, Query: c.Query.Query, Class: uint8(cmp.Or(c.Class, content.ClassKnowledge)), Subs: subs[:0], Sources: sources[:0]}
	for i := range c.Scopes {
		seen.Subs = append(seen.Subs, c.Scopes[i].Part.Sub)
	}
	for _, h := range c.found.Hits {
		if h.First {
			seen.Sources = append(seen.Sources, h.Row.Src.ID)
		}
	}
	c.Requests.Add(c.RequestID, &seen)
}

// partitions appends the searched partitions to to.
func (c *call) partitions(to []backend.Partition) []backend.Partition {
	for i := range c.Scopes {
		to = append(to, c.Scopes[i].Part)
	}
	return to
}

// searchMemories searches the memories of sub-tenants without knowledge, if the caller named no class and nothing was found.
func (c *call) searchMemories(ctx context.Context, found *recall.Result, search func() (*recall.Result, error)) (*recall.Result, error) {
	subs, err := backend.Peek(c.ref.Store).Subs(ctx)
	if err != nil {
		return nil, err
	}
	memories := false
	for _, x := range subs {
		if !slices.ContainsFunc(c.Scopes, func(sc recall.Scope) bool { return sc.Part.Sub == x.Sub }) {
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
	c.Class = content.ClassMemory
	for i := range c.Scopes {
		c.Scopes[i].Part.Class = backend.Memory
	}
	c.warnings = append(c.warnings, fault.Warning{Code: "resolved", Field: "Class", Message: "what is searched holds no knowledge: its memories were searched"})
	return search()
}

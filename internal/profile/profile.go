// Package profile reads the structured knowledge of a sub-tenant: facts with their evidence, entities, profiles of a subject by slot, and standing instructions.
package profile

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/slot"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Bounds of one call.
const (
	batch        = 2000   // relations read in one call
	maxBatches   = 5      // batches read for one page
	maxUpcoming  = 20_000 // dated relations read for upcoming facts
	maxOfSubject = 10_000 // relations of its subject that a profile reads
	maxOther     = 20     // facts without a slot in a profile
)

// Engine reads facts, entities, profiles and instructions. It is safe for concurrent use.
type Engine struct {
	Slots      *slot.Taxonomy
	Embedder   embed.Embedder   // may recognise the slots of questions
	Summarizer facts.Summarizer // nil: summaries consist of sentences of the sources
	Logger     *slog.Logger
	orders     orders
}

// asked holds the partition of a request and what its caller may see.
type asked struct {
	store backend.Store
	part  backend.Partition
	now   time.Time
	// visible is the filter of sources that the caller may see; zero: all.
	visible backend.Filter
	view    *graph.View
}

// ask resolves the partition of a request: a class of a sub-tenant, memories by default. sub is the stored name.
func ask(op string, st backend.Store, sub string, class content.Class, principals []string) (asked, error) {
	class = cmp.Or(class, content.ClassMemory)
	if class != content.ClassKnowledge && class != content.ClassMemory {
		return asked{}, workspace.ClassError(op, class)
	}
	return newAsked(st, backend.Partition{Class: backend.Class(class), Sub: sub}, time.Now(), item.VisibleTo(principals)), nil
}

func newAsked(st backend.Store, part backend.Partition, now time.Time, visible backend.Filter) asked {
	return asked{st, part, now, visible, graph.NewView(st, now, visible)}
}

// maxQuestion is the maximal length of a question in bytes: 8000 characters of 4 bytes.
const maxQuestion = 32_000

// Facts returns a page of facts of a sub-tenant. sub is its stored name.
func (e *Engine) Facts(ctx context.Context, ref *workspace.Ref, sub string, r facts.Request) (*facts.Page, error) {
	const op = "facts"
	st := ref.Intact()
	a, err := ask(op, st, sub, r.Class, r.Principals)
	if err != nil {
		return nil, err
	}
	if err := fault.CheckText(op, "Question", r.Question, maxQuestion); err != nil {
		return nil, err
	}
	r.Limit = cmp.Or(r.Limit, 100)
	switch {
	case r.Limit < 1 || r.Limit > 1000:
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Limit", "must be between 1 and 1000")
	case r.Cursor < 0:
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Cursor", "must not be negative")
	case r.Slot != "" && !e.Slots.Has(r.Slot):
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Slot", "is not one of the taxonomy")
	case r.Upcoming && r.History:
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "History", "excludes upcoming")
	}
	if r.Slot == "" && r.Question != "" {
		if r.Slot, _, err = e.Slots.Asked(ctx, e.Embedder, r.Question); err != nil {
			return nil, fault.Wrap(op, fault.Search, "", err)
		}
	}
	page := &facts.Page{Facts: []facts.Fact{}, Slot: r.Slot}
	if err := e.facts(ctx, op, a, r, page); err != nil {
		return nil, err
	}
	page.Warnings = st.Warnings()
	if r.Slot == "" || r.Subject == "" || r.Predicate != "" || r.Cursor != 0 || r.Upcoming || r.History || !r.KnownAt.IsZero() {
		return page, nil
	}
	told, err := e.findMessages(ctx, ref, &a, &messageQuery{subject: r.Subject, asOf: r.AsOf, slots: []string{r.Slot}, most: r.Limit})
	if err != nil {
		return nil, fault.Wrap(op, fault.Search, "", err)
	}
	page.Statements, _ = told.statements(r.Slot, page.Facts, r.Limit)
	page.Warnings = st.Warnings()
	return page, nil
}

// facts fills a page.
func (e *Engine) facts(ctx context.Context, op string, a asked, r facts.Request, page *facts.Page) error {
	q := backend.RelationQuery{Part: a.part, AsOf: r.AsOf, KnownAt: r.KnownAt, AllTime: r.History, After: r.Cursor, Limit: batch}
	if r.Subject != "" {
		ent, err := a.entity(ctx, op, r.Subject)
		if err != nil || ent == 0 {
			return err
		}
		q.Entities = []int64{ent}
	}
	if r.Predicate != "" {
		q.Predicates = []string{r.Predicate}
	}
	if r.Upcoming {
		return e.upcoming(ctx, op, a, r, q, page)
	}
	for range maxBatches {
		links, release, last, more, err := a.links(ctx, q)
		if err != nil {
			return fault.Wrap(op, fault.Search, "", err)
		}
		ended, err := a.endedOf(ctx, links, cmp.Or(r.AsOf, r.KnownAt))
		if err != nil {
			release()
			return fault.Wrap(op, fault.Search, "", err)
		}
		for i := range links {
			f, ok := e.fact(&links[i], a.now, r.AsOf, q.Entities)
			if !ok || r.Slot != "" && f.Slot != r.Slot || ended.end(&f, &links[i]) && !r.History {
				continue
			}
			if len(page.Facts) == r.Limit {
				page.Next = q.After
				release()
				return e.join(ctx, op, &a, r, q, page)
			}
			page.Facts = append(page.Facts, f)
			q.After = links[i].Num
		}
		release()
		if q.After = last; !more {
			return e.join(ctx, op, &a, r, q, page)
		}
	}
	page.Next = q.After
	return e.join(ctx, op, &a, r, q, page)
}

// join makes one fact of those of a page that say the same.
func (e *Engine) join(ctx context.Context, op string, a *asked, r facts.Request, q backend.RelationQuery, page *facts.Page) error {
	if r.History {
		return nil
	}
	page.Facts = together(page.Facts)
	if r.Subject == "" || !r.AsOf.IsZero() || !r.KnownAt.IsZero() || len(page.Facts) == 0 {
		return nil
	}
	return fault.Wrap(op, fault.Search, "", e.earlier(ctx, a, q, page.Facts))
}

// upcoming fills a page with facts that begin after AsOf, in order of their beginning. The cursor is the number of facts on earlier pages.
func (e *Engine) upcoming(ctx context.Context, op string, a asked, r facts.Request, q backend.RelationQuery, page *facts.Page) error {
	from := cmp.Or(r.AsOf, a.now)
	q.AsOf, q.After, q.Dated = time.Time{}, 0, true
	var found []facts.Fact
	for read := 0; read < maxUpcoming; read += batch {
		links, release, last, more, err := a.links(ctx, q)
		if err != nil {
			return fault.Wrap(op, fault.Search, "", err)
		}
		for i := range links {
			f, ok := e.fact(&links[i], from, time.Time{}, q.Entities)
			if ok && f.Since.After(from) && (r.Slot == "" || f.Slot == r.Slot) {
				found = append(found, f)
			}
		}
		release()
		if q.After = last; !more {
			break
		}
	}
	found = once(found)
	slices.SortStableFunc(found, func(a, b facts.Fact) int { return a.Since.Compare(b.Since) })
	lo := min(int(min(r.Cursor, maxUpcoming)), len(found))
	hi := min(lo+r.Limit, len(found))
	page.Facts = append(page.Facts, found[lo:hi]...)
	if hi < len(found) {
		page.Next = int64(hi)
	}
	return nil
}

// Entities returns a page of entities of a sub-tenant. sub is its stored name.
func (e *Engine) Entities(ctx context.Context, ref *workspace.Ref, sub string, r facts.EntityRequest) (*facts.EntityPage, error) {
	const op = "entities"
	st := ref.Intact()
	a, err := ask(op, st, sub, r.Class, r.Principals)
	if err != nil {
		return nil, err
	}
	r.Limit = cmp.Or(r.Limit, 100)
	if r.Limit < 1 || r.Limit > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Limit", "must be between 1 and 1000")
	}
	prefix := ""
	if r.Prefix != "" {
		if prefix = extract.Key(r.Prefix); prefix == "" {
			return nil, fault.Fieldf(op, fault.KindInvalid, "", "Prefix", "holds neither letters nor digits")
		}
	}
	q := backend.EntityQuery{Part: a.part, After: r.Cursor, Prefix: prefix, Type: r.Type, Limit: r.Limit}
	if len(a.visible.All)+len(a.visible.Not) > 0 {
		page, err := a.seenEntities(ctx, q)
		if err != nil {
			return nil, fault.Wrap(op, fault.Search, "", err)
		}
		page.Warnings = st.Warnings()
		return page, nil
	}
	found, err := a.store.ListEntities(ctx, q)
	if err != nil {
		return nil, fault.Wrap(op, fault.Search, "", err)
	}
	page := &facts.EntityPage{Entities: make([]facts.Entity, len(found)), Warnings: st.Warnings()}
	for i, x := range found {
		shown := graph.Show(x)
		page.Entities[i] = facts.Entity{ID: shown.ID, Name: shown.Name, Type: shown.Type, Mentions: x.Mentions}
	}
	if len(found) == r.Limit {
		page.Next = found[len(found)-1].Key
	}
	return page, nil
}

// entity returns the number of the entity with a name, or 0 if there is none.
func (a *asked) entity(ctx context.Context, op, name string) (int64, error) {
	key := extract.Key(name)
	if key == "" {
		return 0, fault.Fieldf(op, fault.KindInvalid, "", "Subject", "holds neither letters nor digits")
	}
	num, err := a.view.Entity(ctx, a.part, key)
	return num, fault.Wrap(op, fault.Search, "", err)
}

// links reads relations together with the entities and chunks to which they refer. The caller calls release when it no longer needs them.
func (a *asked) links(ctx context.Context, q backend.RelationQuery) (links []graph.Link, release func(), last int64, more bool, err error) {
	r := graph.NewReader(ctx, a.store, a.now, a.visible, nil)
	r.Share(a.view)
	rels, last, more, err := r.Relations(q)
	if err == nil {
		links, err = r.Load(rels, a.visible)
	}
	if err != nil {
		r.Release()
		return nil, nil, 0, false, err
	}
	return links, r.Release, last, more, nil
}

// mentionedTogether is the predicate of two names in one sentence. It is no statement.
const mentionedTogether = "related_to"

// fact returns the fact that a link states, and reports whether it states one. subjects are the subjects of the request.
func (e *Engine) fact(l *graph.Link, now, asOf time.Time, subjects []int64) (f facts.Fact, ok bool) {
	if l.Predicate == mentionedTogether && l.Kind == "" {
		return f, false
	}
	var ev facts.Evidence
	l.Prove(&ev)
	object := l.Object()
	f = facts.Fact{ID: ev.ID, Subject: l.Subject.Name, Predicate: l.Predicate, Object: object.Name, Kind: cmp.Or(l.Kind, relation), Confidence: ev.Confidence,
		Since: l.ValidFrom, Until: l.ValidTo, Precision: l.Precision, Learnt: ev.Timestamp, Retired: l.KnownTo, Restored: l.Restored, Evidence: l.Context, SourceID: l.Proof.Row.Src.ID, ChunkID: ev.ChunkID}
	if l.Relation.Object != "" {
		f.Object = l.Relation.Object
	}
	if l.Kind != "" && strings.TrimRight(l.Raw, ".!。！") != l.Raw {
		f.Text = l.Raw // Raw of a fact is a sentence; Raw of a relation is only the words of its verb
	}
	inverse := len(subjects) > 0 && l.To != 0 && slices.Contains(subjects, l.To) && !slices.Contains(subjects, l.From)
	f.Slot, f.SlotConfidence = e.slotOf(&f, l, inverse)
	if l.SupersededBy != 0 {
		f.SupersededBy = graph.RelationID(l.SupersededBy)
	}
	at := cmp.Or(asOf, now)
	switch {
	case l.Retracts:
		f.Status = facts.Ending
	case !l.KnownTo.IsZero() && asOf.IsZero():
		f.Status = facts.Superseded
	case f.Since.After(at):
		f.Status = facts.Upcoming
	case !f.Until.IsZero() && !f.Until.After(at):
		f.Status = facts.Past
	default:
		f.Status = facts.Current
	}
	if l.Retracts {
		f.Retired = time.Time{}
	}
	f.ToldLater = !asOf.IsZero() && f.Learnt.After(asOf)
	return f, true
}

// Profile returns the profile of a subject in a sub-tenant. sub is its stored name.
func (e *Engine) Profile(ctx context.Context, ref *workspace.Ref, sub string, r facts.ProfileRequest) (*facts.Profile, error) {
	const op = "profile"
	st := ref.Intact()
	a, err := ask(op, st, sub, r.Class, r.Principals)
	if err != nil {
		return nil, err
	}
	if err := e.complete(op, &r); err != nil {
		return nil, err
	}
	if r.Subject == "" {
		if r.Subject, err = a.speaker(ctx); err != nil {
			return nil, fault.Wrap(op, fault.Search, "", err)
		}
	}
	p := &facts.Profile{Subject: r.Subject, SummaryBy: facts.BySources, Slots: []facts.SlotFacts{}, Other: []facts.Fact{}, Instructions: []facts.Instruction{}}
	told, err := e.findMessages(ctx, ref, &a, &messageQuery{subject: r.Subject, asOf: r.AsOf, most: r.PerSlot})
	if err != nil {
		return nil, fault.Wrap(op, fault.Search, "", err)
	}
	ent, err := a.entity(ctx, op, r.Subject)
	if p.Warnings = st.Warnings(); err != nil || ent == 0 && len(told.by) == 0 {
		return p, err
	}
	var bySlot map[string][]facts.Fact
	if ent != 0 {
		bySlot, p.Truncated, err = e.factsOf(ctx, &a, ent, r.AsOf, &told)
		if err != nil {
			return nil, fault.Wrap(op, fault.Search, "", err)
		}
	}
	for _, s := range e.Slots.Slots() {
		fs := bySlot[s.Name]
		statements, more := told.statements(s.Name, fs, r.PerSlot)
		if len(fs)+len(statements) > 0 && (r.Slots == nil || slices.Contains(r.Slots, s.Name)) {
			shown, hidden := latest(fs, r.PerSlot)
			p.Slots = append(p.Slots, facts.SlotFacts{Slot: s.Name, Card: s.Card, Facts: shown, Statements: statements})
			p.Truncated = p.Truncated || more || hidden
		}
	}
	if fs := bySlot[""]; len(fs) > 0 && r.Slots == nil {
		shown, hidden := latest(fs, maxOther)
		p.Other, p.Truncated = shown, p.Truncated || hidden
	}
	if ent != 0 {
		orders, _, err := instructions(ctx, a, ent, r.AsOf)
		if err != nil {
			return nil, fault.Wrap(op, fault.Search, "", err)
		}
		p.Instructions = append(p.Instructions, orders...)
	}
	p.Warnings = st.Warnings()
	return p, e.summarise(ctx, p, r.MaxTokens)
}

// complete sets defaults of a request and checks it.
func (e *Engine) complete(op string, r *facts.ProfileRequest) error {
	r.PerSlot, r.MaxTokens = cmp.Or(r.PerSlot, 10), cmp.Or(r.MaxTokens, 300)
	switch {
	case r.PerSlot < 1 || r.PerSlot > 100:
		return fault.Fieldf(op, fault.KindInvalid, "", "PerSlot", "must be between 1 and 100")
	case r.MaxTokens < 1 || r.MaxTokens > 8000:
		return fault.Fieldf(op, fault.KindInvalid, "", "MaxTokens", "must be between 1 and 8000")
	case slices.ContainsFunc(r.Slots, func(s string) bool { return !e.Slots.Has(s) }):
		return fault.Fieldf(op, fault.KindInvalid, "", "Slots", "one is not of the taxonomy")
	}
	return nil
}

// factsOf reads the facts of an entity by slot, in the order in which they were learnt: those that hold or lie ahead, and of slots whose facts
// last, earlier ones. It places them among the messages. cut reports that there are more.
func (e *Engine) factsOf(ctx context.Context, a *asked, ent int64, asOf time.Time, told *messages) (bySlot map[string][]facts.Fact, cut bool, err error) {
	bySlot = map[string][]facts.Fact{}
	q := backend.RelationQuery{Part: a.part, Entities: []int64{ent}, AsOf: asOf, Limit: batch}
	for read := 0; read < maxOfSubject; read += batch {
		links, release, last, more, err := a.links(ctx, q)
		if err != nil {
			return nil, false, err
		}
		ended, err := a.endedOf(ctx, links, asOf)
		if err != nil {
			release()
			return nil, false, err
		}
		for i := range links {
			f, ok := e.fact(&links[i], a.now, asOf, q.Entities)
			ended.end(&f, &links[i])
			if ok && f.Predicate != orderPredicate && (f.Status == facts.Current || f.Status == facts.Upcoming || e.lasting(f.Slot)) {
				if told.place(&f); f.Slot == "" || told.former[f.ChunkID] != f.Slot || e.lasting(f.Slot) {
					bySlot[f.Slot] = append(bySlot[f.Slot], f)
				}
			}
		}
		release()
		if q.After = last; !more {
			return bySlot, false, nil
		}
	}
	return bySlot, true, nil
}

// latest returns the most facts that were learnt last, without repetitions, the last first. It reports whether there are more.
func latest(fs []facts.Fact, most int) (shown []facts.Fact, more bool) {
	slices.Reverse(fs)
	slices.SortStableFunc(fs, func(a, b facts.Fact) int { return b.Learnt.Compare(a.Learnt) })
	fs = distinct(together(fs))
	return fs[:min(most, len(fs))], len(fs) > most
}

// lasting reports whether a slot keeps facts that have ended.
func (e *Engine) lasting(name string) bool {
	for _, s := range e.Slots.Slots() {
		if s.Name == name {
			return s.Card == facts.History
		}
	}
	return false
}

// distinct removes facts that repeat an earlier one.
func distinct(fs []facts.Fact) []facts.Fact {
	type said struct{ subject, predicate, object string }
	seen := map[said]bool{}
	return slices.DeleteFunc(fs, func(f facts.Fact) bool {
		k := said{f.Subject, f.Predicate, extract.Key(f.Object)}
		again := seen[k]
		seen[k] = true
		return again
	})
}

// relation is the kind of statements that are not facts about a speaker.
const relation = "relation"

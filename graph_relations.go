package contextmem

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// graphReader reads entities, and the keys of evidence chunks, for relations.
type graphReader struct {
	ctx      context.Context
	store    backend.Store
	now      time.Time
	entities map[int64]*Entity // nil: there is none
	chunks   map[int64]*backend.Hydrated
	made     []Entity // that entities point to
	ids      textBlock
}

func newGraphReader(ctx context.Context, st backend.Store, now time.Time) *graphReader {
	return &graphReader{ctx: ctx, store: st, now: now, entities: map[int64]*Entity{}, chunks: map[int64]*backend.Hydrated{}}
}

// reader returns the reader of a recall, which knows the chunks of its hits.
func (r *recallRun) reader(ctx context.Context, hits []*scopeHit) *graphReader {
	g := &r.graphScratch.reader
	if g.store == nil {
		if g.ctx, g.store, g.now = ctx, r.held.store, r.now; g.entities == nil {
			*g = *newGraphReader(ctx, r.held.store, r.now)
		}
		for _, h := range hits {
			g.chunks[h.row.Num] = h.row
		}
	}
	return g
}

// forget makes g ready for another recall.
func (g *graphReader) forget() {
	if len(g.entities) > maxGraphScratch || len(g.chunks) > maxGraphScratch || cap(g.made) > maxGraphScratch {
		*g = graphReader{}
		return
	}
	clear(g.entities)
	clear(g.chunks)
	clear(g.made)
	*g = graphReader{entities: g.entities, chunks: g.chunks, made: g.made[:0]}
}

// load reads what the relations refer to and drops those that are not shown, or whose evidence is not visible or not allowed.
func (g *graphReader) load(rels []*backend.Relation, filter backend.Filter) ([]*backend.Relation, error) {
	return g.resolve(shown(rels), filter)
}

// shown drops the relations that are not shown to users.
func shown(rels []*backend.Relation) []*backend.Relation {
	return slices.DeleteFunc(rels, func(r *backend.Relation) bool {
		return r.Origin == pipeline.OriginOpposite || r.From == r.To // names of one entity say nothing of each other
	})
}

// resolve reads what the relations refer to and drops those whose evidence is not visible or not allowed.
func (g *graphReader) resolve(rels []*backend.Relation, filter backend.Filter) ([]*backend.Relation, error) {
	var ents, chunks []int64
	for _, r := range rels {
		for _, e := range [...]int64{r.From, r.To} {
			if _, ok := g.entities[e]; !ok && e != 0 {
				g.entities[e] = nil
				ents = append(ents, e)
			}
		}
		if _, ok := g.chunks[r.Chunk]; !ok {
			g.chunks[r.Chunk] = nil
			chunks = append(chunks, r.Chunk)
		}
	}
	if len(chunks) > 0 {
		rows, err := g.store.Chunks(g.ctx, chunks, g.now)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			g.chunks[row.Num] = row
		}
	}
	if err := g.readEntities(ents); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rels, func(r *backend.Relation) bool {
		row := g.chunks[r.Chunk]
		return row == nil || g.entities[r.From] == nil || !item.Live(filter, row.Src.Tags)
	}), nil
}

// readEntities reads entities.
func (g *graphReader) readEntities(nums []int64) error {
	if len(nums) == 0 {
		return nil
	}
	es, err := g.store.Entities(g.ctx, nums)
	if err != nil {
		return err
	}
	for _, e := range es {
		if e != nil {
			made := &take(&g.made, 1)[0]
			g.entities[e.Num] = made
			*made = publicEntity(e)
			made.ID = g.id("ent_", e.Num)
		}
	}
	return nil
}

// publicEntity shows an entity, but for its ID.
func publicEntity(e *backend.Entity) Entity {
	return Entity{Name: cmp.Or(lowerName(e), e.Key), Type: cmp.Or(e.Type, "CONCEPT"), Namespace: cmp.Or(e.Namespace, "default")}
}

// lowerName is the name in lower case, which is often the key.
func lowerName(e *backend.Entity) string {
	if len(e.Name) == len(e.Key) {
		i := 0
		for i < len(e.Name) {
			c := e.Name[i]
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			if c != e.Key[i] || c >= utf8.RuneSelf {
				break
			}
			i++
		}
		if i == len(e.Name) {
			return e.Key
		}
	}
	return strings.ToLower(e.Name)
}

func entityID(n int64) string { return "ent_" + strconv.FormatInt(n, 10) }

// id returns a prefix with a number behind it.
func (g *graphReader) id(prefix string, n int64) string {
	var b [20]byte
	return g.ids.join(prefix, string(strconv.AppendInt(b[:0], n, 10)))
}

// target is the entity at the end of a relation, or the literal of a fact.
func (g *graphReader) target(r *backend.Relation) Entity {
	if e := g.entities[r.To]; e != nil {
		return *e
	}
	return Entity{Name: strings.ToLower(r.Object), Type: "CONCEPT", Namespace: "default"}
}

func (g *graphReader) evidence(r *backend.Relation) Evidence {
	e := Evidence{ID: g.id("rel_", r.Num), Canonical: r.Predicate, Raw: cmp.Or(r.Raw, r.Predicate), Context: r.Context, Confidence: confidence(r),
		Temporal: r.Temporal, Timestamp: r.KnownFrom, SourceID: g.idOf(r.From), ValidFrom: r.ValidFrom, ValidTo: r.ValidTo, Superseded: !r.KnownTo.IsZero() && !r.Retracts}
	if r.Retracts {
		e.Canonical = "no_longer_" + e.Canonical
	}
	if r.To != 0 {
		e.TargetID = g.idOf(r.To)
	}
	if r.Origin == "byog" {
		e.Origin = r.Origin
	}
	if row := g.chunks[r.Chunk]; row != nil {
		e.ChunkID = row.Key
		if e.Timestamp.IsZero() {
			e.Timestamp = row.Src.CreatedAt
		}
	}
	return e
}

// idOf is entityID, without making one anew for an entity that was read.
func (g *graphReader) idOf(num int64) string {
	if e := g.entities[num]; e != nil {
		return e.ID
	}
	return g.id("ent_", num)
}

// triplet shows a relation that load returned.
func (g *graphReader) triplet(to *Triplet, r *backend.Relation) {
	to.Source, to.Relation, to.Target = *g.entities[r.From], g.evidence(r), g.target(r)
}

func (s *Service) relations(ctx context.Context, sub Sub, q RelationsRequest) (*RelationsPage, error) {
	const op = "relations"
	if q.Class == 0 {
		q.Class = ClassKnowledge
	}
	if q.Class != ClassKnowledge && q.Class != ClassMemory {
		return nil, errClass(op, q.Class)
	}
	if q.Limit == 0 {
		q.Limit = 5000
	}
	if q.Limit < 1 || q.Limit > 10000 {
		return nil, fieldError(op, KindInvalid, "", "limit", "must be between 1 and 10000")
	}
	if q.Cursor < 0 {
		return nil, fieldError(op, KindInvalid, "", "cursor", "is not one that was handed out")
	}
	h, name, err := sub.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer h.release()
	rq := backend.RelationQuery{Part: backend.Partition{Class: backend.Class(q.Class), Sub: name}, After: q.Cursor, AllTime: true}
	page := &RelationsPage{Groups: []RelationGroup{}}
	if q.SourceID != "" {
		src, err := s.find(ctx, op, h, name, q.Class, q.SourceID, q.Principals)
		if errors.Is(err, ErrNotFound) {
			return page, nil
		}
		if err != nil {
			return nil, err
		}
		rq.Sources = []int64{src.Num}
	}
	var filter backend.Filter
	if g := item.Visible(q.Principals); g != nil {
		filter.All = append(filter.All, g)
	}
	g := newGraphReader(ctx, h.store, time.Now())
	at := map[[2]int64]int{}
	// A page ends after a relation, so that a cursor (the last relation's number) never skips one.
	for {
		rq.Limit = 2000
		rels, err := h.store.Relations(ctx, rq)
		if err != nil {
			return nil, wrap(op, ResourceSource, q.SourceID, err)
		}
		more := len(rels) == rq.Limit
		last := rq.After
		if len(rels) > 0 {
			last = rels[len(rels)-1].Num
		}
		visible, err := g.load(rels, filter)
		if err != nil {
			return nil, wrap(op, ResourceSource, q.SourceID, err)
		}
		for _, rel := range visible {
			key := [2]int64{rel.From, rel.To}
			i, ok := at[key]
			if !ok || rel.To == 0 {
				if len(page.Groups) == q.Limit {
					page.Truncated, page.Next = true, rq.After
					return page, nil
				}
				i = len(page.Groups)
				at[key] = i
				page.Groups = append(page.Groups, RelationGroup{Source: *g.entities[rel.From], Target: g.target(rel), ChunkID: g.chunks[rel.Chunk].Key})
			}
			page.Groups[i].Relations = append(page.Groups[i].Relations, g.evidence(rel))
			rq.After = rel.Num
		}
		rq.After = last
		if !more {
			return page, nil
		}
	}
}

package contextmem

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// graphReader reads entities, and the rows of evidence chunks, for relations. Each is looked up once; what it hands
// out stays where it is until forget.
type graphReader struct {
	ctx      context.Context
	store    backend.Store
	now      time.Time
	entities byNumber[Entity] // one without an ID is not there, or not read yet
	chunks   byNumber[graphRow]
	read     struct{ entities, chunks int } // how many, from the first on
	ids      textBlock
}

// graphRow is a chunk that relations refer to.
type graphRow struct {
	row   *backend.Hydrated // nil: it is not there, or not read yet
	hit   bool              // it is a result, with the score
	score float64
	shown int // its relations that are shown
}

// link is a relation with what it refers to, once refer has found that.
type link struct {
	*backend.Relation
	source, target *Entity // nil: it has none
	chunk          *graphRow
}

func newGraphReader(ctx context.Context, st backend.Store, now time.Time) *graphReader {
	return &graphReader{ctx: ctx, store: st, now: now}
}

// reader returns the reader of a recall, which knows the chunks of its hits.
func (r *recallRun) reader(ctx context.Context, hits []*scopeHit) *graphReader {
	g := &r.graphScratch.reader
	if g.store == nil {
		g.ctx, g.store, g.now = ctx, r.held.store, r.now
		for _, h := range hits {
			*g.chunks.add(h.row.Num) = graphRow{row: h.row, hit: true, score: h.Score}
		}
		g.read.chunks = len(hits)
	}
	return g
}

// forget makes g ready for another recall.
func (g *graphReader) forget() {
	g.entities.forget()
	g.chunks.forget()
	*g = graphReader{entities: g.entities, chunks: g.chunks}
}

// load appends the relations that are shown, with what they refer to, but for those whose evidence is not visible or not allowed.
func (g *graphReader) load(dst []link, rels []*backend.Relation, filter backend.Filter) ([]link, error) {
	at := len(dst)
	dst = appendShown(dst, rels)
	kept, err := g.resolve(dst[at:], filter)
	return dst[:at+len(kept)], err
}

// appendShown appends the relations that are shown to users.
func appendShown(dst []link, rels []*backend.Relation) []link {
	for _, r := range rels {
		if r.Origin != pipeline.OriginOpposite && r.From != r.To { // names of one entity say nothing of each other
			dst = append(dst, link{Relation: r})
		}
	}
	return dst
}

// resolve reads what relations refer to and drops those whose evidence is not visible or not allowed.
func (g *graphReader) resolve(links []link, filter backend.Filter) ([]link, error) {
	for i := range links {
		g.refer(&links[i])
	}
	if err := g.fetch(); err != nil {
		return nil, err
	}
	kept := links[:0]
	for i := range links {
		if links[i].visible(filter) {
			kept = append(kept, links[i])
		}
	}
	return kept, nil
}

// refer finds what a relation refers to, which fetch reads.
func (g *graphReader) refer(l *link) {
	l.source, l.target = g.entity(l.From), g.entity(l.To)
	if l.chunk = g.chunks.get(l.Chunk); l.chunk == nil {
		l.chunk = g.chunks.add(l.Chunk)
	}
}

// entity returns an entity, which fetch reads.
func (g *graphReader) entity(num int64) *Entity {
	if num == 0 {
		return nil
	}
	e := g.entities.get(num)
	if e == nil {
		e = g.entities.add(num)
	}
	return e
}

// fetch reads what was referred to.
func (g *graphReader) fetch() error {
	if nums := g.chunks.nums[g.read.chunks:]; len(nums) > 0 {
		rows, err := g.store.Chunks(g.ctx, nums, g.now)
		if err != nil {
			return err
		}
		for _, row := range rows {
			g.chunks.get(row.Num).row = row
		}
		g.read.chunks += len(nums)
	}
	if nums := g.entities.nums[g.read.entities:]; len(nums) > 0 {
		es, err := g.store.Entities(g.ctx, nums)
		if err != nil {
			return err
		}
		for i, e := range es {
			if e != nil {
				made := g.entities.values[g.read.entities+i]
				*made = publicEntity(e)
				made.ID = g.id("ent_", e.Num)
			}
		}
		g.read.entities += len(nums)
	}
	return nil
}

// visible tells whether the evidence of a relation that was read is visible and allowed.
func (l *link) visible(filter backend.Filter) bool {
	return l.chunk.row != nil && there(l.source) && item.Live(filter, l.chunk.row.Src.Tags)
}

// there tells whether an entity that was read is there.
func there(e *Entity) bool { return e != nil && e.ID != "" }

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
	var b [24]byte
	return g.ids.keep(strconv.AppendInt(append(b[:0], prefix...), n, 10))
}

// object is the entity at the end of a relation, or the literal of a fact.
func (l *link) object() Entity {
	if there(l.target) {
		return *l.target
	}
	return Entity{Name: strings.ToLower(l.Object), Type: "CONCEPT", Namespace: "default"}
}

// evidence shows what proves a relation.
func (g *graphReader) evidence(e *Evidence, l *link) {
	r := l.Relation
	e.ID, e.Canonical, e.Raw, e.Context, e.Confidence = g.id("rel_", r.Num), r.Predicate, cmp.Or(r.Raw, r.Predicate), r.Context, confidence(r)
	e.Temporal, e.Timestamp, e.ValidFrom, e.ValidTo, e.Superseded = r.Temporal, r.KnownFrom, r.ValidFrom, r.ValidTo, !r.KnownTo.IsZero() && !r.Retracts
	e.SourceID, e.ChunkID = l.source.ID, l.chunk.row.Key
	if r.Retracts {
		e.Canonical = "no_longer_" + e.Canonical
	}
	if there(l.target) {
		e.TargetID = l.target.ID
	} else if r.To != 0 {
		e.TargetID = g.id("ent_", r.To)
	}
	if r.Origin == "byog" {
		e.Origin = r.Origin
	}
	if e.Timestamp.IsZero() {
		e.Timestamp = l.chunk.row.Src.CreatedAt
	}
}

// triplet shows a visible relation.
func (g *graphReader) triplet(to *Triplet, l *link) {
	to.Source, to.Target = *l.source, l.object()
	g.evidence(&to.Relation, l)
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
	var visible []link
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
		if visible, err = g.load(visible[:0], rels, filter); err != nil {
			return nil, wrap(op, ResourceSource, q.SourceID, err)
		}
		for n := range visible {
			rel := &visible[n]
			key := [2]int64{rel.From, rel.To}
			i, ok := at[key]
			if !ok || rel.To == 0 {
				if len(page.Groups) == q.Limit {
					page.Truncated, page.Next = true, rq.After
					return page, nil
				}
				i = len(page.Groups)
				at[key] = i
				page.Groups = append(page.Groups, RelationGroup{Source: *rel.source, Target: rel.object(), ChunkID: rel.chunk.row.Key})
			}
			var proof Evidence
			g.evidence(&proof, rel)
			page.Groups[i].Relations = append(page.Groups[i].Relations, proof)
			rq.After = rel.Num
		}
		rq.After = last
		if !more {
			return page, nil
		}
	}
}

package contextmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
)

const (
	maxQueryPaths     = 20
	maxChunkRelations = 60
	pathDepth         = 2 // relations in a query path
	pathPerChunk      = 8
)

// graphReader reads entities, and the keys of evidence chunks, for relations.
type graphReader struct {
	ctx      context.Context
	store    backend.Store
	now      time.Time
	entities map[int64]Entity
	chunks   map[int64]*backend.Hydrated
}

func newGraphReader(ctx context.Context, st backend.Store, now time.Time) *graphReader {
	return &graphReader{ctx: ctx, store: st, now: now, entities: map[int64]Entity{}, chunks: map[int64]*backend.Hydrated{}}
}

// load reads what the relations refer to and returns those whose evidence is visible and allowed.
func (g *graphReader) load(rels []backend.Relation, filter backend.Filter) ([]backend.Relation, error) {
	var ents, chunks []int64
	for _, r := range rels {
		for _, e := range [...]int64{r.From, r.To} {
			if _, ok := g.entities[e]; !ok && e != 0 && !slices.Contains(ents, e) {
				ents = append(ents, e)
			}
		}
		if _, ok := g.chunks[r.Chunk]; !ok {
			g.chunks[r.Chunk] = nil
			chunks = append(chunks, r.Chunk)
		}
	}
	rows, err := g.store.Chunks(g.ctx, chunks, g.now)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		g.chunks[rows[i].Num] = &rows[i]
	}
	es, err := g.store.Entities(g.ctx, ents)
	if err != nil {
		return nil, err
	}
	for _, e := range es {
		if e != nil {
			g.entities[e.Num] = publicEntity(e)
		}
	}
	out := rels[:0:0]
	for _, r := range rels {
		row := g.chunks[r.Chunk]
		_, known := g.entities[r.From]
		if row == nil || !known || r.Origin == pipeline.OriginOpposite || !item.Live(filter, row.Src.Tags) {
			continue
		}
		out = append(out, r)
	}
	return out, nil
}

func publicEntity(e *backend.Entity) Entity {
	return Entity{ID: entityID(e.Num), Name: cmp.Or(strings.ToLower(e.Name), e.Key), Type: cmp.Or(e.Type, "CONCEPT"), Namespace: cmp.Or(e.Namespace, "default")}
}

func entityID(n int64) string { return "ent_" + strconv.FormatInt(n, 10) }

// target is the entity at the end of a relation, or the literal of a fact.
func (g *graphReader) target(r backend.Relation) Entity {
	if e, ok := g.entities[r.To]; ok {
		return e
	}
	return Entity{Name: strings.ToLower(r.Object), Type: "CONCEPT", Namespace: "default"}
}

func (g *graphReader) evidence(r backend.Relation) Evidence {
	e := Evidence{ID: "rel_" + strconv.FormatInt(r.Num, 10), Canonical: r.Predicate, Raw: cmp.Or(r.Raw, r.Predicate), Context: r.Context, Confidence: float64(r.Confidence),
		Temporal: r.Temporal, Timestamp: r.KnownFrom, SourceID: entityID(r.From), ValidFrom: r.ValidFrom, ValidTo: r.ValidTo, Superseded: !r.KnownTo.IsZero() && !r.Retracts}
	if r.Retracts {
		e.Canonical = "no_longer_" + e.Canonical
	}
	if r.To != 0 {
		e.TargetID = entityID(r.To)
	}
	if e.Confidence == 0 {
		e.Confidence = .8
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

func (g *graphReader) triplet(r backend.Relation) Triplet {
	return Triplet{Source: g.entities[r.From], Relation: g.evidence(r), Target: g.target(r)}
}

// graph fills the graph context: relations of the returned chunks, and chains from
// the entities that the question names.
func (r *recallRun) graph(ctx context.Context, hits []*scopeHit) error {
	gc := &GraphContext{QueryPaths: []Path{}, ChunkRelations: []Path{}, ChunkGroups: map[string][]string{}}
	r.res.Graph = gc
	g := newGraphReader(ctx, r.held.store, r.now)
	byPart := map[backend.Partition][]int64{}
	score := map[int64]float64{}
	for _, h := range hits {
		byPart[h.part] = append(byPart[h.part], h.Chunk)
		score[h.Chunk] = h.Score
	}
	for _, part := range sortedParts(byPart) {
		chunks := byPart[part]
		rels, err := r.held.store.Relations(ctx, backend.RelationQuery{Part: part, Chunks: chunks, AsOf: r.q.AsOf, KnownAt: r.q.KnownAt, Limit: maxChunkRelations * 4})
		if err != nil {
			return err
		}
		if rels, err = g.load(rels, r.filter); err != nil {
			return err
		}
		slices.SortStableFunc(rels, func(a, b backend.Relation) int {
			return cmp.Compare(score[b.Chunk]*float64(b.Confidence), score[a.Chunk]*float64(a.Confidence))
		})
		perChunk := map[int64]int{}
		for _, rel := range rels {
			if perChunk[rel.Chunk]++; perChunk[rel.Chunk] > pathPerChunk || len(gc.ChunkRelations) >= maxChunkRelations {
				continue
			}
			t := g.triplet(rel)
			id := "p_" + strconv.Itoa(len(gc.ChunkRelations))
			gc.ChunkRelations = append(gc.ChunkRelations, Path{Triplets: []Triplet{t}, Score: score[rel.Chunk] * float64(rel.Confidence), Context: rel.Context, GroupID: id, ChunkIDs: []string{t.Relation.ChunkID}})
			gc.ChunkGroups[t.Relation.ChunkID] = append(gc.ChunkGroups[t.Relation.ChunkID], id)
		}
	}
	for _, part := range sortedParts(r.ents) {
		paths, err := r.queryPaths(ctx, g, part, r.ents[part], score)
		if err != nil {
			return err
		}
		gc.QueryPaths = append(gc.QueryPaths, paths...)
	}
	slices.SortStableFunc(gc.QueryPaths, func(a, b Path) int { return cmp.Compare(b.Score, a.Score) })
	gc.QueryPaths = gc.QueryPaths[:min(len(gc.QueryPaths), maxQueryPaths)]
	if r.res.Mode == ModeThinking {
		gc.Synthesis = synthesis(gc.QueryPaths)
	}
	return nil
}

// sortedParts lists partitions in a fixed order, so that answers are the same every time.
func sortedParts[T any](m map[backend.Partition]T) []backend.Partition {
	return slices.SortedFunc(maps.Keys(m), func(a, b backend.Partition) int {
		return cmp.Or(cmp.Compare(a.Sub, b.Sub), cmp.Compare(a.Class, b.Class))
	})
}

// queryPaths are chains of up to two relations from an entity of the question; one
// that ends at another such entity, or whose evidence was returned, counts more.
func (r *recallRun) queryPaths(ctx context.Context, g *graphReader, part backend.Partition, ents []int64, score map[int64]float64) ([]Path, error) {
	if len(ents) == 0 {
		return nil, nil
	}
	named := map[int64]bool{}
	for _, e := range ents {
		named[e] = true
	}
	read := func(es []int64) ([]backend.Relation, error) {
		rels, err := r.held.store.Relations(ctx, backend.RelationQuery{Part: part, Entities: es, AsOf: r.q.AsOf, KnownAt: r.q.KnownAt, Limit: 200})
		if err != nil {
			return nil, err
		}
		return g.load(rels, r.filter)
	}
	first, err := read(ents)
	if err != nil {
		return nil, err
	}
	worth := func(rel backend.Relation) float64 {
		w := float64(rel.Confidence)
		if rel.Predicate == "related_to" {
			w *= .5
		}
		if s, ok := score[rel.Chunk]; ok {
			w *= 1 + s
		}
		return w
	}
	var paths []Path
	var frontier []int64
	for _, rel := range first {
		w := worth(rel)
		if named[rel.From] && named[rel.To] {
			w *= 2
		}
		paths = append(paths, g.path([]backend.Relation{rel}, w))
		for _, e := range [...]int64{rel.From, rel.To} {
			if e != 0 && !named[e] && !slices.Contains(frontier, e) && len(frontier) < 40 {
				frontier = append(frontier, e)
			}
		}
	}
	if pathDepth < 2 || len(frontier) == 0 || r.res.Mode != ModeThinking {
		return paths, nil
	}
	second, err := read(frontier)
	if err != nil {
		return nil, err
	}
	for _, a := range first {
		if a.Predicate == "related_to" {
			continue
		}
		mid := a.To
		if named[a.To] {
			mid = a.From
		}
		for _, b := range second {
			if b.Num == a.Num || b.Predicate == "related_to" || (b.From != mid && b.To != mid) || len(paths) > 400 {
				continue
			}
			w := worth(a) * worth(b) * .6
			if named[b.From] || named[b.To] {
				w *= 2
			}
			paths = append(paths, g.path([]backend.Relation{a, b}, w))
		}
	}
	return paths, nil
}

func (g *graphReader) path(rels []backend.Relation, score float64) Path {
	p := Path{Score: score}
	var context []string
	for _, r := range rels {
		t := g.triplet(r)
		p.Triplets = append(p.Triplets, t)
		if !slices.Contains(p.ChunkIDs, t.Relation.ChunkID) {
			p.ChunkIDs = append(p.ChunkIDs, t.Relation.ChunkID)
		}
		if r.Context != "" && !slices.Contains(context, r.Context) {
			context = append(context, r.Context)
		}
	}
	p.Context = strings.Join(context, " ")
	return p
}

// synthesis renders paths as text, a line each.
func synthesis(paths []Path) string {
	var b strings.Builder
	for _, p := range paths {
		for i, t := range p.Triplets {
			if i > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s %s %s", t.Source.Name, strings.ReplaceAll(t.Relation.Canonical, "_", " "), t.Target.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
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
	h, err := s.open(ctx, op, sub.org, sub.tenant)
	if err != nil {
		return nil, err
	}
	defer h.release()
	name, err := sub.resolve(ctx, h)
	if err != nil {
		return nil, wrap(op, ResourceSub, sub.sub, err)
	}
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
		if rels, err = g.load(rels, filter); err != nil {
			return nil, wrap(op, ResourceSource, q.SourceID, err)
		}
		for _, rel := range rels {
			key := [2]int64{rel.From, rel.To}
			i, ok := at[key]
			if !ok || rel.To == 0 {
				if len(page.Groups) == q.Limit {
					page.Truncated, page.Next = true, rq.After
					return page, nil
				}
				i = len(page.Groups)
				at[key] = i
				page.Groups = append(page.Groups, RelationGroup{Source: g.entities[rel.From], Target: g.target(rel), ChunkID: g.chunks[rel.Chunk].Key})
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

func (s *Service) subgraph(ctx context.Context, sub Sub, q SubgraphRequest) (*Subgraph, error) {
	const op = "subgraph"
	if q.Class == 0 {
		q.Class = ClassKnowledge
	}
	if q.Class != ClassKnowledge && q.Class != ClassMemory {
		return nil, errClass(op, q.Class)
	}
	if q.Depth == 0 {
		q.Depth = 5
	}
	if q.MaxSources == 0 {
		q.MaxSources = 200
	}
	if q.Depth < 1 || q.Depth > 10 {
		return nil, fieldError(op, KindInvalid, "", "depth", "must be between 1 and 10")
	}
	if q.MaxSources < 1 || q.MaxSources > 1000 {
		return nil, fieldError(op, KindInvalid, "", "max_sources", "must be between 1 and 1000")
	}
	h, err := s.open(ctx, op, sub.org, sub.tenant)
	if err != nil {
		return nil, err
	}
	defer h.release()
	name, err := sub.resolve(ctx, h)
	if err != nil {
		return nil, wrap(op, ResourceSub, sub.sub, err)
	}
	out := &Subgraph{Seed: q.SourceID, Members: []SubgraphMember{}, Edges: []SubgraphEdge{}}
	seed, err := s.find(ctx, op, h, name, q.Class, q.SourceID, q.Principals)
	if errors.Is(err, ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	w := &subgraphWalk{h: h, q: q, out: out, visible: backend.Filter{}, at: map[int64]bool{}, edges: map[SubgraphEdge]bool{}}
	if g := item.Visible(q.Principals); g != nil {
		w.visible.All = append(w.visible.All, g)
	}
	return out, wrap(op, ResourceSource, q.SourceID, w.run(ctx, seed))
}

// subgraphWalk is a breadth-first walk along the links of sources.
type subgraphWalk struct {
	h       *held
	q       SubgraphRequest
	out     *Subgraph
	visible backend.Filter
	at      map[int64]bool
	edges   map[SubgraphEdge]bool
	queue   []queuedMember
}

type queuedMember struct {
	src   *backend.Source
	depth int
}

func (w *subgraphWalk) run(ctx context.Context, seed *backend.Source) error {
	if err := w.join(seed, 0, "", ""); err != nil {
		return err
	}
	for len(w.queue) > 0 {
		m := w.queue[0]
		w.queue = w.queue[1:]
		if m.depth == w.q.Depth {
			continue
		}
		if err := w.expand(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (w *subgraphWalk) join(src *backend.Source, depth int, via, relation string) error {
	if w.at[src.Num] || !item.Live(w.visible, src.Tags) {
		return nil
	}
	if len(w.out.Members) == w.q.MaxSources {
		w.out.Truncated = true
		return nil
	}
	i, err := sourceInfo(src)
	if err != nil {
		return err
	}
	w.at[src.Num] = true
	w.out.Members = append(w.out.Members, SubgraphMember{Source: i, Depth: depth, Via: via, Relation: relation})
	w.out.MaxDepthReached = max(w.out.MaxDepthReached, depth)
	w.queue = append(w.queue, queuedMember{src, depth})
	return nil
}

func (w *subgraphWalk) edge(from, to *backend.Source, predicate string) {
	e := SubgraphEdge{from.ID, to.ID, predicate}
	if !w.edges[e] && w.at[from.Num] && w.at[to.Num] {
		w.edges[e] = true
		w.out.Edges = append(w.out.Edges, e)
	}
}

func (w *subgraphWalk) expand(ctx context.Context, m queuedMember) error {
	limit := w.q.MaxSources
	out, err := linksOf(ctx, w.h.store, m.src, limit)
	if err != nil {
		return err
	}
	for _, l := range out {
		relation := l.predicate
		if relation == "child_of" {
			relation = "parent"
		}
		if err := w.join(l.src, m.depth+1, m.src.ID, relation); err != nil {
			return err
		}
		w.edge(m.src, l.src, l.predicate)
	}
	back, err := linkedFrom(ctx, w.h.store, m.src, limit)
	if err != nil {
		return err
	}
	for _, l := range back {
		relation := l.predicate
		if relation == "child_of" {
			relation = "child"
		}
		if err := w.join(l.src, m.depth+1, m.src.ID, relation); err != nil {
			return err
		}
		w.edge(l.src, m.src, l.predicate)
	}
	doc, err := item.Decode(m.src.Doc)
	if err != nil || doc.App == nil || doc.App.ThreadID == "" || doc.App.Provider == "" {
		return err
	}
	thread, err := byTag(ctx, w.h.store, m.src.Part, item.Tag(item.LayerApp, "pthread", doc.App.Provider+"\x00"+doc.App.ThreadID), limit)
	if err != nil {
		return err
	}
	for _, s := range thread {
		if s.Num == m.src.Num {
			continue
		}
		if err := w.join(s, m.depth+1, m.src.ID, "same_thread"); err != nil {
			return err
		}
		if s.ID < m.src.ID {
			w.edge(s, m.src, "same_thread")
		} else {
			w.edge(m.src, s, "same_thread")
		}
	}
	return nil
}

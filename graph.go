package contextmem

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

// GraphContext is the knowledge graph around a result.
type GraphContext struct {
	QueryPaths     []Path              // chains anchored at the query
	ChunkRelations []Path              // relations anchored at returned chunks
	ChunkGroups    map[string][]string // chunk id -> ids of the groups in ChunkRelations
	Synthesis      string              // thinking mode: the paths as text
}

// Path is a chain of relations.
type Path struct {
	Triplets []Triplet
	Score    float64 // higher is more relevant; comparable inside one result
	Context  string  // the evidence sentences, joined
	GroupID  string
	ChunkIDs []string // evidence
}

// Triplet is one relation between two entities.
type Triplet struct {
	Source   Entity
	Relation Evidence
	Target   Entity
}

// Entity is a node of the graph.
type Entity struct {
	ID         string
	Name       string
	Type       string // PERSON, ORGANIZATION, LOCATION, ...
	Namespace  string // default "default"
	Identifier string
	Provider   string
}

// Evidence proves a relation.
type Evidence struct {
	ID         string
	Canonical  string    // canonical predicate
	Raw        string    // the predicate as the source has it
	Context    string    // the sentence
	Confidence float64   // 0 to 1
	Temporal   string    // the words that date it
	Timestamp  time.Time // of the source
	ChunkID    string
	SourceID   string // entity id
	TargetID   string // entity id
	Origin     string // "byog" for supplied graphs
	ValidFrom  time.Time
	ValidTo    time.Time
	Superseded bool // a newer fact retired it
}

// RelationGroup is the evidence for one pair of entities.
type RelationGroup struct {
	Source, Target Entity
	Relations      []Evidence
	ChunkID        string
}

// GraphRelationsRequest asks for relations of a source or of a whole sub-tenant.
type GraphRelationsRequest struct {
	Class      Class    // default ClassKnowledge
	SourceID   string   // empty: the whole sub-tenant
	Limit      int      // groups, 1 to 10000; default 5000
	Cursor     int64    // from the previous page; 0: the start
	Principals []string // only evidence that one of these may see; nil: all
}

// GraphRelationsPage is a page of relations.
type GraphRelationsPage struct {
	Groups    []RelationGroup
	Truncated bool
	Next      int64 // cursor of the next page; 0 none
}

// SubgraphRequest asks for the sources linked with one, by forceful relations,
// threads, parents and typed links, in both directions.
type SubgraphRequest struct {
	Class      Class    // default ClassKnowledge
	SourceID   string   // the seed
	Depth      int      // 1 to 10; default 5
	MaxSources int      // 1 to 1000; default 200
	Principals []string // only sources that one of these may see; nil: all
}

// SubgraphMember is a source of a subgraph.
type SubgraphMember struct {
	Source   SourceInfo
	Depth    int    // 0 is the seed
	Via      string // id of the member it was reached from
	Relation string // same_thread, parent, child, relates_to, ...
}

// SubgraphEdge is a link between two members.
type SubgraphEdge struct {
	Source, Target string // source ids
	Predicate      string
}

// Subgraph is what [Sub.Subgraph] returns; an unknown seed has no members.
type Subgraph struct {
	Seed            string
	Members         []SubgraphMember
	Edges           []SubgraphEdge
	Truncated       bool // MaxSources was reached
	MaxDepthReached int  // steps from the seed to the furthest member
}

// GraphRelations lists the relations of a source or sub-tenant, with evidence.
func (s scope) GraphRelations(ctx context.Context, r GraphRelationsRequest) (*GraphRelationsPage, error) {
	const op = "relations"
	r.Limit = cmp.Or(r.Limit, 5000)
	if r.Limit < 1 || r.Limit > 10000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Limit", "must be between 1 and 10000")
	}
	if r.Cursor < 0 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Cursor", "is not one that was handed out")
	}
	out := &GraphRelationsPage{Groups: []RelationGroup{}}
	err := s.graphCall(ctx, op, r.Class, func(h *workspace.Ref, part backend.Partition) error {
		q := graph.Listing{Part: part, After: r.Cursor, Limit: r.Limit, Filter: visibleTo(r.Principals)}
		if r.SourceID != "" {
			src, err := h.Find(ctx, op, part.Sub, Class(part.Class), r.SourceID, r.Principals)
			if errors.Is(err, fault.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			q.Sources = []int64{src.Num}
		}
		reader := graph.NewReader(ctx, h.Store, time.Now(), q.Filter, nil)
		defer reader.Release()
		page, err := reader.List(q)
		if err != nil {
			return fault.Wrap(op, fault.Source, r.SourceID, err)
		}
		out.Truncated, out.Next = page.Truncated, page.Next
		for i := range page.Groups {
			out.Groups = append(out.Groups, shapeGroup(page.Groups[i].Links))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Subgraph walks from a source along its links, breadth first, up to r.Depth steps and r.MaxSources sources.
func (s scope) Subgraph(ctx context.Context, r SubgraphRequest) (*Subgraph, error) {
	const op = "subgraph"
	r.Depth, r.MaxSources = cmp.Or(r.Depth, 5), cmp.Or(r.MaxSources, 200)
	if r.Depth < 1 || r.Depth > 10 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Depth", "must be between 1 and 10")
	}
	if r.MaxSources < 1 || r.MaxSources > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "MaxSources", "must be between 1 and 1000")
	}
	out := &Subgraph{Seed: r.SourceID, Members: []SubgraphMember{}, Edges: []SubgraphEdge{}}
	err := s.graphCall(ctx, op, r.Class, func(h *workspace.Ref, part backend.Partition) error {
		seed, err := h.Find(ctx, op, part.Sub, Class(part.Class), r.SourceID, r.Principals)
		if errors.Is(err, fault.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		g, err := graph.Walk(ctx, h.Store, seed, r.Depth, r.MaxSources, visibleTo(r.Principals))
		if err == nil {
			err = out.set(g)
		}
		return fault.Wrap(op, fault.Source, r.SourceID, err)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// graphCall runs f on the graph of a class.
func (s scope) graphCall(ctx context.Context, op string, class Class, f func(h *workspace.Ref, part backend.Partition) error) error {
	class = cmp.Or(class, ClassKnowledge)
	if class != ClassKnowledge && class != ClassMemory {
		return workspace.ClassError(op, class)
	}
	h, name, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	defer h.Release()
	return f(h, backend.Partition{Class: backend.Class(class), Sub: name})
}

// visibleTo is the filter of what one of the principals may see; nil: everything.
func visibleTo(principals []string) (f backend.Filter) {
	if g := item.Visible(principals); g != nil {
		f.All = append(f.All, g)
	}
	return f
}

func (out *Subgraph) set(g *graph.Subgraph) error {
	out.Truncated = g.Truncated
	for _, m := range g.Members {
		info, err := metadata.Describe(m.Source)
		if err != nil {
			return err
		}
		out.Members = append(out.Members, SubgraphMember{Source: info, Depth: m.Depth, Via: m.Via, Relation: m.Relation})
		out.MaxDepthReached = max(out.MaxDepthReached, m.Depth)
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, SubgraphEdge(e))
	}
	return nil
}

// shapeGroup shapes links between the same two entities.
func shapeGroup(links []graph.Link) RelationGroup {
	l := &links[0]
	g := RelationGroup{Source: Entity(*l.Subject), Target: Entity(l.Object()), ChunkID: l.Proof.Row.Key, Relations: make([]Evidence, len(links))}
	for i := range links {
		links[i].Prove((*graph.Evidence)(&g.Relations[i]))
	}
	return g
}

// graphMemory is what the graph around a result lies in.
type graphMemory struct {
	context  GraphContext
	triplets []Triplet
	chunkIDs []string
	groups   []string
}

// shape shapes the graph around a result.
func (m *graphMemory) shape(found *graph.Context) *GraphContext {
	gc := &m.context
	gc.QueryPaths, gc.ChunkRelations = zeroed(gc.QueryPaths, len(found.QueryPaths)), zeroed(gc.ChunkRelations, len(found.ChunkRelations))
	gc.Synthesis = found.Synthesis
	if gc.ChunkGroups == nil {
		gc.ChunkGroups = make(map[string][]string, len(found.ChunkRelations))
	}
	clear(gc.ChunkGroups)
	n := len(found.ChunkRelations) + len(found.QueryPaths)
	for i := range found.QueryPaths {
		if found.QueryPaths[i].Second != nil {
			n++
		}
	}
	m.triplets, m.chunkIDs = zeroed(m.triplets, n), zeroed(m.chunkIDs, n)
	room := pathRoom{m.triplets, m.chunkIDs}
	for i := range found.QueryPaths {
		room.path(&gc.QueryPaths[i], &found.QueryPaths[i])
	}
	m.groups = append(m.groups[:0], groupIDs[:len(found.ChunkRelations)]...)
	for i := range found.ChunkRelations {
		p := &gc.ChunkRelations[i]
		room.path(p, &found.ChunkRelations[i])
		p.GroupID = groupIDs[i]
		if of, ok := gc.ChunkGroups[p.ChunkIDs[0]]; ok {
			gc.ChunkGroups[p.ChunkIDs[0]] = append(of, p.GroupID)
		} else {
			gc.ChunkGroups[p.ChunkIDs[0]] = m.groups[i : i+1 : i+1]
		}
	}
	return gc
}

// groupIDs are the ids of the groups of chunk relations.
var groupIDs = func() (ids [graph.MaxChunkRelations]string) {
	for i := range ids {
		ids[i] = "p_" + strconv.Itoa(i)
	}
	return ids
}()

// pathRoom is room for what paths hold.
type pathRoom struct {
	triplets []Triplet
	chunkIDs []string
}

// path shapes a path.
func (room *pathRoom) path(p *Path, found *graph.Path) {
	links, n := found.Links()
	p.Score = found.Score
	p.Triplets, room.triplets = room.triplets[:n:n], room.triplets[n:]
	p.ChunkIDs, room.chunkIDs = room.chunkIDs[:0:n], room.chunkIDs[n:]
	for i, l := range links[:n] {
		t := &p.Triplets[i]
		t.Source, t.Target = Entity(*l.Subject), Entity(l.Object())
		l.Prove((*graph.Evidence)(&t.Relation))
		if i == 0 || p.ChunkIDs[0] != l.Proof.Row.Key {
			p.ChunkIDs = append(p.ChunkIDs, l.Proof.Row.Key)
		}
		switch {
		case l.Context == "" || l.Context == p.Context:
		case p.Context == "":
			p.Context = l.Context
		default:
			p.Context += " " + l.Context
		}
	}
}

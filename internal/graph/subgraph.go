package graph

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/item"
)

// Member is a source of a subgraph.
type Member struct {
	Source   *backend.Source
	Depth    int    // 0 for the seed
	Via      string // id of the member from which it was reached
	Relation string
}

// Subgraph holds the sources that are linked with a seed, and their links.
type Subgraph struct {
	Members   []Member
	Edges     []facts.SubgraphEdge
	Truncated bool // there are more linked sources than the limit
}

// Walk goes breadth first from a seed along forceful relations, threads and parents, in both directions, to sources that match filter.
// It stops after depth steps or at most sources.
func Walk(ctx context.Context, st backend.Store, seed *backend.Source, depth, most int, filter backend.Filter) (*Subgraph, error) {
	w := &walk{ctx: ctx, store: st, most: most, filter: filter, in: map[int64]bool{}, edges: map[facts.SubgraphEdge]bool{}, out: new(Subgraph)}
	w.join(seed, 0, "", "")
	for i := 0; i < len(w.out.Members); i++ { // Members grows during the loop
		if m := w.out.Members[i]; m.Depth < depth {
			if err := w.expand(m); err != nil {
				return nil, err
			}
		}
	}
	return w.out, nil
}

// walk is the state of one Walk.
type walk struct {
	ctx    context.Context
	store  backend.Store
	most   int
	filter backend.Filter
	in     map[int64]bool // numbers of the members
	edges  map[facts.SubgraphEdge]bool
	out    *Subgraph
}

// join makes a source a member, unless it is one already, does not match the filter or exceeds the limit.
func (w *walk) join(src *backend.Source, depth int, via, relation string) {
	if w.in[src.Num] || !item.Live(w.filter, src.Tags) {
		return
	}
	if len(w.out.Members) == w.most {
		w.out.Truncated = true
		return
	}
	w.in[src.Num] = true
	w.out.Members = append(w.out.Members, Member{Source: src, Depth: depth, Via: via, Relation: relation})
}

// edge adds a link between two members.
func (w *walk) edge(from, to *backend.Source, predicate string) {
	e := facts.SubgraphEdge{Source: from.ID, Target: to.ID, Predicate: predicate}
	if !w.edges[e] && w.in[from.Num] && w.in[to.Num] {
		w.edges[e] = true
		w.out.Edges = append(w.out.Edges, e)
	}
}

// childOf is the predicate of links to parents.
const childOf = "child_of"

// expand joins the neighbours of a member.
func (w *walk) expand(m Member) error {
	out, err := LinksOf(w.ctx, w.store, decode, m.Source, w.most)
	if err != nil {
		return err
	}
	for _, l := range out {
		relation := l.Predicate
		if relation == childOf {
			relation = "parent"
		}
		w.join(l.Source, m.Depth+1, m.Source.ID, relation)
		w.edge(m.Source, l.Source, l.Predicate)
	}
	back, err := w.linkedFrom(m.Source)
	if err != nil {
		return err
	}
	for _, l := range back {
		relation := l.Predicate
		if relation == childOf {
			relation = "child"
		}
		w.join(l.Source, m.Depth+1, m.Source.ID, relation)
		w.edge(l.Source, m.Source, l.Predicate)
	}
	return w.thread(m)
}

// linkedFrom returns the sources whose forceful relations name src.
func (w *walk) linkedFrom(src *backend.Source) ([]Linked, error) {
	tags, err := LinkTags(decode, src)
	if err != nil {
		return nil, err
	}
	srcs, _, err := w.store.List(w.ctx, backend.ListQuery{Part: src.Part, Filter: backend.Filter{All: [][]uint64{tags}}, Limit: w.most, Now: time.Now()})
	if err != nil {
		return nil, err
	}
	return LinkedFrom(decode, src, srcs)
}

// thread adds the other items of a member's thread.
func (w *walk) thread(m Member) error {
	doc, err := item.Decode(m.Source.Doc)
	if err != nil || doc.App == nil || doc.App.ThreadID == "" || doc.App.Provider == "" {
		return err
	}
	srcs, err := ByTag(w.ctx, w.store, m.Source.Part, item.Tag(item.LayerApp, "pthread", doc.App.Provider+"\x00"+doc.App.ThreadID), w.most)
	if err != nil {
		return err
	}
	const sameThread = "same_thread"
	for _, s := range srcs {
		if s.Num == m.Source.Num {
			continue
		}
		w.join(s, m.Depth+1, m.Source.ID, sameThread)
		if s.ID < m.Source.ID {
			w.edge(s, m.Source, sameThread)
		} else {
			w.edge(m.Source, s, sameThread)
		}
	}
	return nil
}

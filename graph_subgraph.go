package contextmem

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

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
	h, name, err := sub.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer h.release()
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

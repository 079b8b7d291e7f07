// Package explore answers requests about the graph of a partition: its relations, the sources linked with a source, its entities, and the
// merges of entities.
package explore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Partition returns the partition of a class and a sub-tenant, by its stored name. Class 0 means content.ClassKnowledge.
func Partition(op string, class content.Class, sub string) (backend.Partition, error) {
	class = cmp.Or(class, content.ClassKnowledge)
	if class != content.ClassKnowledge && class != content.ClassMemory {
		return backend.Partition{}, workspace.ClassError(op, class)
	}
	return backend.Partition{Class: backend.Class(class), Sub: sub}, nil
}

// Relations lists the relations of a source or of a sub-tenant, with evidence.
func Relations(ctx context.Context, op string, ref *workspace.Ref, sub string, r facts.GraphRelationsRequest) (*facts.GraphRelationsPage, error) {
	part, err := Partition(op, r.Class, sub)
	if err != nil {
		return nil, err
	}
	r.Limit = cmp.Or(r.Limit, 5000)
	if r.Limit < 1 || r.Limit > 10000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Limit", "must be between 1 and 10000")
	}
	if r.Cursor < 0 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Cursor", "is not one that was handed out")
	}
	st := ref.Intact()
	out := &facts.GraphRelationsPage{Groups: []facts.RelationGroup{}}
	q := graph.Listing{Part: part, After: r.Cursor, Limit: r.Limit, Filter: item.VisibleTo(r.Principals)}
	if r.SourceID != "" {
		src, err := ref.Find(ctx, op, part.Sub, content.Class(part.Class), r.SourceID, r.Principals)
		if errors.Is(err, fault.ErrNotFound) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		q.Sources = []int64{src.Num}
	}
	reader := graph.NewReader(ctx, st, time.Now(), q.Filter, nil)
	defer reader.Release()
	page, err := reader.List(q)
	if err != nil {
		return nil, fault.Wrap(op, fault.Source, r.SourceID, err)
	}
	out.Truncated, out.Next, out.Warnings = page.Truncated, page.Next, st.Warnings()
	for i := range page.Groups {
		out.Groups = append(out.Groups, page.Groups[i].Shape())
	}
	return out, nil
}

// Subgraph walks from a source along its links, breadth first, up to r.Depth steps and r.MaxSources sources.
func Subgraph(ctx context.Context, op string, ref *workspace.Ref, sub string, r facts.SubgraphRequest) (*facts.Subgraph, error) {
	part, err := Partition(op, r.Class, sub)
	if err != nil {
		return nil, err
	}
	r.Depth, r.MaxSources = cmp.Or(r.Depth, 5), cmp.Or(r.MaxSources, 200)
	if r.Depth < 1 || r.Depth > 10 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Depth", "must be between 1 and 10")
	}
	if r.MaxSources < 1 || r.MaxSources > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "MaxSources", "must be between 1 and 1000")
	}
	out := &facts.Subgraph{Seed: r.SourceID, Members: []facts.SubgraphMember{}, Edges: []facts.SubgraphEdge{}}
	if r.SourceID == "" {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Source, "SourceID", "is required")
	}
	seed, err := ref.Find(ctx, op, part.Sub, content.Class(part.Class), r.SourceID, r.Principals)
	if errors.Is(err, fault.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	st := ref.Intact()
	found, err := graph.Walk(ctx, st, seed, r.Depth, r.MaxSources, item.VisibleTo(r.Principals))
	if err != nil {
		return nil, fault.Wrap(op, fault.Source, r.SourceID, err)
	}
	out.Truncated, out.Edges = found.Truncated, append(out.Edges, found.Edges...)
	for _, m := range found.Members {
		info, err := metadata.Describe(m.Source)
		if st.Skips(err) {
			continue
		}
		if err != nil {
			return nil, fault.Wrap(op, fault.Source, r.SourceID, err)
		}
		out.Members = append(out.Members, facts.SubgraphMember{Source: info, Depth: m.Depth, Via: m.Via, Relation: m.Relation})
		out.MaxDepthReached = max(out.MaxDepthReached, m.Depth)
	}
	out.Warnings = st.Warnings()
	return out, nil
}

package contextmem

import (
	"context"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/explore"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Types of the knowledge graph and of its requests. They are declared in package facts.
type (
	// GraphContext is the knowledge graph around a result: facts.GraphContext.
	GraphContext = facts.GraphContext
	// Path is a chain of relations: facts.Path.
	Path = facts.Path
	// Triplet is one relation between two entities: facts.Triplet.
	Triplet = facts.Triplet
	// Entity is a node of the graph: facts.Entity.
	Entity = facts.Entity
	// Evidence proves a relation: facts.Evidence.
	Evidence = facts.Evidence
	// RelationGroup is the evidence for one pair of entities: facts.RelationGroup.
	RelationGroup = facts.RelationGroup
	// GraphRelationsRequest asks for relations of a source or of a whole sub-tenant: facts.GraphRelationsRequest.
	GraphRelationsRequest = facts.GraphRelationsRequest
	// GraphRelationsPage is a page of relations: facts.GraphRelationsPage.
	GraphRelationsPage = facts.GraphRelationsPage
	// SubgraphRequest asks for the sources linked with one: facts.SubgraphRequest.
	SubgraphRequest = facts.SubgraphRequest
	// SubgraphMember is a source of a subgraph: facts.SubgraphMember.
	SubgraphMember = facts.SubgraphMember
	// SubgraphEdge is a link between two members: facts.SubgraphEdge.
	SubgraphEdge = facts.SubgraphEdge
	// Subgraph is the result of [Sub.Subgraph]: facts.Subgraph.
	Subgraph = facts.Subgraph
	// MergeEntitiesRequest folds one entity into another: facts.MergeEntitiesRequest.
	MergeEntitiesRequest = facts.MergeEntitiesRequest
	// Merge is the record of a merge: facts.Merge.
	Merge = facts.Merge
)

// GraphRelations lists the relations of a source or sub-tenant, with evidence.
func (s scope) GraphRelations(ctx context.Context, r GraphRelationsRequest) (*GraphRelationsPage, error) {
	const op = "relations"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*GraphRelationsPage, error) {
		return explore.Relations(ctx, op, ref, name, r)
	})
}

// Subgraph walks from a source along its links, breadth first, up to r.Depth steps and r.MaxSources sources.
func (s scope) Subgraph(ctx context.Context, r SubgraphRequest) (*Subgraph, error) {
	const op = "subgraph"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*Subgraph, error) {
		return explore.Subgraph(ctx, op, ref, name, r)
	})
}

// Entities looks up entities by name, ignoring case. For the name of an entity that was merged into another it returns
// the other. The result has one entry for each name, nil if the graph has no such entity. If some are damaged, it comes with an error.
func (s scope) Entities(ctx context.Context, r facts.LookupRequest) ([]*Entity, error) {
	const op = "entities"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) ([]*Entity, error) {
		return explore.Entities(ctx, op, ref, name, r)
	})
}

// MergeEntities merges one entity into another. The merged entity has the relations of both, facts of
// each can retire facts of the other, and later mentions of either name belong to it. The merge is recorded, and
// [Sub.UndoMerge] undoes it. It returns fault.ErrNotFound if the graph lacks one of the entities, and
// fault.ErrConflict if they are merged already.
func (s scope) MergeEntities(ctx context.Context, r MergeEntitiesRequest) (*Merge, error) {
	const op = "merge entities"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*Merge, error) {
		return explore.Merge(ctx, op, ref, name, r)
	})
}

// UndoMerge undoes a merge, so that both entities are as they would be without
// it. Class 0 means ClassKnowledge. It returns fault.ErrNotFound if the sub-tenant has no such merge, and
// fault.ErrConflict if the merge was undone before.
func (s scope) UndoMerge(ctx context.Context, class Class, id int64) error {
	const op = "undo merge"
	_, err := entered(ctx, s, op, func(ref *workspace.Ref, name string) (struct{}, error) {
		return struct{}{}, explore.UndoMerge(ctx, op, ref, name, class, id)
	})
	return err
}

// Merges lists merges sorted by ID, including undone ones.
func (s scope) Merges(ctx context.Context, r facts.MergesRequest) (*facts.MergePage, error) {
	const op = "merges"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*facts.MergePage, error) {
		return explore.Merges(ctx, op, ref, name, r)
	})
}

package contextmem

import (
	"context"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/explore"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Types of superseded memories. They are declared in package facts.
type (
	// Supersession describes the memory that supersedes another, and how that was found: facts.Supersession.
	Supersession = facts.Supersession
	// Conflict is a pair of memories of which the later may supersede the earlier: facts.Conflict.
	Conflict = facts.Conflict
)

// Supersede records that the memory by supersedes the memory id, regardless of the rules and the judge. The record lasts until
// one of the two is deleted or replaced, or until [Sub.Restore] undoes it. reason is stored as the evidence, at most 1024 bytes.
// It returns ErrNotFound if one of the memories does not exist, and ErrConflict if both ids are the same.
func (s scope) Supersede(ctx context.Context, id, by, reason string) error {
	_, err := entered(ctx, s, "supersede", func(ref *workspace.Ref, name string) (struct{}, error) {
		return struct{}{}, explore.Supersede(ctx, "supersede", ref, name, id, by, reason)
	})
	return err
}

// Superseded returns the supersessions of at most 1000 memories. The entry of a memory that still holds, or does not exist, is nil.
func (s scope) Superseded(ctx context.Context, ids ...string) ([]*Supersession, error) {
	return entered(ctx, s, "superseded", func(ref *workspace.Ref, name string) ([]*Supersession, error) {
		return explore.Superseded(ctx, "superseded", ref, name, ids)
	})
}

// Restore makes a superseded memory current again. It undoes all supersessions of the memory, whoever decided them, and they are
// not decided again. Facts from the memory hold again beside the facts that had retired them; facts told later may retire them
// again. It returns the number of undone supersessions. It returns ErrNotFound if there is no such memory.
func (s scope) Restore(ctx context.Context, id string) (int, error) {
	return entered(ctx, s, "restore", func(ref *workspace.Ref, name string) (int, error) {
		return explore.Restore(ctx, "restore", ref, name, id)
	})
}

// Conflicts lists the pairs of memories for which supersession could not be decided, sorted by Conflict.ID.
func (s scope) Conflicts(ctx context.Context, r facts.ConflictsRequest) (*facts.ConflictPage, error) {
	return entered(ctx, s, "conflicts", func(ref *workspace.Ref, name string) (*facts.ConflictPage, error) {
		return explore.Conflicts(ctx, "conflicts", ref, name, r)
	})
}

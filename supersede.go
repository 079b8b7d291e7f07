package contextmem

import (
	"context"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/explore"
	"github.com/contextmem/contextmem/internal/workspace"
)

// What took the place of what is declared in package facts.
type (
	// Supersession says what took the place of a memory, and how that is known: facts.Supersession.
	Supersession = facts.Supersession
	// Conflict is a pair of memories of which the later may have taken the place of the earlier: facts.Conflict.
	Conflict = facts.Conflict
)

// Supersede says that the memory by took the place of the memory id, whatever the deciders found. It lasts until one of the
// two is deleted or told anew, or until [Sub.Restore]. reason is kept as the evidence, at most 1024 bytes. ErrNotFound when there
// is no such memory, ErrConflict when the two are one.
func (s scope) Supersede(ctx context.Context, id, by, reason string) error {
	_, err := entered(ctx, s, "supersede", func(ref *workspace.Ref, name string) (struct{}, error) {
		return struct{}{}, explore.Supersede(ctx, "supersede", ref, name, id, by, reason)
	})
	return err
}

// Superseded tells of memories what took their places, at most 1000; nil stands for one that holds, or that there is not.
func (s scope) Superseded(ctx context.Context, ids ...string) ([]*Supersession, error) {
	return entered(ctx, s, "superseded", func(ref *workspace.Ref, name string) ([]*Supersession, error) {
		return explore.Superseded(ctx, "superseded", ref, name, ids)
	})
}

// Restore lets a memory hold again: nothing that took its place counts any more, whoever found it out, and what was undone
// is not found again. The facts that the graph has from it hold beside those of the memories that retired them until now; one
// that is told later may retire them again. It returns how much was undone. ErrNotFound when there is no such memory.
func (s scope) Restore(ctx context.Context, id string) (int, error) {
	return entered(ctx, s, "restore", func(ref *workspace.Ref, name string) (int, error) {
		return explore.Restore(ctx, "restore", ref, name, id)
	})
}

// Conflicts lists what could not be decided, by Conflict.ID.
func (s scope) Conflicts(ctx context.Context, r facts.ConflictsRequest) ([]Conflict, error) {
	return entered(ctx, s, "conflicts", func(ref *workspace.Ref, name string) ([]Conflict, error) {
		return explore.Conflicts(ctx, "conflicts", ref, name, r)
	})
}

package contextmem

import (
	"cmp"
	"context"
	"errors"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Supersede says that the memory by took the place of the memory id, whatever the deciders found. It lasts until one of the
// two is deleted or told anew, or until [Sub.Restore]. reason is kept as the evidence, at most 1024 bytes. ErrNotFound when there
// is no such memory, ErrConflict when the two are one.
func (s scope) Supersede(ctx context.Context, id, by, reason string) error {
	const op = "supersede"
	if err := fault.CheckText(op, "reason", reason, intake.MaxGraphIdentifier); err != nil {
		return err
	}
	return s.memoryCall(ctx, op, id, func(h *workspace.Ref, part backend.Partition) error {
		return change.Supersede(ctx, h.Store, part, id, by, reason)
	})
}

// Restore lets a memory hold again: nothing that took its place counts any more, whoever found it out, and what was undone
// is not found again. It returns how much was undone. ErrNotFound when there is no such memory.
func (s scope) Restore(ctx context.Context, id string) (n int, err error) {
	err = s.memoryCall(ctx, "restore", id, func(h *workspace.Ref, part backend.Partition) (err error) {
		n, err = change.Restore(ctx, h.Store, part, id)
		return err
	})
	return n, err
}

// Conflict is a pair of memories of which the later may have taken the place of the earlier: what the deciders found is not
// certain enough to be shown. Supersede or Restore decides it.
type Conflict struct {
	ID             int64   // rises with the time at which it was found
	Earlier, Later string  // ids of memories
	Confidence     float64 // that it did, in [0,1]
	Matter         string  // the words of Earlier that may no longer hold; empty: all of them
	Evidence       string  // the words of Later that may say so
	Decider        string  // see Supersession
}

// Conflicts lists what could not be decided, by Conflict.ID, above after (0: from the first). limit is 1 to 1000, 0 means 100.
func (s scope) Conflicts(ctx context.Context, after int64, limit int) ([]Conflict, error) {
	const op = "conflicts"
	limit = cmp.Or(limit, 100)
	if limit < 1 || limit > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "limit", "must be between 1 and 1000")
	}
	out := []Conflict{}
	err := s.memoryCall(ctx, op, "", func(h *workspace.Ref, part backend.Partition) error {
		found, err := change.Undecided(ctx, h.Store, part, after, limit)
		for _, f := range found {
			out = append(out, Conflict{f.Num, f.EarlierID, f.LaterID, f.Confidence, f.Matter, f.Evidence, f.Decider})
		}
		return err
	})
	return out, err
}

// memoryCall is graphCall with the errors of memories.
func (s scope) memoryCall(ctx context.Context, op, id string, f func(h *workspace.Ref, part backend.Partition) error) error {
	return s.graphCall(ctx, op, ClassMemory, func(h *workspace.Ref, part backend.Partition) error {
		err := f(h, part)
		if errors.Is(err, backend.ErrConflict) {
			return &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Memory, ID: fault.ShortID(id), Err: errors.New("a memory cannot take its own place")}
		}
		return fault.Wrap(op, fault.Memory, id, err)
	})
}

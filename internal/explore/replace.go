package explore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Supersede records that the memory by replaces the memory id.
func Supersede(ctx context.Context, op string, ref *workspace.Ref, sub, id, by, reason string) error {
	if err := fault.CheckText(op, "reason", reason, maxReason); err != nil {
		return err
	}
	return memoryError(op, id, change.Supersede(ctx, ref.Store, memories(sub), id, by, reason))
}

// maxSuperseded is the maximum number of memories in one call of Superseded.
const maxSuperseded = 1000

// Superseded returns, for each memory, what replaced it, or nil if nothing did.
func Superseded(ctx context.Context, op string, ref *workspace.Ref, sub string, ids []string) ([]*facts.Supersession, error) {
	if len(ids) > maxSuperseded {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "ids", "%d ids are over the limit of %d", len(ids), maxSuperseded)
	}
	found, err := change.Superseded(ctx, ref.Store, memories(sub), ids)
	if err != nil {
		return nil, memoryError(op, "", err)
	}
	out := make([]*facts.Supersession, len(ids))
	nums := make([]int64, 0, len(ids))
	for _, f := range found {
		if f != nil {
			nums = append(nums, f.Later)
		}
	}
	by, err := ref.Store.SourcesByNum(ctx, nums)
	if err != nil {
		return nil, memoryError(op, "", err)
	}
	for i, f := range found {
		if f == nil {
			continue
		}
		if src := by[0]; src != nil {
			at := src.Time
			if at.IsZero() {
				at = src.CreatedAt
			}
			out[i] = &facts.Supersession{ID: src.ID, Time: at, Confidence: f.Confidence, Matter: f.Matter, Evidence: f.Evidence, Decider: f.Decider, Partly: change.Partly(f.Extra)}
		}
		by = by[1:]
	}
	return out, nil
}

// Restore makes a memory and its graph statements hold again. It returns the number of undone replacements.
func Restore(ctx context.Context, op string, ref *workspace.Ref, sub, id string) (int, error) {
	part := memories(sub)
	src, n, err := change.Restore(ctx, ref.Store, part, id)
	if err != nil {
		return n, memoryError(op, id, err)
	}
	revived, err := revive(ctx, ref.Store, src, part, n > 0)
	return n + revived, memoryError(op, id, err)
}

// Conflicts lists pairs of memories of which the service cannot decide whether one replaces the other.
func Conflicts(ctx context.Context, op string, ref *workspace.Ref, sub string, r facts.ConflictsRequest) (*facts.ConflictPage, error) {
	r.Limit = cmp.Or(r.Limit, 100)
	if r.Limit < 1 || r.Limit > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Limit", "must be between 1 and 1000")
	}
	st := ref.Intact()
	view := graph.NewView(st, time.Now(), item.VisibleTo(r.Principals))
	out := []facts.Conflict{}
	for {
		found, err := change.Undecided(ctx, st, memories(sub), r.After, r.Limit)
		if err != nil {
			return nil, memoryError(op, "", err)
		}
		seen := func(int64) bool { return true }
		if view.Restricted() {
			var nums []int64
			for _, f := range found {
				nums = append(nums, f.Earlier, f.Later)
			}
			if seen, err = view.Seen(ctx, nums); err != nil {
				return nil, memoryError(op, "", err)
			}
		}
		for _, f := range found {
			if len(out) < r.Limit && seen(f.Earlier) && seen(f.Later) {
				out = append(out, facts.Conflict{ID: f.Num, Earlier: f.EarlierID, Later: f.LaterID, Confidence: f.Confidence, Matter: f.Matter, Evidence: f.Evidence, Decider: f.Decider})
			}
		}
		if len(found) < r.Limit || len(out) == r.Limit {
			return &facts.ConflictPage{Conflicts: out, Warnings: st.Warnings()}, nil
		}
		r.After = found[len(found)-1].Num
	}
}

func memories(sub string) backend.Partition {
	return backend.Partition{Class: backend.Memory, Sub: sub}
}

func memoryError(op, id string, err error) error {
	if errors.Is(err, backend.ErrConflict) {
		return &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Memory, ID: fault.ShortID(id), Err: errors.New("a memory cannot take its own place")}
	}
	return fault.Wrap(op, fault.Memory, id, err)
}

package contextmem

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/workspace"
)

// maxEntityNames bounds the names of one call.
const maxEntityNames = 1000

// MergeEntitiesRequest folds one entity of a sub-tenant's graph into another.
type MergeEntitiesRequest struct {
	Class      Class  // default ClassKnowledge; the graphs of knowledge and memories are apart
	From, Into string // names, in any case; what was folded before is followed. Required, at most 256 bytes each
	Reason     string // kept with the record, at most 1024 bytes
}

// Merge is the record of a merge.
type Merge struct {
	ID         int64
	Class      Class
	From, Into string // normal forms of the names
	Reason     string
	At         time.Time
	Undone     bool // by the caller, or since no source says so any more
	// Stated says that the merge follows from what sources say ("Robert Smith, also known as Bob"; in memories also a first
	// name for the only full name that has it). It lasts until the last such source is deleted, or until others name somebody
	// else. Once it is undone by the caller the two stay apart.
	Stated bool
}

// Entities looks entities up by name, in any case; those folded into another are
// answered by that one. The answer has an entry for each name, nil where the graph has none. 1
// to 1000 names; class 0 is ClassKnowledge.
func (s scope) Entities(ctx context.Context, class Class, names ...string) ([]*Entity, error) {
	const op = "entities"
	if len(names) < 1 || len(names) > maxEntityNames {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "names", "must be 1 to %d", maxEntityNames)
	}
	keys := make([]string, len(names))
	for i, n := range names {
		var err error
		if keys[i], err = entityKey(op, "names", n); err != nil {
			return nil, err
		}
	}
	var out []*Entity
	err := s.mergeCall(ctx, op, class, func(h *workspace.Ref, part backend.Partition) error {
		es, err := h.Store.EntitiesByKey(ctx, part, keys)
		if err != nil {
			return err
		}
		out = make([]*Entity, len(es))
		for i, e := range es {
			if e != nil {
				found := Entity(graph.Show(e))
				out[i] = &found
			}
		}
		return nil
	})
	return out, err
}

// MergeEntities folds an entity into another: relations of both are those of one, facts
// of both retire one another, and later mentions of the name follow. It is recorded and
// can be taken back with [Sub.UndoMerge]. fault.ErrNotFound when the graph lacks one of them,
// fault.ErrConflict when they are one already.
func (s scope) MergeEntities(ctx context.Context, r MergeEntitiesRequest) (*Merge, error) {
	const op = "merge entities"
	from, err := entityKey(op, "From", r.From)
	if err != nil {
		return nil, err
	}
	into, err := entityKey(op, "Into", r.Into)
	if err != nil {
		return nil, err
	}
	if err := fault.CheckText(op, "Reason", r.Reason, intake.MaxGraphIdentifier); err != nil {
		return nil, err
	}
	var out *Merge
	err = s.mergeCall(ctx, op, r.Class, func(h *workspace.Ref, part backend.Partition) error {
		id, err := h.Store.MergeEntities(ctx, part, from, into, r.Reason, time.Now())
		if err != nil {
			return err
		}
		out, err = merge(ctx, h, part, id)
		return err
	})
	return out, err
}

// UndoMerge takes a merge back: both entities are again what they would be without
// it. fault.ErrNotFound when the sub-tenant has no such merge, fault.ErrConflict when it was undone
// before. class 0 is ClassKnowledge.
func (s scope) UndoMerge(ctx context.Context, class Class, id int64) error {
	return s.mergeCall(ctx, "undo merge", class, func(h *workspace.Ref, part backend.Partition) error {
		if _, err := merge(ctx, h, part, id); err != nil {
			return err
		}
		return h.Store.UndoMerge(ctx, id)
	})
}

// Merges lists merges by ID, those undone too, after an ID (0: from the first). limit is 1
// to 1000, 0 means 100; class 0 is ClassKnowledge.
func (s scope) Merges(ctx context.Context, class Class, after int64, limit int) ([]Merge, error) {
	const op = "merges"
	limit = cmp.Or(limit, 100)
	if limit < 1 || limit > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "limit", "must be between 1 and 1000")
	}
	out := []Merge{}
	err := s.mergeCall(ctx, op, class, func(h *workspace.Ref, part backend.Partition) error {
		ms, err := h.Store.Merges(ctx, part, after, limit)
		for i := range ms {
			out = append(out, publicMerge(&ms[i]))
		}
		return err
	})
	return out, err
}

// mergeCall is graphCall with the errors of merges.
func (s scope) mergeCall(ctx context.Context, op string, class Class, f func(h *workspace.Ref, part backend.Partition) error) error {
	return s.graphCall(ctx, op, class, func(h *workspace.Ref, part backend.Partition) error {
		err := f(h, part)
		switch {
		case errors.Is(err, backend.ErrNotFound):
			return &fault.Error{Op: op, Kind: fault.KindNotFound, Err: errors.New("the graph has no such entity or merge")}
		case errors.Is(err, backend.ErrConflict):
			return &fault.Error{Op: op, Kind: fault.KindConflict, Err: errors.New("the entities are one already, or the merge was undone before")}
		}
		return fault.Wrap(op, fault.Sub, s.sub, err)
	})
}

// merge reads the record of a merge of a partition.
func merge(ctx context.Context, h *workspace.Ref, part backend.Partition, id int64) (*Merge, error) {
	if id < 1 {
		return nil, backend.ErrNotFound
	}
	ms, err := h.Store.Merges(ctx, part, id-1, 1)
	if err != nil {
		return nil, err
	}
	if len(ms) == 0 || ms[0].Num != id {
		return nil, backend.ErrNotFound
	}
	m := publicMerge(&ms[0])
	return &m, nil
}

func publicMerge(m *backend.Merge) Merge {
	return Merge{ID: m.Num, Class: Class(m.Part.Class), From: m.From, Into: m.Into, Reason: m.Reason, At: m.At, Undone: m.Undone, Stated: m.Stated}
}

func entityKey(op, field, name string) (string, error) {
	if err := fault.CheckText(op, field, name, extract.MaxKey); err != nil {
		return "", err
	}
	key := extract.Key(name)
	if key == "" {
		return "", fault.Fieldf(op, fault.KindInvalid, "", field, "is required")
	}
	return key, nil
}

package contextmem

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
)

// maxEntityNames bounds the names of one call.
const maxEntityNames = 1000

// MergeRequest folds one entity of a sub-tenant's graph into another.
type MergeRequest struct {
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
func (s Sub) Entities(ctx context.Context, class Class, names ...string) ([]*Entity, error) {
	const op = "entities"
	if len(names) < 1 || len(names) > maxEntityNames {
		return nil, fieldError(op, KindInvalid, "", "names", "must be 1 to %d", maxEntityNames)
	}
	keys := make([]string, len(names))
	for i, n := range names {
		var err error
		if keys[i], err = entityKey(op, "names", n); err != nil {
			return nil, err
		}
	}
	var out []*Entity
	err := s.graphCall(ctx, op, class, func(h *held, part backend.Partition) error {
		es, err := h.store.EntitiesByKey(ctx, part, keys)
		if err != nil {
			return err
		}
		out = make([]*Entity, len(es))
		for i, e := range es {
			if e != nil {
				p := publicEntity(e)
				p.ID = entityID(e.Num)
				out[i] = &p
			}
		}
		return nil
	})
	return out, err
}

// MergeEntities folds an entity into another: relations of both are those of one, facts
// of both retire one another, and later mentions of the name follow. It is recorded and
// can be taken back with [Sub.UndoMerge]. ErrNotFound when the graph lacks one of them,
// ErrConflict when they are one already.
func (s Sub) MergeEntities(ctx context.Context, r MergeRequest) (*Merge, error) {
	const op = "merge entities"
	from, err := entityKey(op, "from", r.From)
	if err != nil {
		return nil, err
	}
	into, err := entityKey(op, "into", r.Into)
	if err != nil {
		return nil, err
	}
	if err := checkText(op, "reason", r.Reason, maxGraphIdentifier); err != nil {
		return nil, err
	}
	var out *Merge
	err = s.graphCall(ctx, op, r.Class, func(h *held, part backend.Partition) error {
		id, err := h.store.MergeEntities(ctx, part, from, into, r.Reason, time.Now())
		if err != nil {
			return err
		}
		out, err = merge(ctx, h, part, id)
		return err
	})
	return out, err
}

// UndoMerge takes a merge back: both entities are again what they would be without
// it. ErrNotFound when the sub-tenant has no such merge, ErrConflict when it was undone
// before. class 0 is ClassKnowledge.
func (s Sub) UndoMerge(ctx context.Context, class Class, id int64) error {
	return s.graphCall(ctx, "undo merge", class, func(h *held, part backend.Partition) error {
		if _, err := merge(ctx, h, part, id); err != nil {
			return err
		}
		return h.store.UndoMerge(ctx, id)
	})
}

// Merges lists merges by ID, those undone too, after an ID (0: from the first). limit is 1
// to 1000, 0 means 100; class 0 is ClassKnowledge.
func (s Sub) Merges(ctx context.Context, class Class, after int64, limit int) ([]Merge, error) {
	const op = "merges"
	limit = cmp.Or(limit, 100)
	if limit < 1 || limit > 1000 {
		return nil, fieldError(op, KindInvalid, "", "limit", "must be between 1 and 1000")
	}
	out := []Merge{}
	err := s.graphCall(ctx, op, class, func(h *held, part backend.Partition) error {
		ms, err := h.store.Merges(ctx, part, after, limit)
		for i := range ms {
			out = append(out, publicMerge(&ms[i]))
		}
		return err
	})
	return out, err
}

// graphCall runs f on the graph of a class.
func (s Sub) graphCall(ctx context.Context, op string, class Class, f func(h *held, part backend.Partition) error) error {
	class = cmp.Or(class, ClassKnowledge)
	if class != ClassKnowledge && class != ClassMemory {
		return errClass(op, class)
	}
	h, name, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	defer h.release()
	err = f(h, backend.Partition{Class: backend.Class(class), Sub: name})
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return &Error{Op: op, Kind: KindNotFound, Err: errors.New("the graph has no such entity or merge")}
	case errors.Is(err, backend.ErrConflict):
		return &Error{Op: op, Kind: KindConflict, Err: errors.New("the entities are one already, or the merge was undone before")}
	}
	return wrap(op, ResourceSub, s.sub, err)
}

// merge reads the record of a merge of a partition.
func merge(ctx context.Context, h *held, part backend.Partition, id int64) (*Merge, error) {
	if id < 1 {
		return nil, backend.ErrNotFound
	}
	ms, err := h.store.Merges(ctx, part, id-1, 1)
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
	if err := checkText(op, field, name, extract.MaxKey); err != nil {
		return "", err
	}
	key := extract.Key(name)
	if key == "" {
		return "", fieldError(op, KindInvalid, "", field, "is required")
	}
	return key, nil
}

package explore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	maxNames  = 1000 // maximum names in one call of Entities
	maxReason = 1024 // bytes
)

// Entities looks up entities by name. A result is nil if the graph has no such entity or visible sources do not mention it. If some are
// damaged, it returns the others and an error.
func Entities(ctx context.Context, op string, ref *workspace.Ref, sub string, r facts.LookupRequest) ([]*facts.Entity, error) {
	part, err := Partition(op, r.Class, sub)
	if err != nil {
		return nil, err
	}
	if len(r.Names) < 1 || len(r.Names) > maxNames {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Names", "must be 1 to %d", maxNames)
	}
	keys := make([]string, len(r.Names))
	for i, n := range r.Names {
		if keys[i], err = entityKey(op, "Names", n); err != nil {
			return nil, err
		}
	}
	view := graph.NewView(ref.Store, time.Now(), item.VisibleTo(r.Principals))
	var es []*backend.Entity
	if view.Restricted() {
		es, err = view.Lookup(ctx, part, keys)
	} else {
		es, err = ref.Store.EntitiesByKey(ctx, part, keys)
	}
	if backend.Undamaged(err) != nil {
		return nil, mergeError(op, sub, err)
	}
	out := make([]*facts.Entity, len(es))
	for i, e := range es {
		if e != nil {
			found := graph.Show(e)
			out[i] = &found
		}
	}
	return out, mergeError(op, sub, err)
}

// Merge folds an entity into another.
func Merge(ctx context.Context, op string, ref *workspace.Ref, sub string, r facts.MergeEntitiesRequest) (*facts.Merge, error) {
	part, err := Partition(op, r.Class, sub)
	if err != nil {
		return nil, err
	}
	from, err := entityKey(op, "From", r.From)
	if err != nil {
		return nil, err
	}
	into, err := entityKey(op, "Into", r.Into)
	if err != nil {
		return nil, err
	}
	if err := fault.CheckText(op, "Reason", r.Reason, maxReason); err != nil {
		return nil, err
	}
	id, err := ref.Store.MergeEntities(ctx, part, from, into, r.Reason, time.Now())
	if err != nil {
		return nil, mergeError(op, sub, err)
	}
	out, err := merge(ctx, ref, part, id)
	return out, mergeError(op, sub, err)
}

// UndoMerge undoes a merge.
func UndoMerge(ctx context.Context, op string, ref *workspace.Ref, sub string, class content.Class, id int64) error {
	part, err := Partition(op, class, sub)
	if err != nil {
		return err
	}
	if _, err = merge(ctx, ref, part, id); err == nil {
		err = ref.Store.UndoMerge(ctx, id)
	}
	return mergeError(op, sub, err)
}

// Merges lists merges by id, including undone ones.
func Merges(ctx context.Context, op string, ref *workspace.Ref, sub string, r facts.MergesRequest) (*facts.MergePage, error) {
	part, err := Partition(op, r.Class, sub)
	if err != nil {
		return nil, err
	}
	r.Limit = cmp.Or(r.Limit, 100)
	if r.Limit < 1 || r.Limit > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Limit", "must be between 1 and 1000")
	}
	st := ref.Intact()
	view := graph.NewView(st, time.Now(), item.VisibleTo(r.Principals))
	out := []facts.Merge{}
	for {
		ms, err := st.Merges(ctx, part, r.After, r.Limit)
		if err != nil {
			return nil, mergeError(op, sub, err)
		}
		told, err := view.Merges(ctx, part, ms)
		if err != nil {
			return nil, mergeError(op, sub, err)
		}
		for i := range told[:min(len(told), r.Limit-len(out))] {
			out = append(out, shown(&told[i]))
		}
		if len(ms) < r.Limit || len(out) == r.Limit {
			return &facts.MergePage{Merges: out, Warnings: st.Warnings()}, nil
		}
		r.After = ms[len(ms)-1].Num
	}
}

func mergeError(op, sub string, err error) error {
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return &fault.Error{Op: op, Kind: fault.KindNotFound, Err: errors.New("the graph has no such entity or merge")}
	case errors.Is(err, backend.ErrConflict):
		return &fault.Error{Op: op, Kind: fault.KindConflict, Err: errors.New("the entities are one already, or the merge was undone before")}
	}
	return fault.Wrap(op, fault.Sub, sub, err)
}

// merge reads the record of a merge of a partition.
func merge(ctx context.Context, ref *workspace.Ref, part backend.Partition, id int64) (*facts.Merge, error) {
	if id < 1 {
		return nil, backend.ErrNotFound
	}
	ms, err := ref.Store.Merges(ctx, part, id-1, 1)
	if err != nil {
		return nil, err
	}
	if len(ms) == 0 || ms[0].Num != id {
		return nil, backend.ErrNotFound
	}
	m := shown(&ms[0])
	return &m, nil
}

// shown returns a merge as users see it.
func shown(m *backend.Merge) facts.Merge {
	return facts.Merge{ID: m.Num, Class: content.Class(m.Part.Class), From: item.ShownKey(m.From), Into: item.ShownKey(m.Into), Reason: m.Reason, At: m.At, Undone: m.Undone, Stated: m.Stated}
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

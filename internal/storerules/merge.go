package storerules

import (
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// An alias leads from a key to the key it was folded into. Mentions and relations keep the keys they came with, and every entity knows
// the one it stands for (its root), so that a merge is a change of a few rows and can be taken back.

// Undone says who took a merge back.
type Undone int64

// Who takes merges back.
const (
	UndoneByCaller Undone = 1
	Unstated       Undone = 2 // sources do not say so any more
)

// MergeEntities folds what from stands for into what into stands for, and returns the number of the merge.
func (t *Tx) MergeEntities(p backend.Partition, from, into, reason string, now time.Time) (int64, error) {
	num, err := t.merge(p, from, into, reason, now, false)
	if err != nil {
		return 0, fmt.Errorf("merge entities: %w", err)
	}
	return num, nil
}

// merge folds what from stands for into what into stands for; stated: into the entity of into itself, so that they part when that one
// and what it stands for do.
func (t *Tx) merge(p backend.Partition, from, into, reason string, now time.Time, stated bool) (int64, error) {
	part, err := t.Rows.PartID(p)
	if err != nil {
		return 0, err
	}
	a, err := t.standsFor(part, from)
	if err != nil {
		return 0, err
	}
	b, err := t.standsFor(part, into)
	if err != nil {
		return 0, err
	}
	if a.Num == b.Num {
		return 0, fmt.Errorf("they are one already: %w", backend.ErrConflict)
	}
	direct := b.Key
	if stated {
		direct = into
	}
	above, err := t.chain(part, direct)
	if err != nil {
		return 0, err
	}
	t.Inserted = true
	if err := t.Rows.AddAlias(part, a.Key, direct); err != nil {
		return 0, err
	}
	if known := t.aliases[part]; known != nil {
		known.add(a.Key, direct)
	}
	moved, err := t.Rows.Members(a.Num)
	if err != nil {
		return 0, err
	}
	for _, key := range above {
		e, err := t.Rows.Counted(part, key)
		if err == nil {
			err = t.Rows.CountEntity(e.Num, a.Mentions, a.Uses)
		}
		if err != nil {
			return 0, err
		}
	}
	if err := t.Rows.SetRoot(moved, b.Num); err != nil {
		return 0, err
	}
	t.Numbers.Merge++
	if err := t.Rows.AddMerge(t.Numbers.Merge, part, a.Key, direct, reason, now, from, into); err != nil {
		return 0, err
	}
	all, err := t.Rows.Members(b.Num)
	if err != nil {
		return 0, err
	}
	return t.Numbers.Merge, t.refold(part, moved, all)
}

// UndoMerge takes a merge back for a caller.
func (t *Tx) UndoMerge(num int64) error {
	if err := t.unmerge(num, UndoneByCaller); err != nil {
		return fmt.Errorf("undo merge %d: %w", num, err)
	}
	return nil
}

func (t *Tx) unmerge(num int64, by Undone) error {
	part, from, undone, found, err := t.Rows.Merge(num)
	switch {
	case err != nil:
		return err
	case !found:
		return backend.ErrNotFound
	case undone:
		return fmt.Errorf("undone before: %w", backend.ErrConflict)
	}
	above, err := t.chain(part, from)
	if err != nil {
		return err
	}
	if err := t.Rows.SetUndone(num, by); err != nil {
		return err
	}
	t.Inserted = true
	if err := t.Rows.RemoveAlias(part, from); err != nil {
		return err
	}
	if known := t.aliases[part]; known != nil {
		known.remove(from)
	}
	a, err := t.Rows.Counted(part, from)
	if err != nil || a.Num == 0 { // nothing uses the key now
		return err
	}
	for _, key := range above[1:] {
		b, err := t.Rows.Counted(part, key)
		if err != nil {
			return err
		}
		if b.Uses <= a.Uses {
			t.Rows.ForgetEntity(EntityKey{part, key})
			err = t.Rows.RemoveEntity(b.Num)
		} else {
			err = t.Rows.CountEntity(b.Num, -a.Mentions, -a.Uses)
		}
		if err != nil {
			return err
		}
	}
	// Those folded into the key, over any number of steps, go with it.
	all, err := t.Rows.Members(a.Root)
	if err != nil {
		return err
	}
	var moved, rest Group
	for _, n := range all {
		key, err := t.Rows.KeyOf(n)
		if err != nil {
			return err
		}
		keys, err := t.chain(part, key)
		if err != nil {
			return err
		}
		if slices.Contains(keys, from) {
			moved = append(moved, n)
		} else {
			rest = append(rest, n)
		}
	}
	if err := t.Rows.SetRoot(moved, a.Num); err != nil {
		return err
	}
	return t.refold(part, moved, append(rest, moved...))
}

// standsFor reads the entity that a key stands for; [backend.ErrNotFound] when there is none.
func (t *Tx) standsFor(part int64, key string) (Counted, error) {
	keys, err := t.chain(part, key)
	if err != nil {
		return Counted{}, err
	}
	e, err := t.Rows.Counted(part, keys[len(keys)-1])
	if err == nil && e.Num == 0 {
		err = backend.ErrNotFound
	}
	return e, err
}

// refold follows a change of what moved entities stand for: their mentions are put into the feed again, and what is believed of all
// that it touches is weighed again.
func (t *Tx) refold(part int64, moved, all Group) error {
	sources, err := t.Rows.SourcesOf(moved)
	if err != nil {
		return err
	}
	for _, num := range sources {
		v, err := t.Rows.Version(num)
		if err != nil {
			return err
		}
		if v == nil {
			return fmt.Errorf("mentions of source %d, which is gone: %w", num, backend.ErrCorrupt)
		}
		if err := t.Put(num, backend.PutGraph, &v.SeqGraph); err != nil {
			return err
		}
		if err := t.Rows.SetGraphSeq(num, v.SeqGraph); err != nil {
			return err
		}
	}
	return t.weighGroup(part, all)
}

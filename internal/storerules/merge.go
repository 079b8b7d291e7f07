package storerules

import (
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// An alias maps a key to the key into which it was merged. Mentions and relations keep their original keys, and every entity has a reference
// to its root, the entity that represents it. A merge therefore changes only a few rows and can be undone.

// Undone says who has undone a merge.
type Undone int64

// Values of Undone.
const (
	UndoneByCaller Undone = 1
	Unstated       Undone = 2 // no source states it any more
)

// MergeEntities merges the root of from into the root of into, and returns the number of the merge.
func (t *Tx) MergeEntities(p backend.Partition, from, into, reason string, now time.Time) (int64, error) {
	num, err := t.merge(p, from, into, reason, now, false)
	if err != nil {
		return 0, fmt.Errorf("merge entities: %w", err)
	}
	return num, nil
}

// merge merges the root of from into the root of into. If stated is set, it merges into the entity of into itself. When the merge of into and its
// root is undone, from then stays with into.
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
	before := t.Numbers.Seq
	if err := t.refold(part, moved, all); err != nil {
		return 0, err
	}
	if t.Numbers.Seq > before {
		t.Folded = append(t.Folded, backend.Change{Seq: uint64(t.Numbers.Seq) << SeqShift, Kind: backend.FoldEntity, Part: p, From: a.Num, Into: b.Num})
	}
	return t.Numbers.Merge, nil
}

// UndoMerge undoes a merge for a caller.
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
	// Entities merged into the key, over any number of steps, stay with it.
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
	t.Unfolded = true
	return t.refold(part, moved, append(rest, moved...))
}

// standsFor reads the root entity of a key. It returns [backend.ErrNotFound] if there is none.
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

// refold handles a change of the roots of moved. It puts their mentions into the feed again, and weighs all affected relations
// again.
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
			t.Left, t.Unfolded = true, true // the row of a mention is damaged
			continue
		}
		if err := t.Put(num, backend.PutGraph, &v.SeqGraph); err != nil {
			return err
		}
		if err := t.Rows.SetGraphSeq(num, v.SeqGraph); err != nil {
			return err
		}
		t.Reput++
	}
	return t.weighGroup(part, all)
}

package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// An alias leads from a key to the key it was folded into. Mentions and relations keep
// the keys they came with, and every entity row knows the row it stands for (root), so
// that a merge is a change of a few rows and can be taken back.

func (s *store) MergeEntities(ctx context.Context, part backend.Partition, from, into, reason string, now time.Time) (num int64, err error) {
	err = s.change(ctx, func(t *tx) error {
		num, err = t.merge(part, from, into, reason, now, false)
		if err != nil {
			return fmt.Errorf("merge entities: %w", err)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return num, nil
}

// merge folds what from stands for into what into stands for; stated: into the entity of into itself, so that they part
// when that one and what it stands for do.
func (t *tx) merge(p backend.Partition, from, into, reason string, now time.Time, stated bool) (int64, error) {
	part, err := t.partID(p)
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
	if a.num == b.num {
		return 0, fmt.Errorf("they are one already: %w", backend.ErrConflict)
	}
	direct := b.key
	if stated {
		direct = into
	}
	above, err := t.chain(part, direct)
	if err != nil {
		return 0, err
	}
	t.inserted = true
	if err := t.c.do("INSERT INTO aliases (part, key, into_key) VALUES (?, ?, ?)", part, a.key, direct); err != nil {
		return 0, err
	}
	if known := t.aliases[part]; known != nil {
		known.add(a.key, direct)
	}
	moved, err := t.members(a.num)
	if err != nil {
		return 0, err
	}
	for _, key := range above {
		if err := t.c.do("UPDATE entities SET mentions = mentions + ?, uses = uses + ? WHERE part = ? AND key = ?", a.mentions, a.uses, part, key); err != nil {
			return 0, err
		}
	}
	if err := t.setRoot(moved, b.num); err != nil {
		return 0, err
	}
	t.led.merge++
	err = t.c.do("INSERT INTO merges (num, part, from_key, into_key, reason, at, asked_from, asked_into) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		t.led.merge, part, a.key, direct, reason, stamp(now), from, into)
	if err != nil {
		return 0, err
	}
	all, err := t.members(b.num)
	if err != nil {
		return 0, err
	}
	return t.led.merge, t.refold(part, moved, all)
}

func (s *store) UndoMerge(ctx context.Context, num int64) error {
	return s.change(ctx, func(t *tx) error {
		if err := t.unmerge(num, undoneByCaller); err != nil {
			return fmt.Errorf("undo merge %d: %w", num, err)
		}
		return nil
	})
}

// unmerge takes a merge back; why is what undone says then.
func (t *tx) unmerge(num, why int64) error {
	var part int64
	var from string
	undone := false
	found, err := t.c.one(bg, "SELECT part, from_key, undone FROM merges WHERE num = ?", func(r *row) error {
		part, from, undone = r.int(0), r.str(1), r.int(2) != 0
		return nil
	}, num)
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
	if err := t.c.do("UPDATE merges SET undone = ? WHERE num = ?", why, num); err != nil {
		return err
	}
	t.inserted = true
	if err := t.c.do("DELETE FROM aliases WHERE part = ? AND key = ?", part, from); err != nil {
		return err
	}
	if known := t.aliases[part]; known != nil {
		known.remove(from)
	}
	a, err := t.counted(part, from)
	if err != nil || a.num == 0 { // nothing uses the key now
		return err
	}
	for _, key := range above[1:] {
		b, err := t.counted(part, key)
		if err != nil {
			return err
		}
		if b.uses <= a.uses {
			t.entities.remove(entityKey{part, key})
			err = t.c.do("DELETE FROM entities WHERE num = ?", b.num)
		} else {
			err = t.c.do("UPDATE entities SET mentions = mentions - ?, uses = uses - ? WHERE num = ?", a.mentions, a.uses, b.num)
		}
		if err != nil {
			return err
		}
	}
	// Those folded into the key, over any number of steps, go with it.
	all, err := t.members(a.root)
	if err != nil {
		return err
	}
	var moved, rest group
	for _, n := range all {
		keys, err := t.chainOf(part, n)
		if err != nil {
			return err
		}
		if slices.Contains(keys, from) {
			moved = append(moved, n)
		} else {
			rest = append(rest, n)
		}
	}
	if err := t.setRoot(moved, a.num); err != nil {
		return err
	}
	return t.refold(part, moved, append(rest, moved...))
}

// counted is an entity with its counters.
type counted struct {
	num, root, mentions, uses int64
	key                       string
}

// counted reads the entity of a key itself; num 0 when nothing uses the key.
func (t *tx) counted(part int64, key string) (e counted, err error) {
	e.key = key
	_, err = t.c.one(bg, "SELECT num, root, mentions, uses FROM entities WHERE part = ? AND key = ?", func(r *row) error {
		e.num, e.root, e.mentions, e.uses = r.int(0), r.int(1), r.int(2), r.int(3)
		return nil
	}, part, key)
	return e, err
}

// standsFor reads the entity that a key stands for; [backend.ErrNotFound] when there
// is none.
func (t *tx) standsFor(part int64, key string) (counted, error) {
	keys, err := t.chain(part, key)
	if err != nil {
		return counted{}, err
	}
	e, err := t.counted(part, keys[len(keys)-1])
	if err == nil && e.num == 0 {
		err = backend.ErrNotFound
	}
	return e, err
}

// members returns an entity that stands for itself and those folded into it.
func (t *tx) members(root int64) (g group, err error) {
	err = t.c.each(bg, `SELECT num FROM entities WHERE num = ?1
		UNION ALL SELECT num FROM entities INDEXED BY entities_root WHERE root = ?1 AND root <> num`, func(r *row) error {
		g = append(g, r.int(0))
		return nil
	}, root)
	return g, err
}

// chainOf is chain by number.
func (t *tx) chainOf(part, num int64) (keys []string, err error) {
	var key string
	_, err = t.c.one(bg, "SELECT key FROM entities WHERE num = ?", func(r *row) error {
		key = r.str(0)
		return nil
	}, num)
	if err != nil {
		return nil, err
	}
	return t.chain(part, key)
}

func (t *tx) setRoot(g group, root int64) error {
	for _, num := range g {
		if err := t.c.do("UPDATE entities SET root = ? WHERE num = ?", root, num); err != nil {
			return err
		}
	}
	return nil
}

// refold follows a change of what moved entities stand for: their mentions are put
// into the feed again, and what is believed of all that it touches is weighed again.
func (t *tx) refold(part int64, moved, all group) error {
	seen := make(map[int64]bool)
	var sources []int64
	for _, entity := range moved {
		err := t.c.each(bg, "SELECT source FROM entity_sources WHERE entity = ?", func(r *row) error {
			if num := r.int(0); !seen[num] {
				seen[num] = true
				sources = append(sources, num)
			}
			return nil
		}, entity)
		if err != nil {
			return err
		}
	}
	slices.Sort(sources)
	for _, num := range sources {
		v, err := t.version(num)
		if err != nil {
			return err
		}
		if v == nil {
			return fmt.Errorf("mentions of source %d, which is gone: %w", num, backend.ErrCorrupt)
		}
		if err := t.put(num, backend.PutGraph, &v.seqGph); err != nil {
			return err
		}
		if err := t.c.do("UPDATE sources SET seq_graph = ? WHERE num = ?", v.seqGph, num); err != nil {
			return err
		}
	}
	return t.weighGroup(part, all)
}

func (s *store) Merges(ctx context.Context, part backend.Partition, after int64, limit int) (out []backend.Merge, err error) {
	err = s.read(ctx, func(c *conn) error {
		id, err := findPart(c, part)
		if err != nil {
			return err
		}
		return c.each(ctx, `SELECT num, from_key, into_key, reason, at, undone, stated <> '',
				iif(asked_from <> '', asked_from, from_key), iif(asked_into <> '', asked_into, iif(stated <> '', stated, into_key)) FROM merges INDEXED BY merges_part
			WHERE part = ? AND num > ? ORDER BY num LIMIT ?`, func(r *row) error {
			out = append(out, backend.Merge{
				Num: r.int(0), Part: part, From: r.str(1), Into: r.str(2), Reason: r.str(3), At: r.time(4), Undone: r.int(5) != 0, Stated: r.int(6) != 0,
				ByCaller: r.int(5) == undoneByCaller, AskedFrom: r.str(7), AskedInto: r.str(8),
			})
			return nil
		}, id, after, max(limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

package postgres

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
	delete(t.aliases, part)
	if err := t.c.do("INSERT INTO aliases (ws, part, key_hash, key, into_key) VALUES ($1, $2, $3, $4, $5)", part, hashOf(a.key), a.key, direct); err != nil {
		return 0, err
	}
	moved, err := t.members(a.num)
	if err != nil {
		return 0, err
	}
	for _, key := range above {
		e, err := t.counted(part, key)
		if err != nil {
			return 0, err
		}
		if err := t.c.do("UPDATE entities SET mentions = mentions + $2, uses = uses + $3 WHERE ws = $1 AND num = $4", a.mentions, a.uses, e.num); err != nil {
			return 0, err
		}
	}
	if err := t.setRoot(moved, b.num); err != nil {
		return 0, err
	}
	t.led.merge++
	err = t.c.do("INSERT INTO merges (ws, num, part, from_hash, from_key, into_key, reason, at, asked_from, asked_into) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
		t.led.merge, part, hashOf(a.key), a.key, direct, reason, stamp(now), from, into)
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
	found, err := t.c.one(bg, "SELECT part, from_key, undone FROM merges WHERE ws = $1 AND num = $2", func(r *row) error {
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
	if err := t.c.do("UPDATE merges SET undone = $2 WHERE ws = $1 AND num = $3", why, num); err != nil {
		return err
	}
	t.inserted = true
	delete(t.aliases, part)
	if err := t.c.do("DELETE FROM aliases WHERE ws = $1 AND part = $2 AND key_hash = $3", part, hashOf(from)); err != nil {
		return err
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
			delete(t.entities, entityKey{part, key})
			err = t.c.do("DELETE FROM entities WHERE ws = $1 AND num = $2", b.num)
		} else {
			err = t.c.do("UPDATE entities SET mentions = mentions - $2, uses = uses - $3 WHERE ws = $1 AND num = $4", a.mentions, a.uses, b.num)
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
	_, err = t.c.one(bg, "SELECT num, root, mentions, uses FROM entities WHERE ws = $1 AND part = $2 AND key_hash = $3", func(r *row) error {
		e.num, e.root, e.mentions, e.uses = r.int(0), r.int(1), r.int(2), r.int(3)
		return nil
	}, part, hashOf(key))
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
	err = t.c.each(bg, `SELECT num FROM entities WHERE ws = $1 AND num = $2
		UNION ALL SELECT num FROM entities WHERE ws = $1 AND root = $2 AND root <> num`, func(r *row) error {
		g = append(g, r.int(0))
		return nil
	}, root)
	return g, err
}

// chainOf is chain by number.
func (t *tx) chainOf(part, num int64) (keys []string, err error) {
	var key string
	_, err = t.c.one(bg, "SELECT key FROM entities WHERE ws = $1 AND num = $2", func(r *row) error {
		key = r.str(0)
		return nil
	}, num)
	if err != nil {
		return nil, err
	}
	return t.chain(part, key)
}

func (t *tx) setRoot(g group, root int64) error {
	return t.c.do("UPDATE entities SET root = $2 WHERE ws = $1 AND num = ANY($3)", root, []int64(g))
}

// refold follows a change of what moved entities stand for: their mentions are put
// into the feed again, and what is believed of all that it touches is weighed again.
func (t *tx) refold(part int64, moved, all group) error {
	var sources []int64
	err := t.c.each(bg, "SELECT DISTINCT source FROM entity_sources WHERE ws = $1 AND entity = ANY($2) ORDER BY source", func(r *row) error {
		sources = append(sources, r.int(0))
		return nil
	}, []int64(moved))
	if err != nil {
		return err
	}
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
		if err := t.c.do("UPDATE sources SET seq_graph = $2 WHERE ws = $1 AND num = $3", v.seqGph, num); err != nil {
			return err
		}
	}
	return t.weighGroup(part, all)
}

func (s *store) Merges(ctx context.Context, part backend.Partition, after int64, limit int) (out []backend.Merge, err error) {
	err = s.read(ctx, func(c *conn) error {
		id, err := findPart(ctx, c, part)
		if err != nil {
			return err
		}
		return c.each(ctx, `SELECT num, from_key, into_key, reason, at, undone, stated <> '', asked_from, asked_into FROM merges
			WHERE ws = $1 AND part = $2 AND num > $3 ORDER BY num LIMIT $4`, func(r *row) error {
			out = append(out, backend.Merge{
				Num: r.int(0), Part: part, From: r.str(1), Into: r.str(2), Reason: r.str(3), At: r.time(4), Undone: r.int(5) != 0, Stated: r.bool(6),
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

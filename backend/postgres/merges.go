package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) MergeEntities(ctx context.Context, part backend.Partition, from, into, reason string, now time.Time) (num int64, err error) {
	err = s.change(ctx, func(t *tx) error {
		num, err = t.MergeEntities(part, from, into, reason, now)
		return err
	})
	if err != nil {
		return 0, err
	}
	return num, nil
}

func (s *store) UndoMerge(ctx context.Context, num int64) error {
	return s.change(ctx, func(t *tx) error { return t.UndoMerge(num) })
}

func (s *store) Merges(ctx context.Context, part backend.Partition, after int64, limit int) (out []backend.Merge, err error) {
	err = s.read(ctx, func(c *conn) error {
		out = nil
		id, err := findPart(ctx, c, part)
		if err != nil {
			return err
		}
		return c.each(ctx, `SELECT num, from_key, into_key, reason, at, undone, stated <> '', asked_from, asked_into FROM merges
			WHERE ws = $1 AND part = $2 AND num > $3 ORDER BY num LIMIT $4`, func(r *row) error {
			out = append(out, backend.Merge{
				Num: r.int(0), Part: part, From: r.str(1), Into: r.str(2), Reason: r.str(3), At: r.time(4), Undone: r.int(5) != 0, Stated: r.bool(6),
				ByCaller: storerules.Undone(r.int(5)) == storerules.UndoneByCaller, AskedFrom: r.str(7), AskedInto: r.str(8),
			})
			return nil
		}, id, after, max(limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (x rows) Aliases(part int64, add func(key, into string)) error {
	return x.t.c.each(bg, "SELECT key, into_key FROM aliases WHERE ws = $1 AND part = $2", func(r *row) error {
		add(r.str(0), r.str(1))
		return nil
	}, part)
}

func (x rows) AddAlias(part int64, key, into string) error {
	return x.t.c.do("INSERT INTO aliases (ws, part, key_hash, key, into_key) VALUES ($1, $2, $3, $4, $5)", part, hashOf(key), key, into)
}

func (x rows) RemoveAlias(part int64, key string) error {
	return x.t.c.do("DELETE FROM aliases WHERE ws = $1 AND part = $2 AND key_hash = $3", part, hashOf(key))
}

func (x rows) AddMerge(num, part int64, from, into, reason string, at time.Time, askedFrom, askedInto string) error {
	return x.t.c.do("INSERT INTO merges (ws, num, part, from_hash, from_key, into_key, reason, at, asked_from, asked_into) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
		num, part, hashOf(from), from, into, reason, storerules.Stamp(at), askedFrom, askedInto)
}

func (x rows) Merge(num int64) (part int64, from string, undone, found bool, err error) {
	found, err = x.t.c.one(bg, "SELECT part, from_key, undone FROM merges WHERE ws = $1 AND num = $2", func(r *row) error {
		part, from, undone = r.int(0), r.str(1), r.int(2) != 0
		return nil
	}, num)
	return part, from, undone, found, err
}

func (x rows) SetUndone(num int64, by storerules.Undone) error {
	return x.t.c.do("UPDATE merges SET undone = $2 WHERE ws = $1 AND num = $3", int64(by), num)
}

func (x rows) StatedMerge(k storerules.EntityKey) (num int64, into string, err error) {
	_, err = x.t.c.one(bg, "SELECT num, stated FROM merges WHERE ws = $1 AND part = $2 AND from_hash = $3 AND undone = 0 AND stated <> ''", func(r *row) error {
		num, into = r.int(0), r.str(1)
		return nil
	}, k.Part, hashOf(k.Key))
	return num, into, err
}

func (x rows) SetStated(num int64, into string) error {
	return x.t.c.do("UPDATE merges SET stated = $2 WHERE ws = $1 AND num = $3", into, num)
}

func (x rows) Parted(k storerules.EntityKey, into string) (bool, error) {
	return x.t.c.one(bg, `SELECT 1 FROM merges
		WHERE ws = $1 AND part = $2 AND from_hash = $3 AND undone = 1 AND (into_key = $4 OR stated = $5)`, func(*row) error { return nil }, k.Part, hashOf(k.Key), into, into)
}

func (x rows) Counted(part int64, key string) (e storerules.Counted, err error) {
	e.Key = key
	_, err = x.t.c.one(bg, "SELECT num, root, mentions, uses FROM entities WHERE ws = $1 AND part = $2 AND key_hash = $3", func(r *row) error {
		e.Num, e.Root, e.Mentions, e.Uses = r.int(0), r.int(1), r.int(2), r.int(3)
		return nil
	}, part, hashOf(key))
	return e, err
}

func (x rows) Members(root int64) (g storerules.Group, err error) {
	err = x.t.c.each(bg, `SELECT num FROM entities WHERE ws = $1 AND num = $2
		UNION ALL SELECT num FROM entities WHERE ws = $1 AND root = $2 AND root <> num`, func(r *row) error {
		g = append(g, r.int(0))
		return nil
	}, root)
	return g, err
}

func (x rows) RootOf(num int64) (int64, error) {
	rs := roots{c: x.t.c, merged: true, known: make(map[int64]int64)}
	root, err := rs.of(bg, num)
	if errors.Is(err, backend.ErrCorrupt) {
		return num, nil // what is said of it still is
	}
	return root, err
}

func (x rows) SetRoot(g storerules.Group, root int64) error {
	return x.t.c.do("UPDATE entities SET root = $2 WHERE ws = $1 AND num = ANY($3)", root, []int64(g))
}

func (x rows) KeyOf(num int64) (key string, err error) {
	_, err = x.t.c.one(bg, "SELECT key FROM entities WHERE ws = $1 AND num = $2", func(r *row) error {
		key = r.str(0)
		return nil
	}, num)
	return key, err
}

func (x rows) SourcesOf(g storerules.Group) (sources []int64, err error) {
	err = x.t.c.each(bg, "SELECT DISTINCT source FROM entity_sources WHERE ws = $1 AND entity = ANY($2) ORDER BY source", func(r *row) error {
		sources = append(sources, r.int(0))
		return nil
	}, []int64(g))
	return sources, err
}

func (x rows) SetGraphSeq(num, seq int64) error {
	return x.t.c.do("UPDATE sources SET seq_graph = $2 WHERE ws = $1 AND num = $3", seq, num)
}

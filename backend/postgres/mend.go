package postgres

import (
	"errors"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// sweep removes what a damaged version has left, and mends what it said of others. In a very large workspace the server may end a
// statement that takes too long. The removal of the version then stands, and [store.Verify] reports what is left.
func (t *tx) sweep() error {
	return t.apart("sweep", errSlow, t.Sweep)
}

// Apart implements [storerules.Rows].
func (x rows) Apart(f func() error) error { return x.t.apart("mend", backend.ErrCorrupt, f) }

// apart runs f after a savepoint with a name, and writes its changes. If it meets an error, it rolls back to the savepoint and returns nil.
func (t *tx) apart(name string, without error, f func() error) error {
	led := t.led
	t.c.pending = append(t.c.pending, statement{sql: "SAVEPOINT " + name})
	err := t.c.flush(bg)
	if err != nil {
		return err
	}
	if err = f(); err == nil {
		err = t.Settle()
	}
	if err == nil {
		err = t.c.flush(bg)
	}
	if errors.Is(err, without) {
		t.led = led
		t.Clear()
		t.forget()
		clear(t.c.pending)
		t.c.pending = append(t.c.pending[:0], statement{sql: "ROLLBACK TO " + name})
		err = nil
	}
	if err != nil {
		return err
	}
	t.c.pending = append(t.c.pending, statement{sql: "RELEASE " + name})
	return t.c.flush(bg)
}

// strays are queries that remove rows that belong to nothing, in an order in which each finds what the ones before left.
var strays = func() (out []string) {
	const none = " x WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM "
	for _, s := range [][2]string{
		{"chunks", "sources s WHERE s.ws = x.ws AND s.num = x.source)"},
		{"vectors", "chunks c WHERE c.ws = x.ws AND c.num = x.chunk)"},
		{"blobs", "sources s WHERE s.ws = x.ws AND s.num = x.source)"},
		{"blob_parts", "blobs b WHERE b.ws = x.ws AND b.source = x.source AND b.kind = x.kind AND x.piece < b.pieces)"},
		{"tags", "sources s WHERE s.ws = x.ws AND s.num = x.source AND s.newest)"},
		{"mentions", "sources s WHERE s.ws = x.ws AND s.num = x.source)"},
		{"entity_sources", "sources s WHERE s.ws = x.ws AND s.num = x.source)"},
		{"stated_aliases", "sources s WHERE s.ws = x.ws AND s.num = x.source)"},
		{"relations", "sources s WHERE s.ws = x.ws AND s.num = x.source)"},
		{"successions", "sources s WHERE s.ws = x.ws AND s.num = x.later)"},
		{"successions", "sources s WHERE s.ws = x.ws AND s.num = x.earlier)"},
		{"changes", "sources s WHERE s.ws = x.ws AND s.num = x.source) AND x.sub IS NULL"},
	} {
		out = append(out, "DELETE FROM "+s[0]+none+s[1])
	}
	return out
}()

// RemoveStrays implements [storerules.Rows].
func (x rows) RemoveStrays() error {
	for _, sql := range strays {
		if err := x.t.c.do(sql); err != nil {
			return err
		}
	}
	return nil
}

// CountAnew implements [storerules.Rows].
func (x rows) CountAnew() error {
	err := x.t.c.do(`UPDATE parts p SET items = (SELECT count(*) FROM sources s WHERE s.ws = p.ws AND s.part = p.id AND s.newest),
		chunks = (SELECT coalesce(sum(s.chunks), 0)::bigint FROM sources s WHERE s.ws = p.ws AND s.part = p.id) WHERE p.ws = $1`)
	if err != nil {
		return err
	}
	_, err = x.t.c.one(bg, `SELECT (SELECT count(*) FROM sources WHERE ws = $1 AND newest AND state = 4), (SELECT count(*) FROM sources WHERE ws = $1 AND newest AND state = 5),
		(SELECT count(*) FROM relations WHERE ws = $1 AND flags > 1)`, func(r *row) error {
		x.t.led.completed, x.t.led.errored, x.t.led.Retractions = r.int(0), r.int(1), r.int(2)
		return nil
	})
	return err
}

// Uncounted implements [storerules.Rows].
func (x rows) Uncounted() ([]int64, error) {
	return x.numbers("SELECT DISTINCT source FROM entity_sources WHERE ws = $1 AND count < 1")
}

// SetMentionCount implements [storerules.Rows].
func (x rows) SetMentionCount(entity, source, n int64) error {
	return x.t.c.do("UPDATE entity_sources SET count = $2 WHERE ws = $1 AND entity = $3 AND source = $4 AND count <> $2", n, entity, source)
}

// usedKeys is a table of keys with the mentions and uses of them and of the keys merged into them. A mention uses its key, and a relation those of its ends.
// The depth bounds aliases that lead into one another.
const usedKeys = `WITH RECURSIVE own (entity, mentions, uses) AS (
		SELECT entity, sum(count)::bigint, sum(count)::bigint FROM entity_sources WHERE ws = $1 GROUP BY entity
		UNION ALL SELECT from_id, 0::bigint, count(*) FROM relations WHERE ws = $1 GROUP BY from_id
		UNION ALL SELECT to_id, 0::bigint, count(*) FROM relations WHERE ws = $1 AND to_id <> 0 AND to_id <> from_id GROUP BY to_id),
	each_key (part, key, mentions, uses, depth) AS (
		SELECT e.part, e.key, sum(o.mentions)::bigint, sum(o.uses)::bigint, 0 FROM own o JOIN entities e ON e.ws = $1 AND e.num = o.entity GROUP BY e.part, e.key
		UNION ALL SELECT a.part, a.into_key, k.mentions, k.uses, k.depth + 1 FROM each_key k
			JOIN aliases a ON a.ws = $1 AND a.part = k.part AND a.key_hash = substring(sha256(k.key), 1, 16) WHERE k.depth < 1000),
	used (part, key, mentions, uses) AS (SELECT part, key, sum(mentions)::bigint, sum(uses)::bigint FROM each_key GROUP BY part, key) `

// MendEntities implements [storerules.Rows].
func (x rows) MendEntities() error {
	var lacks []storerules.Use
	err := x.t.c.each(bg, usedKeys+`SELECT part, key, mentions, uses FROM used u
		WHERE NOT EXISTS (SELECT 1 FROM entities e WHERE e.ws = $1 AND e.part = u.part AND e.key_hash = substring(sha256(u.key), 1, 16))
		AND EXISTS (SELECT 1 FROM merges m WHERE m.ws = $1 AND m.part = u.part AND m.into_key = u.key AND m.undone = 0)`, func(r *row) error {
		k := storerules.EntityKey{Part: r.int(0), Key: r.str(1)}
		lacks = append(lacks, storerules.Use{EntityKey: k, Mentions: r.int(2), Uses: r.int(3), Name: k.Key})
		return nil
	})
	if err != nil {
		return err
	}
	for i := range lacks {
		x.t.led.Entity++
		lacks[i].Root = x.t.led.Entity
		if err := x.addEntity(x.t.led.Entity, &lacks[i]); err != nil {
			return err
		}
	}
	for _, sql := range []string{
		usedKeys + `UPDATE entities SET mentions = u.mentions, uses = u.uses FROM used u
			WHERE entities.ws = $1 AND u.part = entities.part AND u.key = entities.key AND (entities.mentions <> u.mentions OR entities.uses <> u.uses)`,
		usedKeys + `DELETE FROM entities WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM used u WHERE u.part = entities.part AND u.key = entities.key)`,
	} {
		if err := x.t.c.do(sql); err != nil {
			return err
		}
	}
	return nil
}

// MendRoots implements [storerules.Rows].
func (x rows) MendRoots() error {
	err := x.t.c.do(`UPDATE entities SET root = num WHERE ws = $1 AND root <> num
		AND NOT EXISTS (SELECT 1 FROM aliases a WHERE a.ws = $1 AND a.part = entities.part AND a.key_hash = entities.key_hash)`)
	if err != nil {
		return err
	}
	return x.t.c.do(`WITH RECURSIVE leads (num, part, hash, depth) AS (
			SELECT e.num, a.part, substring(sha256(a.into_key), 1, 16), 1 FROM aliases a JOIN entities e ON e.ws = $1 AND e.part = a.part AND e.key_hash = a.key_hash WHERE a.ws = $1
			UNION ALL SELECT l.num, a.part, substring(sha256(a.into_key), 1, 16), l.depth + 1 FROM leads l JOIN aliases a ON a.ws = $1 AND a.part = l.part AND a.key_hash = l.hash WHERE l.depth < 1000)
		UPDATE entities SET root = x.root FROM (SELECT l.num, e.num AS root FROM leads l JOIN entities e ON e.ws = $1 AND e.part = l.part AND e.key_hash = l.hash
			WHERE NOT EXISTS (SELECT 1 FROM aliases a WHERE a.ws = $1 AND a.part = l.part AND a.key_hash = l.hash)) x
		WHERE entities.ws = $1 AND entities.num = x.num AND entities.root <> x.root`)
}

// StatedAnywhere implements [storerules.Rows].
func (x rows) StatedAnywhere() (keys []storerules.EntityKey, err error) {
	err = x.t.c.each(bg, `SELECT part, from_key FROM merges WHERE ws = $1 AND stated <> '' AND undone = 0
		UNION SELECT part, from_key FROM stated_aliases WHERE ws = $1 ORDER BY 1, 2`, func(r *row) error {
		keys = append(keys, storerules.EntityKey{Part: r.int(0), Key: r.str(1)})
		return nil
	})
	return keys, err
}

// RetiredByNone implements [storerules.Rows].
func (x rows) RetiredByNone() ([]int64, error) {
	return x.numbers(`SELECT num FROM relations x WHERE ws = $1 AND superseded_by <> 0
		AND NOT EXISTS (SELECT 1 FROM relations y WHERE y.ws = x.ws AND y.num = x.superseded_by) ORDER BY num`)
}

// Unretire implements [storerules.Rows].
func (x rows) Unretire(num int64) error {
	return x.t.c.do("UPDATE relations SET superseded_by = 0, known_to = NULL WHERE ws = $1 AND num = $2 AND flags < 2", num)
}

// FactAt implements [storerules.Rows].
func (x rows) FactAt(num int64) (part int64, f storerules.Fact, found bool, err error) {
	found, err = x.t.c.one(bg, "SELECT "+factCols+", part FROM relations WHERE ws = $1 AND num = $2", func(r *row) error {
		f, part = readFact(r), r.int(factWidth)
		return nil
	}, num)
	return part, f, found, err
}

// numbers returns the first column of a query.
func (x rows) numbers(sql string) (out []int64, err error) {
	err = x.t.c.each(bg, sql, func(r *row) error {
		out = append(out, r.int(0))
		return nil
	})
	return out, err
}

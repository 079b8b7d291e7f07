package sqlite

import (
	"errors"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// Apart implements [storerules.Rows].
func (x rows) Apart(f func() error) error {
	t := x.t
	led, now := t.led, t.lag.now
	if err := t.c.do("SAVEPOINT mend"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		err = t.Settle()
	}
	if err == nil {
		err = t.flush()
	}
	if errors.Is(err, backend.ErrCorrupt) {
		t.led, t.lag.now = led, now
		for _, b := range t.bulks() {
			b.drop()
		}
		t.Clear()
		t.forget()
		err = t.c.do("ROLLBACK TO mend")
	}
	if err != nil {
		return err
	}
	return t.c.do("RELEASE mend")
}

// Uncounted implements [storerules.Rows]. Earlier releases did not store the numbers.
func (x rows) Uncounted() ([]int64, error) {
	return x.t.numbers("SELECT DISTINCT source FROM entity_sources WHERE type = '' OR typeof(count) <> 'integer' OR count < 1")
}

// SetMentionCount implements [storerules.Rows].
func (x rows) SetMentionCount(entity, source, n int64) error {
	return x.t.c.do("UPDATE entity_sources SET count = ? WHERE entity = ? AND source = ? AND count IS NOT ?", n, entity, source, n)
}

// usedKeys is a table of keys with the mentions and uses of them and of the keys merged into them. A mention uses its key, and a relation those of its ends.
// The depth bounds aliases that lead into one another.
const usedKeys = `WITH RECURSIVE own (entity, mentions, uses) AS (
		SELECT entity, sum(count), sum(count) FROM entity_sources GROUP BY entity
		UNION ALL SELECT from_id, 0, count(*) FROM relations GROUP BY from_id
		UNION ALL SELECT to_id, 0, count(*) FROM relations WHERE to_id <> 0 AND to_id <> from_id GROUP BY to_id),
	each_key (part, key, mentions, uses, depth) AS (
		SELECT e.part, e.key, sum(o.mentions), sum(o.uses), 0 FROM own o JOIN entities e ON e.num = o.entity GROUP BY e.num
		UNION ALL SELECT a.part, a.into_key, k.mentions, k.uses, k.depth + 1 FROM each_key k JOIN aliases a ON a.part = k.part AND a.key = k.key WHERE k.depth < 1000),
	used (part, key, mentions, uses) AS (SELECT part, key, sum(mentions), sum(uses) FROM each_key GROUP BY part, key) `

// MendEntities implements [storerules.Rows].
func (x rows) MendEntities() error {
	t := x.t
	type missing struct {
		storerules.EntityKey
		mentions, uses int64
	}
	var lacks []missing
	err := t.c.each(bg, usedKeys+`SELECT part, key, mentions, uses FROM used u WHERE NOT EXISTS (SELECT 1 FROM entities e WHERE e.part = u.part AND e.key = u.key)
		AND EXISTS (SELECT 1 FROM merges m WHERE m.part = u.part AND m.into_key = u.key AND m.undone = 0)`, func(r *row) error {
		lacks = append(lacks, missing{storerules.EntityKey{Part: r.int(0), Key: r.str(1)}, r.int(2), r.int(3)})
		return nil
	})
	if err != nil {
		return err
	}
	added := make([]storerules.NewEntity, len(lacks))
	for i, m := range lacks {
		t.led.Entity++
		num := t.led.Entity
		added[i] = storerules.NewEntity{Num: num, Use: &storerules.Use{EntityKey: m.EntityKey, Mentions: m.mentions, Uses: m.uses, Name: m.Key, Root: num}}
	}
	if err := x.AddEntities(added); err != nil {
		return err
	}
	for _, sql := range []string{
		usedKeys + `UPDATE entities SET mentions = u.mentions, uses = u.uses FROM used u
			WHERE u.part = entities.part AND u.key = entities.key AND (entities.mentions IS NOT u.mentions OR entities.uses IS NOT u.uses)`,
		usedKeys + `DELETE FROM entities WHERE (part, key) NOT IN (SELECT part, key FROM used)`,
	} {
		if err := t.c.do(sql); err != nil {
			return err
		}
	}
	return nil
}

// MendRoots implements [storerules.Rows].
func (x rows) MendRoots() error {
	if err := x.t.c.do("UPDATE entities SET root = num WHERE root IS NOT num AND NOT EXISTS (SELECT 1 FROM aliases a WHERE a.part = entities.part AND a.key = entities.key)"); err != nil {
		return err
	}
	const leads = `WITH RECURSIVE leads (num, part, key, depth) AS (
			SELECT e.num, a.part, a.into_key, 1 FROM aliases a JOIN entities e ON e.part = a.part AND e.key = a.key
			UNION ALL SELECT l.num, a.part, a.into_key, l.depth + 1 FROM leads l JOIN aliases a ON a.part = l.part AND a.key = l.key WHERE l.depth < 1000)
		UPDATE entities SET root = x.root FROM (SELECT l.num AS num, e.num AS root FROM leads l JOIN entities e ON e.part = l.part AND e.key = l.key
			WHERE NOT EXISTS (SELECT 1 FROM aliases a WHERE a.part = l.part AND a.key = l.key)) x WHERE entities.num = x.num AND entities.root IS NOT x.root`
	return x.t.c.do(leads)
}

// StatedAnywhere implements [storerules.Rows].
func (x rows) StatedAnywhere() (keys []storerules.EntityKey, err error) {
	err = x.t.c.each(bg, `SELECT part, from_key FROM merges WHERE stated <> '' AND undone = 0
		UNION SELECT part, from_key FROM stated_aliases ORDER BY 1, 2`, func(r *row) error {
		keys = append(keys, storerules.EntityKey{Part: r.int(0), Key: r.str(1)})
		return nil
	})
	return keys, err
}

// RetiredByNone implements [storerules.Rows].
func (x rows) RetiredByNone() ([]int64, error) {
	return x.t.numbers("SELECT num FROM relations WHERE superseded_by <> 0 AND superseded_by NOT IN (SELECT num FROM relations)")
}

// Unretire implements [storerules.Rows].
func (x rows) Unretire(num int64) error {
	return x.t.c.do("UPDATE relations SET superseded_by = 0, known_to = NULL WHERE num = ? AND flags < 2", num)
}

// FactAt implements [storerules.Rows].
func (x rows) FactAt(num int64) (part int64, f storerules.Fact, found bool, err error) {
	_, err = x.t.c.one(bg, "SELECT "+factCols+", part FROM relations WHERE num = ?", func(r *row) error {
		part = r.int(factWidth)
		f, found = readSound(r)
		return nil
	}, num)
	return part, f, found, err
}

// numbers returns the first column of a query.
func (t *tx) numbers(sql string) (out []int64, err error) {
	err = t.c.each(bg, sql, func(r *row) error {
		out = append(out, r.int(0))
		return nil
	})
	return out, err
}

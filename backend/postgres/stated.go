package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// What undone of a merge says.
const (
	undoneByCaller = 1
	unstated       = 2
)

// addStated stores what a version says about aliases; it has none yet.
func (t *tx) addStated(v *head, as []backend.Alias, ms []backend.Mention) error {
	for i := range as {
		a := &as[i]
		if a.From == a.Into || !slices.ContainsFunc(ms, func(m backend.Mention) bool { return m.Key == a.Into }) {
			continue
		}
		err := t.c.do(`INSERT INTO stated_aliases (ws, part, from_hash, into_hash, from_key, likely, into_key, source, reason, at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
			v.part, hashOf(a.From), hashOf(a.Into), a.From, a.Likely, a.Into, v.num, a.Reason, stamp(a.At))
		if err != nil {
			return err
		}
		known, err := t.statedKeys(v.part)
		if err != nil {
			return err
		}
		if !known[a.From] {
			t.inserted = true
			known[a.From] = true
		}
		t.weighStated(v.part, a.From)
	}
	return nil
}

func (s *store) Stated(ctx context.Context, q backend.StatedQuery) (out []backend.Stated, err error) {
	err = s.query(ctx, func(c *conn) error {
		out = nil
		return c.each(ctx, `SELECT a.from_key, a.likely, a.into_key, a.source, a.reason, a.at
			FROM parts p JOIN stated_aliases a ON a.ws = p.ws AND a.part = p.id JOIN sources s ON s.ws = a.ws AND s.num = a.source
			WHERE p.ws = $1 AND p.class = $2 AND p.sub_hash = $3 AND NOT ($4 AND s.newest AND s.tags IS NOT NULL AND $5 = ANY(s.tags))
			ORDER BY a.source, a.from_key, a.into_key, a.likely`, func(r *row) error {
			out = append(out, backend.Stated{Source: r.int(3), Alias: backend.Alias{From: r.str(0), Likely: r.bool(1), Into: r.str(2), Reason: r.str(4), At: r.time(5)}})
			return nil
		}, int64(q.Part.Class), hashOf(q.Part.Sub), q.Limited, int64(backend.Everybody))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// clearStated removes what a version says about aliases.
func (t *tx) clearStated(v *head) error {
	n := 0
	err := t.c.each(bg, "SELECT from_key FROM stated_aliases WHERE ws = $1 AND source = $2", func(r *row) error {
		t.weighStated(v.part, r.str(0))
		n++
		return nil
	}, v.num)
	if err != nil || n == 0 {
		return err
	}
	return t.c.do("DELETE FROM stated_aliases WHERE ws = $1 AND source = $2", v.num)
}

// statedKeys returns the keys of a partition about which something is stated, and maybe
// some more. Few are.
func (t *tx) statedKeys(part int64) (map[string]bool, error) {
	if m, ok := t.stated[part]; ok {
		return m, nil
	}
	if len(t.stated) >= partCache {
		clear(t.stated)
	}
	m := make(map[string]bool)
	err := t.c.each(bg, "SELECT DISTINCT from_key FROM stated_aliases WHERE ws = $1 AND part = $2", func(r *row) error {
		m[r.str(0)] = true
		return nil
	}, part)
	if err == nil {
		t.stated[part] = m
	}
	return m, err
}

// weighStated notes that what a key stands for is to be found out when the call ends.
func (t *tx) weighStated(part int64, key string) {
	if t.unweighed == nil {
		t.unweighed = make(map[entityKey]bool)
	}
	t.unweighed[entityKey{part, key}] = true
}

// settleStated folds and unfolds entities as sources have it now.
func (t *tx) settleStated() error {
	if len(t.unweighed) == 0 {
		return nil
	}
	type named struct {
		entityKey
		name backend.Partition
	}
	keys := make([]named, 0, len(t.unweighed))
	for k := range t.unweighed {
		p, err := t.partName(k.part)
		if err != nil {
			return err
		}
		keys = append(keys, named{k, p})
	}
	slices.SortFunc(keys, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.name.Sub, b.name.Sub), cmp.Compare(a.name.Class, b.name.Class), cmp.Compare(a.key, b.key))
	})
	for _, k := range keys {
		if err := t.settleKey(k.entityKey, k.name); err != nil {
			return err
		}
	}
	clear(t.unweighed)
	return nil
}

func (t *tx) settleKey(k entityKey, p backend.Partition) error {
	want, err := t.standIn(k)
	if err != nil {
		return err
	}
	var num int64
	var now string
	_, err = t.c.one(bg, "SELECT num, stated FROM merges WHERE ws = $1 AND part = $2 AND from_hash = $3 AND undone = 0 AND stated <> ''", func(r *row) error {
		num, now = r.int(0), r.str(1)
		return nil
	}, k.part, hashOf(k.key))
	if err != nil || num != 0 && now == want.Into {
		return err
	}
	if num != 0 {
		if err := t.unmerge(num, unstated); err != nil {
			return err
		}
	}
	if want.Into == "" {
		return nil
	}
	aliases, err := t.aliasesOf(k.part)
	if err != nil {
		return err
	}
	if _, ok := aliases[k.key]; ok {
		return nil
	}
	apart, err := t.c.one(bg, `SELECT 1 FROM merges
		WHERE ws = $1 AND part = $2 AND from_hash = $3 AND undone = 1 AND (into_key = $4 OR stated = $5)`, func(*row) error { return nil }, k.part, hashOf(k.key), want.Into, want.Into)
	if err != nil || apart {
		return err
	}
	from, err := t.counted(k.part, k.key)
	if err != nil || from.num == 0 {
		return err
	}
	into, err := t.standsFor(k.part, want.Into)
	if err != nil || into.num == from.num {
		return err
	}
	num, err = t.merge(p, want.From, want.Into, want.Reason, want.At, true)
	if err != nil {
		return err
	}
	return t.c.do("UPDATE merges SET stated = $2 WHERE ws = $1 AND num = $3", want.Into, num)
}

// standIn returns what a key is said to stand for; Into is empty when sources say nothing
// of it, or more than one thing.
func (t *tx) standIn(k entityKey) (a backend.Alias, err error) {
	for _, likely := range [...]bool{false, true} {
		n := 0
		err := t.c.each(bg, `SELECT DISTINCT ON (into_key) into_key, reason, at FROM stated_aliases
			WHERE ws = $1 AND part = $2 AND from_hash = $3 AND likely = $4 ORDER BY into_key, source LIMIT 2`, func(r *row) error {
			n++
			a = backend.Alias{From: k.key, Into: r.str(0), Likely: likely, Reason: r.str(1), At: r.time(2)}
			return nil
		}, k.part, hashOf(k.key), likely)
		switch {
		case err != nil || n > 1:
			return backend.Alias{}, err
		case n == 1:
			return a, nil
		}
	}
	return backend.Alias{}, nil
}

package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
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
		err := t.c.do(`INSERT OR IGNORE INTO stated_aliases (part, from_key, likely, into_key, source, reason, at, limited) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			v.part, a.From, a.Likely, a.Into, v.num, a.Reason, stamp(a.At), !v.newest || !everybody(v.tags))
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

// everybody reports whether packed tags say that everybody may read.
func everybody(tags []byte) bool {
	for ; len(tags) >= 8; tags = tags[8:] {
		if binary.LittleEndian.Uint64(tags) == backend.Everybody {
			return true
		}
	}
	return false
}

// limitStated notes whether only some may read what a version states.
func (t *tx) limitStated(v *head, limited bool) error {
	if known, err := t.statedKeys(v.part); err != nil || len(known) == 0 {
		return err
	}
	return t.c.do("UPDATE stated_aliases SET limited = ? WHERE source = ?", limited, v.num)
}

func (s *store) Stated(ctx context.Context, q backend.StatedQuery) (out []backend.Stated, err error) {
	err = s.read(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil || part == 0 {
			return err
		}
		from := "stated_aliases WHERE part = ?"
		if q.Limited {
			from = "stated_aliases INDEXED BY stated_aliases_limited WHERE part = ? AND limited = 1"
		}
		return c.each(ctx, "SELECT from_key, likely, into_key, source, reason, at FROM "+from, func(r *row) error {
			out = append(out, backend.Stated{Source: r.int(3), Alias: backend.Alias{From: r.str(0), Likely: r.int(1) != 0, Into: r.str(2), Reason: r.str(4), At: r.time(5)}})
			return nil
		}, part)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, compareStated)
	return out, nil
}

func compareStated(a, b backend.Stated) int {
	likely := func(x *backend.Stated) int {
		if x.Likely {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.From, b.From), cmp.Compare(a.Into, b.Into), likely(&a)-likely(&b))
}

// clearStated removes what a version says about aliases.
func (t *tx) clearStated(v *head) error {
	n := 0
	err := t.c.each(bg, "SELECT from_key FROM stated_aliases WHERE source = ?", func(r *row) error {
		t.weighStated(v.part, r.str(0))
		n++
		return nil
	}, v.num)
	if err != nil || n == 0 {
		return err
	}
	return t.c.do("DELETE FROM stated_aliases WHERE source = ?", v.num)
}

// statedKeys returns the keys of a partition about which something is stated, and maybe
// some more. Few are.
func (t *tx) statedKeys(part int64) (map[string]bool, error) {
	if m, ok := t.stated[part]; ok {
		return m, nil
	}
	if len(t.stated) >= partCacheSize {
		clear(t.stated)
	}
	m := make(map[string]bool)
	err := t.c.each(bg, "SELECT DISTINCT from_key FROM stated_aliases WHERE part = ?", func(r *row) error {
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
	_, err = t.c.one(bg, "SELECT num, stated FROM merges INDEXED BY merges_from WHERE part = ? AND from_key = ? AND undone = 0 AND stated <> ''", func(r *row) error {
		num, now = r.int(0), r.str(1)
		return nil
	}, k.part, k.key)
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
	if _, ok := aliases.into[k.key]; ok {
		return nil
	}
	apart, err := t.c.one(bg, `SELECT 1 FROM merges INDEXED BY merges_from
		WHERE part = ? AND from_key = ? AND undone = 1 AND (into_key = ? OR stated = ?)`, func(*row) error { return nil }, k.part, k.key, want.Into, want.Into)
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
	return t.c.do("UPDATE merges SET stated = ? WHERE num = ?", want.Into, num)
}

// standIn returns what a key is said to stand for; Into is empty when sources say nothing
// of it, or more than one thing.
func (t *tx) standIn(k entityKey) (a backend.Alias, err error) {
	for _, likely := range [...]bool{false, true} {
		first := func(into string) (string, error) {
			found := ""
			_, err := t.c.one(bg, `SELECT into_key, reason, at FROM stated_aliases WHERE part = ? AND from_key = ? AND likely = ? AND into_key > ?
				ORDER BY into_key, source LIMIT 1`, func(r *row) error {
				if found = r.str(0); into == "" {
					a = backend.Alias{From: k.key, Into: found, Likely: likely, Reason: r.str(1), At: r.time(2)}
				}
				return nil
			}, k.part, k.key, likely, into)
			return found, err
		}
		one, err := first("")
		if err != nil {
			return backend.Alias{}, err
		}
		if one == "" {
			continue
		}
		if other, err := first(one); err != nil || other != "" {
			return backend.Alias{}, err
		}
		return a, nil
	}
	return backend.Alias{}, nil
}

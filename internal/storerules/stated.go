package storerules

import (
	"cmp"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// addStated stores the aliases that a version states. The version has none yet.
func (t *Tx) addStated(v *Head, as []backend.Alias, ms []backend.Mention) error {
	for i := range as {
		a := &as[i]
		if !keeps(ms, a) {
			continue
		}
		if err := t.Rows.AddStated(v, a); err != nil {
			return err
		}
		known, err := t.statedKeys(v.Part)
		if err != nil {
			return err
		}
		if !known[a.From] {
			t.Inserted = true
			known[a.From] = true
		}
		t.unweighed[EntityKey{v.Part, a.From}] = true
	}
	return nil
}

// keeps reports whether an alias has two different keys and a mention of the second.
func keeps(ms []backend.Mention, a *backend.Alias) bool {
	return a.From != a.Into && slices.ContainsFunc(ms, func(m backend.Mention) bool { return m.Key == a.Into })
}

// AnyStated reports whether sources may state aliases in a partition.
func (t *Tx) AnyStated(part int64) (bool, error) {
	known, err := t.statedKeys(part)
	return len(known) > 0, err
}

// CompareStated orders stated aliases by source, keys and likelihood.
func CompareStated(a, b backend.Stated) int {
	likely := func(x *backend.Stated) int {
		if x.Likely {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.From, b.From), cmp.Compare(a.Into, b.Into), likely(&a)-likely(&b))
}

// clearStated removes the aliases that a version states.
func (t *Tx) clearStated(v *Head) error {
	n := 0
	err := t.Rows.StatedBy(v.Num, func(key string) {
		t.unweighed[EntityKey{v.Part, key}] = true
		n++
	})
	if err != nil || n == 0 {
		return err
	}
	return t.Rows.RemoveStated(v.Num)
}

// statedKeys returns the keys of a partition for which sources state aliases, and perhaps some more. Few keys have any.
func (t *Tx) statedKeys(part int64) (map[string]bool, error) {
	if m, ok := t.stated[part]; ok {
		return m, nil
	}
	if len(t.stated) >= partCache {
		clear(t.stated)
	}
	m := make(map[string]bool)
	err := t.Rows.StatedKeys(part, func(key string) { m[key] = true })
	if err == nil {
		t.stated[part] = m
	}
	return m, err
}

// settleStated merges entities, and undoes merges, according to the aliases that sources state now.
func (t *Tx) settleStated() error {
	if len(t.unweighed) == 0 {
		return nil
	}
	type named struct {
		EntityKey
		name backend.Partition
	}
	keys := make([]named, 0, len(t.unweighed))
	for k := range t.unweighed {
		p, err := t.Rows.PartName(k.Part)
		if err != nil {
			return err
		}
		keys = append(keys, named{k, p})
	}
	slices.SortFunc(keys, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.name.Sub, b.name.Sub), cmp.Compare(a.name.Class, b.name.Class), cmp.Compare(a.Key, b.Key))
	})
	for _, k := range keys {
		if err := t.settleKey(k.EntityKey, k.name); err != nil {
			return err
		}
	}
	clear(t.unweighed)
	return nil
}

func (t *Tx) settleKey(k EntityKey, p backend.Partition) error {
	want, err := t.standIn(k)
	if err != nil {
		return err
	}
	num, now, err := t.Rows.StatedMerge(k)
	if err != nil || num != 0 && now == want.Into {
		return err
	}
	if num != 0 {
		if err := t.unmerge(num, Unstated); err != nil {
			return err
		}
	}
	if want.Into == "" {
		return nil
	}
	aliases, err := t.aliasesOf(k.Part)
	if err != nil {
		return err
	}
	if _, ok := aliases.into[k.Key]; ok {
		return nil
	}
	if parted, err := t.Rows.Parted(k, want.Into); err != nil || parted {
		return err
	}
	from, err := t.Rows.Counted(k.Part, k.Key)
	if err != nil || from.Num == 0 {
		return err
	}
	into, err := t.standsFor(k.Part, want.Into)
	if err != nil || into.Num == from.Num {
		return err
	}
	if num, err = t.merge(p, want.From, want.Into, want.Reason, want.At, true); err != nil {
		return err
	}
	return t.Rows.SetStated(num, want.Into)
}

// standIn returns the alias of a key. Into is empty if sources state none, or several different ones.
func (t *Tx) standIn(k EntityKey) (backend.Alias, error) {
	for _, likely := range [...]bool{false, true} {
		said, err := t.Rows.StandIns(k, likely)
		switch {
		case err != nil || len(said) > 1:
			return backend.Alias{}, err
		case len(said) == 1:
			return said[0], nil
		}
	}
	return backend.Alias{}, nil
}

package storerules

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// EntityKey names an entity.
type EntityKey struct {
	Part int64
	Key  string
}

// EntityRef is what a store remembers of an entity.
type EntityRef struct {
	Num   int64
	Named bool // its name and type come from a mention
}

// Use is what a call changes about the counters of an entity, and the entity itself when the call made it.
type Use struct {
	EntityKey
	Mentions, Uses int64
	Made           bool
	Name, Type     string
	Named          bool // made: by a mention; else: name and type are new
	Root           int64
}

// Counted is an entity with its counters.
type Counted struct {
	Num, Root, Mentions, Uses int64
	Key                       string
}

// Group is the entities whose relations can retire one another: one entity, and those folded into it.
type Group []int64

// end is an end of a relation.
type end struct {
	num   int64 // 0: a literal
	root  int64 // what the entity stands for, once found
	found bool
	alone bool // it is known that nothing else stands for root
}

// Said is how often a version mentions an entity, and the type that it gives it first.
type Said struct {
	Entity int64
	Type   string
	Count  int64
}

// useOf returns the changes of an entity that the call under way collects.
func (t *Tx) useOf(num int64, k EntityKey) *Use {
	u := t.uses[num]
	if u == nil {
		u = &Use{EntityKey: k}
		t.uses[num] = u
	}
	return u
}

// use counts a use of a key with so many mentions, making its entity and those it is folded into. m is nil for ends of relations.
func (t *Tx) use(part int64, key string, mentions int64, m *backend.Mention) (e end, err error) {
	keys, err := t.chain(part, key)
	if err == nil {
		err = t.relieve()
	}
	if err != nil {
		return e, err
	}
	var nums []int64
	for i, k := range keys {
		at := EntityKey{part, k}
		ref, err := t.Rows.Entity(part, k)
		if err != nil {
			return e, err
		}
		if ref.Num == 0 {
			t.Numbers.Entity++
			ref.Num = t.Numbers.Entity
			t.uses[ref.Num] = &Use{EntityKey: at, Made: true, Name: k, Root: ref.Num}
			t.Inserted = true
			t.Rows.KeepEntity(at, ref)
		}
		u := t.useOf(ref.Num, at)
		u.Uses++
		u.Mentions += mentions
		if m != nil && !ref.Named && (i == 0 || i == len(keys)-1) {
			u.Name, u.Type, u.Named = m.Name, m.Type, true
			t.Inserted = true
			t.Rows.KeepEntity(at, EntityRef{ref.Num, true})
		}
		nums = append(nums, ref.Num)
	}
	for _, num := range nums {
		t.uses[num].Root = nums[len(nums)-1]
	}
	aliases, err := t.aliasesOf(part)
	if err != nil {
		return e, err
	}
	return end{num: nums[0], root: nums[len(nums)-1], found: true, alone: aliases.behind[keys[len(keys)-1]] == 0}, nil
}

// unuse takes one use of a key back.
func (t *Tx) unuse(part int64, key string, mentions int64) error {
	keys, err := t.chain(part, key)
	if err == nil {
		err = t.relieve()
	}
	if err != nil {
		return err
	}
	for _, k := range keys {
		ref, err := t.Rows.Entity(part, k)
		if err != nil {
			return err
		}
		if ref.Num == 0 {
			return backend.ErrCorrupt
		}
		u := t.useOf(ref.Num, EntityKey{part, k})
		u.Uses--
		u.Mentions -= mentions
	}
	return nil
}

// relieve settles early in very large calls: entities that are not written yet must not fall out of the store's cache.
func (t *Tx) relieve() error {
	if !t.Rows.Crowded(len(t.uses)) {
		return nil
	}
	err := t.settleUses()
	t.Rows.Relieved()
	return err
}

// settleUses writes the entities that the call made and the counters it changed, and removes entities that nothing uses any more.
func (t *Tx) settleUses() error {
	if len(t.uses) == 0 {
		return nil
	}
	for _, num := range slices.Sorted(maps.Keys(t.uses)) {
		if err := t.settleUse(num, t.uses[num]); err != nil {
			return err
		}
	}
	clear(t.uses)
	return nil
}

func (t *Tx) settleUse(num int64, u *Use) (err error) {
	switch {
	case u.Made && u.Uses == 0: // came and went
		t.Rows.ForgetEntity(u.EntityKey)
		return nil
	case u.Made:
		known, err := t.statedKeys(u.Part)
		if err != nil {
			return err
		}
		if known[u.Key] {
			t.unweighed[u.EntityKey] = true
		}
		return t.Rows.AddEntity(num, u)
	case u.Named:
		if err := t.Rows.NameEntity(num, u); err != nil {
			return err
		}
	}
	if u.Uses == 0 && u.Mentions == 0 {
		return nil
	}
	err = t.Rows.CountEntity(num, u.Mentions, u.Uses)
	if err != nil || u.Uses > 0 {
		return err
	}
	removed, err := t.Rows.RemoveUnused(num)
	if removed {
		t.Rows.ForgetEntity(u.EntityKey)
	}
	return err
}

// addMentions stores the mentions of a version that has none.
func (t *Tx) addMentions(v *Head, ms []backend.Mention) error {
	if len(ms) == 0 {
		return nil
	}
	if err := t.Rows.LoadEntities(v.Part, len(ms), func(i int) string { return ms[i].Key }); err != nil {
		return err
	}
	packed := make([]byte, 0, 32*len(ms))
	said := make([]Said, 0, len(ms))
	seen := make(map[int64]int, len(ms)) // of an entity its index in said
	t.Mentioned = make([]backend.MentionRef, len(ms))
	for i := range ms {
		m := &ms[i]
		used, err := t.use(v.Part, m.Key, 1, m)
		if err != nil {
			return err
		}
		packed = appendMention(packed, Mention{int64(m.Chunk), used.num, m.Weight, m.Key})
		t.Mentioned[i] = backend.MentionRef{Chunk: v.First + int64(m.Chunk), Entity: used.root, Key: m.Key, Weight: m.Weight}
		at, ok := seen[used.num]
		if !ok {
			at = len(said)
			seen[used.num], said = at, append(said, Said{Entity: used.num, Type: m.Type})
		}
		said[at].Count++
	}
	return t.Rows.AddMentions(v.Num, said, packed)
}

// clearGraph removes the mentions and relations of a version.
func (t *Tx) clearGraph(v *Head) error {
	if !v.Graph {
		return nil
	}
	v.Graph = false
	ms, err := t.Rows.Mentions(v.Num)
	damaged := errors.Is(err, backend.ErrCorrupt)
	if damaged {
		// What is damaged must still be possible to delete. Entities are left with counts that are too high, which keeps them.
		ms, err = nil, nil
	}
	if err == nil {
		err = t.Rows.LoadEntities(v.Part, len(ms), func(i int) string { return ms[i].Key })
	}
	if err != nil {
		return err
	}
	for _, m := range ms {
		if err := t.unuse(v.Part, m.Key, 1); err != nil {
			return err
		}
	}
	if err := t.Rows.RemoveMentions(v.Num, ms, damaged); err != nil {
		return err
	}
	if err := t.clearStated(v); err != nil {
		return err
	}
	return t.clearRelations(v)
}

// FoldMentions puts mentions of keys in the order of the keys and their chunks, one of each.
func FoldMentions(ms []backend.KeyMention) []backend.KeyMention {
	slices.SortStableFunc(ms, func(a, b backend.KeyMention) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Chunk, b.Chunk))
	})
	out := ms[:0]
	for _, m := range ms {
		if n := len(out); n > 0 && out[n-1].At == m.At && out[n-1].Chunk == m.Chunk {
			out[n-1].Weight += m.Weight
			continue
		}
		out = append(out, m)
	}
	return out
}

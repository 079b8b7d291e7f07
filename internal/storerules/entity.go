package storerules

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// EntityKey is the partition and the key of an entity.
type EntityKey struct {
	Part int64
	Key  string
}

// EntityRef is the cached part of an entity.
type EntityRef struct {
	Num   int64
	Named bool // its name and type come from a mention
}

// Use collects the changes of an entity's counters by one call, and the entity itself if the call has made it.
type Use struct {
	EntityKey
	Mentions, Uses int64
	Made           bool
	Name, Type     string
	Named          bool // if Made: a mention made it; otherwise: name and type have changed
	Root           int64
}

// NewEntity is an entity that a call has made.
type NewEntity struct {
	Num int64
	*Use
}

// Counted is an entity together with its counters.
type Counted struct {
	Num, Root, Mentions, Uses int64
	Key                       string
}

// Group lists the entities whose relations can retire one another: a root entity and the entities merged into it.
type Group []int64

// end is an end of a relation.
type end struct {
	num   int64 // the entity; 0: a literal
	root  int64 // root of the entity, if found is set
	found bool
	alone bool // no entity was merged into root
}

// MentionCount holds the number of a version's mentions of an entity, and the first type that it gives the entity.
type MentionCount struct {
	Entity int64
	Type   string
	Count  int64
}

// useOf returns the changes that the current call collects for an entity.
func (t *Tx) useOf(num int64, k EntityKey) *Use {
	u := t.uses[num]
	if u == nil {
		u = &Use{EntityKey: k}
		t.uses[num] = u
	}
	return u
}

// use counts a use of a key with a number of mentions. It makes the entity of the key, and those into which it is merged, if they do not
// exist. m is nil for ends of relations.
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

// unuse undoes one use of a key, whose entity has the number num. It leaves out what damage keeps it from finding.
func (t *Tx) unuse(part int64, key string, num, mentions int64) error {
	keys, err := t.chain(part, key)
	if err == nil {
		err = t.relieve()
	}
	for i := 0; err == nil && i < len(keys); i++ {
		var ref EntityRef
		if ref, err = t.Rows.Entity(part, keys[i]); err != nil {
			break
		}
		if ref.Num == 0 || i == 0 && ref.Num != num {
			t.Left = true
			return nil
		}
		u := t.useOf(ref.Num, EntityKey{part, keys[i]})
		u.Uses--
		u.Mentions -= mentions
	}
	return t.unlessDamaged(err)
}

// unlessDamaged returns err, or nil if err means that stored data is damaged; rows may then be left.
func (t *Tx) unlessDamaged(err error) error {
	if errors.Is(err, backend.ErrCorrupt) {
		t.Left = true
		return nil
	}
	return err
}

// relieve writes entities early during very large calls. Otherwise the store's cache could evict entities that are not written yet.
func (t *Tx) relieve() error {
	if !t.Rows.Crowded(len(t.uses)) {
		return nil
	}
	err := t.settleUses()
	t.Rows.Relieved()
	return err
}

// settleUses writes the entities that the call has made and the counters that it has changed, and removes entities without uses.
func (t *Tx) settleUses() error {
	if len(t.uses) == 0 {
		return nil
	}
	var made []NewEntity
	for _, num := range slices.Sorted(maps.Keys(t.uses)) {
		u := t.uses[num]
		if !u.Made {
			if err := t.settleUse(num, u); err != nil {
				return err
			}
			continue
		}
		kept, err := t.settleNew(u)
		if err != nil {
			return err
		}
		if kept {
			made = append(made, NewEntity{num, u})
		}
	}
	clear(t.uses)
	return t.Rows.AddEntities(made)
}

// settleUse writes the counters of an entity that existed before the call.
func (t *Tx) settleUse(num int64, u *Use) error {
	if u.Named {
		if err := t.Rows.NameEntity(num, u); err != nil {
			return err
		}
	}
	if u.Uses == 0 && u.Mentions == 0 {
		return nil
	}
	err := t.Rows.CountEntity(num, u.Mentions, u.Uses)
	if err != nil || u.Uses > 0 {
		return err
	}
	removed, err := t.Rows.RemoveUnused(num)
	if removed {
		t.Rows.ForgetEntity(u.EntityKey)
	}
	return err
}

// settleNew prepares an entity that the call has made for being written. It reports false if the call has undone all uses of it again.
func (t *Tx) settleNew(u *Use) (kept bool, err error) {
	if u.Uses == 0 {
		t.Rows.ForgetEntity(u.EntityKey)
		return false, nil
	}
	known, err := t.statedKeys(u.Part)
	if err != nil {
		return false, err
	}
	if known[u.Key] {
		t.unweighed[u.EntityKey] = true
	}
	return true, nil
}

// loadedAtOnce is the number of mentions whose entities are prefetched together. A long text has ten thousand.
const loadedAtOnce = 1024

// addMentions stores the mentions of a version that has none yet.
func (t *Tx) addMentions(v *Head, ms []backend.Mention) error {
	if len(ms) == 0 {
		return nil
	}
	packed := make([]byte, 0, 32*len(ms))
	said := make([]MentionCount, 0, len(ms))
	seen := make(map[int64]int, len(ms)) // entity -> index in said
	t.Mentioned = make([]backend.MentionRef, len(ms))
	for i := range ms {
		if i%loadedAtOnce == 0 {
			some := ms[i:min(i+loadedAtOnce, len(ms))]
			if err := t.Rows.LoadEntities(v.Part, len(some), func(i int) string { return some[i].Key }); err != nil {
				return err
			}
		}
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
			seen[used.num], said = at, append(said, MentionCount{Entity: used.num, Type: m.Type})
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
	damaged := errors.Is(err, backend.ErrCorrupt) || err == nil && len(ms) == 0 && v.SeqGraph != 0
	if err != nil && damaged {
		// A damaged version must be deletable too. The counters of its entities stay too high.
		ms, err = nil, t.unlessDamaged(err)
	}
	if err == nil {
		err = t.Rows.LoadEntities(v.Part, len(ms), func(i int) string { return ms[i].Key })
	}
	if err != nil {
		return err
	}
	for _, m := range ms {
		if err := t.unuse(v.Part, m.Key, m.Entity, 1); err != nil {
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

// FoldMentions sorts mentions by key and chunk, and combines mentions with equal keys and chunks.
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

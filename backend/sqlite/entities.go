package sqlite

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// entityKey names an entity.
type entityKey struct {
	part int64
	key  string
}

// entityRef is what the writer remembers of an entity.
type entityRef struct {
	num   int64
	named bool // its name and type come from a mention
}

// use is what a call changes about the counters of an entity, and the entity itself
// when the call made it.
type use struct {
	part           int64
	key            string
	mentions, uses int64
	made           bool
	name, typ      string
	named          bool // made: by a mention; else: name and typ are new
	root           int64
}

// entity finds the entity of a key itself; num 0 when there is none.
func (t *tx) entity(part int64, key string) (ref entityRef, err error) {
	k := entityKey{part, key}
	if ref, ok := t.entities.get(k); ok {
		return ref, nil
	}
	_, err = t.c.one(bg, "SELECT num, named FROM entities WHERE part = ? AND key = ?", func(r *row) error {
		ref = entityRef{r.int(0), r.int(1) != 0}
		return nil
	}, part, key)
	if err == nil && ref.num != 0 {
		t.entities.put(k, ref)
	}
	return ref, err
}

// use counts a use of a key with so many mentions, making its entity and those it is
// folded into. m is nil for ends of relations.
func (t *tx) use(part int64, key string, mentions int64, m *backend.Mention) (p place, err error) {
	keys, err := t.chain(part, key)
	if err == nil {
		err = t.relieve()
	}
	if err != nil {
		return p, err
	}
	var nums []int64
	for i, k := range keys {
		ref, err := t.entity(part, k)
		if err != nil {
			return p, err
		}
		if ref.num == 0 {
			t.led.entity++
			ref.num = t.led.entity
			t.uses[ref.num] = &use{part: part, key: k, made: true, name: k, root: ref.num}
			t.inserted = true
			t.entities.put(entityKey{part, k}, ref)
		}
		u := t.uses[ref.num]
		if u == nil {
			u = &use{part: part, key: k}
			t.uses[ref.num] = u
		}
		u.uses++
		u.mentions += mentions
		if m != nil && !ref.named && (i == 0 || i == len(keys)-1) {
			u.name, u.typ, u.named = m.Name, m.Type, true
			t.inserted = true
			t.entities.put(entityKey{part, k}, entityRef{ref.num, true})
		}
		nums = append(nums, ref.num)
	}
	for _, num := range nums {
		t.uses[num].root = nums[len(nums)-1]
	}
	aliases, err := t.aliasesOf(part)
	if err != nil {
		return p, err
	}
	return place{num: nums[0], root: nums[len(nums)-1], found: true, alone: aliases.behind[keys[len(keys)-1]] == 0}, nil
}

// unuse takes one use of a key back.
func (t *tx) unuse(part int64, key string, mentions int64) error {
	keys, err := t.chain(part, key)
	if err == nil {
		err = t.relieve()
	}
	if err != nil {
		return err
	}
	for _, k := range keys {
		ref, err := t.entity(part, k)
		if err != nil {
			return err
		}
		if ref.num == 0 {
			return backend.ErrCorrupt
		}
		u := t.uses[ref.num]
		if u == nil {
			u = &use{part: part, key: k}
			t.uses[ref.num] = u
		}
		u.uses--
		u.mentions -= mentions
	}
	return nil
}

// relieve settles early in very large calls: entities that are not written yet must
// not fall out of the cache.
func (t *tx) relieve() error {
	if len(t.uses) < entityCacheSize/2 {
		return nil
	}
	return t.settleUses()
}

// settleUses writes the entities that the call made and the counters it changed, and
// removes entities that nothing uses any more.
func (t *tx) settleUses() error {
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

func (t *tx) settleUse(num int64, u *use) (err error) {
	switch {
	case u.made && u.uses == 0: // came and went
		t.entities.remove(entityKey{u.part, u.key})
		return nil
	case u.made:
		known, err := t.statedKeys(u.part)
		if err != nil {
			return err
		}
		if known[u.key] {
			t.weighStated(u.part, u.key)
		}
		return t.c.do(`INSERT INTO entities (num, part, key, name, type, named, root, mentions, uses, crc)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, num, u.part, u.key, u.name, u.typ, u.named, u.root, u.mentions, u.uses, entitySum(u.key, u.name, u.typ))
	case u.named:
		err = t.c.do("UPDATE entities SET name = ?, type = ?, named = 1, crc = ? WHERE num = ?", u.name, u.typ, entitySum(u.key, u.name, u.typ), num)
		if err != nil {
			return err
		}
	}
	if u.uses == 0 && u.mentions == 0 {
		return nil
	}
	err = t.c.do("UPDATE entities SET mentions = mentions + ?, uses = uses + ? WHERE num = ?", u.mentions, u.uses, num)
	if err != nil || u.uses > 0 {
		return err
	}
	n, err := t.c.exec("DELETE FROM entities WHERE num = ? AND uses <= 0", num)
	if n > 0 {
		t.entities.remove(entityKey{u.part, u.key})
	}
	return err
}

// addMentions stores the mentions of a version that has none.
func (t *tx) addMentions(v *head, ms []backend.Mention) error {
	if len(ms) == 0 {
		return nil
	}
	data := make([]byte, 0, 32*len(ms))
	type said struct {
		entity int64
		typ    string
		count  int64
	}
	says := make([]said, 0, len(ms))
	seen := make(map[int64]int, len(ms)) // of an entity its index in says
	for i := range ms {
		m := &ms[i]
		used, err := t.use(v.part, m.Key, 1, m)
		if err != nil {
			return err
		}
		num := used.num
		data = appendMention(data, mention{int64(m.Chunk), num, m.Weight, m.Key})
		at, ok := seen[num]
		if !ok {
			at = len(says)
			seen[num], says = at, append(says, said{entity: num, typ: m.Type})
		}
		says[at].count++
	}
	for _, s := range says {
		if err := t.c.do("INSERT INTO entity_sources (entity, source, type, count) VALUES (?, ?, ?, ?)", s.entity, v.num, s.typ, s.count); err != nil {
			return err
		}
	}
	return t.c.do("INSERT INTO mentions (source, crc, data) VALUES (?, ?, ?)", v.num, checksum(data), data)
}

// readMentions reads the mentions of a version.
func readMentions(c *conn, source int64) (ms []mention, err error) {
	_, err = c.one(bg, "SELECT crc, data FROM mentions WHERE source = ?", func(r *row) error {
		data := r.checked(0, 1, "mentions of source", source)
		if r.err == nil {
			ms, r.err = unpackMentions(data)
		}
		return nil
	}, source)
	return ms, err
}

// clearGraph removes the mentions and relations of a version.
func (t *tx) clearGraph(v *head) error {
	if !v.graph {
		return nil
	}
	v.graph = false
	ms, err := readMentions(t.c, v.num)
	if errors.Is(err, backend.ErrCorrupt) {
		// What is damaged must still be possible to delete. Entities are left with
		// counts that are too high, which keeps them.
		ms, err = nil, t.c.do("DELETE FROM entity_sources WHERE source = ?", v.num)
	}
	if err != nil {
		return err
	}
	seen := make(map[int64]bool, len(ms))
	for _, m := range ms {
		if err := t.unuse(v.part, m.key, 1); err != nil {
			return err
		}
		if !seen[m.entity] {
			seen[m.entity] = true
			if err := t.c.do("DELETE FROM entity_sources WHERE entity = ? AND source = ?", m.entity, v.num); err != nil {
				return err
			}
		}
	}
	if err := t.c.do("DELETE FROM mentions WHERE source = ?", v.num); err != nil {
		return err
	}
	if err := t.clearStated(v); err != nil {
		return err
	}
	return t.clearRelations(v)
}

// roots finds what entities stand for, during one read.
type roots struct {
	c      *conn
	merged bool // some entity was folded into another
	known  map[int64]int64
}

func newRoots(c *conn) (*roots, error) {
	rs := &roots{c: c, known: make(map[int64]int64)}
	var err error
	rs.merged, err = c.one(bg, "SELECT 1 FROM aliases LIMIT 1", func(*row) error { return nil })
	return rs, err
}

// of returns the entity that an entity was folded into, or itself.
func (rs *roots) of(num int64) (root int64, err error) {
	if !rs.merged {
		return num, nil
	}
	if root, ok := rs.known[num]; ok {
		return root, nil
	}
	found, err := rs.c.one(bg, "SELECT root FROM entities WHERE num = ?", func(r *row) error {
		root = r.int(0)
		return nil
	}, num)
	if err == nil && !found {
		err = backend.ErrCorrupt
	}
	rs.known[num] = root
	return root, err
}

const entityCols = "num, key, name, type, mentions, crc"

func readEntity(r *row) *backend.Entity {
	e := &backend.Entity{Num: r.int(0), Key: r.str(1), Name: r.str(2), Type: r.str(3), Mentions: int(r.int(4))}
	r.sealed(5, entitySum(e.Key, e.Name, e.Type), "entity", e.Num)
	return e
}

// entityByNum reads an entity, nil when it is gone.
func entityByNum(c *conn, num int64) (e *backend.Entity, err error) {
	_, err = c.one(bg, "SELECT "+entityCols+" FROM entities WHERE num = ?", func(r *row) error {
		e = readEntity(r)
		return nil
	}, num)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// readEntities reads entities from the database, nil where gone.
func (s *store) readEntities(ctx context.Context, nums []int64) (out []*backend.Entity, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		out = make([]*backend.Entity, len(nums))
		return forEach(ctx, nums, func(i int, num int64) error {
			out[i], err = entityByNum(c, num)
			return lost.unless(err)
		})
	})
	if err != nil {
		return nil, err
	}
	return out, lost.err()
}

func (s *store) EntitiesByKey(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	return s.entitiesByKey(ctx, part, keys, followAliases)
}

func (s *store) OwnEntities(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	return s.entitiesByKey(ctx, part, keys, func(_ *conn, _ int64, key string) (string, error) { return key, nil })
}

func (s *store) entitiesByKey(ctx context.Context, part backend.Partition, keys []string, stands func(c *conn, part int64, key string) (string, error)) (out []*backend.Entity, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		out = make([]*backend.Entity, len(keys))
		id, err := findPart(c, part)
		if err != nil || id == 0 {
			return err
		}
		return forEach(ctx, keys, func(i int, key string) error {
			key, err := stands(c, id, key)
			if err != nil {
				return err
			}
			_, err = c.one(bg, "SELECT "+entityCols+" FROM entities WHERE part = ? AND key = ?", func(r *row) error {
				if e := readEntity(r); !lost.skip(r) {
					out[i] = e
				}
				return nil
			}, id, key)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, lost.err()
}

// followAliases returns the key that a key stands for.
func followAliases(c *conn, part int64, key string) (string, error) {
	for {
		found, err := c.one(bg, "SELECT into_key FROM aliases WHERE part = ? AND key = ?", func(r *row) error {
			key = r.str(0)
			return nil
		}, part, key)
		if err != nil || !found {
			return key, err
		}
	}
}

// forEach calls f for each element and gives up when ctx ends.
func forEach[T any](ctx context.Context, items []T, f func(i int, item T) error) error {
	for i, item := range items {
		if i%64 == 63 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := f(i, item); err != nil {
			return err
		}
	}
	return nil
}

// findPart finds a partition in a read; 0 when it is absent.
func findPart(c *conn, p backend.Partition) (id int64, err error) {
	_, err = c.one(bg, "SELECT id FROM parts WHERE sub = ? AND class = ?", func(r *row) error {
		id = r.int(0)
		return nil
	}, p.Sub, int64(p.Class))
	return id, err
}

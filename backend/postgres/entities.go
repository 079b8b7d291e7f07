package postgres

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
	if ref, ok := t.entities[entityKey{part, key}]; ok {
		return ref, nil
	}
	if err := t.meet(part, []string{key}); err != nil {
		return ref, err
	}
	return t.entities[entityKey{part, key}], nil
}

// meet reads what the writer remembers of the entities of keys, those that are absent too.
func (t *tx) meet(part int64, keys []string) error {
	var unknown []string
	byHash := make(map[[16]byte]string)
	for _, key := range keys {
		k := entityKey{part, key}
		if _, ok := t.entities[k]; ok {
			continue
		}
		unknown = append(unknown, key)
		t.entities[k] = entityRef{}
		byHash[unhash(hashOf(key))] = key
	}
	if len(unknown) == 0 {
		return nil
	}
	return t.c.each(bg, "SELECT num, named, key_hash FROM entities WHERE ws = $1 AND part = $2 AND key_hash = ANY($3)", func(r *row) error {
		t.entities[entityKey{part, byHash[unhash(r.blob(2))]}] = entityRef{r.int(0), r.bool(1)}
		return nil
	}, part, hashesOf(unknown))
}

// chain returns the keys that a key was folded into, itself first.
func (t *tx) chain(part int64, key string) ([]string, error) {
	aliases, err := t.aliasesOf(part)
	if err != nil {
		return nil, err
	}
	keys := []string{key}
	for next, ok := aliases[key]; ok; next, ok = aliases[next] {
		keys = append(keys, next)
	}
	return keys, nil
}

// aliasesOf returns the aliases of a partition; few have any.
func (t *tx) aliasesOf(part int64) (map[string]string, error) {
	if m, ok := t.aliases[part]; ok {
		return m, nil
	}
	if len(t.aliases) >= partCache {
		clear(t.aliases)
	}
	var m map[string]string
	err := t.c.each(bg, "SELECT key, into_key FROM aliases WHERE ws = $1 AND part = $2", func(r *row) error {
		if m == nil {
			m = make(map[string]string)
		}
		m[r.str(0)] = r.str(1)
		return nil
	}, part)
	if err == nil {
		t.aliases[part] = m
	}
	return m, err
}

// use counts a use of a key with so many mentions, making its entity and those it is
// folded into; it returns the key's own. name is nil for ends of relations.
func (t *tx) use(part int64, key string, mentions int64, m *backend.Mention) (int64, error) {
	keys, err := t.chain(part, key)
	if err == nil {
		err = t.relieve()
	}
	if err != nil {
		return 0, err
	}
	var nums []int64
	for i, k := range keys {
		ref, err := t.entity(part, k)
		if err != nil {
			return 0, err
		}
		if ref.num == 0 {
			t.led.entity++
			ref.num = t.led.entity
			t.uses[ref.num] = &use{part: part, key: k, made: true, name: k, root: ref.num}
			t.inserted = true
			t.entities[entityKey{part, k}] = ref
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
			t.entities[entityKey{part, k}] = entityRef{ref.num, true}
		}
		nums = append(nums, ref.num)
	}
	for _, num := range nums {
		t.uses[num].root = nums[len(nums)-1]
	}
	return nums[0], nil
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

// relieve settles early in very large calls, before it forgets entities that the call made.
func (t *tx) relieve() error {
	if len(t.entities) < entityCache {
		return nil
	}
	err := t.settleUses()
	clear(t.entities)
	return err
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
		delete(t.entities, entityKey{u.part, u.key})
		return nil
	case u.made:
		known, err := t.statedKeys(u.part)
		if err != nil {
			return err
		}
		if known[u.key] {
			t.weighStated(u.part, u.key)
		}
		return t.c.do(`INSERT INTO entities (ws, num, part, key_hash, key, name, type, named, root, mentions, uses)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, num, u.part, hashOf(u.key), u.key, u.name, u.typ, u.named, u.root, u.mentions, u.uses)
	case u.named:
		err = t.c.do("UPDATE entities SET name = $2, type = $3, named = true WHERE ws = $1 AND num = $4", u.name, u.typ, num)
		if err != nil {
			return err
		}
	}
	if u.uses == 0 && u.mentions == 0 {
		return nil
	}
	err = t.c.do("UPDATE entities SET mentions = mentions + $2, uses = uses + $3 WHERE ws = $1 AND num = $4", u.mentions, u.uses, num)
	if err != nil || u.uses > 0 {
		return err
	}
	n, err := t.c.exec(bg, "DELETE FROM entities WHERE ws = $1 AND num = $2 AND uses <= 0", num)
	if n > 0 {
		delete(t.entities, entityKey{u.part, u.key})
	}
	return err
}

// addMentions stores the mentions of a version that has none.
func (t *tx) addMentions(v *head, ms []backend.Mention) error {
	if len(ms) == 0 {
		return nil
	}
	keys := make([]string, len(ms))
	for i := range ms {
		keys[i] = ms[i].Key
	}
	if err := t.meet(v.part, keys); err != nil {
		return err
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
		num, err := t.use(v.part, m.Key, 1, m)
		if err != nil {
			return err
		}
		data = appendMention(data, mention{int64(m.Chunk), num, m.Weight, m.Key})
		at, ok := seen[num]
		if !ok {
			at = len(says)
			seen[num], says = at, append(says, said{entity: num, typ: m.Type})
		}
		says[at].count++
	}
	for _, s := range says {
		if err := t.c.do("INSERT INTO entity_sources (ws, entity, source, type, count) VALUES ($1, $2, $3, $4, $5)", s.entity, v.num, s.typ, s.count); err != nil {
			return err
		}
	}
	return t.c.do("INSERT INTO mentions (ws, source, crc, data) VALUES ($1, $2, $3, $4)", v.num, checksum(data), data)
}

// readMentions reads the mentions of a version.
func readMentions(ctx context.Context, c *conn, source int64) (ms []mention, err error) {
	_, err = c.one(ctx, "SELECT crc, data FROM mentions WHERE ws = $1 AND source = $2", func(r *row) error {
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
	ms, err := readMentions(bg, t.c, v.num)
	if errors.Is(err, backend.ErrCorrupt) {
		// What is damaged must still be possible to delete. Entities are left with
		// counts that are too high, which keeps them.
		ms, err = nil, nil
	}
	if err != nil {
		return err
	}
	keys := make([]string, len(ms))
	for i := range ms {
		keys[i] = ms[i].key
	}
	if err := t.meet(v.part, keys); err != nil {
		return err
	}
	for _, m := range ms {
		if err := t.unuse(v.part, m.key, 1); err != nil {
			return err
		}
	}
	for _, table := range []string{"entity_sources", "mentions"} {
		if err := t.c.do("DELETE FROM "+table+" WHERE ws = $1 AND source = $2", v.num); err != nil {
			return err
		}
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

func newRoots(ctx context.Context, c *conn) (*roots, error) {
	rs := &roots{c: c, known: make(map[int64]int64)}
	var err error
	rs.merged, err = c.one(ctx, "SELECT 1 FROM aliases WHERE ws = $1 LIMIT 1", func(*row) error { return nil })
	return rs, err
}

// meet reads what entities stand for, all at once.
func (rs *roots) meet(ctx context.Context, nums []int64) error {
	if !rs.merged || len(nums) == 0 {
		return nil
	}
	return rs.c.each(ctx, "SELECT num, root FROM entities WHERE ws = $1 AND num = ANY($2)", func(r *row) error {
		rs.known[r.int(0)] = r.int(1)
		return nil
	}, distinct(nums))
}

// of returns the entity that an entity was folded into, or itself.
func (rs *roots) of(ctx context.Context, num int64) (root int64, err error) {
	if !rs.merged {
		return num, nil
	}
	if _, ok := rs.known[num]; !ok {
		if err := rs.meet(ctx, []int64{num}); err != nil {
			return 0, err
		}
	}
	root, ok := rs.known[num]
	if !ok {
		return 0, backend.ErrCorrupt
	}
	return root, nil
}

const entityCols = "num, key, name, type, mentions"

func readEntity(r *row) *backend.Entity {
	return &backend.Entity{Num: r.int(0), Key: r.str(1), Name: r.str(2), Type: r.str(3), Mentions: int(r.int(4))}
}

func (s *store) Entities(ctx context.Context, nums []int64) (out []*backend.Entity, err error) {
	err = s.query(ctx, func(c *conn) error {
		out = make([]*backend.Entity, len(nums))
		found := make(map[int64]*backend.Entity, len(nums))
		err := c.each(ctx, "SELECT "+entityCols+" FROM entities WHERE ws = $1 AND num = ANY($2)", func(r *row) error {
			e := readEntity(r)
			found[e.Num] = e
			return nil
		}, nums)
		for i, num := range nums {
			out[i] = found[num]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *store) EntitiesByKey(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	return s.entitiesByKey(ctx, part, keys, true)
}

func (s *store) OwnEntities(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	return s.entitiesByKey(ctx, part, keys, false)
}

// entitiesByKey returns the entities of keys, or with follow those that the keys stand for.
func (s *store) entitiesByKey(ctx context.Context, part backend.Partition, keys []string, follow bool) (out []*backend.Entity, err error) {
	err = s.query(ctx, func(c *conn) error {
		out = make([]*backend.Entity, len(keys))
		// A key leads over any number of aliases to the one that it stands for.
		return c.each(ctx, `WITH RECURSIVE p AS (SELECT id FROM parts WHERE ws = $1 AND class = $2 AND sub_hash = $3),
			chain (at, key_hash) AS (
				SELECT k.at, k.key_hash FROM unnest($4::bytea[]) WITH ORDINALITY k (key_hash, at)
				UNION ALL SELECT c.at, substring(sha256(a.into_key), 1, 16) FROM chain c JOIN p ON true JOIN aliases a ON a.ws = $1 AND a.part = p.id AND a.key_hash = c.key_hash WHERE $5)
			SELECT e.num, e.key, e.name, e.type, e.mentions, c.at FROM chain c JOIN p ON true JOIN entities e ON e.ws = $1 AND e.part = p.id AND e.key_hash = c.key_hash
			WHERE NOT $5 OR NOT EXISTS (SELECT 1 FROM aliases a WHERE a.ws = $1 AND a.part = p.id AND a.key_hash = c.key_hash)`, func(r *row) error {
			if i := int(r.int(5)) - 1; r.err == nil && i < len(out) {
				out[i] = readEntity(r)
			}
			return nil
		}, int64(part.Class), hashOf(part.Sub), hashesOf(keys), follow)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *store) ListEntities(ctx context.Context, q backend.EntityQuery) (out []*backend.Entity, err error) {
	err = s.query(ctx, func(c *conn) error {
		out = nil
		return c.each(ctx, `SELECT e.num, e.key, e.name, e.type, e.mentions FROM parts p JOIN entities e ON e.ws = p.ws AND e.part = p.id
			WHERE p.ws = $1 AND p.class = $2 AND p.sub_hash = $3 AND substring(e.key, 1, 200) >= greatest(substring($4::bytea, 1, 200), substring($5::bytea, 1, 200))
			AND e.key > $4 AND substring(e.key, 1, length($5)) = $5 AND ($6 OR e.root = e.num) AND ($7::bytea = '' OR e.type = $7)
			ORDER BY substring(e.key, 1, 200), e.key LIMIT $8`, func(r *row) error {
			out = append(out, readEntity(r))
			return nil
		}, int64(q.Part.Class), hashOf(q.Part.Sub), q.After, q.Prefix, q.Folded, q.Type, max(q.Limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

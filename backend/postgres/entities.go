package postgres

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (x rows) Entity(part int64, key string) (storerules.EntityRef, error) {
	k := storerules.EntityKey{Part: part, Key: key}
	if ref, ok := x.t.entities[k]; ok {
		return ref, nil
	}
	err := x.LoadEntities(part, 1, func(int) string { return key })
	return x.t.entities[k], err
}

// LoadEntities prefetches the entities of keys into the writer's cache, including the information that a key has none.
func (x rows) LoadEntities(part int64, n int, key func(i int) string) error {
	var unknown []string
	byHash := make(map[[16]byte]string)
	for i := range n {
		k := storerules.EntityKey{Part: part, Key: key(i)}
		if _, ok := x.t.entities[k]; ok {
			continue
		}
		unknown = append(unknown, k.Key)
		x.t.entities[k] = storerules.EntityRef{}
		byHash[unhash(hashOf(k.Key))] = k.Key
	}
	if len(unknown) == 0 {
		return nil
	}
	return x.t.c.each(bg, "SELECT num, named, key_hash FROM entities WHERE ws = $1 AND part = $2 AND key_hash = ANY($3)", func(r *row) error {
		x.t.entities[storerules.EntityKey{Part: part, Key: byHash[unhash(r.blob(2))]}] = storerules.EntityRef{Num: r.int(0), Named: r.bool(1)}
		return nil
	}, part, hashesOf(unknown))
}

func (x rows) KeepEntity(k storerules.EntityKey, ref storerules.EntityRef) { x.t.entities[k] = ref }
func (x rows) ForgetEntity(k storerules.EntityKey)                         { delete(x.t.entities, k) }
func (x rows) Crowded(int) bool                                            { return len(x.t.entities) >= entityCache }
func (x rows) Relieved()                                                   { clear(x.t.entities) }

func (x rows) AddEntities(all []storerules.NewEntity) error {
	for _, e := range all {
		if err := x.addEntity(e.Num, e.Use); err != nil {
			return err
		}
	}
	return nil
}

func (x rows) addEntity(num int64, u *storerules.Use) error {
	return x.t.c.do(`INSERT INTO entities (ws, num, part, key_hash, key, name, type, named, root, mentions, uses)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, num, u.Part, hashOf(u.Key), u.Key, u.Name, u.Type, u.Named, u.Root, u.Mentions, u.Uses)
}

func (x rows) NameEntity(num int64, u *storerules.Use) error {
	return x.t.c.do("UPDATE entities SET name = $2, type = $3, named = true WHERE ws = $1 AND num = $4", u.Name, u.Type, num)
}

func (x rows) CountEntity(num, mentions, uses int64) error {
	return x.t.c.do("UPDATE entities SET mentions = mentions + $2, uses = uses + $3 WHERE ws = $1 AND num = $4", mentions, uses, num)
}

func (x rows) RemoveUnused(num int64) (bool, error) {
	n, err := x.t.c.exec(bg, "DELETE FROM entities WHERE ws = $1 AND num = $2 AND uses <= 0", num)
	return n > 0, err
}

func (x rows) RemoveEntity(num int64) error {
	return x.t.c.do("DELETE FROM entities WHERE ws = $1 AND num = $2", num)
}

func (x rows) AddMentions(source int64, said []storerules.MentionCount, packed []byte) error {
	for _, s := range said {
		if err := x.t.c.do("INSERT INTO entity_sources (ws, entity, source, type, count) VALUES ($1, $2, $3, $4, $5)", s.Entity, source, s.Type, s.Count); err != nil {
			return err
		}
	}
	return x.t.c.do("INSERT INTO mentions (ws, source, crc, data) VALUES ($1, $2, $3, $4)", source, storerules.Checksum(packed), packed)
}

func (x rows) Mentions(source int64) ([]storerules.Mention, error) {
	return readMentions(bg, x.t.c, source)
}

func (x rows) RemoveMentions(source int64, ms []storerules.Mention, _ bool) error {
	named := make(map[int64]bool, len(ms))
	for _, m := range ms {
		named[m.Entity] = true
	}
	edges := int64(len(named))
	err := x.t.c.doing(func(n int64) { x.t.Left = x.t.Left || n != edges }, "DELETE FROM entity_sources WHERE ws = $1 AND source = $2", source)
	if err != nil {
		return err
	}
	return x.t.c.do("DELETE FROM mentions WHERE ws = $1 AND source = $2", source)
}

// readMentions reads the mentions of a version.
func readMentions(ctx context.Context, c *conn, source int64) (ms []storerules.Mention, err error) {
	_, err = c.one(ctx, "SELECT crc, data FROM mentions WHERE ws = $1 AND source = $2", func(r *row) error {
		data := r.checked(0, 1, "mentions of source", source)
		if r.err == nil {
			ms, r.err = storerules.UnpackMentions(data)
		}
		return nil
	}, source)
	return ms, err
}

// roots resolves entities to their roots during one read.
type roots struct {
	c      *conn
	merged bool // whether any entity was merged into another
	known  map[int64]int64
}

func newRoots(ctx context.Context, c *conn) (*roots, error) {
	rs := &roots{c: c, known: make(map[int64]int64)}
	var err error
	rs.merged, err = c.one(ctx, "SELECT 1 FROM aliases WHERE ws = $1 LIMIT 1", func(*row) error { return nil })
	return rs, err
}

// meet reads the roots of entities in one query.
func (rs *roots) meet(ctx context.Context, nums []int64) error {
	if !rs.merged || len(nums) == 0 {
		return nil
	}
	return rs.c.each(ctx, "SELECT num, root FROM entities WHERE ws = $1 AND num = ANY($2)", func(r *row) error {
		rs.known[r.int(0)] = r.int(1)
		return nil
	}, distinct(nums))
}

// of returns the root of an entity, which is the entity itself if it was not merged.
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
		return 0, fmt.Errorf("entity %d is missing: %w", num, backend.ErrCorrupt)
	}
	return root, nil
}

const entityCols = "e.num, e.key, e.name, e.type, e.mentions"

func readEntity(r *row) *backend.Entity {
	return &backend.Entity{Num: r.int(0), Key: r.str(1), Name: r.str(2), Type: r.str(3), Mentions: int(r.int(4))}
}

func (s *store) Entities(ctx context.Context, nums []int64) (out []*backend.Entity, err error) {
	err = s.queryKeys(ctx, func(c *conn) error {
		out = make([]*backend.Entity, len(nums))
		found := make(map[int64]*backend.Entity, len(nums))
		err := c.each(ctx, "SELECT "+entityCols+" FROM unnest($2::bigint[]) k (num) CROSS JOIN LATERAL (SELECT * FROM entities e WHERE e.ws = $1 AND e.num = k.num OFFSET 0) e", func(r *row) error {
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

// entitiesByKey returns the entities of keys, or their roots if follow is set.
func (s *store) entitiesByKey(ctx context.Context, part backend.Partition, keys []string, follow bool) (out []*backend.Entity, err error) {
	err = s.query(ctx, func(c *conn) error {
		out = make([]*backend.Entity, len(keys))
		// A chain of aliases of any length leads from a key to its root.
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

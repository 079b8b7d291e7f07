package sqlite

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (x rows) RemoveUnused(num int64) (bool, error) {
	n, err := x.t.c.exec("DELETE FROM entities WHERE num = ? AND uses <= 0", num)
	return n > 0, err
}

func (x rows) RemoveEntity(num int64) error {
	return x.t.c.do("DELETE FROM entities WHERE num = ?", num)
}

var insertEdges = insertsOf("INSERT OR FAIL INTO entity_sources (entity, source, type, count)", 4)

// edgesAtOnce is the number of edges that are collected. A batch of 512 memories has about 2,200.
const edgesAtOnce = 4096

func (x rows) AddMentions(source int64, said []storerules.MentionCount, packed []byte) error {
	for _, s := range said {
		if err := x.t.edgeRows.add(x.t.c, s.Entity, source, shortWord(s.Type), s.Count); err != nil {
			return err
		}
	}
	return x.t.c.do("INSERT INTO mentions (source, crc, data) VALUES (?, ?, ?)", source, storerules.Checksum(packed), packed)
}

func (x rows) Mentions(source int64) ([]storerules.Mention, error) {
	return readMentions(x.t.c, source)
}

func (x rows) RemoveMentions(source int64, ms []storerules.Mention, damaged bool) error {
	if err := x.t.edgeRows.flush(x.t.c); err != nil {
		return err
	}
	if damaged {
		n, err := x.t.c.exec("DELETE FROM entity_sources WHERE source = ?", source)
		if err != nil {
			return err
		}
		x.t.Left = x.t.Left || n > 0
	}
	seen := make(map[int64]bool, len(ms))
	for _, m := range ms {
		if seen[m.Entity] {
			continue
		}
		seen[m.Entity] = true
		n, err := x.t.c.exec("DELETE FROM entity_sources WHERE entity = ? AND source = ?", m.Entity, source)
		if err != nil {
			return err
		}
		x.t.Left = x.t.Left || n != 1
	}
	return x.t.c.do("DELETE FROM mentions WHERE source = ?", source)
}

// readMentions reads the mentions of a version.
func readMentions(c *conn, source int64) (ms []storerules.Mention, err error) {
	_, err = c.one(bg, "SELECT crc, data FROM mentions WHERE source = ?", func(r *row) error {
		data := r.checked(0, 1, "mentions of source", source)
		if r.err == nil {
			ms, r.err = storerules.UnpackMentions(data)
		}
		return nil
	}, source)
	return ms, err
}

// roots finds the roots of entities during one read.
type roots struct {
	c      *conn
	merged bool // some entity was merged into another
	known  map[int64]int64
	all    bool // known has every entity that was merged into another
}

// rootsAlone is the number of entities whose roots are read one by one. For more, all entities that were merged into others are read at once: that is a
// small part of an index, while a long text mentions thousands of entities.
const rootsAlone = 128

func newRoots(c *conn) (*roots, error) {
	rs := &roots{c: c, known: make(map[int64]int64)}
	var err error
	rs.merged, err = c.one(bg, "SELECT 1 FROM aliases LIMIT 1", func(*row) error { return nil })
	return rs, err
}

// of returns the root of an entity.
func (rs *roots) of(num int64) (root int64, err error) {
	if !rs.merged {
		return num, nil
	}
	if root, ok := rs.known[num]; ok {
		return root, nil
	}
	if rs.all {
		return num, nil
	}
	if len(rs.known) >= rootsAlone {
		if err := rs.readAll(); err != nil {
			return 0, err
		}
		return rs.of(num)
	}
	found, err := rs.c.one(bg, "SELECT root FROM entities WHERE num = ?", func(r *row) error {
		root = r.int(0)
		return nil
	}, num)
	if err == nil && !found {
		err = fmt.Errorf("entity %d is missing: %w", num, backend.ErrCorrupt)
	}
	rs.known[num] = root
	return root, err
}

// readAll reads the roots of all entities that were merged into others.
func (rs *roots) readAll() error {
	rs.all = true
	return rs.c.each(bg, "SELECT num, root FROM entities INDEXED BY entities_root WHERE root <> num AND typeof(root) = 'integer'", func(r *row) error {
		num := r.int(0)
		if _, ok := rs.known[num]; !ok {
			rs.known[num] = r.int(1)
		}
		return nil
	})
}

const entityCols = "num, key, name, type, mentions, crc"

func readEntity(r *row) *backend.Entity {
	e := &backend.Entity{Num: r.int(0), Key: r.str(1), Name: r.str(2), Type: r.word(3), Mentions: int(r.int(4))}
	r.sealed(5, entitySum(e.Key, e.Name, e.Type), "entity", e.Num)
	return e
}

// entityByNum reads an entity, or returns nil if it is gone.
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

// readEntities reads entities from the database, with nil for missing ones.
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
	return out, lost.Err()
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
	return out, lost.Err()
}

// followAliases returns the key of the root of a key.
func followAliases(c *conn, part int64, key string) (string, error) {
	for {
		found, err := c.one(bg, "SELECT into_key FROM aliases WHERE part = ? AND key = ? AND typeof(into_key) = 'text'", func(r *row) error {
			key = r.str(0)
			return nil
		}, part, key)
		if err != nil || !found {
			return key, err
		}
	}
}

// forEach calls f for each element, and stops if ctx ends.
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

// findPart returns the id of a partition, or 0 if there is none.
func findPart(c *conn, p backend.Partition) (id int64, err error) {
	_, err = c.one(bg, "SELECT id FROM parts WHERE sub = ? AND class = ?", func(r *row) error {
		id = r.int(0)
		return nil
	}, p.Sub, int64(p.Class))
	return id, err
}

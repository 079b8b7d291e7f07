package sqlite

import (
	"cmp"
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

var _ backend.RelationSketcher = (*store)(nil)

// sketch is a relation that is not retired, without its texts.
type sketch struct {
	num, source, chunk, from, to int64
	predicate, origin            string
	confidence                   float32
	functional, apart            bool
}

// sketchList has the first relations of an entity, by number. Callers share it and must not change it.
type sketchList struct {
	part     backend.Partition
	sketches []sketch
}

// wholeBytes is the share of the cache for each relation of a store from which on all relations are read whole. The cache then holds most of
// those that recall asks for, and weighing whole ones with their words takes less time.
const wholeBytes = 256

// sketchBytes is the size of a sketch, without its texts: relations share them.
const sketchBytes = 88

func (l *sketchList) size() int { return entityBytes + sketchBytes*len(l.sketches) }

// sketchQuery reads the columns of a sketch. A sentence that is no part of its chunk is stored as a text.
var sketchQuery = `SELECT r.num, r.source, r.chunk, r.from_id, r.to_id, r.flags, r.known_to, r.confidence, r.predicate, r.origin, r.part,
	CASE typeof(r.context) WHEN 'blob' THEN 0 ELSE r.context <> '' END` + ofEntities(allMembers)

// SketchRelations implements [backend.RelationSketcher]. It reads the first page of an entity's relations through the cache.
func (s *store) SketchRelations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	v, quiet := s.commits.load()
	if !quiet || len(q.Entities) > maxQueriedEntities || q.Limit <= 0 || q.Limit > maxRememberedFacts {
		return s.Relations(ctx, q)
	}
	if err := s.Enter(ctx); err != nil {
		return nil, err
	}
	s.Leave()
	if few, err := s.fewRelations(ctx, v); few || err != nil {
		if err != nil {
			return nil, err
		}
		return s.Relations(ctx, q)
	}
	lists, missing := make([]*sketchList, len(q.Entities)), len(q.Entities)
	if q.After == 0 {
		s.cache.get(v, cachedEntitySketch, q.Limit, q.Entities, func(i int, value any) {
			if l := value.(*sketchList); l.part == q.Part {
				lists[i] = l
				missing--
			}
		})
	}
	if missing > 0 {
		if err := s.readSketches(ctx, &q, lists); err != nil {
			return nil, err
		}
		if s.commits.n.Load() != v {
			return s.Relations(ctx, q)
		}
	}
	if q.After == 0 {
		for i, l := range lists { // put keeps a list that is cached
			s.cache.put(v, newCacheKey(cachedEntitySketch, q.Limit, q.Entities[i]), l, l.size())
		}
	}
	return mergeSketches(lists, q.Limit), nil
}

// fewRelations reports whether the store has at most s.wholeMost relations.
func (s *store) fewRelations(ctx context.Context, v uint64) (few bool, err error) {
	const name = "few relations"
	if value, ok := s.cache.value(v, name); ok {
		return len(value) > 0, nil
	}
	few = true
	err = s.query(ctx, func(c *conn) error {
		_, err := c.one(ctx, "SELECT num FROM relations ORDER BY num DESC LIMIT 1", func(r *row) error {
			few = r.int(0) <= s.wholeMost
			return nil
		})
		return err
	})
	if err != nil {
		return false, err
	}
	var value []byte
	if few {
		value = []byte{1}
	}
	s.cache.keep(v, name, value)
	return few, nil
}

// readSketches sets the lists that are nil, in one snapshot.
func (s *store) readSketches(ctx context.Context, q *backend.RelationQuery, lists []*sketchList) error {
	return s.read(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil {
			return err
		}
		roots, err := newRoots(c)
		if err != nil {
			return err
		}
		for i, e := range q.Entities {
			if lists[i] != nil {
				continue
			}
			l := &sketchList{part: q.Part}
			if part != 0 {
				if err := l.read(ctx, c, part, e, q, roots); err != nil {
					return err
				}
			}
			lists[i] = l
		}
		return nil
	})
}

// read appends the first relations of an entity after q.After, up to q.Limit.
func (l *sketchList) read(ctx context.Context, c *conn, part, entity int64, q *backend.RelationQuery, roots *roots) error {
	err := eachRelationRow(ctx, c, sketchQuery, []any{jsonInts([]int64{entity})}, q, func(r *row) (bool, error) {
		flags := r.int(5)
		if r.int(10) != part || !r.null(6) || flags&storerules.Retracts != 0 {
			return false, nil
		}
		x := sketch{num: r.int(0), source: r.int(1), chunk: r.int(2), confidence: float32(r.float(7)),
			predicate: l.shared(r.str(8)), origin: r.str(9), functional: flags&storerules.Functional != 0, apart: r.int(11) != 0}
		var err error
		if x.from, err = roots.of(r.int(3)); err != nil {
			return false, err
		}
		if to := r.int(4); to != 0 {
			if x.to, err = roots.of(to); err != nil {
				return false, err
			}
		}
		if x.from == entity || x.to == entity {
			l.sketches = append(l.sketches, x)
		}
		return len(l.sketches) == q.Limit, nil
	})
	l.sketches = slices.Clip(l.sketches)
	return err
}

// shared returns the same text as s, that of an earlier relation if there is one among the last.
func (l *sketchList) shared(s string) string {
	for i := range min(len(l.sketches), 8) {
		if was := l.sketches[len(l.sketches)-1-i].predicate; was == s {
			return was
		}
	}
	return s
}

// mergeSketches returns the relations in lists, each once, by number, up to a limit.
func mergeSketches(lists []*sketchList, limit int) []*backend.Relation {
	n := 0
	for _, l := range lists {
		n += len(l.sketches)
	}
	if n == 0 {
		return nil
	}
	all := make([]*sketch, 0, n)
	for _, l := range lists {
		for i := range l.sketches {
			all = append(all, &l.sketches[i])
		}
	}
	if len(lists) > 1 {
		slices.SortFunc(all, func(a, b *sketch) int { return cmp.Compare(a.num, b.num) })
		all = slices.CompactFunc(all, func(a, b *sketch) bool { return a.num == b.num })
	}
	all = all[:min(len(all), limit)]
	rels, out := make([]backend.Relation, len(all)), make([]*backend.Relation, len(all))
	for i, x := range all {
		rels[i] = backend.Relation{Num: x.num, Source: x.source, Chunk: x.chunk, From: x.from, To: x.to, Predicate: x.predicate, Origin: x.origin,
			Confidence: x.confidence, Functional: x.functional, Sketch: true, Apart: x.apart}
		out[i] = &rels[i]
	}
	return out
}

// RelationsByNum implements [backend.RelationSketcher]. It reads through the cache, and sets the words of what it reads.
func (s *store) RelationsByNum(ctx context.Context, part backend.Partition, nums []int64) ([]*backend.Relation, error) {
	nums = slices.Sorted(slices.Values(nums))
	nums = slices.Compact(nums)
	v, quiet := s.commits.load()
	lists, n := make([]*factList, len(nums)), 0
	if quiet {
		var err error
		if lists, n, err = s.known(ctx, v, cachedRelation, 0, part, nums); err != nil {
			return nil, err
		}
	}
	var damage error
	if missing := without(nums, len(nums)-n, func(i int) bool { return lists[i] != nil }); len(missing) > 0 {
		read, err := s.readRelationsByNum(ctx, part, missing)
		if damage = err; !partial(err) {
			return nil, err
		}
		quiet = quiet && s.commits.n.Load() == v
		for _, rel := range read {
			if s.words != nil {
				rel.Words = s.words(rel.Predicate, rel.Context)
			}
			at, _ := slices.BinarySearch(nums, rel.Num)
			lists[at] = &factList{part: part, rels: []*backend.Relation{rel}}
			if quiet {
				s.cache.put(v, newCacheKey(cachedRelation, 0, rel.Num), lists[at], lists[at].size())
			}
		}
	}
	out := make([]*backend.Relation, 0, len(nums))
	for _, l := range lists {
		if l != nil {
			out = append(out, l.rels[0])
		}
	}
	return out, damage
}

// readRelationsByNum reads relations that are not retired from the database.
func (s *store) readRelationsByNum(ctx context.Context, part backend.Partition, nums []int64) (out []*backend.Relation, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		part, err := findPart(c, part)
		if err != nil || part == 0 {
			return err
		}
		m, err := newMatcher(ctx, c, part, &backend.RelationQuery{}, &lost)
		if err != nil {
			return err
		}
		return c.each(ctx, "SELECT "+relationCols+" FROM relations r WHERE r.num IN (SELECT value FROM json_each(?)) ORDER BY r.num", func(r *row) error {
			rel, err := m.match(r)
			if rel != nil {
				out = append(out, rel)
			}
			return err
		}, jsonInts(nums))
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

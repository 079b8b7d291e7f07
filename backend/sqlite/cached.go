package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// Bounds of cached relations.
const (
	maxRememberedFacts    = 4096 // relations of the chunks of one call
	maxRememberedEntities = 32   // entities of one call
	maxQueriedEntities    = 8    // entities of one call that are not cached and get a query each
)

// Estimated bytes of the structures without their texts.
const (
	chunkBytes  = 640 // including its source
	entityBytes = 128
	factBytes   = 424
)

// Chunks reads through the cache. The cache also has expired rows; each call checks
// the time to live.
func (s *store) Chunks(ctx context.Context, nums []int64, now time.Time) ([]*backend.Hydrated, error) {
	v, quiet := s.commits.load()
	if !quiet {
		return s.readChunks(ctx, nums, now)
	}
	if err := s.Enter(ctx); err != nil {
		return nil, err
	}
	s.Leave()
	out := make([]*backend.Hydrated, len(nums)) // nil for a missing chunk
	missing := len(nums)
	var damage error
	s.cache.get(v, cachedChunk, 0, nums, func(i int, value any) {
		out[i] = value.(*backend.Hydrated)
		missing--
	})
	if missing > 0 {
		read, err := s.readChunks(ctx, without(nums, missing, func(i int) bool { return out[i] != nil }), now)
		if damage = err; !partial(err) {
			return nil, err
		}
		if s.commits.n.Load() != v {
			return s.readChunks(ctx, nums, now) // reads all rows again, in one snapshot
		}
		for i, num := range nums { // read has the same order, without missing chunks
			if out[i] == nil && len(read) > 0 && read[0].Num == num {
				out[i], read = read[0], read[1:]
				s.share(out[i])
				s.cache.put(v, newCacheKey(cachedChunk, 0, num), out[i], sizeOfChunk(out[i]))
			}
		}
	}
	at := storerules.Micros(now)
	out = slices.DeleteFunc(out, func(row *backend.Hydrated) bool {
		return row == nil || !row.Src.ExpiresAt.IsZero() && row.Src.ExpiresAt.UnixMicro() <= at
	})
	if len(out) == 0 {
		return nil, damage
	}
	return out, damage
}

// alike holds values that most rows have in common.
type alike struct {
	layout, doc []byte
	sub         string
}

// share replaces the layout, the record and the sub-tenant of a row by those of the row before if they are equal. That saves memory, and
// makes comparing them fast, since the addresses are equal.
func (s *store) share(row *backend.Hydrated) {
	last, src := s.alike.Load(), row.Src
	if last == nil {
		last = new(alike)
	}
	now, changed := *last, false
	if changed = !bytes.Equal(now.layout, row.Layout); changed {
		now.layout = row.Layout
	}
	if !bytes.Equal(now.doc, src.Doc) {
		now.doc, changed = src.Doc, true
	}
	if now.sub != src.Part.Sub {
		now.sub, changed = src.Part.Sub, true
	}
	row.Layout, src.Doc, src.Part.Sub = now.layout, now.doc, now.sub
	if changed {
		s.alike.Store(&now)
	}
}

// without returns the n numbers whose index is not known.
func without(nums []int64, n int, known func(i int) bool) []int64 {
	if n == len(nums) {
		return nums
	}
	out := make([]int64, 0, n)
	for i, num := range nums {
		if !known(i) {
			out = append(out, num)
		}
	}
	return out
}

func sizeOfChunk(h *backend.Hydrated) int {
	src := h.Src
	return chunkBytes + len(h.Key) + len(h.Text) + len(h.Heading) + len(h.Layout) + len(h.Extra) +
		len(src.Part.Sub) + len(src.ID) + len(src.ErrorCode) + len(src.ErrorMessage) + len(src.Title) + len(src.Kind) + len(src.Filename) +
		len(src.MediaType) + len(src.Session) + len(src.Metadata) + len(src.Additional) + len(src.Doc) + 8*len(src.Tags) + len(src.Token)
}

// Entities reads through the cache.
func (s *store) Entities(ctx context.Context, nums []int64) ([]*backend.Entity, error) {
	v, quiet := s.commits.load()
	if !quiet {
		return s.readEntities(ctx, nums)
	}
	if err := s.Enter(ctx); err != nil {
		return nil, err
	}
	s.Leave()
	out := make([]*backend.Entity, len(nums))
	missing := len(nums)
	s.cache.get(v, cachedEntity, 0, nums, func(i int, value any) {
		out[i] = value.(*backend.Entity)
		missing--
	})
	if missing == 0 {
		return out, nil
	}
	read, damage := s.readEntities(ctx, without(nums, missing, func(i int) bool { return out[i] != nil }))
	if !partial(damage) {
		return nil, damage
	}
	if s.commits.n.Load() != v {
		return s.readEntities(ctx, nums)
	}
	for i, num := range nums {
		if out[i] != nil {
			continue
		}
		e := read[0]
		if out[i], read = e, read[1:]; e != nil {
			s.cache.put(v, newCacheKey(cachedEntity, 0, num), e, entityBytes+len(e.Key)+len(e.Name)+len(e.Type)+len(e.Namespace))
		}
	}
	return out, damage
}

// factList is relations by number.
type factList struct {
	part  backend.Partition
	rels  []*backend.Relation
	dated bool // some have a validity time
}

func (l *factList) size() int {
	n := entityBytes
	for _, r := range l.rels {
		n += factBytes + len(r.FromKey) + len(r.ToKey) + len(r.Predicate) + len(r.Raw) + len(r.Context) + len(r.Temporal) +
			len(r.Origin) + len(r.Kind) + len(r.Object) + len(r.Precision) + 8*len(r.Words)
	}
	return n
}

// Relations reads through the cache for the queries of recall: relations of a few
// chunks, and current or all relations of a few entities.
func (s *store) Relations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	simple := q.Sources == nil && q.Predicates == nil && q.After == 0 && q.Limit > 0 && !q.Own
	if v, quiet := s.commits.load(); quiet && simple {
		var lists []*factList
		var err error
		switch {
		case len(q.Chunks) > 0 && q.Entities == nil && (q.AllTime || q.AsOf.IsZero()): // AsOf also needs rivals in other chunks
			if q.Dated && s.undated(v, &q) {
				if err := s.Enter(ctx); err != nil {
					return nil, err
				}
				s.Leave()
				return nil, nil
			}
			lists, err = s.factsOfChunks(ctx, v, &q)
		case len(q.Entities) > 0 && len(q.Entities) <= maxRememberedEntities && q.Chunks == nil && !q.Dated && q.KnownAt.IsZero() && q.AsOf.IsZero():
			var rels []*backend.Relation
			if lists, rels, err = s.factsOfEntities(ctx, v, &q); rels != nil {
				return rels, err
			}
		}
		if !partial(err) {
			return nil, err
		}
		if err == nil && lists != nil && s.commits.n.Load() == v {
			return mergeFacts(lists, &q), nil
		}
	}
	return s.readRelations(ctx, q)
}

// known returns the cached lists, with nil for those that are not cached, and the number of cached ones.
func (s *store) known(ctx context.Context, v uint64, kind cacheKind, limit int, part backend.Partition, nums []int64) ([]*factList, int, error) {
	if err := s.Enter(ctx); err != nil {
		return nil, 0, err
	}
	s.Leave()
	lists := make([]*factList, len(nums))
	n := 0
	s.cache.get(v, kind, limit, nums, func(i int, value any) {
		if l := value.(*factList); l.part == part {
			lists[i] = l
			n++
		}
	})
	return lists, n, nil
}

// undated reports whether the cache knows that no relation of a query's chunks has a validity time.
func (s *store) undated(v uint64, q *backend.RelationQuery) bool {
	n := 0
	s.cache.eachMarked(v, undated, q.Part, q.Chunks, func(int) { n++ })
	return n == len(q.Chunks)
}

// noFacts is the list of a chunk without relations.
var noFacts = &factList{}

// factsOfChunks returns the relations of each chunk, including retired ones. It returns nil if
// there are too many.
func (s *store) factsOfChunks(ctx context.Context, v uint64, q *backend.RelationQuery) ([]*factList, error) {
	var room [32]int64 // enough for most queries
	nums := append(room[:0], q.Chunks...)
	s.cache.eachMarked(v, factless, q.Part, nums, func(i int) { nums[i] = 0 })
	lists, n, err := s.known(ctx, v, cachedChunkFacts, 0, q.Part, nums)
	if err != nil {
		return nil, err
	}
	for i, num := range nums {
		if num == 0 {
			lists[i] = noFacts
			n++
		}
	}
	if n == len(lists) {
		return lists, nil
	}
	missing := without(q.Chunks, len(lists)-n, func(i int) bool { return lists[i] != nil })
	rels, err := s.readRelations(ctx, backend.RelationQuery{Part: q.Part, Chunks: missing, AllTime: true, Limit: maxRememberedFacts})
	if err != nil || len(rels) == maxRememberedFacts || s.commits.n.Load() != v {
		return nil, err
	}
	by := make(map[int64]*factList, len(missing))
	for i, chunk := range q.Chunks {
		if lists[i] == nil {
			if by[chunk] == nil {
				by[chunk] = &factList{part: q.Part}
			}
			lists[i] = by[chunk]
		}
	}
	for _, rel := range rels {
		l := by[rel.Chunk]
		l.rels, l.dated = append(l.rels, rel), l.dated || !rel.ValidFrom.IsZero() || !rel.ValidTo.IsZero()
	}
	var plain, empty []int64
	for chunk, l := range by {
		if !l.dated {
			plain = append(plain, chunk)
		}
		if len(l.rels) == 0 {
			empty = append(empty, chunk)
			continue
		}
		l.rels = slices.Clip(l.rels)
		s.cache.put(v, newCacheKey(cachedChunkFacts, 0, chunk), l, l.size())
	}
	s.cache.keepMarks(v, undated, q.Part, plain)
	s.cache.keepMarks(v, factless, q.Part, empty)
	return lists, nil
}

// SetWordHash implements [backend.WordHasher].
func (s *store) SetWordHash(f func(predicate, context string) []uint64) { s.words = f }

// factsOfEntities returns the first relations of each entity, current or all, up to q's limit for each. Current relations
// have their words, since recall weighs each of them for every question that names the entity. If there are too many to cache,
// it returns no lists, and what it has read if that is all that q asks for.
func (s *store) factsOfEntities(ctx context.Context, v uint64, q *backend.RelationQuery) ([]*factList, []*backend.Relation, error) {
	if q.Limit > maxRememberedFacts {
		return nil, nil, nil
	}
	kind := cachedEntityRelation
	if q.AllTime {
		kind = cachedEntityHistory
	}
	lists, n, err := s.known(ctx, v, kind, q.Limit, q.Part, q.Entities)
	if err != nil || n == len(lists) {
		return lists, nil, err
	}
	missing := without(q.Entities, len(lists)-n, func(i int) bool { return lists[i] != nil })
	by, rels, err := s.readFacts(ctx, q, missing)
	if err != nil || by == nil || s.commits.n.Load() != v {
		if n > 0 { // rels are those of some entities
			rels = nil
		}
		return nil, rels, err
	}
	for i, e := range q.Entities {
		if lists[i] == nil {
			lists[i] = by[e]
		}
	}
	for e, l := range by {
		l.rels = slices.Clip(l.rels)
		if s.words != nil && !q.AllTime {
			for _, r := range l.rels {
				if r.Words == nil {
					r.Words = s.words(r.Predicate, r.Context)
				}
			}
		}
		s.cache.put(v, newCacheKey(kind, q.Limit, e), l, l.size())
	}
	return lists, nil, nil
}

// readFacts reads the first relations of each entity. Of few entities it reads those of each, in one snapshot. Of more it reads the first of all
// together, and returns only these, as rels, if the limit cuts them off.
func (s *store) readFacts(ctx context.Context, q *backend.RelationQuery, entities []int64) (by map[int64]*factList, rels []*backend.Relation, err error) {
	by = make(map[int64]*factList, len(entities))
	for _, e := range entities {
		by[e] = &factList{part: q.Part}
	}
	some := backend.RelationQuery{Part: q.Part, AllTime: q.AllTime, Limit: q.Limit}
	if len(by) <= maxQueriedEntities {
		qs := make([]backend.RelationQuery, 0, len(by))
		for e := range by {
			some.Entities = []int64{e}
			qs = append(qs, some)
		}
		err := s.readEachRelations(ctx, q.Part, qs, func(i int, rel *backend.Relation) {
			l := by[qs[i].Entities[0]]
			l.rels = append(l.rels, rel)
		})
		return by, nil, err
	}
	some.Entities = entities
	if rels, err = s.readRelations(ctx, some); err != nil || len(rels) >= q.Limit {
		return nil, rels, err
	}
	for _, rel := range rels {
		if l := by[rel.From]; l != nil {
			l.rels = append(l.rels, rel)
		}
		if l := by[rel.To]; l != nil && rel.To != rel.From {
			l.rels = append(l.rels, rel)
		}
	}
	return by, nil, nil
}

// mergeFacts returns the relations that match q, each once, by number, up to the limit. lists contain all of them.
// Lists of chunks may contain others too.
func mergeFacts(lists []*factList, q *backend.RelationQuery) []*backend.Relation {
	n, some := 0, lists[:0]
	for _, l := range lists {
		if len(l.rels) > 0 && (l.dated || !q.Dated) {
			n, some = n+len(l.rels), append(some, l)
		}
	}
	if n == 0 {
		return nil
	}
	// Mostly the lists do not overlap.
	slices.SortFunc(some, func(a, b *factList) int { return cmp.Compare(a.rels[0].Num, b.rels[0].Num) })
	all := make([]*backend.Relation, 0, n)
	for _, l := range some {
		all = mergeByNum(all, l.rels)
	}
	out := all[:0]
	for _, r := range all {
		if (len(out) == 0 || out[len(out)-1].Num != r.Num) && (q.Entities != nil || storerules.Believed(r, q)) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out[:min(len(out), q.Limit)]
}

// mergeByNum merges b into a, which has enough capacity. Both are sorted by number.
func mergeByNum(a, b []*backend.Relation) []*backend.Relation {
	i, to := len(a)-1, len(a)+len(b)-1
	a = a[:to+1]
	for j := len(b) - 1; j >= 0; to-- {
		if i >= 0 && a[i].Num > b[j].Num {
			a[to] = a[i]
			i--
		} else {
			a[to] = b[j]
			j--
		}
	}
	return a
}

package graph

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Fold says which keys of a partition name the same entity for a caller who may not see all statements about names.
// Keys that no hidden statement affects are folded as in the Store.
type Fold struct {
	class map[string]*class // by key; only keys that a hidden statement affects
	own   map[int64]*class  // by the number of the key's own entity; all keys that a statement or merge joins
}

// class is a set of keys that name one entity.
type class struct {
	judged bool            // a hidden statement affects the class
	keys   []string        // keys that have an entity, sorted
	nums   []int64         // numbers of the entities of keys
	row    *backend.Entity // the entity that stands for all keys; nil if no key has an entity
}

// mergePage is the number of merges read in one call.
const mergePage = 1000

// newFold folds the keys of a partition from visible statements and the merges of callers alone, as the Store would without the hidden ones.
// hidden returns which sources the caller may not see. The fold is nil where no hidden source states anything about names.
func newFold(ctx context.Context, st backend.Store, part backend.Partition, hidden func([]backend.Stated) (map[int64]bool, error)) (*Fold, error) {
	limited, err := st.Stated(ctx, backend.StatedQuery{Part: part, Limited: true})
	if err != nil || len(limited) == 0 {
		return nil, err
	}
	not, err := hidden(limited)
	if err != nil || len(not) == 0 {
		return nil, err
	}
	stated, err := st.Stated(ctx, backend.StatedQuery{Part: part})
	if err != nil {
		return nil, err
	}
	merges, err := allMerges(ctx, st, part)
	if err != nil {
		return nil, err
	}
	b := folding{groups: map[string]string{}, stands: map[string]string{}}
	keys := b.touched(stated, merges, not)
	stated = slices.DeleteFunc(stated, func(s backend.Stated) bool { return not[s.Source] || !keys[s.From] })
	merges = slices.DeleteFunc(merges, func(m backend.Merge) bool { return !keys[m.From] })
	if err := b.replay(ctx, st, stated, merges); err != nil {
		return nil, err
	}
	f := &Fold{class: make(map[string]*class, len(keys)), own: make(map[int64]*class, len(b.groups))}
	if err := b.judged(ctx, st, part, f, slices.Sorted(maps.Keys(keys))); err != nil {
		return nil, err
	}
	for key := range keys {
		delete(b.groups, key)
	}
	return f, b.others(ctx, st, part, f, slices.Sorted(maps.Keys(b.groups)))
}

// allMerges returns the merges of a partition. It fails if one is damaged: without that one, a name that the caller may not see might be shown.
func allMerges(ctx context.Context, st backend.Store, part backend.Partition) (out []backend.Merge, err error) {
	if x, ok := st.(interface{ Whole() backend.Store }); ok {
		st = x.Whole()
	}
	for after := int64(0); ; after = out[len(out)-1].Num {
		page, err := st.Merges(ctx, part, after, mergePage)
		if err != nil {
			return nil, err
		}
		if out = append(out, page...); len(page) < mergePage {
			return out, nil
		}
	}
}

// folding is the state while a Fold is built.
type folding struct {
	groups map[string]string // union-find parents of keys that a statement or merge joins; see group
	stands map[string]string // by key: the key that it was folded into
}

// touched returns the keys that are connected, through any number of joins, to a key of a hidden statement.
func (b *folding) touched(stated []backend.Stated, merges []backend.Merge, hidden map[int64]bool) map[string]bool {
	join := func(x, y string) {
		if x, y = b.group(x), b.group(y); x != y {
			b.groups[x] = y
		}
	}
	for i := range stated {
		join(stated[i].From, stated[i].Into)
	}
	for i := range merges {
		if m := &merges[i]; !m.Undone {
			join(m.From, m.Into)
			join(m.From, m.AskedFrom)
			join(m.From, m.AskedInto)
		}
	}
	reached := map[string]bool{}
	for i := range stated {
		if hidden[stated[i].Source] {
			reached[b.group(stated[i].From)] = true
		}
	}
	out := map[string]bool{}
	for key := range b.groups {
		if reached[b.group(key)] {
			out[key] = true
		}
	}
	return out
}

// group returns the representative of a key's group.
func (b *folding) group(key string) string {
	up, ok := b.groups[key]
	if !ok {
		b.groups[key] = key
		return key
	}
	if up != key {
		up = b.group(up)
		b.groups[key] = up
	}
	return up
}

// root returns the key at the end of the chain of keys that key was folded into.
func (b *folding) root(key string) string {
	for next, ok := b.stands[key]; ok; next, ok = b.stands[key] {
		key = next
	}
	return key
}

// step folds one key into another, because a source states it or a caller asked for it.
type step struct {
	at         time.Time
	source     int64 // 0 for a merge by a caller
	from, into string
}

// replay folds keys in the order of the Store: by the time of the caller's merge or of the source.
func (b *folding) replay(ctx context.Context, st backend.Store, stated []backend.Stated, merges []backend.Merge) error {
	apart := map[[2]string]bool{}
	var steps []step
	for i := range merges {
		switch m := &merges[i]; {
		case m.Undone && m.ByCaller:
			if apart[[2]string{m.AskedFrom, m.AskedInto}] = true; m.Stated {
				apart[[2]string{m.From, m.Into}] = true
			}
		case !m.Undone && !m.Stated:
			steps = append(steps, step{at: m.At, from: m.AskedFrom, into: m.AskedInto})
		}
	}
	by := map[string][]backend.Stated{}
	for _, s := range stated {
		by[s.From] = append(by[s.From], s)
	}
	var nums []int64
	said := len(steps)
	for from, of := range by {
		if s := standIn(of); s != nil {
			steps, nums = append(steps, step{source: s.Source, from: from, into: s.Into}), append(nums, s.Source)
		}
	}
	srcs, err := st.SourcesByNum(ctx, nums)
	if err != nil {
		return err
	}
	for i, src := range srcs {
		if src != nil {
			steps[said+i].at = src.UpdatedAt
		}
	}
	slices.SortFunc(steps, func(a, b step) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.source, b.source), cmp.Compare(a.from, b.from))
	})
	for _, s := range steps {
		from, into := s.from, b.root(s.into)
		if s.source == 0 {
			from = b.root(from)
		} else if _, folded := b.stands[from]; folded || apart[[2]string{from, s.into}] {
			continue
		}
		if from != into {
			b.stands[from] = into
		}
	}
	return nil
}

// standIn returns the statement of the oldest source about what a key stands for. Likely statements count only where there are no others.
// It returns nil without statements, or where they disagree. said is sorted by source.
func standIn(said []backend.Stated) *backend.Stated {
	for _, likely := range [...]bool{false, true} {
		var first *backend.Stated
		for i := range said {
			switch s := &said[i]; {
			case s.Likely != likely:
			case first == nil:
				first = s
			case first.Into != s.Into:
				return nil
			}
		}
		if first != nil {
			return first
		}
	}
	return nil
}

// judged puts the keys that a hidden statement affects into classes.
func (b *folding) judged(ctx context.Context, st backend.Store, part backend.Partition, f *Fold, keys []string) error {
	rows, err := st.OwnEntities(ctx, part, keys)
	if err != nil {
		return err
	}
	byRoot := map[string]*class{}
	for i, key := range keys {
		root := b.root(key)
		c := byRoot[root]
		if c == nil {
			c = &class{judged: true}
			byRoot[root] = c
		}
		f.class[key] = c
		if row := rows[i]; row != nil {
			if f.join(c, row); key == root || c.row == nil {
				c.row = row
			}
		}
	}
	return nil
}

// others puts the other keys into classes as the Store folds them.
func (b *folding) others(ctx context.Context, st backend.Store, part backend.Partition, f *Fold, keys []string) error {
	rows, err := st.OwnEntities(ctx, part, keys)
	if err != nil {
		return err
	}
	roots, err := st.EntitiesByKey(ctx, part, keys)
	if err != nil {
		return err
	}
	byRoot := map[int64]*class{}
	for i, row := range rows {
		root := roots[i]
		if row == nil || root == nil {
			continue
		}
		c := byRoot[root.Num]
		if c == nil {
			c = &class{row: root}
			byRoot[root.Num] = c
		}
		f.join(c, row)
	}
	return nil
}

// join adds a key's own entity to a class.
func (f *Fold) join(c *class, row *backend.Entity) {
	c.keys, c.nums = append(c.keys, row.Key), append(c.nums, row.Num)
	f.own[row.Num] = c
}

// judges reports whether a hidden statement affects an entity.
func (f *Fold) judges(num int64) bool {
	c := f.own[num]
	return c != nil && c.judged
}

// num returns the number of the entity that stands for the entity num for this caller. num is the number of a key's own entity.
func (f *Fold) num(num int64) int64 {
	if c := f.own[num]; c != nil {
		return c.row.Num
	}
	return num
}

// ask makes q ask for the relations of keys' own entities, and for those of all entities in the classes of q.Entities. f may be nil.
func (f *Fold) ask(q *backend.RelationQuery) {
	if f == nil {
		return
	}
	q.Own = true
	if q.Entities == nil {
		return
	}
	asked := q.Entities
	q.Entities = make([]int64, 0, len(asked))
	for _, n := range asked {
		if c := f.own[n]; c != nil {
			q.Entities = append(q.Entities, c.nums...)
		} else {
			q.Entities = append(q.Entities, n)
		}
	}
}

// rename replaces the entities of relations by those that stand for them for this caller. f may be nil. Changed relations are copies.
func (f *Fold) rename(rels []*backend.Relation) []*backend.Relation {
	if f == nil {
		return rels
	}
	out := make([]*backend.Relation, len(rels))
	for i, rel := range rels {
		if from, to := f.num(rel.From), f.num(rel.To); from != rel.From || to != rel.To {
			own := *rel
			own.From, own.To = from, to
			rel = &own
		}
		out[i] = rel
	}
	return out
}

// touches reports whether a relation may have other rivals for this caller than in the Store. f may be nil.
func (f *Fold) touches(rel *backend.Relation) bool {
	return f != nil && (f.judges(rel.From) || f.judges(rel.To))
}

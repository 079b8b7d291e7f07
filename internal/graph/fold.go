package graph

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Fold says which keys of a partition name one entity to a caller who may not see all that is stated of them. Of keys that
// nothing hidden has to do with, what the Store says holds for everybody.
type Fold struct {
	class map[string]*class // by key, of those that something hidden has to do with
	own   map[int64]*class  // by the number of the key's own entity, of all that anything is stated of
}

// class is keys that name one entity.
type class struct {
	judged bool            // something hidden has to do with it
	keys   []string        // that have an entity, in order
	nums   []int64         // their entities
	row    *backend.Entity // stands for all of them; nil: none has an entity
}

// mergePage is how many merges are read at once.
const mergePage = 1000

// newFold finds out what keys name by what is stated, without what hidden sources state, and the merges of callers. It is
// what the Store would have found out if it had those alone. nil: nothing hidden is stated.
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

func allMerges(ctx context.Context, st backend.Store, part backend.Partition) (out []backend.Merge, err error) {
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

// folding is a fold that is being found out.
type folding struct {
	groups map[string]string // of keys that something joins; see group
	stands map[string]string // what a key was folded into
}

// touched returns the keys that are joined, over any number of steps, with one of which something hidden is stated.
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

// group returns the key that names the group of a key.
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

// root follows what keys were folded into.
func (b *folding) root(key string) string {
	for next, ok := b.stands[key]; ok; next, ok = b.stands[key] {
		key = next
	}
	return key
}

// step folds a key: as sources state of it, or as a caller asked.
type step struct {
	at         time.Time
	source     int64 // 0: a caller
	from, into string
}

// replay folds keys in the order in which the Store did: by when callers asked for it, and when sources came.
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

// standIn returns the statement that says what a key stands for, that of the oldest source: nil when there is none, or
// when they do not agree. They are by source.
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

// judged puts keys that something hidden has to do with into classes.
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

// others puts the other keys into classes, as the Store has them.
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

// join adds the entity of a key itself to a class.
func (f *Fold) join(c *class, row *backend.Entity) {
	c.keys, c.nums = append(c.keys, row.Key), append(c.nums, row.Num)
	f.own[row.Num] = c
}

// judges reports whether something hidden has to do with an entity.
func (f *Fold) judges(num int64) bool {
	c := f.own[num]
	return c != nil && c.judged
}

// num returns what an entity is to the caller: the number of the one that it stands for. num is that of the key itself.
func (f *Fold) num(num int64) int64 {
	if c := f.own[num]; c != nil {
		return c.row.Num
	}
	return num
}

// ask makes a query for relations one for those of keys themselves, and of all that name one of its entities; f may be nil.
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

// rename returns relations of keys themselves as those of what these name; f may be nil. Rows are shared: nobody may change them.
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

// touches reports whether what a relation says may have other rivals than in the Store; f may be nil.
func (f *Fold) touches(rel *backend.Relation) bool {
	return f != nil && (f.judges(rel.From) || f.judges(rel.To))
}

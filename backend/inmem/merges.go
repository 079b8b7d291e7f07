package inmem

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// merge is the record of a merge.
type merge struct {
	backend.Merge
	stated string // alias target stated by sources for From; empty: the caller requested the merge
}

func (s *store) MergeEntities(ctx context.Context, part backend.Partition, from, into, reason string, now time.Time) (num int64, err error) {
	err = s.write(ctx, func(d *storeData) error {
		p := d.parts[part]
		if p == nil {
			return fmt.Errorf("merge entities: %w", backend.ErrNotFound)
		}
		a, b := p.graph.find(from), p.graph.find(into)
		if a == nil || b == nil {
			return fmt.Errorf("merge entities: %w", backend.ErrNotFound)
		}
		if a == b {
			return fmt.Errorf("merge entities: they are one already: %w", backend.ErrConflict)
		}
		m := d.merge(p, a, b, reason, now)
		m.AskedFrom, m.AskedInto = from, into
		num = m.Num
		return nil
	})
	return num, err
}

// merge merges entity a into entity b.
func (d *storeData) merge(p *partition, a, b *entity, reason string, now time.Time) *merge {
	g := &p.graph
	g.alias[a.key] = b.key
	g.behind[b.key] = append(g.behind[b.key], a.key)
	for key, ok := b.key, true; ok; key, ok = g.alias[key] {
		e := g.entities[key]
		e.uses += a.uses
		e.mentions += a.mentions
	}
	d.last.merge++
	m := &merge{Merge: backend.Merge{Num: d.last.merge, Part: p.name, From: a.key, Into: b.key, Reason: reason, At: storerules.Stamped(now)}}
	d.merges, g.merges = append(d.merges, m), append(g.merges, m)
	addTo(g.merged, a.key, m)
	d.refold(p, a.key)
	return m
}

func (s *store) UndoMerge(ctx context.Context, num int64) error {
	return s.write(ctx, func(d *storeData) error {
		i, ok := d.merges.find(num)
		if !ok {
			return fmt.Errorf("undo merge %d: %w", num, backend.ErrNotFound)
		}
		m := d.merges[i]
		if m.Undone {
			return fmt.Errorf("undo merge %d: undone before: %w", num, backend.ErrConflict)
		}
		m.ByCaller = true
		d.unmerge(m)
		return nil
	})
}

func (d *storeData) unmerge(m *merge) {
	m.Undone = true
	p := d.parts[m.Part]
	g := &p.graph
	if a := g.entities[m.From]; a != nil {
		d.unfold(g, a)
	}
	into := g.alias[m.From]
	delete(g.alias, m.From)
	g.behind[into] = slices.DeleteFunc(g.behind[into], func(key string) bool { return key == m.From })
	if len(g.behind[into]) == 0 {
		delete(g.behind, into)
	}
	d.refold(p, m.From)
}

// unfold removes the uses of a from the entities that a is merged into.
func (d *storeData) unfold(g *graph, a *entity) {
	for key, ok := g.alias[a.key]; ok; key, ok = g.alias[key] {
		e := g.entities[key]
		e.uses -= a.uses
		e.mentions -= a.mentions
		d.forgetUnused(g, e)
	}
}

// refold updates the feed and the beliefs after the root of key and of the keys merged into it has changed.
// It appends the mentions to the feed again and weighs the beliefs again.
func (d *storeData) refold(p *partition, key string) {
	touched, moved := make(map[*version]bool), make(map[*relation]bool)
	for _, k := range p.graph.members(key) {
		e := p.graph.entities[k]
		if e == nil {
			continue
		}
		for _, m := range e.sources {
			touched[m.v] = true
		}
		for _, r := range e.relations {
			moved[r] = true
		}
	}
	versions := slices.SortedFunc(maps.Keys(touched), func(a, b *version) int { return cmp.Compare(a.src.Num, b.src.Num) })
	for _, v := range versions {
		d.feed.put(v, backend.PutGraph)
	}
	d.feed.tidy()
	p.graph.enlistAgain(slices.Collect(maps.Keys(moved)))
}

func (s *store) Merges(ctx context.Context, part backend.Partition, after int64, limit int) (out []backend.Merge, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[part]
		if p == nil {
			return nil
		}
		for _, m := range firstN(p.graph.merges.after(after), limit) {
			out = append(out, m.Merge)
		}
		return nil
	})
	return out, err
}

package inmem

import (
	"context"
	"fmt"
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
	p.graph.alias[a.key] = b.key
	for key, ok := b.key, true; ok; key, ok = p.graph.alias[key] {
		e := p.graph.entities[key]
		e.uses += a.uses
		e.mentions += a.mentions
	}
	d.last.merge++
	m := &merge{Merge: backend.Merge{Num: d.last.merge, Part: p.name, From: a.key, Into: b.key, Reason: reason, At: storerules.Stamped(now)}}
	d.merges = append(d.merges, m)
	d.refold(p, a.key)
	return m
}

func (s *store) UndoMerge(ctx context.Context, num int64) error {
	return s.write(ctx, func(d *storeData) error {
		i := slices.IndexFunc(d.merges, func(m *merge) bool { return m.Num == num })
		if i < 0 {
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
	delete(g.alias, m.From)
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
	touched := make(map[*version]bool)
	for k, e := range p.graph.entities {
		if !p.graph.leadsTo(k, key) {
			continue
		}
		for v := range e.sources {
			touched[v] = true
		}
	}
	versions := make([]*version, 0, len(touched))
	for v := range touched {
		versions = append(versions, v)
	}
	slices.SortFunc(versions, func(a, b *version) int { return int(a.src.Num - b.src.Num) })
	for _, v := range versions {
		d.feed.put(v, backend.PutGraph)
	}
	d.feed.tidy()
	p.graph.regroup()
}

// leadsTo reports whether key is to or an alias of it.
func (g *graph) leadsTo(key, to string) bool {
	for ok := true; ok; key, ok = g.alias[key] {
		if key == to {
			return true
		}
	}
	return false
}

func (s *store) Merges(ctx context.Context, part backend.Partition, after int64, limit int) (out []backend.Merge, err error) {
	err = s.read(ctx, func(d *storeData) error {
		for _, m := range d.merges {
			if m.Part == part && m.Num > after && len(out) < limit {
				out = append(out, m.Merge)
			}
		}
		return nil
	})
	return out, err
}

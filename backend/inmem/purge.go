package inmem

import (
	"context"
	"maps"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

var (
	_ backend.Purger      = (*store)(nil)
	_ backend.Purger      = (*registry)(nil)
	_ backend.Purger      = (*index)(nil)
	_ backend.EventEraser = (*store)(nil)
	_ backend.EventEraser = (*registry)(nil)
)

// Purge implements [backend.Purger]. There are no files; it removes aliases and merges of keys that no entity has any more.
func (s *store) Purge(ctx context.Context) error {
	return s.write(ctx, func(d *storeData) error {
		for _, p := range d.parts {
			g := &p.graph
			for _, m := range slices.Clone(g.merges) {
				if g.entities[m.From] == nil && (m.Undone || g.entities[m.Into] == nil) {
					g.merges.remove(m.Num)
					d.merges.remove(m.Num)
					removeFrom(g.merged, m.From, m.Num)
				}
			}
			for from, into := range maps.Clone(g.alias) {
				if g.entities[from] != nil || g.entities[into] != nil {
					continue
				}
				delete(g.alias, from)
				if g.behind[into] = slices.DeleteFunc(g.behind[into], func(key string) bool { return key == from }); len(g.behind[into]) == 0 {
					delete(g.behind, into)
				}
			}
		}
		return nil
	})
}

// Purge implements [backend.Purger]. There are no files.
func (r *registry) Purge(ctx context.Context) error {
	return r.read(ctx, func(*registryData) error { return nil })
}

// Purge implements [backend.Purger]. There are no files.
func (x *index) Purge(ctx context.Context) error {
	return x.read(ctx, backend.Partition{}, func(*indexPart) error { return nil })
}

// EraseEvents implements [backend.EventEraser].
func (s *store) EraseEvents(ctx context.Context, _, sub string, ids []string) (n int, err error) {
	err = s.write(ctx, func(d *storeData) error {
		n = d.eraseEvents(sub, ids)
		return nil
	})
	return n, err
}

func (d *storeData) eraseEvents(sub string, ids []string) int {
	before := len(d.events)
	d.events = slices.DeleteFunc(d.events, func(e backend.Event) bool { return e.Part.Sub == sub && (ids == nil || slices.Contains(ids, e.ItemID)) })
	return before - len(d.events)
}

// EraseEvents implements [backend.EventEraser].
func (r *registry) EraseEvents(ctx context.Context, uid, sub string, ids []string) (n int, err error) {
	err = r.write(ctx, func(d *registryData) error {
		for id, v := range d.deliveries {
			if v.TenantUID != uid || v.Collection != sub || ids != nil && !slices.Contains(ids, v.ItemID) {
				continue
			}
			delete(d.deliveries, id)
			delete(d.open, id)
			n++
		}
		return nil
	})
	return n, err
}

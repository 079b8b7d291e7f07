package inmem

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Sessions(ctx context.Context, q backend.SessionsQuery) (out []backend.SessionInfo, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[q.Part]
		if p == nil {
			return nil
		}
		found := map[string]backend.SessionInfo{}
		for _, it := range p.items {
			src := &it.newest.src
			if src.Session == "" || src.Session <= q.After || expired(src.ExpiresAt, q.Now) {
				continue
			}
			x := found[src.Session]
			x.Session = src.Session
			x.Sources++
			if !src.Time.IsZero() {
				if x.First.IsZero() || src.Time.Before(x.First) {
					x.First = src.Time
				}
				if src.Time.After(x.Last) || x.Last.IsZero() {
					x.Last = src.Time
				}
			}
			found[src.Session] = x
		}
		for _, name := range firstN(slices.Sorted(maps.Keys(found)), q.Limit) {
			out = append(out, found[name])
		}
		return nil
	})
	return out, err
}

func (s *store) SessionSources(ctx context.Context, q backend.SessionQuery) (out []*backend.Source, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[q.Part]
		if p == nil || q.Session == "" {
			return nil
		}
		after := &backend.Source{Num: q.AfterNum, Time: storerules.Stamped(q.AfterTime)}
		var found []*backend.Source
		for _, it := range p.items {
			src := &it.newest.src
			if src.Session == q.Session && !expired(src.ExpiresAt, q.Now) && (q.AfterNum == 0 && q.AfterTime.IsZero() || inSession(src, after) > 0) {
				found = append(found, src)
			}
		}
		slices.SortFunc(found, inSession)
		for _, src := range firstN(found, q.Limit) {
			out = append(out, copySource(src))
		}
		return nil
	})
	return out, err
}

// inSession compares two sources by their order within a session.
func inSession(a, b *backend.Source) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Num, b.Num))
}

func (s *store) ListEntities(ctx context.Context, q backend.EntityQuery) (out []*backend.Entity, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[q.Part]
		if p == nil {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(p.graph.entities)) {
			e := p.graph.entities[key]
			if key <= q.After || !strings.HasPrefix(key, q.Prefix) || !q.Folded && p.graph.root(key) != key || q.Type != "" && e.typ != q.Type || len(out) >= q.Limit {
				continue
			}
			out = append(out, e.public())
		}
		return nil
	})
	return out, err
}

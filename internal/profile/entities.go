package profile

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
)

// entityBatch is how many entities are looked at together.
const entityBatch = 500

// seen is what visible sources say of a key, and of those folded into it.
type seen struct {
	own   bool   // the key itself is mentioned
	typ   string // of the key itself; the oldest source counts
	count int
}

// seenEntities is a page of the entities that visible sources mention. One that was folded into another comes under its
// own name when no visible source mentions the name of the other.
func (a *asked) seenEntities(ctx context.Context, q backend.EntityQuery) (*facts.EntityPage, error) {
	page := &facts.EntityPage{Entities: []facts.Entity{}}
	typ, limit := q.Type, q.Limit
	q.Type, q.Limit, q.Folded = "", entityBatch, true
	visible := map[int64]bool{}
	last := ""
	for {
		found, err := a.store.ListEntities(ctx, q)
		if err != nil {
			return nil, err
		}
		keys := make([]string, len(found))
		for i, e := range found {
			keys[i] = e.Key
		}
		roots, err := a.store.EntitiesByKey(ctx, a.part, keys)
		if err != nil {
			return nil, err
		}
		for i, e := range roots {
			if e != nil && e.Key != keys[i] {
				keys = append(keys, e.Key)
			}
		}
		said, err := a.seen(ctx, keys, visible)
		if err != nil {
			return nil, err
		}
		for i, e := range found {
			s := said[e.Key]
			if root := roots[i]; s == nil || !s.own || root != nil && root.Key != e.Key && said[root.Key] != nil && said[root.Key].own {
				continue
			}
			shown := graph.Show(&backend.Entity{Num: e.Num, Key: e.Key, Type: s.typ})
			if typ != "" && shown.Type != typ {
				continue
			}
			if len(page.Entities) == limit {
				page.Next = last
				return page, nil
			}
			page.Entities = append(page.Entities, facts.Entity{ID: shown.ID, Name: shown.Name, Type: shown.Type, Mentions: s.count})
			last = e.Key
		}
		if len(found) < q.Limit {
			return page, nil
		}
		q.After = found[len(found)-1].Key
	}
}

// seen returns what visible sources say of keys. visible remembers which sources are.
func (a *asked) seen(ctx context.Context, keys []string, visible map[int64]bool) (map[string]*seen, error) {
	said, err := a.store.Mentioned(ctx, backend.MentionQuery{Part: a.part, Keys: keys})
	if err != nil {
		return nil, err
	}
	sources := make([]int64, len(said))
	for i, m := range said {
		sources[i] = m.Source
	}
	if err := item.Seen(ctx, a.store, a.visible, a.now, sources, visible); err != nil {
		return nil, err
	}
	out := make(map[string]*seen, len(keys))
	done := make(map[string]bool, len(keys))
	for i := 0; i < len(said); {
		key, from := keys[said[i].At], i
		for i < len(said) && said[i].At == said[from].At {
			i++
		}
		if done[key] { // asked for twice
			continue
		}
		done[key] = true
		for _, m := range said[from:i] {
			if !visible[m.Source] {
				continue
			}
			s := out[key]
			if s == nil {
				s = new(seen)
				out[key] = s
			}
			s.count += m.Count
			if m.Key == key {
				s.own = true
				if s.typ == "" {
					s.typ = m.Type
				}
			}
		}
	}
	return out, nil
}

package profile

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/graph"
)

// entityBatch is the number of entities read together.
const entityBatch = 500

// seenEntities returns a page of the entities that visible sources mention. If an entity was merged into another whose
// name no visible source mentions, the page has it under its own name.
func (a *asked) seenEntities(ctx context.Context, q backend.EntityQuery) (*facts.EntityPage, error) {
	page := &facts.EntityPage{Entities: []facts.Entity{}}
	typ, limit := q.Type, q.Limit
	q.Type, q.Limit, q.Folded = "", entityBatch, true
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
		said, root, err := a.view.Mentions(ctx, a.part, keys)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			s := said[e.Key]
			if to := root(e.Key); s == nil || !s.Own || to != e.Key && said[to] != nil && said[to].Own {
				continue
			}
			shown := graph.Show(&backend.Entity{Num: e.Num, Key: e.Key, Type: s.Type})
			if typ != "" && shown.Type != typ {
				continue
			}
			if len(page.Entities) == limit {
				page.Next = last
				return page, nil
			}
			page.Entities = append(page.Entities, facts.Entity{ID: shown.ID, Name: shown.Name, Type: shown.Type, Mentions: s.Count})
			last = e.Key
		}
		if len(found) < q.Limit {
			return page, nil
		}
		q.After = found[len(found)-1].Key
	}
}

package graph

import (
	"cmp"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// noType is the type of entities of which no source says one.
const noType = "CONCEPT"

// typeSources is how many sources of an entity, from the oldest on, are looked at for its type; then the evidence counts.
const typeSources = 8

// entityKey is the key of an entity of a partition.
type entityKey struct {
	part backend.Partition
	key  string
}

// retell gives the entities of links, which are of one partition, the names and types that visible sources have for
// them: those in the Store may be of a hidden document.
func (r *Reader) retell(ls []Link) error {
	if len(ls) == 0 {
		return nil
	}
	if r.types == nil {
		r.types, r.sources = map[entityKey]string{}, map[int64]bool{}
	}
	q := backend.MentionQuery{Part: ls[0].Proof.Row.Src.Part}
	for i := range ls {
		for _, key := range [...]string{ls[i].FromKey, ls[i].ToKey} {
			k := entityKey{q.Part, key}
			if _, ok := r.types[k]; !ok && key != "" {
				r.types[k] = ""
				q.Keys, q.Sources = append(q.Keys, key), append(q.Sources, ls[i].Source)
			}
		}
	}
	if err := r.findTypes(q); err != nil {
		return err
	}
	for i := range ls {
		l := &ls[i]
		l.Subject, l.Target = r.retold(l.Subject, q.Part, l.FromKey), r.retold(l.Target, q.Part, l.ToKey)
	}
	return nil
}

// findTypes finds the types of keys: each is that of the oldest visible source that has one. Sources are the evidence,
// which is visible.
func (r *Reader) findTypes(q backend.MentionQuery) error {
	if len(q.Keys) == 0 {
		return nil
	}
	proven, err := r.store.Mentioned(r.ctx, q)
	if err != nil {
		return err
	}
	for _, m := range proven {
		r.types[entityKey{q.Part, m.Key}] = m.Type
	}
	oldest, err := r.store.Mentioned(r.ctx, backend.MentionQuery{Part: q.Part, Keys: q.Keys, Oldest: typeSources})
	if err != nil {
		return err
	}
	var open []int64
	for _, m := range oldest {
		if m.Type != "" && m.Type != r.types[entityKey{q.Part, m.Key}] {
			open = append(open, m.Source)
		}
	}
	if len(open) == 0 {
		return nil
	}
	if err := item.Seen(r.ctx, r.store, r.visible, r.now, open, r.sources); err != nil {
		return err
	}
	found := make(map[string]bool, len(q.Keys))
	for _, m := range oldest {
		if k := (entityKey{q.Part, m.Key}); m.Type != "" && !found[m.Key] && (m.Type == r.types[k] || r.sources[m.Source]) {
			r.types[k], found[m.Key] = m.Type, true
		}
	}
	return nil
}

// retold returns an entity under the name and type that visible sources have for it.
func (r *Reader) retold(e *Entity, part backend.Partition, key string) *Entity {
	if !loaded(e) || key == "" {
		return e
	}
	name, typ := e.Name, cmp.Or(r.types[entityKey{part, key}], noType)
	if name != key {
		name = item.ShownKey(key)
	}
	if name == e.Name && typ == e.Type {
		return e
	}
	own := *e
	own.Name, own.Type = name, typ
	return &own
}

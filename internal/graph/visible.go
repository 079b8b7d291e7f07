package graph

import (
	"cmp"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// noType is the type of entities for which no source gives one.
const noType = "CONCEPT"

// typeSources is how many sources of an entity, oldest first, are searched for its type, before the evidence decides.
const typeSources = 8

// entityKey is a key of an entity in a partition.
type entityKey struct {
	part backend.Partition
	key  string
}

// showVisible sets the names and types of the links' entities to those that visible sources give them. The Store's may come from a hidden document.
func (r *Reader) showVisible(ls []*Link) error {
	if r.types == nil {
		r.types = map[entityKey]string{}
	}
	asked := map[backend.Partition]*backend.MentionQuery{}
	for _, l := range ls {
		part := l.Proof.Row.Src.Part
		q := asked[part]
		if q == nil {
			q = &backend.MentionQuery{Part: part}
			asked[part] = q
		}
		for _, key := range [...]string{l.FromKey, l.ToKey} {
			k := entityKey{part, key}
			if _, ok := r.types[k]; !ok && key != "" {
				r.types[k] = ""
				q.Keys, q.Sources = append(q.Keys, key), append(q.Sources, l.Source)
			}
		}
	}
	for _, q := range asked {
		if err := r.findTypes(*q); err != nil {
			return err
		}
	}
	for _, l := range ls {
		part := l.Proof.Row.Src.Part
		l.Subject, l.Target = r.visibleForm(l.Subject, part, l.FromKey), r.visibleForm(l.Target, part, l.ToKey)
	}
	return nil
}

// showVisiblePaths calls showVisible for the links of paths.
func (r *Reader) showVisiblePaths(all ...[]Path) error {
	var ls []*Link
	for _, paths := range all {
		for i := range paths {
			links, n := paths[i].Links()
			ls = append(ls, links[:n]...)
		}
	}
	return r.showVisible(ls)
}

// findTypes finds the types of keys. The oldest visible source with a type decides.
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
	seen, err := r.callerView().Seen(r.ctx, open)
	if err != nil {
		return err
	}
	found := make(map[string]bool, len(q.Keys))
	for _, m := range oldest {
		if k := (entityKey{q.Part, m.Key}); m.Type != "" && !found[m.Key] && (m.Type == r.types[k] || seen(m.Source)) {
			r.types[k], found[m.Key] = m.Type, true
		}
	}
	return nil
}

// visibleForm returns an entity with the name and type that visible sources have for it.
func (r *Reader) visibleForm(e *Entity, part backend.Partition, key string) *Entity {
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

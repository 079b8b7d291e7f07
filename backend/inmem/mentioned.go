package inmem

import (
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Mentioned(ctx context.Context, q backend.MentionQuery) (out []backend.Mentioned, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[q.Part]
		if p == nil {
			return nil
		}
		for i, key := range q.Keys {
			keys := []string{key}
			if q.Sources == nil && q.Oldest <= 0 && p.graph.root(key) == key {
				keys = p.graph.members(key)
				slices.Sort(keys)
			}
			for _, k := range keys {
				e := p.graph.entities[k]
				if e == nil {
					continue
				}
				found := e.sources
				switch {
				case q.Sources != nil:
					at, ok := found.find(q.Sources[i])
					if !ok {
						continue
					}
					found = found[at : at+1]
				case q.Oldest > 0:
					found = firstN(found, q.Oldest)
				}
				for _, m := range found {
					out = append(out, backend.Mentioned{At: i, Key: k, Source: m.v.src.Num, Type: m.typ, Count: m.count})
				}
			}
		}
		return nil
	})
	return out, err
}

func (s *store) MentionsOf(ctx context.Context, part backend.Partition, keys []string, versions int) (out []backend.KeyMention, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[part]
		if p == nil {
			return nil
		}
		for i, key := range keys {
			e := p.graph.entities[key]
			if e == nil {
				continue
			}
			of := map[int64]*backend.KeyMention{}
			for _, x := range firstN(e.sources, versions) {
				for _, m := range x.v.mentions {
					if m.key != key {
						continue
					}
					if of[m.chunk.Num] == nil {
						of[m.chunk.Num] = &backend.KeyMention{At: i, Source: x.v.src.Num, Chunk: m.chunk.Num}
					}
					of[m.chunk.Num].Weight += m.weight
				}
			}
			for _, num := range sortedKeys(of) {
				out = append(out, *of[num])
			}
		}
		return nil
	})
	return out, err
}

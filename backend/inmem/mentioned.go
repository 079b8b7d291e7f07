package inmem

import (
	"cmp"
	"context"
	"maps"
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
			from := len(out)
			for _, e := range p.graph.entities {
				if e.key != key && (q.Sources != nil || q.Oldest > 0 || p.graph.root(e.key) != key) {
					continue
				}
				for v, s := range e.sources {
					if q.Sources == nil || v.src.Num == q.Sources[i] {
						out = append(out, backend.Mentioned{At: i, Key: e.key, Source: v.src.Num, Type: s.typ, Count: s.count})
					}
				}
			}
			slices.SortFunc(out[from:], func(a, b backend.Mentioned) int {
				return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Source, b.Source))
			})
			if q.Sources == nil && q.Oldest > 0 {
				out = out[:min(len(out), from+q.Oldest)]
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
			vs := slices.Collect(maps.Keys(e.sources))
			slices.SortFunc(vs, func(a, b *version) int { return cmp.Compare(a.src.Num, b.src.Num) })
			of := map[int64]*backend.KeyMention{}
			for _, v := range firstN(vs, versions) {
				for _, m := range v.mentions {
					if m.key != key {
						continue
					}
					if of[m.chunk.Num] == nil {
						of[m.chunk.Num] = &backend.KeyMention{At: i, Source: v.src.Num, Chunk: m.chunk.Num}
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

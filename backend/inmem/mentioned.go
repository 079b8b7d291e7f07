package inmem

import (
	"cmp"
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

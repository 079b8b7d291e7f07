package inmem

import (
	"cmp"
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Walker = (*store)(nil)

// Walk implements [backend.Walker].
func (s *store) Walk(ctx context.Context, after int64, limit int) (page []*backend.Source, err error) {
	err = s.read(ctx, func(d *storeData) error {
		for _, p := range d.parts {
			for _, it := range p.items {
				if it.newest.src.Num > after {
					page = append(page, &it.newest.src)
				}
			}
		}
		slices.SortFunc(page, func(a, b *backend.Source) int { return cmp.Compare(a.Num, b.Num) })
		page = page[:min(len(page), max(limit, 0))]
		for i, src := range page {
			page[i] = copySource(src)
		}
		return nil
	})
	return page, err
}

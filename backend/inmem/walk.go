package inmem

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Walker = (*store)(nil)

// Walk implements [backend.Walker].
func (s *store) Walk(ctx context.Context, after int64, limit int) (page []*backend.Source, err error) {
	err = s.read(ctx, func(d *storeData) error {
		for _, v := range d.order.after(after) {
			if len(page) >= limit {
				break
			}
			if !v.src.Replaced {
				page = append(page, copySource(&v.src))
			}
		}
		return nil
	})
	return page, err
}

func (s *store) LastNum(ctx context.Context) (num int64, err error) {
	err = s.read(ctx, func(d *storeData) error {
		num = d.last.version
		return nil
	})
	return num, err
}

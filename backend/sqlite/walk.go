package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Walker = (*store)(nil)

// Walk implements [backend.Walker].
func (s *store) Walk(ctx context.Context, after int64, limit int) (page []*backend.Source, err error) {
	err = s.readSettled(ctx, func(c *conn) error {
		return c.each(ctx, "SELECT "+sourceCols+" FROM "+sourceTables+" WHERE s.num > ? AND s.newest = 1 ORDER BY s.num LIMIT ?", func(r *row) error {
			page = append(page, readSource(r, 0))
			return nil
		}, after, max(limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

func (s *store) LastNum(ctx context.Context) (num int64, err error) {
	err = s.change(ctx, func(t *tx) error {
		num = t.Numbers.Source
		return nil
	})
	return num, err
}

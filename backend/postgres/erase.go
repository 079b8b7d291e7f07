package postgres

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

var (
	_ backend.EventEraser = (*store)(nil)
	_ backend.EventEraser = (*registry)(nil)
)

// EraseEvents implements [backend.EventEraser].
func (s *store) EraseEvents(ctx context.Context, _, sub string, ids []string) (n int, err error) {
	err = s.change(ctx, func(t *tx) error {
		gone, err := t.c.exec(bg, "DELETE FROM events WHERE ws = $1 AND sub = $2 AND ($3 OR item = ANY($4))", sub, ids == nil, ids)
		n = int(gone)
		return err
	})
	return n, err
}

// EraseEvents implements [backend.EventEraser].
func (g *registry) EraseEvents(ctx context.Context, uid, sub string, ids []string) (n int, err error) {
	err = g.change(ctx, everything, func(c *conn) error {
		gone, err := c.exec(bg, "DELETE FROM deliveries WHERE tenant_uid = $1 AND collection = $2 AND ($3 OR item = ANY($4))", uid, sub, ids == nil, ids)
		n = int(gone)
		return err
	})
	return n, err
}

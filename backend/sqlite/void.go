package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

var (
	_ backend.LeaseVoider = (*store)(nil)
	_ backend.LeaseVoider = (*registry)(nil)
)

// VoidLeases implements [backend.LeaseVoider].
func (s *store) VoidLeases(ctx context.Context) error {
	held := false
	err := s.query(ctx, func(c *conn) (err error) {
		held, err = c.one(ctx, `SELECT 1 FROM sources INDEXED BY sources_pending
			WHERE newest = 1 AND state < 4 AND due > 0 AND lease IS NOT NULL`, func(*row) error { return nil })
		return err
	})
	if err != nil || !held {
		return err
	}
	return s.change(ctx, func(t *tx) error {
		return t.c.do(`UPDATE sources SET token = '', lease = NULL, due = max(coalesce(not_before, 0), 0)
			WHERE newest = 1 AND state < 4 AND due > 0 AND lease IS NOT NULL`)
	})
}

// VoidLeases implements [backend.LeaseVoider].
func (g *registry) VoidLeases(ctx context.Context) error {
	return g.change(ctx, func(c *conn) error {
		return c.do(`UPDATE deliveries SET token = '', lease = NULL, due = 0 WHERE status = 'sweeping'`)
	})
}

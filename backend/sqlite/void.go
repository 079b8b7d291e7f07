package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.LeaseVoider = (*store)(nil)

// VoidLeases implements [backend.LeaseVoider].
func (s *store) VoidLeases(ctx context.Context) error {
	return s.change(ctx, func(t *tx) error {
		return t.c.do(`UPDATE sources SET token = '', lease = NULL, due = max(coalesce(not_before, 0), 0)
			WHERE newest = 1 AND state < 4 AND due > 0 AND lease IS NOT NULL`)
	})
}

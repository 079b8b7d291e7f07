package sqlite

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

var _ backend.AheadChecker = (*store)(nil)

// AnyAhead implements [backend.AheadChecker].
func (s *store) AnyAhead(ctx context.Context, part backend.Partition, after time.Time) (found bool, err error) {
	err = s.query(ctx, func(c *conn) error {
		id, err := findPart(c, part)
		if err != nil || id == 0 {
			return err
		}
		found, err = c.one(ctx, "SELECT num FROM sources INDEXED BY sources_ahead WHERE part = ? AND time > created AND time > ? LIMIT 1", func(*row) error { return nil }, id, storerules.Micros(after))
		return err
	})
	return found && err == nil, err
}

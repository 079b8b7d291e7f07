package postgres

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.ClaimEnder = (*store)(nil)

// Claimants implements [backend.ClaimEnder].
func (s *store) Claimants(ctx context.Context) (tokens []string, err error) {
	err = s.query(ctx, func(c *conn) error {
		tokens = nil
		return c.each(ctx, `SELECT DISTINCT token FROM sources WHERE ws = $1 AND newest AND state < 4 AND due > 0 AND lease IS NOT NULL AND token <> ''`, func(r *row) error {
			tokens = append(tokens, r.str(0))
			return nil
		})
	})
	return tokens, err
}

// EndClaims implements [backend.ClaimEnder]. It locks the ledger first, like every transaction that locks several sources and waits for them.
func (s *store) EndClaims(ctx context.Context, tokens []string, attempts int) (n int, err error) {
	if len(tokens) == 0 {
		return 0, s.query(ctx, func(*conn) error { return nil })
	}
	err = s.alone(ctx, func(c *conn) error {
		if err := c.do("SELECT 1 FROM ledgers WHERE ws = $1 FOR UPDATE"); err != nil {
			return err
		}
		ended, err := c.exec(bg, `UPDATE sources SET token = '', lease = NULL, due = greatest(coalesce(not_before, 0), 0)
			WHERE ws = $1 AND newest AND state < 4 AND due > 0 AND lease IS NOT NULL AND token = ANY($2) AND attempts < $3`, tokens, attempts)
		n = int(ended)
		return err
	})
	return n, err
}

package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

var (
	_ backend.LeaseVoider = (*store)(nil)
	_ backend.LeaseVoider = (*registry)(nil)
	_ backend.ClaimEnder  = (*store)(nil)
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

// Claimants implements [backend.ClaimEnder]. It leaves out damaged tokens.
func (s *store) Claimants(ctx context.Context) (tokens []string, err error) {
	err = s.query(ctx, func(c *conn) error {
		tokens = nil
		return c.each(ctx, `SELECT DISTINCT token FROM sources INDEXED BY sources_pending
			WHERE newest = 1 AND state < 4 AND due > 0 AND lease IS NOT NULL AND typeof(token) = 'text' AND token <> ''`, func(r *row) error {
			tokens = append(tokens, r.str(0))
			return nil
		})
	})
	return tokens, err
}

// EndClaims implements [backend.ClaimEnder].
func (s *store) EndClaims(ctx context.Context, tokens []string, attempts int) (n int, err error) {
	if len(tokens) == 0 {
		return 0, s.query(ctx, func(*conn) error { return nil })
	}
	err = s.change(ctx, func(t *tx) error {
		n = 0
		for _, token := range tokens {
			ended, err := t.c.exec(`UPDATE sources INDEXED BY sources_pending SET token = '', lease = NULL, due = max(coalesce(not_before, 0), 0)
				WHERE newest = 1 AND state < 4 AND due > 0 AND lease IS NOT NULL AND token = ? AND attempts < ?`, token, int64(attempts))
			if err != nil {
				return err
			}
			n += int(ended)
		}
		return nil
	})
	return n, err
}

// VoidLeases implements [backend.LeaseVoider].
func (g *registry) VoidLeases(ctx context.Context) error {
	return g.change(ctx, func(c *conn) error {
		return c.do(`UPDATE deliveries SET token = '', lease = NULL, due = 0 WHERE status = 'sweeping'`)
	})
}

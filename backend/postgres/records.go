package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// leaseKind is the kind of lease records. They are written often and no process caches them, so writes cause no notification.
const leaseKind = "lease"

func (g *registry) WriteRecords(ctx context.Context, writes []backend.RecordWrite) error {
	// Use one fixed order, so that two calls do not deadlock.
	writes = slices.Clone(writes)
	slices.SortStableFunc(writes, func(a, b backend.RecordWrite) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Org, b.Org), cmp.Compare(a.ID, b.ID))
	})
	write := g.edit
	if !slices.ContainsFunc(writes, func(w backend.RecordWrite) bool { return w.Kind != leaseKind }) { // no process caches leases
		write = g.change
	}
	return write(ctx, everything, func(c *conn) error {
		for i := range writes {
			if err := writeRecord(c, &writes[i]); err != nil {
				return fmt.Errorf("write record %q: %w", writes[i].ID, err)
			}
		}
		return nil
	})
}

func writeRecord(c *conn, w *backend.RecordWrite) error {
	key := []any{hashOf(w.Kind), hashOf(w.Org), hashOf(w.ID)}
	if w.IfRev == 0 && !w.Delete {
		n, err := c.exec(bg, `INSERT INTO records (kind_hash, org_hash, id_hash, kind, org, id, rev, data) VALUES ($1, $2, $3, $4, $5, $6, 1, $7) ON CONFLICT DO NOTHING`,
			append(key, w.Kind, w.Org, w.ID, w.Data)...)
		if err == nil && n == 0 {
			err = backend.ErrExists
		}
		return err
	}
	var rev int64 // 0: the record is missing
	_, err := c.one(bg, "SELECT rev FROM records WHERE kind_hash = $1 AND org_hash = $2 AND id_hash = $3 FOR UPDATE", func(r *row) error {
		rev = r.int(0)
		return nil
	}, key...)
	if err == nil {
		err = storerules.CheckRecord(w, rev)
	}
	if err != nil {
		return err
	}
	if w.Delete {
		return c.do("DELETE FROM records WHERE kind_hash = $1 AND org_hash = $2 AND id_hash = $3", key...)
	}
	return c.do(`INSERT INTO records (kind_hash, org_hash, id_hash, kind, org, id, rev, data) VALUES ($1, $2, $3, $4, $5, $6, 1, $7)
		ON CONFLICT (kind_hash, org_hash, id_hash) DO UPDATE SET rev = records.rev + 1, data = excluded.data`, append(key, w.Kind, w.Org, w.ID, w.Data)...)
}

// records reads the records selected by a condition, in the condition's order.
func (g *registry) records(ctx context.Context, s scope, where string, args ...any) (recs []backend.Record, err error) {
	err = g.query(ctx, s, func(c *conn) error {
		recs = nil
		return c.each(ctx, "SELECT "+storerules.RecordColumns+" FROM records WHERE "+where, func(r *row) error {
			recs = append(recs, columns(r).Record())
			return nil
		}, args...)
	})
	return recs, err
}

func (g *registry) Record(ctx context.Context, kind, org, id string) (backend.Record, error) {
	recs, err := g.records(ctx, ofOrg(org), "kind_hash = $1 AND org_hash = $2 AND id_hash = $3", hashOf(kind), hashOf(org), hashOf(id))
	if err == nil && len(recs) == 0 {
		err = fmt.Errorf("record %q: %w", id, backend.ErrNotFound)
	}
	if err != nil {
		return backend.Record{}, err
	}
	return recs[0], nil
}

func (g *registry) Records(ctx context.Context, kind, org, after string, limit int) ([]backend.Record, error) {
	return g.records(ctx, ofOrg(org), `kind_hash = $1 AND org_hash = $2 AND substring(id, 1, 200) >= substring($3::bytea, 1, 200) AND id > $3
		ORDER BY substring(id, 1, 200), id LIMIT $4`, hashOf(kind), hashOf(org), after, max(limit, 0))
}

func (g *registry) AllRecords(ctx context.Context, kind, afterOrg, afterID string, limit int) ([]backend.Record, error) {
	return g.records(ctx, everything, `kind_hash = $1 AND substring(org, 1, 200) >= substring($2::bytea, 1, 200) AND (org, id) > ($2, $3)
		ORDER BY substring(org, 1, 200), org, id LIMIT $4`, hashOf(kind), afterOrg, afterID, max(limit, 0))
}

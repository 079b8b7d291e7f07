package sqlite

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (g *registry) WriteRecords(ctx context.Context, writes []backend.RecordWrite) error {
	return g.change(ctx, func(c *conn) error {
		for i := range writes {
			if err := writeRecord(ctx, c, &writes[i]); err != nil {
				return fmt.Errorf("write record %q: %w", writes[i].ID, err)
			}
		}
		return nil
	})
}

func writeRecord(ctx context.Context, c *conn, w *backend.RecordWrite) error {
	var rev int64 // revision of the stored record; 0: there is none
	_, err := c.one(ctx, "SELECT rev FROM records WHERE kind = ? AND org = ? AND id = ?", func(r *row) error {
		rev = r.int(0)
		return nil
	}, w.Kind, w.Org, w.ID)
	if err == nil {
		err = storerules.CheckRecord(w, rev)
	}
	if err != nil {
		return err
	}
	if w.Delete {
		return c.do("DELETE FROM records WHERE kind = ? AND org = ? AND id = ?", w.Kind, w.Org, w.ID)
	}
	return c.do("INSERT OR REPLACE INTO records (kind, org, id, rev, data) VALUES (?, ?, ?, ?, ?)",
		w.Kind, w.Org, w.ID, rev+1, w.Data)
}

// records reads the records that a WHERE clause selects, in its order.
func (g *registry) records(ctx context.Context, limit int, where string, args ...any) (recs []backend.Record, err error) {
	err = g.query(ctx, func(c *conn) error {
		return c.each(ctx, "SELECT "+storerules.RecordColumns+" FROM records WHERE "+where+" LIMIT ?", func(r *row) error {
			recs = append(recs, columns(r).Record())
			return nil
		}, append(args, max(limit, 0))...)
	})
	return recs, err
}

func (g *registry) Record(ctx context.Context, kind, org, id string) (backend.Record, error) {
	recs, err := g.records(ctx, 1, "kind = ? AND org = ? AND id = ?", kind, org, id)
	if err == nil && len(recs) == 0 {
		err = fmt.Errorf("record %q: %w", id, backend.ErrNotFound)
	}
	if err != nil {
		return backend.Record{}, err
	}
	return recs[0], nil
}

func (g *registry) Records(ctx context.Context, kind, org, after string, limit int) ([]backend.Record, error) {
	return g.records(ctx, limit, "kind = ? AND org = ? AND id > ? ORDER BY id", kind, org, after)
}

func (g *registry) AllRecords(ctx context.Context, kind, afterOrg, afterID string, limit int) ([]backend.Record, error) {
	return g.records(ctx, limit, "kind = ? AND (org, id) > (?, ?) ORDER BY org, id", kind, afterOrg, afterID)
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/contextmem/contextmem/backend"
)

var (
	_ backend.EventEraser = (*store)(nil)
	_ backend.EventEraser = (*registry)(nil)
	_ backend.Purger      = (*store)(nil)
	_ backend.Purger      = (*registry)(nil)
	_ backend.Remainer    = (*store)(nil)
	_ backend.Remainer    = (*registry)(nil)
)

// EraseEvents implements [backend.EventEraser].
func (s *store) EraseEvents(ctx context.Context, _, sub string, ids []string) (n int, err error) {
	err = s.change(ctx, func(t *tx) error {
		n, err = t.eraseEvents(sub, ids)
		return err
	})
	return n, err
}

func (t *tx) eraseEvents(sub string, ids []string) (int, error) {
	gone, err := t.c.exec(bg, "DELETE FROM events WHERE ws = $1 AND sub = $2 AND ($3 OR item = ANY($4))", sub, ids == nil, ids)
	return int(gone), err
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

// Purge implements [backend.Purger]. It removes old row versions from the tables, and aliases and merges of names that no entity has any more.
func (s *store) Purge(ctx context.Context) error {
	err := s.change(ctx, func(t *tx) error {
		t.forget()
		const unused = " NOT EXISTS (SELECT 1 FROM entities e WHERE e.ws = x.ws AND e.part = x.part AND e.key = x."
		for _, sql := range []string{
			"DELETE FROM aliases AS x WHERE x.ws = $1 AND" + unused + "key) AND" + unused + "into_key)",
			"DELETE FROM merges AS x WHERE x.ws = $1 AND" + unused + "from_key) AND (undone <> 0 OR" + unused + "into_key))",
		} {
			if err := t.c.do(sql); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	tables, err := s.partitions(ctx)
	if err != nil {
		return err
	}
	if err := s.Enter(ctx); err != nil {
		return err
	}
	defer s.Leave()
	return s.db.vacuum(ctx, &s.horizon, tables)
}

// partitions returns the tables that contain rows of the workspace.
func (s *store) partitions(ctx context.Context) (tables []string, err error) {
	remainder := int64(-1)
	err = s.query(ctx, func(c *conn) error {
		_, err := c.one(ctx, `SELECT r FROM contextmem_schema m, generate_series(0, m.partitions - 1) AS r
			WHERE satisfies_hash_partition('sources'::regclass, m.partitions::int, r::int, $1::bigint)`, func(r *row) error {
			remainder = r.int(0)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if remainder < 0 {
		return nil, errors.New("the partition of the workspace is not found")
	}
	for _, t := range storeTables {
		tables = append(tables, fmt.Sprintf("%s_%02d", t, remainder))
	}
	return tables, nil
}

// Purge implements [backend.Purger].
func (g *registry) Purge(ctx context.Context) error {
	if err := g.Enter(ctx); err != nil {
		return err
	}
	defer g.Leave()
	return g.db.vacuum(ctx, &g.horizon, []string{"records", "deliveries"})
}

// vacuum removes old row versions once it can. VACUUM must run outside a transaction.
func (d *DB) vacuum(ctx context.Context, h *horizon, tables []string) error {
	if err := h.reach(ctx, d); err != nil {
		return err
	}
	how := "VACUUM (INDEX_CLEANUP ON) "
	if d.o.Rewrite {
		how = "VACUUM (FULL) "
	}
	return d.retry(ctx, func() error {
		return d.with(ctx, everything, func(c *conn) error {
			_, err := c.pg.Exec(ctx, how+strings.Join(tables, ", "), pgx.QueryExecModeSimpleProtocol)
			return translate(err)
		})
	})
}

// Remains implements [backend.Remainer].
func (g *registry) Remains() []string { return g.horizon.remains() }

// Remains implements [backend.Remainer].
func (s *store) Remains() []string {
	out := append(s.horizon.remains(),
		"the write-ahead log of the database and its archive, until they are recycled or removed",
		"backups of the database that were made before, and replicas until they have followed",
	)
	if !s.db.o.Rewrite {
		out = append(out, "free space in the files of the database's tables, until it is written over or VACUUM FULL rewrites them")
	}
	return out
}

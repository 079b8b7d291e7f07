package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

var (
	_ backend.Purger      = (*store)(nil)
	_ backend.Purger      = (*registry)(nil)
	_ backend.EventEraser = (*store)(nil)
	_ backend.EventEraser = (*registry)(nil)
)

// Purge implements [backend.Purger]. It also removes aliases and merges of keys that no entity has any more.
func (s *store) Purge(ctx context.Context) error {
	err := s.change(ctx, func(t *tx) error {
		t.forget()
		const unused = " NOT EXISTS (SELECT 1 FROM entities e WHERE e.part = x.part AND e.key = x."
		for _, sql := range []string{
			"DELETE FROM aliases AS x WHERE" + unused + "key) AND" + unused + "into_key)",
			"DELETE FROM merges AS x WHERE" + unused + "from_key) AND (undone <> 0 OR" + unused + "into_key))",
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
	return s.rewrite(ctx)
}

// Purge implements [backend.Purger].
func (g *registry) Purge(ctx context.Context) error { return g.rewrite(ctx) }

// Bounds of the wait for readers that prevent emptying the log.
const (
	purgeTries = 100
	purgePause = 50 * time.Millisecond
)

// rewrite writes the live rows of the database to new pages (VACUUM) and empties its log. Writes wait meanwhile; reads
// continue.
func (f *file) rewrite(ctx context.Context) error {
	if err := f.Enter(ctx); err != nil {
		return err
	}
	defer f.Leave()
	w, err := f.writer()
	if err != nil {
		return err
	}
	w.turn.Lock()
	defer w.turn.Unlock()
	c, err := openPlain(f.path, f.o.vfs)
	if err != nil {
		return err
	}
	err = vacuum(ctx, c)
	return errors.Join(err, c.close())
}

func vacuum(ctx context.Context, c *conn) error {
	e, ok := c.dc.(driver.ExecerContext)
	if !ok {
		return errors.New("sqlite: the driver cannot run scripts")
	}
	// VACUUM writes its copy to an unnamed temporary file, since it might not fit into memory.
	_, err := e.ExecContext(ctx, "PRAGMA synchronous=FULL; PRAGMA temp_store=FILE; PRAGMA secure_delete=ON; PRAGMA auto_vacuum=INCREMENTAL; VACUUM", nil)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return translate(err)
	}
	for range purgeTries {
		busy := true
		err := c.each(ctx, "PRAGMA wal_checkpoint(TRUNCATE)", func(r *row) error {
			busy = r.int(0) != 0
			return nil
		})
		if err != nil && !errors.Is(err, backend.ErrUnavailable) || err == nil && !busy {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(purgePause):
		}
	}
	return fmt.Errorf("purge: a reader keeps the log: %w", backend.ErrUnavailable)
}

// EraseEvents implements [backend.EventEraser].
func (s *store) EraseEvents(ctx context.Context, _, sub string, ids []string) (n int, err error) {
	err = s.change(ctx, func(t *tx) error {
		n, err = t.eraseEvents(sub, ids)
		return err
	})
	return n, err
}

// EraseEvents implements [backend.EventEraser].
func (g *registry) EraseEvents(ctx context.Context, uid, sub string, ids []string) (n int, err error) {
	err = g.change(ctx, func(c *conn) error {
		n, err = eraseEvents(c, "DELETE FROM deliveries WHERE tenant_uid = ? AND collection = ?", "item", ids, uid, sub)
		return err
	})
	return n, err
}

func (t *tx) eraseEvents(sub string, ids []string) (int, error) {
	return eraseEvents(t.c, "DELETE FROM events WHERE sub = ?", "item", ids, sub)
}

func eraseEvents(c *conn, sql, column string, ids []string, args ...any) (int, error) {
	if ids != nil {
		list, err := json.Marshal(ids)
		if err != nil {
			return 0, err
		}
		sql += " AND " + column + " IN (SELECT value FROM json_each(?))"
		args = append(args, string(list))
	}
	n, err := c.exec(sql, args...)
	return int(n), err
}

package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// registry is the backend.Registry of the deployment.
type registry struct {
	storerules.Gate
	db      *DB
	horizon horizon
}

var _ backend.Registry = (*registry)(nil)

// edit is like change, for rows that processes cache. It also notifies the other processes.
func (g *registry) edit(ctx context.Context, s scope, fn func(c *conn) error) error {
	err := g.change(ctx, s, fn)
	if err == nil {
		g.db.watch.announceRecords()
	}
	return err
}

// change runs fn in a transaction that sees the rows of a scope. fn may be called again from the start.
func (g *registry) change(ctx context.Context, s scope, fn func(c *conn) error) error {
	if err := g.Enter(ctx); err != nil {
		return err
	}
	defer g.Leave()
	return g.db.write(ctx, s, fn)
}

func (g *registry) query(ctx context.Context, s scope, fn func(c *conn) error) error {
	if err := g.Enter(ctx); err != nil {
		return err
	}
	defer g.Leave()
	return g.db.query(ctx, s, fn)
}

// columns reads the columns of a row for the rules shared by all stores.
func columns(r *row) storerules.Columns {
	return storerules.Columns{Int: r.int, Text: r.str, Blob: r.blob, Time: r.time}
}

func (g *registry) CreateTenant(ctx context.Context, t backend.Tenant, limit int) error {
	return g.edit(ctx, ofOrg(t.Org), func(c *conn) error {
		if limit > 0 { // count and create the tenants of one organisation one at a time
			if err := c.do("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", plain(fmt.Sprintf("contextmem %x", hashOf(t.Org)))); err != nil {
				return err
			}
		}
		if t.State != backend.TenantDeleting {
			err := c.do("UPDATE tenants SET state = 'deleting', rev = rev + 1 WHERE org_hash = $1 AND id_hash = $2 AND state = 'failed'", hashOf(t.Org), hashOf(t.ID))
			if err != nil {
				return err
			}
		}
		err := c.do(`INSERT INTO tenants (uid, org_hash, id_hash, org, id, state, error, created, data, rev, wake) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10)`,
			plain(t.UID), hashOf(t.Org), hashOf(t.ID), t.Org, t.ID, plain(t.State), t.Error, storerules.Stamp(t.CreatedAt), t.Data, storerules.Stamp(t.Wake))
		n := int64(0)
		if err == nil {
			_, err = c.one(bg, "SELECT count(*) FROM tenants WHERE org_hash = $1 AND state <> 'deleting'", func(r *row) error {
				n = r.int(0)
				return nil
			}, hashOf(t.Org))
		}
		switch {
		case breaks(err, "tenants_"):
			return fmt.Errorf("create tenant %q: %w", t.ID, backend.ErrExists)
		case err == nil && limit > 0 && n > int64(limit):
			return fmt.Errorf("create tenant %q: %w", t.ID, backend.ErrFull)
		}
		return err
	})
}

// tenant reads the single tenant selected by a condition.
func (g *registry) tenant(ctx context.Context, s scope, what, where string, args ...any) (t backend.Tenant, err error) {
	err = g.query(ctx, s, func(c *conn) error {
		found, err := c.one(ctx, "SELECT "+storerules.TenantColumns+" FROM tenants WHERE "+where, func(r *row) error {
			t = columns(r).Tenant()
			return nil
		}, args...)
		if err == nil && !found {
			return fmt.Errorf("%s: %w", what, backend.ErrNotFound)
		}
		return err
	})
	return t, err
}

func (g *registry) Tenant(ctx context.Context, org, id string) (backend.Tenant, error) {
	return g.tenant(ctx, ofOrg(org), fmt.Sprintf("tenant %q", id), "org_hash = $1 AND id_hash = $2 AND state <> 'deleting'", hashOf(org), hashOf(id))
}

func (g *registry) TenantByUID(ctx context.Context, uid string) (backend.Tenant, error) {
	return g.tenant(ctx, everything, "tenant by workspace name", "uid = $1", plain(uid))
}

// tenants reads the tenants selected by a condition, in the condition's order.
func (g *registry) tenants(ctx context.Context, s scope, where string, args ...any) (ts []backend.Tenant, err error) {
	err = g.query(ctx, s, func(c *conn) error {
		ts = nil
		return c.each(ctx, "SELECT "+storerules.TenantColumns+" FROM tenants WHERE "+where, func(r *row) error {
			ts = append(ts, columns(r).Tenant())
			return nil
		}, args...)
	})
	return ts, err
}

func (g *registry) Tenants(ctx context.Context, org, after string, limit int) ([]backend.Tenant, error) {
	return g.tenants(ctx, ofOrg(org), `org_hash = $1 AND substring(id, 1, 200) >= substring($2::bytea, 1, 200) AND id > $2 AND state <> 'deleting'
		ORDER BY substring(id, 1, 200), id LIMIT $3`, hashOf(org), after, max(limit, 0))
}

func (g *registry) DeletingTenants(ctx context.Context, limit int) ([]backend.Tenant, error) {
	return g.tenants(ctx, everything, `state = 'deleting' ORDER BY uid COLLATE "C" LIMIT $1`, max(limit, 0))
}

func (g *registry) Awake(ctx context.Context, now time.Time, limit int) ([]backend.Tenant, error) {
	return g.tenants(ctx, everything, `wake IS NOT NULL AND wake <= $1 AND state <> 'deleting' ORDER BY wake, uid COLLATE "C" LIMIT $2`, storerules.Micros(now), max(limit, 0))
}

var _ backend.TenantLister = (*registry)(nil)

// AllTenants implements [backend.TenantLister].
func (g *registry) AllTenants(ctx context.Context, afterUID string, limit int) ([]backend.Tenant, error) {
	return g.tenants(ctx, everything, `uid > $1 COLLATE "C" ORDER BY uid COLLATE "C" LIMIT $2`, plain(afterUID), max(limit, 0))
}

func (g *registry) UpdateTenant(ctx context.Context, t backend.Tenant) (rev int64, err error) {
	err = g.edit(ctx, everything, func(c *conn) error {
		var old backend.TenantState
		found, err := c.one(bg, "SELECT state, rev FROM tenants WHERE uid = $1 FOR UPDATE", func(r *row) error {
			old, rev = backend.TenantState(r.str(0)), r.int(1)
			return nil
		}, plain(t.UID))
		if err == nil {
			err = storerules.CheckUpdate(&t, found, old, rev)
		}
		if err != nil {
			return err
		}
		rev++
		return c.do("UPDATE tenants SET state = $1, error = $2, data = $3, rev = $4 WHERE uid = $5",
			plain(t.State), t.Error, t.Data, rev, plain(t.UID))
	})
	if err != nil {
		return 0, err
	}
	return rev, nil
}

var _ backend.TenantRenamer = (*registry)(nil)

// RenameTenant implements [backend.TenantRenamer].
func (g *registry) RenameTenant(ctx context.Context, uid string, rev int64, id string) error {
	return g.edit(ctx, everything, func(c *conn) error {
		n, err := c.exec(bg, "UPDATE tenants SET id = $1, id_hash = $2, rev = rev + 1 WHERE uid = $3 AND rev = $4 AND state <> 'deleting'", id, hashOf(id), plain(uid), rev)
		switch {
		case breaks(err, "tenants_"):
			return fmt.Errorf("rename tenant to %q: %w", id, backend.ErrExists)
		case err == nil && n == 0:
			err = fmt.Errorf("rename tenant to %q: it was changed: %w", id, backend.ErrConflict)
		}
		return err
	})
}

func (g *registry) ForgetTenant(ctx context.Context, uid string) error {
	return g.edit(ctx, everything, func(c *conn) error {
		n, err := c.exec(bg, "DELETE FROM tenants WHERE uid = $1 AND state = 'deleting'", plain(uid))
		if err != nil || n > 0 {
			return err
		}
		found, err := c.one(bg, "SELECT 1 FROM tenants WHERE uid = $1", func(*row) error { return nil }, plain(uid))
		if err == nil {
			err = storerules.NotForgotten(found)
		}
		return err
	})
}

// SetWake does not set the wake time later than the earliest work in the workspace, since another process may just have added that work.
func (g *registry) SetWake(ctx context.Context, uid string, at time.Time) error {
	return g.change(ctx, everything, func(c *conn) error {
		wake := storerules.Stamp(at)
		if at.IsZero() || at.After(time.Now()) {
			due, waits, err := waiting(c, uid)
			if err != nil {
				return err
			}
			if waits && (at.IsZero() || due < at.UnixMicro()) {
				wake = due
			}
		}
		n, err := c.exec(bg, "UPDATE tenants SET wake = $1 WHERE uid = $2", wake, plain(uid))
		if err == nil && n == 0 {
			return fmt.Errorf("set wake: %w", backend.ErrNotFound)
		}
		return err
	})
}

// waiting locks a workspace and returns the time at which its earliest work is due, in microseconds.
func waiting(c *conn, uid string) (due int64, waits bool, err error) {
	var ws int64
	_, err = c.one(bg, "SELECT l.ws FROM workspaces w JOIN ledgers l ON l.ws = w.ws WHERE w.uid = $1 AND NOT w.gone FOR UPDATE OF l", func(r *row) error {
		ws = r.int(0)
		return nil
	}, plain(uid))
	if err != nil || ws == 0 {
		return 0, false, err
	}
	s := ofWorkspace(ws)
	c.pending = append(c.pending, statement{sql: "SELECT set_config($1, $2, true)", args: []any{s.setting, s.value}})
	_, err = c.one(bg, `SELECT least((SELECT min(due) FROM sources WHERE ws = $1 AND newest AND state < 4), (SELECT 0::bigint FROM events WHERE ws = $1 LIMIT 1))`, func(r *row) error {
		if waits = !r.null(0); waits {
			due = r.int(0)
		}
		return nil
	}, ws)
	return due, waits, err
}

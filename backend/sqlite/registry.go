package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// registry is the backend.Registry over deployment.db.
type registry struct {
	*file
}

// noState is the empty state of the registry's writer.
type noState struct{}

func (noState) mark()          {}
func (noState) settle() error  { return nil }
func (noState) undo()          {}
func (noState) prepare() error { return nil }
func (noState) committed()     {}
func (noState) aborted()       {}

func openRegistry(ctx context.Context, path string, o Options) (*registry, error) {
	f, err := openFile(ctx, path, o, deploymentSchema, func(*conn) (state, error) { return noState{}, nil })
	if err != nil {
		return nil, err
	}
	return &registry{f}, nil
}

// change runs fn in a transaction with the writing connection.
func (g *registry) change(ctx context.Context, fn func(c *conn) error) error {
	return g.write(ctx, func() error { return fn(g.w.c) })
}

// columns returns the readers of a row's columns for package storerules.
func columns(r *row) storerules.Columns {
	return storerules.Columns{Int: r.int, Text: r.str, Blob: r.blob, Time: r.time}
}

func (g *registry) CreateTenant(ctx context.Context, t backend.Tenant, limit int) error {
	return g.change(ctx, func(c *conn) error {
		if t.State != backend.TenantDeleting {
			err := c.do("UPDATE tenants SET state = 'deleting', rev = rev + 1 WHERE org = ? AND id = ? AND state <> 'deleting' AND state = 'failed'", t.Org, t.ID)
			if err != nil {
				return err
			}
		}
		err := c.do("INSERT INTO tenants ("+storerules.TenantColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)",
			t.UID, t.Org, t.ID, string(t.State), t.Error, storerules.Stamp(t.CreatedAt), t.Data, storerules.Stamp(t.Wake))
		if errors.Is(err, errConstraint) {
			return fmt.Errorf("create tenant %q: %w", t.ID, backend.ErrExists)
		}
		if err != nil || limit <= 0 {
			return err
		}
		over, err := c.one(ctx, "SELECT 1 FROM tenants WHERE org = ? AND state <> 'deleting' LIMIT 1 OFFSET ?", func(*row) error { return nil }, t.Org, limit)
		if err == nil && over {
			err = fmt.Errorf("create tenant %q: %w", t.ID, backend.ErrFull)
		}
		return err
	})
}

// tenant reads the one tenant that a WHERE clause selects.
func (g *registry) tenant(ctx context.Context, what, where string, args ...any) (t backend.Tenant, err error) {
	err = g.query(ctx, func(c *conn) error {
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
	return g.tenant(ctx, fmt.Sprintf("tenant %q", id), "org = ? AND id = ? AND state <> 'deleting'", org, id)
}

func (g *registry) TenantByUID(ctx context.Context, uid string) (backend.Tenant, error) {
	return g.tenant(ctx, "tenant by workspace name", "uid = ?", uid)
}

// tenants reads the tenants that a WHERE clause selects, in its order.
func (g *registry) tenants(ctx context.Context, limit int, where string, args ...any) (ts []backend.Tenant, err error) {
	err = g.query(ctx, func(c *conn) error {
		return c.each(ctx, "SELECT "+storerules.TenantColumns+" FROM tenants WHERE "+where+" LIMIT ?", func(r *row) error {
			ts = append(ts, columns(r).Tenant())
			return nil
		}, append(args, max(limit, 0))...)
	})
	return ts, err
}

func (g *registry) Tenants(ctx context.Context, org, after string, limit int) ([]backend.Tenant, error) {
	return g.tenants(ctx, limit, "org = ? AND id > ? AND state <> 'deleting' ORDER BY id", org, after)
}

func (g *registry) DeletingTenants(ctx context.Context, limit int) ([]backend.Tenant, error) {
	return g.tenants(ctx, limit, "state = 'deleting' ORDER BY uid")
}

func (g *registry) Awake(ctx context.Context, now time.Time, limit int) ([]backend.Tenant, error) {
	return g.tenants(ctx, limit,
		"wake IS NOT NULL AND wake <= ? AND state <> 'deleting' ORDER BY wake, uid", storerules.Micros(now))
}

// AllTenants implements [backend.TenantLister].
func (g *registry) AllTenants(ctx context.Context, afterUID string, limit int) ([]backend.Tenant, error) {
	return g.tenants(ctx, limit, "uid > ? ORDER BY uid", afterUID)
}

func (g *registry) UpdateTenant(ctx context.Context, t backend.Tenant) (rev int64, err error) {
	err = g.change(ctx, func(c *conn) error {
		var old backend.TenantState
		found, err := c.one(ctx, "SELECT state, rev FROM tenants WHERE uid = ?", func(r *row) error {
			old, rev = backend.TenantState(r.str(0)), r.int(1)
			return nil
		}, t.UID)
		if err == nil {
			err = storerules.CheckUpdate(&t, found, old, rev)
		}
		if err != nil {
			return err
		}
		rev++
		return c.do("UPDATE tenants SET state = ?, error = ?, data = ?, rev = ? WHERE uid = ?",
			string(t.State), t.Error, t.Data, rev, t.UID)
	})
	if err != nil {
		return 0, err
	}
	return rev, nil
}

// RenameTenant implements [backend.TenantRenamer].
func (g *registry) RenameTenant(ctx context.Context, uid string, rev int64, id string) error {
	return g.change(ctx, func(c *conn) error {
		n, err := c.exec("UPDATE tenants SET id = ?, rev = rev + 1 WHERE uid = ? AND rev = ? AND state <> 'deleting'", id, uid, rev)
		switch {
		case errors.Is(err, errConstraint):
			return fmt.Errorf("rename tenant to %q: %w", id, backend.ErrExists)
		case err == nil && n == 0:
			err = fmt.Errorf("rename tenant to %q: it was changed: %w", id, backend.ErrConflict)
		}
		return err
	})
}

func (g *registry) ForgetTenant(ctx context.Context, uid string) error {
	return g.change(ctx, func(c *conn) error {
		n, err := c.exec("DELETE FROM tenants WHERE uid = ? AND state = 'deleting'", uid)
		if err != nil || n > 0 {
			return err
		}
		found, err := c.one(ctx, "SELECT 1 FROM tenants WHERE uid = ?", func(*row) error { return nil }, uid)
		if err == nil {
			err = storerules.NotForgotten(found)
		}
		return err
	})
}

func (g *registry) SetWake(ctx context.Context, uid string, at time.Time) error {
	return g.change(ctx, func(c *conn) error {
		n, err := c.exec("UPDATE tenants SET wake = ? WHERE uid = ?", storerules.Stamp(at), uid)
		if err == nil && n == 0 {
			return fmt.Errorf("set wake: %w", backend.ErrNotFound)
		}
		return err
	})
}

package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// registryData is the data of the registry that remains after a Backend is closed.
type registryData struct {
	mu         sync.RWMutex
	tenants    map[string]*backend.Tenant // by UID
	names      map[tenantName]string      // UIDs by name, without tenants that are being deleted
	records    map[recordKey]backend.Record
	deliveries map[string]*backend.Delivery // by ID
	open       map[string]*backend.Delivery // those that can be claimed sooner or later, by ID
	lastNum    int64                        // number of the last delivery
}

type tenantName struct{ org, id string }

func newRegistryData() *registryData {
	return &registryData{
		tenants:    make(map[string]*backend.Tenant),
		names:      make(map[tenantName]string),
		records:    make(map[recordKey]backend.Record),
		deliveries: make(map[string]*backend.Delivery),
		open:       make(map[string]*backend.Delivery),
	}
}

// registry is the backend.Registry of one Backend value.
type registry struct {
	data   *registryData
	closed bool // guarded by data.mu
}

func (r *registry) close() {
	r.data.mu.Lock()
	defer r.data.mu.Unlock()
	r.closed = true
}

// read runs f under the read lock; write runs f under the write lock.
func (r *registry) read(ctx context.Context, f func(d *registryData) error) error {
	r.data.mu.RLock()
	defer r.data.mu.RUnlock()
	if err := usable(ctx, r.closed); err != nil {
		return err
	}
	return f(r.data)
}

func (r *registry) write(ctx context.Context, f func(d *registryData) error) error {
	r.data.mu.Lock()
	defer r.data.mu.Unlock()
	if err := usable(ctx, r.closed); err != nil {
		return err
	}
	return f(r.data)
}

// usable returns an error if ctx has ended or the registry is closed.
func usable(ctx context.Context, closed bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if closed {
		return backend.ErrClosed
	}
	return nil
}

func copyTenant(t *backend.Tenant) backend.Tenant {
	c := *t
	c.Data = slices.Clone(t.Data)
	return c
}

func (r *registry) CreateTenant(ctx context.Context, t backend.Tenant, limit int) error {
	return r.write(ctx, func(d *registryData) error {
		name := tenantName{t.Org, t.ID}
		if _, ok := d.tenants[t.UID]; ok {
			return fmt.Errorf("create tenant %q: workspace name taken: %w", t.ID, backend.ErrExists)
		}
		var failed *backend.Tenant
		if uid, ok := d.names[name]; ok && t.State != backend.TenantDeleting {
			if failed = d.tenants[uid]; failed.State != backend.TenantFailed {
				return fmt.Errorf("create tenant %q: %w", t.ID, backend.ErrExists)
			}
		}
		if limit > 0 && failed == nil && t.State != backend.TenantDeleting {
			have := 0
			for n := range d.names {
				if n.org == t.Org {
					have++
				}
			}
			if have >= limit {
				return fmt.Errorf("create tenant %q: %w", t.ID, backend.ErrFull)
			}
		}
		if failed != nil {
			failed.State = backend.TenantDeleting
			failed.Rev++
		}
		c := copyTenant(&t)
		c.Rev, c.CreatedAt, c.Wake = 1, storerules.Stamped(t.CreatedAt), storerules.Stamped(t.Wake)
		d.tenants[t.UID] = &c
		if t.State != backend.TenantDeleting {
			d.names[name] = t.UID
		}
		return nil
	})
}

func (r *registry) Tenant(ctx context.Context, org, id string) (t backend.Tenant, err error) {
	err = r.read(ctx, func(d *registryData) error {
		uid, ok := d.names[tenantName{org, id}]
		if !ok {
			return fmt.Errorf("tenant %q: %w", id, backend.ErrNotFound)
		}
		t = copyTenant(d.tenants[uid])
		return nil
	})
	return t, err
}

func (r *registry) TenantByUID(ctx context.Context, uid string) (t backend.Tenant, err error) {
	err = r.read(ctx, func(d *registryData) error {
		found, ok := d.tenants[uid]
		if !ok {
			return fmt.Errorf("tenant by workspace name: %w", backend.ErrNotFound)
		}
		t = copyTenant(found)
		return nil
	})
	return t, err
}

// selectTenants returns at most limit tenants for which keep returns true, sorted by less.
func (r *registry) selectTenants(ctx context.Context, limit int, keep func(*backend.Tenant) bool, compare func(a, b backend.Tenant) int) (ts []backend.Tenant, err error) {
	err = r.read(ctx, func(d *registryData) error {
		for _, t := range d.tenants {
			if keep(t) {
				ts = append(ts, copyTenant(t))
			}
		}
		return nil
	})
	slices.SortFunc(ts, compare)
	return firstN(ts, limit), err
}

func (r *registry) Tenants(ctx context.Context, org, after string, limit int) ([]backend.Tenant, error) {
	return r.selectTenants(ctx, limit, func(t *backend.Tenant) bool {
		return t.State != backend.TenantDeleting && t.Org == org && t.ID > after
	}, func(a, b backend.Tenant) int { return cmp.Compare(a.ID, b.ID) })
}

// RenameTenant implements [backend.TenantRenamer].
func (r *registry) RenameTenant(ctx context.Context, uid string, rev int64, id string) error {
	return r.write(ctx, func(d *registryData) error {
		t, ok := d.tenants[uid]
		if !ok || t.Rev != rev || t.State == backend.TenantDeleting {
			return fmt.Errorf("rename tenant to %q: it was changed: %w", id, backend.ErrConflict)
		}
		if other, taken := d.names[tenantName{t.Org, id}]; taken && other != uid {
			return fmt.Errorf("rename tenant to %q: %w", id, backend.ErrExists)
		}
		delete(d.names, tenantName{t.Org, t.ID})
		d.names[tenantName{t.Org, id}] = uid
		t.ID = id
		t.Rev++
		return nil
	})
}

func (r *registry) UpdateTenant(ctx context.Context, t backend.Tenant) (rev int64, err error) {
	err = r.write(ctx, func(d *registryData) error {
		old, ok := d.tenants[t.UID]
		if !ok {
			return fmt.Errorf("update tenant %q: %w", t.ID, backend.ErrNotFound)
		}
		if old.Rev != t.Rev {
			return fmt.Errorf("update tenant %q: revision %d, not %d: %w", t.ID, old.Rev, t.Rev, backend.ErrConflict)
		}
		if old.State == backend.TenantDeleting && t.State != backend.TenantDeleting {
			return fmt.Errorf("update tenant %q: it is being deleted: %w", t.ID, backend.ErrConflict)
		}
		if old.State != backend.TenantDeleting && t.State == backend.TenantDeleting {
			delete(d.names, tenantName{old.Org, old.ID})
		}
		old.State, old.Error, old.Data = t.State, t.Error, slices.Clone(t.Data)
		old.Rev++
		rev = old.Rev
		return nil
	})
	return rev, err
}

func (r *registry) DeletingTenants(ctx context.Context, limit int) ([]backend.Tenant, error) {
	return r.selectTenants(ctx, limit, func(t *backend.Tenant) bool {
		return t.State == backend.TenantDeleting
	}, func(a, b backend.Tenant) int { return cmp.Compare(a.UID, b.UID) })
}

func (r *registry) ForgetTenant(ctx context.Context, uid string) error {
	return r.write(ctx, func(d *registryData) error {
		t, ok := d.tenants[uid]
		if !ok {
			return fmt.Errorf("forget tenant: %w", backend.ErrNotFound)
		}
		if t.State != backend.TenantDeleting {
			return fmt.Errorf("forget tenant %q: it is %s: %w", t.ID, t.State, backend.ErrConflict)
		}
		delete(d.tenants, uid)
		return nil
	})
}

func (r *registry) SetWake(ctx context.Context, uid string, at time.Time) error {
	return r.write(ctx, func(d *registryData) error {
		t, ok := d.tenants[uid]
		if !ok {
			return fmt.Errorf("set wake: %w", backend.ErrNotFound)
		}
		t.Wake = storerules.Stamped(at)
		return nil
	})
}

func (r *registry) Awake(ctx context.Context, now time.Time, limit int) ([]backend.Tenant, error) {
	return r.selectTenants(ctx, limit, func(t *backend.Tenant) bool {
		return t.State != backend.TenantDeleting && !t.Wake.IsZero() && !t.Wake.After(now)
	}, func(a, b backend.Tenant) int {
		return cmp.Or(a.Wake.Compare(b.Wake), cmp.Compare(a.UID, b.UID))
	})
}

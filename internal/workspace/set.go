// Package workspace manages the tenants of a deployment: their records, the cache of open workspaces, the embedders of
// their vectors, and the creation and removal of tenants.
package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/uid"
)

// Attention schedules background work of tenants.
type Attention interface {
	// Wake plans processing of a workspace whose stored wake time is at.
	Wake(uid string, at time.Time)
	// Deleted is called after items of a workspace, or the workspace itself, were deleted.
	Deleted(uid string)
	// Unpark is called when a workspace that could not be processed can be.
	Unpark(uid string)
	// Tidy is called when a workspace has lanes to drop.
	Tidy(uid string)
	// Refine is called when a workspace may lack vectors of the slow embedder.
	Refine(uid string)
	// Upkeep is called when a workspace may need upkeep, which can wait until the workers are idle.
	Upkeep(uid string)
	// RemoveLater is called when a deleted tenant is to be removed.
	RemoveLater()
}

// Config is what a Set needs.
type Config struct {
	Backend    backend.Backend
	Gate       *Gate
	Models     []Model // embedders; the first one embeds new items
	Slow       int     // index in Models of the slow embedder, which refines the vectors of the first; 0: none
	MaxIdle    int     // maximal number of idle open workspaces
	MaxTenants int     // maximal number of tenants of an organisation; 0: no bound
	Patience   time.Duration
	Words      func(predicate, context string) []uint64 // words of a relation, for stores that index them
	Leases     *lease.Keeper                            // nil: only this process has the deployment open
	Logger     *slog.Logger
}

// Set holds the tenants of a deployment. It is safe for concurrent use.
type Set struct {
	Config
	registry backend.Registry
	records  *records
	spaces   *Cache[*Space]
	attend   Attention
	doomed   sync.Map // uid -> struct{}: workspaces that are being removed and must not be opened
	leased   sync.Map // uid -> struct{}: workspaces in which an earlier process may have left claims
	gate     *Gate
	tallies  *tallies
	damaged  atomic.Int64 // damaged rows that reads have left out
	losses   sync.Map     // uid -> struct{}: workspaces that lacked acknowledged changes when they were opened

	// Traffic counts the recalls that run now.
	Traffic Traffic
}

// NewSet returns the tenants of a backend. SetAttention must be called before tenants are created or deleted.
func NewSet(c Config) *Set {
	s := &Set{Config: c, registry: c.Backend.Registry(), records: newRecords(), gate: c.Gate, tallies: newTallies()}
	s.spaces = NewCache(c.MaxIdle, s.openSpace, s.closeSpace)
	return s
}

// SetAttention sets the scheduler of background work.
func (s *Set) SetAttention(a Attention) { s.attend = a }

// Registry is the deployment's registry.
func (s *Set) Registry() backend.Registry { return s.registry }

// Leased notes that an earlier process may have left claims in a workspace.
func (s *Set) Leased(uid string) { s.leased.Store(uid, struct{}{}) }

// Close closes every workspace and the backend.
func (s *Set) Close() error {
	err := s.spaces.Close()
	ctx, cancel := context.WithTimeout(context.Background(), s.Patience)
	defer cancel()
	if terr := s.tallies.store(ctx, s.registry); terr != nil {
		s.Logger.Warn("how many items tenants hold could not be stored: metrics may be out of date until these are opened", "err", terr)
	}
	return errors.Join(err, s.Backend.Close())
}

// Open admits a call on a tenant that is ready, and pins its space until Release.
func (s *Set) Open(ctx context.Context, op, org, tenant string) (*Ref, error) {
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	r, err := s.acquire(ctx, op, org, tenant)
	if err != nil {
		s.gate.Leave()
		return nil, err
	}
	return r, nil
}

// OpenUID admits a call on the tenant with a uid, and pins its space until Release. It returns backend.ErrNotFound
// if there is no such tenant or it is not ready.
func (s *Set) OpenUID(ctx context.Context, uid string) (*Ref, error) {
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	r, err := func() (*Ref, error) {
		t, err := s.registry.TenantByUID(ctx, uid)
		if err != nil {
			return nil, err
		}
		if t.State != backend.TenantReady {
			return nil, backend.ErrNotFound
		}
		rec, err := DecodeRecord(t)
		if err != nil {
			return nil, err
		}
		sp, err := s.Acquire(ctx, uid)
		if err != nil {
			return nil, err
		}
		if err := sp.Serving().Foreign(); err != nil {
			s.ReleaseUID(uid)
			return nil, err
		}
		return &Ref{Space: sp, Record: rec, set: s}, nil
	}()
	if err != nil {
		s.gate.Leave()
		return nil, err
	}
	return r, nil
}

// acquire pins the space of a tenant that is ready and whose embedder the service has.
func (s *Set) acquire(ctx context.Context, op, org, tenant string) (*Ref, error) {
	r, err := s.acquireAny(ctx, op, org, tenant)
	if err != nil {
		return nil, err
	}
	if err := r.Serving().Foreign(); err != nil {
		s.spaces.Release(r.UID)
		return nil, err
	}
	return r, nil
}

// provisionPatience is the time for which a call waits for a new tenant to be provisioned, which takes milliseconds.
const provisionPatience = 2 * time.Second

// provisioned returns the record of a tenant. It first waits until the tenant is provisioned, up to provisionPatience.
func (s *Set) provisioned(ctx context.Context, op, org, tenant string) (*Record, error) {
	rec, err := s.Record(ctx, op, org, tenant)
	if err != nil || rec.State != backend.TenantProvisioning {
		return rec, err
	}
	late := time.NewTimer(provisionPatience)
	defer late.Stop()
	for {
		changed := s.RecordsChanged()
		rec, err := s.Record(ctx, op, org, tenant)
		if err != nil || rec.State != backend.TenantProvisioning {
			return rec, err
		}
		select {
		case <-changed:
		case <-late.C:
			return rec, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.gate.Life().Done():
			return rec, nil
		}
	}
}

// acquireAny is acquire for a tenant with any embedder.
func (s *Set) acquireAny(ctx context.Context, op, org, tenant string) (*Ref, error) {
	rec, err := s.provisioned(ctx, op, org, tenant)
	if err != nil {
		return nil, err
	}
	switch rec.State {
	case backend.TenantProvisioning:
		return nil, &fault.Error{Op: op, Kind: fault.KindNotReady, Resource: fault.Tenant, ID: fault.ShortID(tenant), Err: errors.New("tenant is still being provisioned")}
	case backend.TenantFailed:
		return nil, &fault.Error{Op: op, Kind: fault.KindNotReady, Resource: fault.Tenant, ID: fault.ShortID(tenant), Err: errors.New("provisioning failed; create the tenant again")}
	}
	if rec.Data.Importing {
		return nil, &fault.Error{Op: op, Kind: fault.KindNotReady, Resource: fault.Tenant, ID: fault.ShortID(tenant), Err: errors.New("tenant is still being imported")}
	}
	sp, err := s.Acquire(ctx, rec.UID)
	if err != nil {
		return nil, fault.Wrap(op, fault.Tenant, tenant, err)
	}
	return &Ref{Space: sp, Record: rec, set: s}, nil
}

// Acquire opens a space for background work. After a success the caller must call ReleaseUID.
func (s *Set) Acquire(ctx context.Context, uid string) (*Space, error) {
	sp, err := s.spaces.Acquire(ctx, uid)
	if errors.Is(err, errCacheClosed) {
		return nil, &fault.Error{Kind: fault.KindClosed, Err: fault.ErrClosed}
	}
	if err != nil {
		return nil, err
	}
	if err := s.refresh(ctx, sp); err != nil {
		s.spaces.Release(uid)
		return nil, err
	}
	return sp, nil
}

// AcquireOpen is Acquire if the space is open, and reports whether it is.
func (s *Set) AcquireOpen(uid string) (*Space, bool) { return s.spaces.AcquireOpen(uid) }

// ReleaseUID ends a use that Acquire or AcquireOpen began.
func (s *Set) ReleaseUID(uid string) { s.spaces.Release(uid) }

// openSpace opens a workspace for the cache. It loads the Serving and lets the indexes catch up.
func (s *Set) openSpace(ctx context.Context, uid string) (*Space, error) {
	if _, gone := s.doomed.Load(uid); gone {
		return nil, fmt.Errorf("workspace: %w", backend.ErrNotFound)
	}
	ws, err := s.Backend.OpenWorkspace(ctx, uid)
	if outOfFiles(err) && s.spaces.EvictIdle(evictOnFull) > 0 {
		s.Logger.Warn("no file descriptors were left: idle tenants were closed", "uid", uid)
		ws, err = s.Backend.OpenWorkspace(ctx, uid)
	}
	if outOfFiles(err) {
		return nil, fmt.Errorf("%w: %w", backend.ErrUnavailable, err)
	}
	if err != nil {
		return nil, err
	}
	sp := newSpace(uid, ws)
	if t, ok := sp.Store.(backend.LossTeller); ok {
		for _, what := range t.Lost() {
			s.losses.Store(uid, struct{}{})
			s.Logger.Error("acknowledged data are lost: "+what, "uid", uid)
		}
	}
	if s.Leases != nil {
		sp.Follower.Leader = newLead(s.Leases, uid)
	}
	sp.upkeep = func() { s.attend.Upkeep(uid) }
	if k, ok := sp.Store.(backend.WordHasher); ok {
		k.SetWordHash(s.Words)
	}
	if err := s.loadServing(ctx, sp); err != nil {
		return nil, errors.Join(err, ws.Close())
	}
	if err := sp.Follower.Open(ctx); err != nil {
		sp.Follower.Close()
		return nil, errors.Join(err, ws.Close())
	}
	if _, leased := s.leased.Load(uid); leased {
		if v, ok := sp.Store.(backend.LeaseVoider); ok {
			if err := v.VoidLeases(ctx); err != nil {
				sp.Follower.Close()
				return nil, errors.Join(err, ws.Close())
			}
		}
		s.leased.Delete(uid)
	}
	if id := &sp.Serving().Identity; id.Old != nil || id.Turned {
		s.attend.Tidy(uid)
	}
	if s.Slow > 0 {
		s.attend.Refine(uid)
	}
	s.attend.Upkeep(uid)
	return sp, nil
}

func (s *Set) closeSpace(sp *Space) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.Patience)
	defer cancel()
	if _, gone := s.doomed.Load(sp.UID); !gone {
		if t, err := sp.count(ctx); err == nil {
			s.tallies.set(sp.UID, t)
		}
	}
	s.keepUses(ctx, sp)
	sp.Follower.Close()
	err := sp.Follower.Flush(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // nothing is lost
		s.Logger.Warn("the indexes of a tenant could not be written in time: they are made from its store when it is opened", "uid", sp.UID, "waited", s.Patience)
		err = nil
	}
	err = errors.Join(err, sp.Workspace.Close())
	if name := lease.OfIndexes(sp.UID); s.Leases != nil && s.Leases.Holds(name) {
		_ = s.Leases.Release(ctx, name) // else it ends by itself
	}
	return err
}

// Create registers a tenant and plans its provisioning.
func (s *Set) Create(ctx context.Context, org, id string, d Data) (*Record, error) {
	const op = "create tenant"
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fault.Wrap(op, fault.Tenant, id, err)
	}
	now := time.Now().UTC()
	t := backend.Tenant{Org: org, ID: id, UID: uid.New(), State: backend.TenantProvisioning, CreatedAt: now, Data: data, Wake: now}
	if err := s.registry.CreateTenant(ctx, t, s.MaxTenants); err != nil {
		switch {
		case errors.Is(err, backend.ErrExists):
			return nil, &fault.Error{Op: op, Kind: fault.KindExists, Resource: fault.Tenant, ID: id, Err: errors.New("a tenant with this id exists")}
		case errors.Is(err, backend.ErrFull):
			return nil, &fault.Error{Op: op, Kind: fault.KindForbidden, Resource: fault.Tenant, ID: id, Err: fmt.Errorf("the organisation may have %d tenants", s.MaxTenants)}
		}
		return nil, fault.Wrap(op, fault.Tenant, id, err)
	}
	s.records.drop(org, id)
	s.attend.RemoveLater() // removes the workspace of a failed tenant that this one replaces
	s.attend.Wake(t.UID, now)
	r, err := DecodeRecord(t)
	return r, fault.Wrap(op, fault.Tenant, id, err)
}

// Delete marks a tenant as deleting. Its id is free at once. Its data is removed in the background.
func (s *Set) Delete(ctx context.Context, org, id string) error {
	return s.DeleteIf(ctx, org, id, func(*Record) bool { return true })
}

// DeleteIf is Delete that does nothing if the tenant is not one that meets a condition.
func (s *Set) DeleteIf(ctx context.Context, org, id string, is func(*Record) bool) error {
	const op = "delete tenant"
	for {
		r, err := s.Record(ctx, op, org, id)
		if err != nil || !is(r) {
			return err
		}
		t := r.Tenant
		t.State = backend.TenantDeleting
		_, err = s.registry.UpdateTenant(ctx, t)
		s.records.drop(org, id)
		if errors.Is(err, backend.ErrConflict) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue // the tenant became ready meanwhile
		}
		if err != nil {
			return fault.Wrap(op, fault.Tenant, id, err)
		}
		s.doomed.Store(t.UID, struct{}{})
		s.tallies.drop(t.UID)
		s.losses.Delete(t.UID)
		s.attend.Deleted(t.UID)
		s.attend.RemoveLater()
		return nil
	}
}

// Provision creates the workspace of a new tenant.
func (s *Set) Provision(ctx context.Context, t backend.Tenant) error {
	_, err := s.spaces.Acquire(ctx, t.UID)
	if err == nil {
		s.spaces.Release(t.UID)
		t.State = backend.TenantReady
	} else if ctx.Err() != nil {
		return ctx.Err()
	} else {
		s.Logger.Error("provisioning a tenant failed", "uid", t.UID, "err", err)
		t.State, t.Error = backend.TenantFailed, "the workspace could not be made"
	}
	_, uerr := s.registry.UpdateTenant(ctx, t)
	s.records.drop(t.Org, t.ID)
	if errors.Is(uerr, backend.ErrConflict) || errors.Is(uerr, backend.ErrNotFound) {
		return nil // deleted meanwhile
	}
	return uerr
}

// RemoveDeleted removes the workspaces of deleted tenants, and reports whether none is left. Some may still be in use.
func (s *Set) RemoveDeleted(ctx context.Context) (bool, error) {
	ts, err := s.registry.DeletingTenants(ctx, 100)
	if err != nil || len(ts) == 0 {
		return err == nil, err
	}
	all := len(ts) < 100
	var errs []error
	for _, t := range ts {
		s.doomed.Store(t.UID, struct{}{})
		if !s.spaces.Evict(t.UID) {
			all = false
			continue
		}
		err := s.Backend.RemoveWorkspace(ctx, t.UID)
		if err == nil {
			s.tallies.drop(t.UID)
			s.losses.Delete(t.UID)                 // a call may have opened it before it was deleted
			err = s.tallies.store(ctx, s.registry) // delete the tally before the tenant is forgotten, since nothing deletes it afterwards
		}
		if err == nil {
			err = s.registry.ForgetTenant(ctx, t.UID)
		}
		if err != nil { // continue with the other tenants
			errs = append(errs, fmt.Errorf("tenant %s: %w", t.UID, err))
			continue
		}
		s.leased.Delete(t.UID)
	}
	return all && len(errs) == 0, errors.Join(errs...)
}

// Field returns the metadata field with a name, or nil if the schema has none.
func (r *Record) Field(name string) *content.Field {
	for i := range r.Data.Schema {
		if r.Data.Schema[i].Name == name {
			return &r.Data.Schema[i]
		}
	}
	return nil
}

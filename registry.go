package contextmem

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// tenantData is what a tenant's registry record holds besides its columns.
type tenantData struct {
	Embeddings bool    `json:"embeddings,omitempty"`
	Dimension  int     `json:"dimension,omitempty"`
	Schema     []Field `json:"schema,omitempty"`
}

// tenantRecord is a decoded registry record; it is never changed.
type tenantRecord struct {
	rec  backend.Tenant
	data tenantData
}

func decodeTenant(t backend.Tenant) (*tenantRecord, error) {
	r := &tenantRecord{rec: t}
	if err := json.Unmarshal(t.Data, &r.data); err != nil {
		return nil, fmt.Errorf("record of a tenant: %w", backend.ErrCorrupt)
	}
	return r, nil
}

func (r *tenantRecord) info() TenantInfo {
	return TenantInfo{Org: r.rec.Org, ID: r.rec.ID, UID: r.rec.UID, State: TenantState(r.rec.State), Error: r.rec.Error, CreatedAt: r.rec.CreatedAt,
		Embeddings: r.data.Embeddings, Dimension: r.data.Dimension, Schema: append([]Field(nil), r.data.Schema...)}
}

// tenantCache spares the registry a read for each call. Only this process
// changes the registry, so the cache is told of every change.
type tenantCache struct {
	mu      sync.RWMutex
	records map[[2]string]*tenantRecord
	epoch   int           // rises with every change, so that a read that overlapped one is not kept
	changed chan struct{} // closed and replaced at every change
}

// maxCachedTenants bounds the cache; when it is full it starts anew.
const maxCachedTenants = 100_000

func (c *tenantCache) init() {
	c.records, c.changed = map[[2]string]*tenantRecord{}, make(chan struct{})
}

func (c *tenantCache) drop(org, id string) {
	c.mu.Lock()
	delete(c.records, [2]string{org, id})
	c.epoch++
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
}

func (s *Service) tenantChanged() <-chan struct{} {
	s.cache.mu.RLock()
	defer s.cache.mu.RUnlock()
	return s.cache.changed
}

func (s *Service) tenantRecord(ctx context.Context, op, org, id string) (*tenantRecord, error) {
	c, key := &s.cache, [2]string{org, id}
	c.mu.RLock()
	r, epoch := c.records[key], c.epoch
	c.mu.RUnlock()
	if r != nil {
		return r, nil
	}
	if err := checkTenantID(op, id); err != nil {
		return nil, err
	}
	t, err := s.reg.Tenant(ctx, org, id)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, &Error{Op: op, Kind: KindNotFound, Resource: ResourceTenant, ID: shortID(id), Err: errors.New("tenant not found")}
	}
	if err != nil {
		return nil, wrap(op, ResourceTenant, id, err)
	}
	if r, err = decodeTenant(t); err != nil {
		return nil, wrap(op, ResourceTenant, id, err)
	}
	c.mu.Lock()
	if c.epoch == epoch {
		if len(c.records) >= maxCachedTenants {
			clear(c.records)
		}
		c.records[key] = r
	}
	c.mu.Unlock()
	return r, nil
}

// unlimitedTenants is the value of Options.MaxTenants that bounds nothing.
const unlimitedTenants = 1 << 30

func newUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func (s *Service) createTenant(ctx context.Context, org string, spec TenantSpec, schema []Field) (TenantInfo, error) {
	const op = "create tenant"
	data, err := json.Marshal(tenantData{Embeddings: spec.Embeddings, Dimension: spec.Dimension, Schema: schema})
	if err != nil {
		return TenantInfo{}, wrap(op, ResourceTenant, spec.ID, err)
	}
	now := time.Now().UTC()
	t := backend.Tenant{Org: org, ID: spec.ID, UID: newUID(), State: backend.TenantProvisioning, CreatedAt: now, Data: data, Wake: now}
	limit := s.opts.MaxTenants
	if limit == unlimitedTenants {
		limit = 0 // nothing is counted
	}
	if err := s.reg.CreateTenant(ctx, t, limit); err != nil {
		switch {
		case errors.Is(err, backend.ErrExists):
			return TenantInfo{}, &Error{Op: op, Kind: KindExists, Resource: ResourceTenant, ID: spec.ID, Err: errors.New("a tenant with this id exists")}
		case errors.Is(err, backend.ErrFull):
			return TenantInfo{}, &Error{Op: op, Kind: KindForbidden, Resource: ResourceTenant, ID: spec.ID, Err: fmt.Errorf("the organisation may have %d tenants", s.opts.MaxTenants)}
		}
		return TenantInfo{}, wrap(op, ResourceTenant, spec.ID, err)
	}
	s.cache.drop(org, spec.ID)
	s.sched.removeLater() // the workspace of a failed tenant that this one replaces
	s.sched.wake(t.UID, now)
	r, err := decodeTenant(t)
	if err != nil {
		return TenantInfo{}, wrap(op, ResourceTenant, spec.ID, err)
	}
	return r.info(), nil
}

// updateTenant stores new data for a tenant that must not have changed since r was read.
func (s *Service) updateTenant(ctx context.Context, r *tenantRecord, data tenantData) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	t := r.rec
	t.Data = b
	defer s.cache.drop(t.Org, t.ID)
	_, err = s.reg.UpdateTenant(ctx, t)
	return err
}

func (s *Service) deleteTenant(ctx context.Context, org, id string) error {
	const op = "delete tenant"
	for {
		r, err := s.tenantRecord(ctx, op, org, id)
		if err != nil {
			return err
		}
		t := r.rec
		t.State = backend.TenantDeleting
		_, err = s.reg.UpdateTenant(ctx, t)
		s.cache.drop(org, id)
		if errors.Is(err, backend.ErrConflict) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue // it became ready meanwhile
		}
		if err != nil {
			return wrap(op, ResourceTenant, id, err)
		}
		s.doomed.Store(t.UID, struct{}{})
		s.sched.deleted(t.UID)
		s.sched.removeLater()
		return nil
	}
}

// provision makes the workspace of a new tenant.
func (s *Service) provision(ctx context.Context, t backend.Tenant) error {
	_, err := s.spaces.Acquire(ctx, t.UID)
	if err == nil {
		s.spaces.Release(t.UID)
		t.State = backend.TenantReady
	} else if ctx.Err() != nil {
		return ctx.Err()
	} else {
		s.opts.Logger.Error("provisioning a tenant failed", "uid", t.UID, "err", err)
		t.State, t.Error = backend.TenantFailed, "the workspace could not be made"
	}
	_, uerr := s.reg.UpdateTenant(ctx, t)
	s.cache.drop(t.Org, t.ID)
	if errors.Is(uerr, backend.ErrConflict) || errors.Is(uerr, backend.ErrNotFound) {
		return nil // deleted meanwhile
	}
	return uerr
}

// removeDeleted finishes the removal of tenants; false when some are still in use.
func (s *Service) removeDeleted(ctx context.Context) (bool, error) {
	ts, err := s.reg.DeletingTenants(ctx, 100)
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
		err := s.be.RemoveWorkspace(ctx, t.UID)
		if err == nil {
			err = s.reg.ForgetTenant(ctx, t.UID)
		}
		if err != nil { // the others go on
			errs = append(errs, fmt.Errorf("tenant %s: %w", t.UID, err))
			continue
		}
		s.leased.Delete(t.UID)
	}
	return all && len(errs) == 0, errors.Join(errs...)
}

package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/lease"
)

// Data is the content of a tenant's registry record beside its columns.
type Data struct {
	Embeddings bool            `json:"embeddings,omitempty"`
	Dimension  int             `json:"dimension,omitempty"`
	Schema     []content.Field `json:"schema,omitempty"`
	// Instructions guide the extraction of items without their own.
	Instructions string `json:"instructions,omitempty"`
	Importing    bool   `json:"importing,omitempty"` // an import fills it; nobody else may use it yet
	Import       string `json:"import,omitempty"`    // which one; empty: one of an earlier release
}

// Record is a decoded registry record; it is never changed.
type Record struct {
	backend.Tenant
	Data Data
}

// DecodeRecord decodes the registry record of a tenant.
func DecodeRecord(t backend.Tenant) (*Record, error) {
	r := &Record{Tenant: t}
	if err := json.Unmarshal(t.Data, &r.Data); err != nil {
		return nil, fmt.Errorf("record of a tenant: %w", backend.ErrCorrupt)
	}
	return r, nil
}

var (
	tenantIDRule = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	errTenantID  = errors.New("must be 1 to 128 letters, digits, '.', '_' or '-', starting with a letter or digit")
)

const maxOrgBytes = 256

// CheckOrg returns an error for an invalid id of an organisation. Organisations are not created explicitly.
func CheckOrg(op, id string) error {
	if id == "" {
		return fault.Fieldf(op, fault.KindInvalid, "", "Org", "is required")
	}
	return fault.CheckText(op, "Org", id, maxOrgBytes)
}

// CheckTenantID returns an error for an invalid id of a tenant in a field of a call.
func CheckTenantID(op, field, id string) error {
	if id == "" {
		return fault.Fieldf(op, fault.KindInvalid, "", field, "is required")
	}
	if !tenantIDRule.MatchString(id) {
		return &fault.Error{Op: op, Kind: fault.KindInvalid, Resource: fault.Tenant, ID: fault.ShortID(id), Field: field, Err: errTenantID}
	}
	return nil
}

// records caches tenants' records, so that calls need not read the registry. Changes by this process invalidate
// single records. A possible change by another process invalidates all.
type records struct {
	mu      sync.RWMutex
	byName  map[[2]string]*Record // by organisation and id
	epoch   int                   // incremented by every change; a read during which it changes is not cached
	changed chan struct{}         // closed and replaced at every change
}

// maxRecords bounds the cache. When it is full, it is emptied.
const maxRecords = 100_000

func newRecords() *records {
	return &records{byName: map[[2]string]*Record{}, changed: make(chan struct{})}
}

func (c *records) drop(org, id string) {
	c.mu.Lock()
	delete(c.byName, [2]string{org, id})
	c.epoch++
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
}

// ForgetRecords lets every record be read anew: another process may have changed them.
func (s *Set) ForgetRecords() {
	c := s.records
	c.mu.Lock()
	clear(c.byName)
	c.epoch++
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
}

// WorkspaceChanged wakes those who wait for a state in a workspace: another process may have changed it.
func (s *Set) WorkspaceChanged(uid string) {
	if sp, open := s.AcquireOpen(uid); open {
		sp.StateChanged()
		sp.Follower.FeedChanged(s.Leases != nil && s.Leases.Holds(lease.OfWorkspace(uid)))
		s.ReleaseUID(uid)
	}
}

// RecordsChanged returns a channel that is closed at the next change of any tenant's record.
func (s *Set) RecordsChanged() <-chan struct{} {
	s.records.mu.RLock()
	defer s.records.mu.RUnlock()
	return s.records.changed
}

// Record returns the record of a tenant that is not deleting.
func (s *Set) Record(ctx context.Context, op, org, id string) (*Record, error) {
	c, key := s.records, [2]string{org, id}
	c.mu.RLock()
	r, epoch := c.byName[key], c.epoch
	c.mu.RUnlock()
	if r != nil {
		return r, nil
	}
	if err := CheckTenantID(op, "Tenant", id); err != nil {
		return nil, err
	}
	t, err := s.registry.Tenant(ctx, org, id)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Tenant, ID: fault.ShortID(id), Err: errors.New("tenant not found")}
	}
	if err != nil {
		return nil, fault.Wrap(op, fault.Tenant, id, err)
	}
	if r, err = DecodeRecord(t); err != nil {
		return nil, fault.Wrap(op, fault.Tenant, id, err)
	}
	c.mu.Lock()
	if c.epoch == epoch {
		if len(c.byName) >= maxRecords {
			clear(c.byName)
		}
		c.byName[key] = r
	}
	c.mu.Unlock()
	return r, nil
}

// Rename changes the id of a tenant to a free one. Handles with the old id no longer find the tenant.
func (s *Set) Rename(ctx context.Context, op string, r *Record, id string) error {
	renamer, ok := s.registry.(backend.TenantRenamer)
	if !ok {
		return &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Tenant, ID: fault.ShortID(r.ID), Err: errors.ErrUnsupported}
	}
	if err := CheckTenantID(op, "Tenant", id); err != nil {
		return err
	}
	defer s.records.drop(r.Org, id)
	defer s.records.drop(r.Org, r.ID)
	return fault.Wrap(op, fault.Tenant, id, renamer.RenameTenant(ctx, r.UID, r.Rev, id))
}

// Update stores new data of a tenant. If the tenant has changed since r was read, it returns backend.ErrConflict.
func (s *Set) Update(ctx context.Context, r *Record, data Data) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	t := r.Tenant
	t.Data = b
	defer s.records.drop(t.Org, t.ID)
	_, err = s.registry.UpdateTenant(ctx, t)
	return err
}

// Package connect runs connectors. It keeps their settings, credentials and resources in the registry, schedules their syncs, and ingests
// the objects that providers return. The registry holds all state; after a restart a sync continues where it stopped.
package connect

import (
	"context"
	"log/slog"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/lease"
)

// Sealer encrypts credentials at rest.
type Sealer interface {
	// Seal encrypts plain for a named place. The sealed value cannot be opened for another place.
	Seal(place string, plain []byte) []byte
	// Hold keeps the sealing key until release is called. The caller calls Seal and stores the result together with the writes in with
	// before it calls release. If the writes conflict, the caller has to call Hold and Seal again.
	Hold(ctx context.Context) (with []backend.RecordWrite, release func(), err error)
	// Open decrypts a value that Seal encrypted for the place.
	Open(ctx context.Context, place string, sealed []byte) ([]byte, error)
}

// Tenants looks up tenants.
type Tenants interface {
	// TenantUID returns the unique identifier of a tenant. A later tenant of the same name has another one. It returns fault.ErrNotFound if there is no such tenant.
	TenantUID(ctx context.Context, op, org, tenant string) (string, error)
}

// Place is the sub-tenant that objects are ingested into.
type Place struct{ Org, Tenant, Sub string }

// Items ingests and deletes objects.
type Items interface {
	// Add ingests files and app items. When it returns, all of them are durable except those with an error in refused, which has one entry
	// for each, files first. If err is not nil, nothing was stored.
	Add(ctx context.Context, at Place, files []content.File, apps []content.AppItem, instructions string) (refused []error, err error)
	// Exists reports whether an item exists.
	Exists(ctx context.Context, at Place, id string) (bool, error)
	// Delete deletes items. Missing items, or a missing tenant, are no error.
	Delete(ctx context.Context, at Place, ids []string) error
}

// Config holds the settings of an Engine. All fields but Leases and Synced are required.
type Config struct {
	Registry  backend.Registry
	Sealer    Sealer
	Tenants   Tenants
	Items     Items
	Providers []connector.Provider
	Logger    *slog.Logger
	// Supported and Parse are passed to providers; see connector.SyncRequest.
	Supported func(name, contentType string) bool
	Parse     func(ctx context.Context, in connector.ParseInput) (*connector.Document, error)
	// MaxFileBytes bounds the size of a file, and MaxItems the number of objects in one call of Items.Add.
	MaxFileBytes int64
	MaxItems     int
	// Leases makes sure that only one process at a time syncs a connector; nil if no other process has the deployment open.
	Leases *lease.Keeper
	// Synced is called after each sync with the number of objects that it ingested; it may be nil.
	Synced func(provider, outcome string, objects int)
}

// Engine runs the connectors of a deployment. It is safe for concurrent use.
type Engine struct {
	cfg       Config
	reg       backend.Registry
	providers map[string]*provider
	syncs     *syncs
	accounts  sync.Mutex // serializes the creation of connectors, so that account scopes stay unique
}

// New returns an engine, which syncs nothing until Run is called. It returns an error if a provider's description is invalid.
func New(c Config) (*Engine, error) {
	ps, err := describeProviders(c.Providers)
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: c, reg: c.Registry, providers: ps}
	e.syncs = newSyncs(e)
	return e, nil
}

// Load schedules every stored connector to be checked at once.
func (e *Engine) Load(ctx context.Context) error { return e.syncs.load(ctx) }

// Run syncs until life ends, and returns when every sync has stopped.
func (e *Engine) Run(life context.Context) { e.syncs.run(life) }

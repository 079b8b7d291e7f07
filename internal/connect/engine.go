// Package connect runs connectors: it keeps their settings, credentials and resources in the registry, decides when which
// is synced, and ingests what providers read. The registry holds the truth; a restart goes on where the last sync stopped.
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

// Sealer keeps credentials unreadable at rest.
type Sealer interface {
	// Seal encrypts plain for the named place; what is sealed for one place can't be opened at another.
	Seal(place string, plain []byte) []byte
	// Hold keeps the sealing key as it is until release is called: from Seal until what was sealed is stored, together with the writes
	// that it returns. When these conflict it is to be called again, and sealed again.
	Hold(ctx context.Context) (with []backend.RecordWrite, release func(), err error)
	// Open reverses Seal.
	Open(ctx context.Context, place string, sealed []byte) ([]byte, error)
}

// Tenants answers which tenants there are.
type Tenants interface {
	// TenantUID returns the identifier of a tenant, which no later tenant of the same name has; fault.ErrNotFound without one.
	TenantUID(ctx context.Context, op, org, tenant string) (string, error)
}

// Place is the partition that objects are ingested into.
type Place struct{ Org, Tenant, Sub string }

// Items ingests and removes objects.
type Items interface {
	// Add ingests files and app items; when it returns all of them are durable, except those with an error in refused,
	// which has an entry for each: files first. An error of the call itself means that nothing was stored.
	Add(ctx context.Context, at Place, files []content.File, apps []content.AppItem, instructions string) (refused []error, err error)
	// Exists reports whether the item is there.
	Exists(ctx context.Context, at Place, id string) (bool, error)
	// Delete removes items; those that are gone already, with their tenant perhaps, are no error.
	Delete(ctx context.Context, at Place, ids []string) error
}

// Config is what an Engine works with. All fields but Leases and Synced are required.
type Config struct {
	Registry  backend.Registry
	Sealer    Sealer
	Tenants   Tenants
	Items     Items
	Providers []connector.Provider
	Logger    *slog.Logger
	// Supported and Parse are handed to providers; see connector.SyncRequest.
	Supported func(name, contentType string) bool
	Parse     func(ctx context.Context, in connector.ParseInput) (*connector.Document, error)
	// MaxFileBytes bounds one file, MaxItems the objects of one call of Items.Add.
	MaxFileBytes int64
	MaxItems     int
	// Leases lets one process at a time sync a connector; nil: no other process has the deployment open.
	Leases *lease.Keeper
	// Synced is told of each sync that ended, with how many objects it handed over; nil: nobody is.
	Synced func(provider, outcome string, objects int)
}

// Engine runs the connectors of a deployment. It is safe for concurrent use.
type Engine struct {
	cfg       Config
	reg       backend.Registry
	providers map[string]*provider
	syncs     *syncs
	accounts  sync.Mutex // one new connector at a time, so that account scopes stay distinct
}

// New returns an engine that syncs nothing until Run. It refuses providers whose description is not valid.
func New(c Config) (*Engine, error) {
	ps, err := describeProviders(c.Providers)
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: c, reg: c.Registry, providers: ps}
	e.syncs = newSyncs(e)
	return e, nil
}

// Load plans every stored connector; each is looked at once after a start.
func (e *Engine) Load(ctx context.Context) error { return e.syncs.load(ctx) }

// Run syncs until life ends, and returns when every sync has stopped.
func (e *Engine) Run(life context.Context) { e.syncs.run(life) }

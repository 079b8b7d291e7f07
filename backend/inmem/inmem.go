// Package inmem is a backend that keeps everything in memory. It is meant for tests and demos.
// It is also the reference of the conformance suite: every search is exhaustive, and every rule of package backend is implemented in its simplest form.
//
// All data is lost when the process ends. Workspaces keep their data after Close. The data of a closed Backend can be opened again with
// [Backend.Reopen], so that tests can simulate a restart.
package inmem

import (
	"context"
	"fmt"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// Backend keeps a deployment in memory. It implements [backend.Backend], and also [backend.Stores] and [backend.Indexers] separately,
// so that [backend.Compose] can combine its stores or indexes with those of another backend. Safe for concurrent use.
type Backend struct {
	mu      sync.Mutex
	closed  bool
	data    *deployment
	reg     *registry
	stores  map[string]*store // open stores
	indexes map[string]*index
}

var (
	_ backend.Backend  = (*Backend)(nil)
	_ backend.Stores   = (*Backend)(nil)
	_ backend.Indexers = (*Backend)(nil)
)

// deployment is the data that remains after a Backend is closed.
type deployment struct {
	registry *registryData
	stores   map[string]*storeData
	indexes  map[string]*indexData
}

// New returns an empty deployment.
func New() *Backend {
	return open(&deployment{
		registry: newRegistryData(),
		stores:   make(map[string]*storeData),
		indexes:  make(map[string]*indexData),
	})
}

func open(d *deployment) *Backend {
	return &Backend{
		data:    d,
		reg:     &registry{data: d.registry},
		stores:  make(map[string]*store),
		indexes: make(map[string]*index),
	}
}

// Reopen returns a Backend over the data of b, as after a restart of the process. b must be closed; otherwise Reopen returns [backend.ErrLocked].
// Only one Backend over the same data may be in use at a time.
func (b *Backend) Reopen() (*Backend, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		return nil, fmt.Errorf("reopen: %w", backend.ErrLocked)
	}
	return open(b.data), nil
}

// Registry returns the registry of the deployment.
func (b *Backend) Registry() backend.Registry { return b.reg }

// OpenWorkspace opens the workspace uid with its store and indexes, which are one value.
// It returns [backend.ErrConflict] if the workspace is open.
func (b *Backend) OpenWorkspace(ctx context.Context, uid string) (backend.Workspace, error) {
	return backend.Compose(b, b).OpenWorkspace(ctx, uid)
}

// RemoveWorkspace deletes the workspace uid. It returns [backend.ErrConflict] if the workspace is open.
func (b *Backend) RemoveWorkspace(ctx context.Context, uid string) error {
	return backend.Compose(b, b).RemoveWorkspace(ctx, uid)
}

// OpenStore opens the store of the workspace uid without its indexes. It returns [backend.ErrConflict] if the store is open.
func (b *Backend) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	if err := b.enter(ctx, uid); err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	if _, ok := b.stores[uid]; ok {
		return nil, fmt.Errorf("open store: already open: %w", backend.ErrConflict)
	}
	d := b.data.stores[uid]
	if d == nil {
		d = newStoreData()
		b.data.stores[uid] = d
	}
	s := &store{d: d}
	s.onClose = func() { release(b, b.stores, uid) }
	b.stores[uid] = s
	return s, nil
}

// RemoveStore deletes the store of the workspace uid. It returns [backend.ErrConflict] if the store is open.
func (b *Backend) RemoveStore(ctx context.Context, uid string) error {
	if err := b.enter(ctx, uid); err != nil {
		return err
	}
	defer b.mu.Unlock()
	if _, ok := b.stores[uid]; ok {
		return fmt.Errorf("remove store: still open: %w", backend.ErrConflict)
	}
	delete(b.data.stores, uid)
	return nil
}

// OpenIndexes opens the indexes of the workspace uid without its store. All indexes are one value.
// It returns [backend.ErrConflict] if the indexes are open.
func (b *Backend) OpenIndexes(ctx context.Context, uid string) (backend.IndexSet, error) {
	if err := b.enter(ctx, uid); err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	if _, ok := b.indexes[uid]; ok {
		return nil, fmt.Errorf("open indexes: already open: %w", backend.ErrConflict)
	}
	d := b.data.indexes[uid]
	if d == nil {
		d = newIndexData()
		b.data.indexes[uid] = d
	}
	x := &index{d: d}
	x.onClose = func() { release(b, b.indexes, uid) }
	b.indexes[uid] = x
	return x, nil
}

// RemoveIndexes deletes the indexes of the workspace uid. It returns [backend.ErrConflict] if the indexes are open.
func (b *Backend) RemoveIndexes(ctx context.Context, uid string) error {
	if err := b.enter(ctx, uid); err != nil {
		return err
	}
	defer b.mu.Unlock()
	if _, ok := b.indexes[uid]; ok {
		return fmt.Errorf("remove indexes: still open: %w", backend.ErrConflict)
	}
	delete(b.data.indexes, uid)
	return nil
}

// Close closes the deployment and its open workspaces. Further calls do nothing.
func (b *Backend) Close() error {
	b.mu.Lock()
	b.closed = true
	var open []interface{ Close() error }
	for _, s := range b.stores {
		open = append(open, s)
	}
	for _, x := range b.indexes {
		open = append(open, x)
	}
	b.mu.Unlock()
	for _, o := range open {
		if err := o.Close(); err != nil {
			return err
		}
	}
	b.reg.close()
	return nil
}

// enter locks b for a call about the workspace uid. If enter returns an error, b is not locked.
func (b *Backend) enter(ctx context.Context, uid string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := backend.CheckUID(uid); err != nil {
		return err
	}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return backend.ErrClosed
	}
	return nil
}

func release[T any](b *Backend, open map[string]T, uid string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(open, uid)
}

// Package inmem is a backend that keeps everything in memory. It serves tests and
// demos, and it is the oracle of the conformance suite: every search is exhaustive
// and every rule of package backend is written down in its plainest form.
//
// Nothing survives the process. Workspaces survive their Close, and the data of a
// closed Backend can be opened again with [Backend.Reopen], so that a restart can
// be tested.
package inmem

import (
	"context"
	"fmt"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// Backend keeps a deployment in memory. It is a whole [backend.Backend] and also
// each half of one ([backend.Stores], [backend.Indexers]), so that it can be
// joined with another half by [backend.Compose]. Safe for concurrent use.
type Backend struct {
	mu      sync.Mutex
	closed  bool
	data    *deployment
	reg     *registry
	stores  map[string]*store // the open ones
	indexes map[string]*index
}

var (
	_ backend.Backend  = (*Backend)(nil)
	_ backend.Stores   = (*Backend)(nil)
	_ backend.Indexers = (*Backend)(nil)
)

// deployment is what outlives a Backend.
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

// Reopen returns a Backend over the data of b, which must be closed, as a process
// that starts again would find it. [backend.ErrLocked] when b is not closed. Of
// several Backends over the same data only one may be in use.
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

// OpenWorkspace opens the workspace uid with its indexes, which are one value.
// [backend.ErrConflict] when it is open.
func (b *Backend) OpenWorkspace(ctx context.Context, uid string) (backend.Workspace, error) {
	return backend.Compose(b, b).OpenWorkspace(ctx, uid)
}

// RemoveWorkspace forgets the workspace uid. [backend.ErrConflict] when it is open.
func (b *Backend) RemoveWorkspace(ctx context.Context, uid string) error {
	return backend.Compose(b, b).RemoveWorkspace(ctx, uid)
}

// OpenStore opens the store of the workspace uid alone. [backend.ErrConflict]
// when it is open.
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

// RemoveStore forgets the store of the workspace uid. [backend.ErrConflict] when
// it is open.
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

// OpenIndexes opens the indexes of the workspace uid alone; they are one value.
// [backend.ErrConflict] when they are open.
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

// RemoveIndexes forgets the indexes of the workspace uid. [backend.ErrConflict]
// when they are open.
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

// Close ends the use of the deployment, workspaces still open included. Closing
// again does nothing.
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

// enter locks b for a call about the workspace uid; on an error it is not locked.
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

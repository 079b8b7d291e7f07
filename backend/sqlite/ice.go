package sqlite

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// errMoved is the error of writes to a deployment that has been moved.
var errMoved = fmt.Errorf("%w: %w", backend.ErrMoved, backend.ErrUnavailable)

// ice can suspend all writes of a deployment, and counts the writes of each workspace.
type ice struct {
	mu     sync.Mutex
	under  int              // number of writes in flight
	idle   chan struct{}    // closed when under becomes 0; nil: nobody waits
	thawed chan struct{}    // closed when writes may continue; nil: they are not suspended
	moved  bool             // writes fail, since the deployment was moved
	stamps map[string]int64 // number of writes of each workspace; nil: watch was not called yet
}

// enter waits until a write may begin. If it returns nil, the caller must call leave.
func (z *ice) enter(ctx context.Context) error {
	for {
		z.mu.Lock()
		thawed := z.thawed
		if z.moved {
			z.mu.Unlock()
			return errMoved
		}
		if thawed == nil {
			z.under++
			z.mu.Unlock()
			return nil
		}
		z.mu.Unlock()
		select {
		case <-thawed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave ends a write to a workspace, or to the registry if uid is empty.
func (z *ice) leave(uid string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.stamps != nil {
		z.stamps[uid]++
	}
	if z.under--; z.under == 0 && z.idle != nil {
		close(z.idle)
		z.idle = nil
	}
}

// watch returns the number of writes of each workspace since its first call. A write counts when it ends.
func (z *ice) watch() map[string]int64 {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.stamps == nil {
		z.stamps = make(map[string]int64)
	}
	return maps.Clone(z.stamps)
}

// freeze suspends new writes and waits for those in flight.
func (z *ice) freeze(ctx context.Context) error {
	z.mu.Lock()
	if z.thawed != nil {
		z.mu.Unlock()
		return fmt.Errorf("another move is under way: %w", backend.ErrConflict)
	}
	z.thawed = make(chan struct{})
	var idle chan struct{}
	if z.under > 0 {
		idle = make(chan struct{})
		z.idle = idle
	}
	z.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		z.thaw()
		return ctx.Err()
	}
}

func (z *ice) thaw() {
	z.mu.Lock()
	defer z.mu.Unlock()
	close(z.thawed)
	z.thawed, z.idle = nil, nil
}

// leaveForGood makes all further writes fail if moved is set.
func (z *ice) leaveForGood(moved bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.moved = moved
}

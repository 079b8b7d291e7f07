package sqlite

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// errMoved is what writes to a deployment get that lives elsewhere now.
var errMoved = fmt.Errorf("%w: %w", backend.ErrMoved, backend.ErrUnavailable)

// ice lets all writes of a deployment wait for a moment, and notes which workspaces were written to.
type ice struct {
	mu     sync.Mutex
	under  int              // writes under way
	idle   chan struct{}    // closed when under gets 0; nil: nobody waits for that
	thawed chan struct{}    // closed when writes may go on; nil: they may
	moved  bool             // they never will
	stamps map[string]int64 // writes by workspace; nil: nobody asked yet
}

// enter waits until a write may begin. Who gets nil owes a leave.
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

// leave ends a write to a workspace; that with an empty uid is the registry.
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

// watch returns how often workspaces were written to since the first call. Writes that are under way count when they end.
func (z *ice) watch() map[string]int64 {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.stamps == nil {
		z.stamps = make(map[string]int64)
	}
	return maps.Clone(z.stamps)
}

// freeze waits for writes that are under way; others wait until thaw.
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

// leaveForGood lets writes fail from here on.
func (z *ice) leaveForGood(moved bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.moved = moved
}

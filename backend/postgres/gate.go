package postgres

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
)

// gate counts calls in and lets Close wait for them.
type gate struct {
	closing atomic.Bool
	mu      sync.RWMutex // held for reading by each call
}

// enter starts a call; when it returns nil the caller owes a leave.
func (g *gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !g.closing.Load() {
		g.mu.RLock()
		if !g.closing.Load() {
			return nil
		}
		g.mu.RUnlock()
	}
	return backend.ErrClosed
}

func (g *gate) leave() { g.mu.RUnlock() }

// shut turns new calls away, waits for those under way and reports whether it was the
// first to do so. A second caller waits as well.
func (g *gate) shut() (first bool) {
	first = !g.closing.Swap(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	return first
}

package storerules

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Gate counts calls in and lets Close wait for them.
type Gate struct {
	closing atomic.Bool
	pause   atomic.Pointer[chan struct{}] // closed when calls may come in again; nil: they may
	mu      sync.RWMutex                  // held for reading by each call
}

// Enter starts a call; when it returns nil the caller owes a Leave.
func (g *Gate) Enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p := g.pause.Load(); p != nil {
		select {
		case <-*p:
		case <-ctx.Done():
			return ctx.Err()
		}
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

// Closing reports whether new calls are turned away.
func (g *Gate) Closing() bool { return g.closing.Load() }

// Leave ends a call.
func (g *Gate) Leave() { g.mu.RUnlock() }

// Alone runs f while no call is under way, and reports whether there was such a moment: it waits a while for those that are, and new
// ones wait that long at most, and for f.
func (g *Gate) Alone(wait time.Duration, f func()) bool {
	again := make(chan struct{})
	if !g.pause.CompareAndSwap(nil, &again) {
		return false
	}
	defer func() {
		g.pause.Store(nil)
		close(again)
	}()
	for end := time.Now().Add(wait); !g.mu.TryLock(); time.Sleep(wait / 100) {
		if time.Now().After(end) {
			return false
		}
	}
	defer g.mu.Unlock()
	f()
	return true
}

// Shut turns new calls away, waits for those under way and reports whether it was the first to do so. A second caller waits as well.
func (g *Gate) Shut() (first bool) {
	first = !g.closing.Swap(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	return first
}

package storerules

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Gate admits calls and lets Close wait for those in flight.
type Gate struct {
	closing atomic.Bool
	pause   atomic.Pointer[chan struct{}] // set by Alone; closed when calls may enter again; nil: they may
	mu      sync.RWMutex                  // held for reading by each call
}

// Enter starts a call. If it returns nil, the caller must call Leave.
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

// Closing reports whether new calls are rejected.
func (g *Gate) Closing() bool { return g.closing.Load() }

// Leave ends a call.
func (g *Gate) Leave() { g.mu.RUnlock() }

// Alone runs f while no call is in flight, and reports whether it did. It waits at most wait for calls in flight. New calls wait meanwhile, and
// until f has returned.
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

// Shut rejects new calls and waits for those in flight. It reports whether it was the first call of Shut. Further calls wait too.
func (g *Gate) Shut() (first bool) {
	first = !g.closing.Swap(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	return first
}

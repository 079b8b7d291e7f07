package sqlite

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// gate counts calls in and lets Close wait for them.
type gate struct {
	closing atomic.Bool
	pause   atomic.Pointer[chan struct{}] // closed when calls may come in again; nil: they may
	mu      sync.RWMutex                  // held for reading by each call
}

// enter starts a call; when it returns nil the caller owes a leave.
func (g *gate) enter(ctx context.Context) error {
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

func (g *gate) leave() { g.mu.RUnlock() }

// alone runs f while no call is under way, and reports whether there was such a moment: those that are are waited for a while, and new
// ones wait that long at most, and for f.
func (g *gate) alone(wait time.Duration, f func()) bool {
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

// shut turns new calls away, waits for those under way and reports whether it was the
// first to do so. A second caller waits as well.
func (g *gate) shut() (first bool) {
	first = !g.closing.Swap(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	return first
}

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

// writeGate can suspend all writes of a deployment, and counts the writes of each workspace.
type writeGate struct {
	mu       sync.Mutex
	inFlight int              // number of writes in flight
	idle     chan struct{}    // closed when inFlight becomes 0; nil: nobody waits
	resumed  chan struct{}    // closed when writes may continue; nil: they are not suspended
	moved    bool             // writes fail, since the deployment was moved
	writes   map[string]int64 // number of writes of each workspace; nil: writeCounts was not called yet
}

// enter waits until a write may begin. If it returns nil, the caller must call leave.
func (g *writeGate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		resumed := g.resumed
		if g.moved {
			g.mu.Unlock()
			return errMoved
		}
		if resumed == nil {
			g.inFlight++
			g.mu.Unlock()
			return nil
		}
		g.mu.Unlock()
		select {
		case <-resumed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave ends a write to a workspace, or to the registry if uid is empty.
func (g *writeGate) leave(uid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writes != nil {
		g.writes[uid]++
	}
	if g.inFlight--; g.inFlight == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// writeCounts returns the number of writes of each workspace since its first call. A write counts when it ends.
func (g *writeGate) writeCounts() map[string]int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writes == nil {
		g.writes = make(map[string]int64)
	}
	return maps.Clone(g.writes)
}

// suspend suspends new writes and waits for those in flight.
func (g *writeGate) suspend(ctx context.Context) error {
	g.mu.Lock()
	if g.resumed != nil {
		g.mu.Unlock()
		return fmt.Errorf("another move is under way: %w", backend.ErrConflict)
	}
	g.resumed = make(chan struct{})
	var idle chan struct{}
	if g.inFlight > 0 {
		idle = make(chan struct{})
		g.idle = idle
	}
	g.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		g.resume()
		return ctx.Err()
	}
}

func (g *writeGate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.resumed)
	g.resumed, g.idle = nil, nil
}

// setMoved sets whether all further writes fail with errMoved.
func (g *writeGate) setMoved(moved bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.moved = moved
}

package weaviate

import (
	"context"
	"sync"
	"time"
)

// holes keeps searches of this process from what is being stored anew: it is deleted first. Neither waits for long: a node that hangs would
// have everybody wait. The zero value is ready.
type holes struct{ mu sync.RWMutex }

const (
	// holeWait is how long a search waits for what is being stored anew, and how long that waits for searches.
	holeWait = 500 * time.Millisecond
	holeLook = 2 * time.Millisecond
)

// avoid begins a search; it is to be ended by what is returned.
func (h *holes) avoid(ctx context.Context) (end func()) {
	if soon(ctx, holeWait, h.mu.TryRLock) {
		return h.mu.RUnlock
	}
	return func() {}
}

// make begins to store anew.
func (h *holes) make(ctx context.Context) (end func()) {
	if soon(ctx, holeWait, h.mu.TryLock) {
		return h.mu.Unlock
	}
	return func() {}
}

// soon tries to take a lock for a while, and reports whether it could.
func soon(ctx context.Context, wait time.Duration, try func() bool) bool {
	for deadline := time.Now().Add(wait); !try(); {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return false
		}
		time.Sleep(holeLook)
	}
	return true
}

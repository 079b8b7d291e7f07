package weaviate

import (
	"context"
	"sync"
	"time"
)

// holes keeps searches of this process away from objects that are being deleted and stored again. Neither side waits for
// long, since a node that hangs would block everybody. The zero value is ready to use.
type holes struct{ mu sync.RWMutex }

const (
	// holeWait is how long a search waits for objects that are being stored again, and how long such a write waits for
	// searches. holeLook is the interval of attempts.
	holeWait = 500 * time.Millisecond
	holeLook = 2 * time.Millisecond
)

// avoid begins a search. The caller ends it by calling end.
func (h *holes) avoid(ctx context.Context) (end func()) {
	if soon(ctx, holeWait, h.mu.TryRLock) {
		return h.mu.RUnlock
	}
	return func() {}
}

// make begins a write that deletes objects and stores them again. The caller ends it by calling end.
func (h *holes) make(ctx context.Context) (end func()) {
	if soon(ctx, holeWait, h.mu.TryLock) {
		return h.mu.Unlock
	}
	return func() {}
}

// soon calls try until it returns true, for wait at most. It reports whether try did.
func soon(ctx context.Context, wait time.Duration, try func() bool) bool {
	for deadline := time.Now().Add(wait); !try(); {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return false
		}
		time.Sleep(holeLook)
	}
	return true
}

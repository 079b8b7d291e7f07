package weaviate

import (
	"context"
	"sync"
	"time"
)

// rewriteLock keeps searches of this process away from objects that are being deleted and stored again. Neither side waits for
// long, since a node that hangs would block everybody. The zero value is ready to use.
type rewriteLock struct{ mu sync.RWMutex }

const (
	// rewriteLockWait is how long a search waits for objects that are being stored again, and how long such a write waits for
	// searches. rewriteLockPoll is the interval of attempts.
	rewriteLockWait = 500 * time.Millisecond
	rewriteLockPoll = 2 * time.Millisecond
)

// beginSearch begins a search. The caller ends it by calling end.
func (h *rewriteLock) beginSearch(ctx context.Context) (end func()) {
	if tryFor(ctx, rewriteLockWait, h.mu.TryRLock) {
		return h.mu.RUnlock
	}
	return func() {}
}

// beginRewrite begins a write that deletes objects and stores them again. The caller ends it by calling end.
func (h *rewriteLock) beginRewrite(ctx context.Context) (end func()) {
	if tryFor(ctx, rewriteLockWait, h.mu.TryLock) {
		return h.mu.Unlock
	}
	return func() {}
}

// tryFor calls try until it returns true, for wait at most. It reports whether try did.
func tryFor(ctx context.Context, wait time.Duration, try func() bool) bool {
	for deadline := time.Now().Add(wait); !try(); {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return false
		}
		time.Sleep(rewriteLockPoll)
	}
	return true
}

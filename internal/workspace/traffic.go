package workspace

import (
	"context"
	"sync/atomic"
	"time"
)

// Traffic counts the searches that run, so that background work can wait for them. The zero value has none. It is safe for concurrent
// use, but at most one goroutine waits at a time.
type Traffic struct {
	running atomic.Int64
	waiting atomic.Pointer[chan struct{}] // closed by the last search that ends; nil: nobody waits
}

// Begin notes that a search begins. The caller calls End.
func (t *Traffic) Begin() { t.running.Add(1) }

// End notes that a search ended.
func (t *Traffic) End() {
	if t.running.Add(-1) == 0 && t.waiting.Load() != nil {
		if w := t.waiting.Swap(nil); w != nil {
			close(*w)
		}
	}
}

// Yield waits until no search runs, at most for a time.
func (t *Traffic) Yield(ctx context.Context, most time.Duration) {
	if t.running.Load() == 0 {
		return
	}
	w := make(chan struct{})
	t.waiting.Store(&w)
	if t.running.Load() == 0 { // the last search may have ended before it could see w
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-w:
	case <-timer.C:
	case <-ctx.Done():
	}
}

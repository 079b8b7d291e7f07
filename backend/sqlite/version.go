package sqlite

import (
	"context"
	"sync"
	"sync/atomic"
)

// version counts the commits of a store twice, once before and once after: while it
// is odd a commit is under way. What is read while the version stays at one even
// value is exactly what the database holds at that version.
//
// So a value in the cache at version v is current for as long as the version is v. A
// writer is answered only after its commit raised the version: whoever starts to read
// after a change was acknowledged never gets what was before it.
//
// Readers see a commit a little before the writer can say that it is over: from there on the store
// tells of its changes, LastSeq included. So whoever is told what became of an item waits for the commit
// that he may have seen; see settled.
type version struct {
	n    atomic.Uint64
	mu   sync.Mutex
	over chan struct{} // closed when the commit under way is over; nil: there is none
}

// load returns the version; ok is false while a commit is under way.
func (v *version) load() (n uint64, ok bool) {
	n = v.n.Load()
	return n, n&1 == 0
}

// begin says that a commit starts, end that it is over, whatever became of it.
func (v *version) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = make(chan struct{})
	v.n.Add(1)
}

func (v *version) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over != nil {
		v.n.Add(1)
		close(v.over)
		v.over = nil
	}
}

// settled returns when the commit under way is over, if there is one.
func (v *version) settled(ctx context.Context) error {
	if _, quiet := v.load(); quiet {
		return nil
	}
	v.mu.Lock()
	over := v.over
	v.mu.Unlock()
	if over == nil {
		return nil
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

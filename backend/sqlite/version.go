package sqlite

import (
	"context"
	"sync"
	"sync/atomic"
)

// version is incremented before and after each commit of a store, so it is odd during a
// commit. If it has the same even value before and after a read, the read returned the
// state of the database at that version.
//
// A value cached at version v is therefore current as long as the version is v. A write
// returns only after its commit has incremented the version, so a read that starts after
// an acknowledged write never returns an older value.
//
// Readers can see a commit shortly before the writer has incremented the version and LastSeq. A
// call that returns the state of items therefore waits for the commit that it may have seen; see
// settled.
type version struct {
	n    atomic.Uint64
	mu   sync.Mutex
	over chan struct{} // closed at the end of the commit in flight; nil: there is none
}

// load returns the version. ok is false during a commit.
func (v *version) load() (n uint64, ok bool) {
	n = v.n.Load()
	return n, n&1 == 0
}

// begin marks the start of a commit, and end its end, successful or not.
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

// settled waits for the end of the commit in flight, if there is one.
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

package weaviate

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// presence tells whether the tenant of an open index is on the nodes. Calls of an index wait while it is not. The zero value says
// that it is.
type presence struct {
	told atomic.Bool // whether a record of a process that offloads the tenant was read when the use was last stored

	mu     sync.Mutex
	back   chan struct{} // closed when the tenant is on the nodes, or the index is closed; nil: it is on the nodes
	closed bool
}

// leave records that the tenant is not on the nodes.
func (p *presence) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.back == nil && !p.closed {
		p.back = make(chan struct{})
	}
}

// come records that the tenant is on the nodes again.
func (p *presence) come() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.back != nil {
		close(p.back)
		p.back = nil
	}
}

// close ends all waits.
func (p *presence) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.come()
}

// isAway reports whether the tenant is not on the nodes.
func (p *presence) isAway() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.back != nil
}

// awayPatience is how long calls other than searches wait for a tenant that is being brought back. The service tries them again.
const awayPatience = 500 * time.Millisecond

// errAway is returned while the tenant of a workspace is being brought back.
var errAway = fmt.Errorf("weaviate: the tenant was offloaded and is being brought back: %w", backend.ErrUnavailable)

// wait waits until the tenant is on the nodes, for patience at most.
func (p *presence) wait(ctx context.Context, patience time.Duration) error {
	p.mu.Lock()
	back := p.back
	p.mu.Unlock()
	if back == nil {
		return nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-back:
		return nil
	case <-timer.C:
		return errAway
	case <-ctx.Done():
		return ctx.Err()
	}
}

// renewUse stores that this process uses the workspace. It returns the records of processes that offload it, or have offloaded it.
func (x *index) renewUse(ctx context.Context) (map[string]offloadRecord, error) {
	o := x.x.offloading
	if err := o.markUsed(ctx, x.uid); err != nil {
		return nil, err
	}
	records, err := o.records(ctx, x.uid)
	if err == nil {
		x.presence.told.Store(!onlyLeftovers(records))
	}
	return records, err
}

// keepUsed stores that this process uses the workspace, at intervals, until ctx ends. It waits for no other work on the index: a process
// that stored its use late, after a long repair, would have its tenant offloaded in the middle of it.
func (x *index) keepUsed(ctx context.Context) {
	o := x.x.offloading
	if !o.marks {
		return
	}
	for pause := o.renewal(); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		records, err := x.renewUse(ctx)
		if pause = o.renewal(); err != nil {
			pause = min(pause, maintenanceInterval)
		} else if !onlyLeftovers(records) {
			x.presence.leave() // the clocks differ, or this process was suspended
		}
	}
}

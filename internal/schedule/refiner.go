package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	refineSlice  = 64               // versions that the refiner takes at once for each worker that could run
	refineYield  = 5 * time.Second  // how long it waits for the workers to have nothing to do
	rushItems    = 512              // items that wait in a workspace up to which they are refined before they are completed
	rushRecovers = 10 * time.Second // after more waited, until items are refined at once again
)

// Refine plans that a workspace gets the vectors of the slow embedder that it may lack.
func (c *Scheduler) Refine(uid string) {
	if c.set.Slow == 0 {
		return
	}
	c.mu.Lock()
	c.pushRough(uid)
	c.mu.Unlock()
}

// pushRough puts uid in line for the refiner; c.mu is held.
func (c *Scheduler) pushRough(uid string) {
	c.attention(uid).refining = true
	if !c.roughly[uid] {
		c.roughly[uid] = true
		c.rough = append(c.rough, uid)
	}
	select {
	case c.refine <- struct{}{}:
	default:
	}
}

// rush reports whether so few items wait in a workspace that they are refined before they are completed.
func (c *Scheduler) rush(sp *workspace.Space) bool {
	counts, _, err := sp.Store.Backlog(c.gate.Life())
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.attention(sp.UID)
	if counts[backend.Queued]+counts[backend.Processing]+counts[backend.GraphCreation] > rushItems {
		a.rushed = time.Now()
	}
	return a.rushed.IsZero() || time.Since(a.rushed) > rushRecovers
}

// refiner adds vectors of the slow embedder, a slice of a workspace after the other, when the workers have nothing to do. It ends
// with the gate.
func (c *Scheduler) refiner() {
	for c.gate.Life().Err() == nil {
		c.mu.Lock()
		uid := ""
		if len(c.rough) > 0 {
			uid = c.rough[0]
			c.rough = c.rough[1:]
			delete(c.roughly, uid)
		}
		c.mu.Unlock()
		if uid == "" {
			select {
			case <-c.refine:
			case <-c.gate.Life().Done():
			}
			continue
		}
		c.idle()
		c.wait(time.Until(c.Pipeline.RefiningPausedUntil()))
		if c.gate.Life().Err() != nil {
			return
		}
		more, err := c.refineSome(uid)
		if err != nil && c.gate.Life().Err() == nil {
			c.Logger.Warn("refining a tenant failed", "uid", uid, "err", err)
			c.wait(time.Second) // what fails is not tried without a pause
		}
		c.mu.Lock()
		switch {
		case more:
			c.pushRough(uid)
		case !c.roughly[uid]:
			if a := c.state[uid]; a != nil {
				a.refining = false
				if a.quiet.IsZero() && !a.pending {
					a.quiet = time.Now()
				}
			}
		}
		c.mu.Unlock()
		c.signal()
	}
}

// refineSome refines a slice of a workspace.
func (c *Scheduler) refineSome(uid string) (more bool, err error) {
	ctx := c.gate.Life()
	sp, err := c.set.Acquire(ctx, uid)
	if errors.Is(err, fault.ErrClosed) || errors.Is(err, backend.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	defer c.set.ReleaseUID(uid)
	more, err = c.set.Refine(ctx, sp, c.Pipeline, refineSlice*c.Workers, c.Workers)
	if err == nil && more {
		err = c.keepAwake(ctx, uid)
	}
	if err != nil {
		return true, err
	}
	if !more {
		sp.StateChanged()
	}
	return more, nil
}

// keepAwake makes sure that a start after a crash looks at a workspace that is being refined.
func (c *Scheduler) keepAwake(ctx context.Context, uid string) error {
	c.mu.Lock()
	a := c.attention(uid)
	awake := !a.stored.IsZero() && !a.stored.After(time.Now())
	c.mu.Unlock()
	if awake {
		return nil
	}
	err := c.storeNow(ctx, uid)
	if errors.Is(err, backend.ErrNotFound) { // the tenant is gone
		return nil
	}
	return err
}

// idle waits until no worker has anything to do, a while at most.
func (c *Scheduler) idle() {
	t := time.NewTimer(refineYield)
	defer t.Stop()
	for {
		c.mu.Lock()
		changed, busy := c.changed, c.running > 0 || len(c.ready) > 0
		c.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-changed:
		case <-t.C:
			return
		case <-c.gate.Life().Done():
			return
		}
	}
}

// wait waits for a while, and not at all where it is not above 0.
func (c *Scheduler) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.gate.Life().Done():
	}
}

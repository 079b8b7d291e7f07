package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	refineSlice  = 64               // versions that the refiner takes at once for each worker that could run
	compareSlice = 32               // memories that are compared at once
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
	c.send(c.refiner, uid)
	c.mu.Unlock()
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

// newRefiner returns the errand that adds vectors of the slow embedder.
func (c *Scheduler) newRefiner() *errand {
	e := newErrand(refining, "refining")
	e.pause = c.Pipeline.RefiningPausedUntil
	e.some = func(sp *workspace.Space) (bool, error) {
		return c.set.Refine(c.gate.Life(), sp, c.Pipeline, refineSlice*c.Workers, c.Workers)
	}
	e.done = func(uid string) { // what waited for its vectors can be compared now
		if c.Changes != nil {
			c.send(c.comparer, uid)
		}
	}
	return e
}

// sendOn puts a workspace in line for what is to be done once its items are searchable; c.mu is held. compare says that
// memories of it were not compared.
func (c *Scheduler) sendOn(sp *workspace.Space, compare bool) {
	refine := sp.Serving().Refiner != nil && !sp.Refined()
	if refine {
		c.send(c.refiner, sp.UID)
	}
	if compare && !refine {
		c.send(c.comparer, sp.UID)
	}
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

package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	refineSlice  = 64              // versions in a slice of the refiner, per worker
	compareSlice = 32              // memories in a slice of the comparer
	refineYield  = 5 * time.Second // maximal time for which a background job waits for the workers to be idle
	// refinePatience is the time from the start of a slice within which the refiner waits for the workers to be idle. Slices of long documents take
	// minutes, and who waits for the end of a slice should not wait for a queue that never ends.
	refinePatience = time.Minute
	refineQuiet    = 100 * time.Millisecond // time for which workers are idle before the refiner goes on: between two batches they are idle for less

	rushItems    = 512              // up to this many waiting items are refined before they are completed
	rushRecovers = 10 * time.Second // time after more items waited, before items are again refined before completion
)

// Refine queues a workspace for the vectors of the slow embedder that it may lack.
func (c *Scheduler) Refine(uid string) {
	if c.set.Slow == 0 {
		return
	}
	c.mu.Lock()
	c.send(c.refiner, uid)
	c.mu.Unlock()
}

// rush reports whether so few items wait in a workspace that they should be refined before they are completed.
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

// newRefiner returns the background job that adds vectors of the slow embedder.
func (c *Scheduler) newRefiner() *backgroundJob {
	e := newBackgroundJob(refining, "refining")
	e.pause = c.Pipeline.RefiningPausedUntil
	e.some = func(sp *workspace.Space) (bool, error) {
		patience := time.Now().Add(refinePatience)
		return c.set.Refine(c.gate.Life(), sp, c.Pipeline, refineSlice*c.Workers, c.Workers, func() {
			for time.Now().Before(patience) && c.gate.Life().Err() == nil {
				if !c.idle() {
					continue
				}
				if c.wait(refineQuiet); c.idle() {
					return
				}
			}
		})
	}
	e.done = func(uid string) { // comparing waits for these vectors
		if c.Changes != nil {
			c.send(c.comparer, uid)
		}
	}
	return e
}

// sendOn queues a workspace for the background jobs that it needs once its items are searchable. compare reports whether
// it has memories that were not compared. The caller holds c.mu.
func (c *Scheduler) sendOn(sp *workspace.Space, compare bool) {
	refine := sp.Serving().Refiner != nil && !sp.Refined()
	if refine {
		c.send(c.refiner, sp.UID)
	}
	if compare && !refine {
		c.send(c.comparer, sp.UID)
	}
}

// keepAwake stores a wake time for a workspace that is being refined. A start after a crash then continues refining.
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

// idle waits until the workers are idle, but at most refineYield. It reports whether they are.
func (c *Scheduler) idle() bool {
	t := time.NewTimer(refineYield)
	defer t.Stop()
	for {
		c.mu.Lock()
		changed, busy := c.changed, c.running > 0 || len(c.ready) > 0
		c.mu.Unlock()
		if !busy {
			return true
		}
		select {
		case <-changed:
		case <-t.C:
			return false
		case <-c.gate.Life().Done():
			return false
		}
	}
}

// wait waits for d, or until the gate closes. It returns at once if d is not above 0.
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

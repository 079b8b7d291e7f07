package schedule

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

// worker processes queued workspaces until the service stops.
func (c *Scheduler) worker() {
	for {
		c.mu.Lock()
		for len(c.ready) == 0 && !c.stopping {
			c.cond.Wait()
		}
		if c.stopping {
			c.mu.Unlock()
			return
		}
		uid := c.ready[0]
		c.ready = c.ready[1:]
		delete(c.queued, uid)
		c.running++
		c.mu.Unlock()
		again, err := c.serve(uid)
		c.mu.Lock()
		c.running--
		a := c.attention(uid)
		var foreign *workspace.ForeignEmbedderError
		conflict := errors.Is(err, backend.ErrConflict) // another process has changed the lane meanwhile
		if conflict {
			c.set.Outdated(uid)
		}
		switch {
		case errors.As(err, &foreign): // a retry would fail too
			a.parked = err
		case conflict && a.tries == 0: // read it again at once
			a.tries, err = 1, nil
			c.push(uid)
		case err != nil:
			a.tries++
			pause := pipeline.Backoff(a.tries)
			if errors.Is(err, backend.ErrUnavailable) {
				pause = pipeline.BackoffAway(a.tries)
			}
			c.setDue(uid, time.Now().Add(pause))
		case again:
			a.tries = 0
			c.push(uid)
		default:
			a.tries = 0
		}
		c.mu.Unlock()
		if err != nil && c.gate.Life().Err() == nil {
			c.Logger.Warn("working on a tenant failed", "uid", uid, "err", err)
		}
		c.nudge()
		c.signal()
		c.giveBack()
	}
}

// giveBackAfter is the number of bytes of processed text after which giveBack returns memory. Processing needs a multiple of the text's size.
const giveBackAfter = 8 << 20

// giveBack returns unused memory to the operating system when no work is left. The runtime does so only slowly, and only down
// to a heap goal that the work has raised.
func (c *Scheduler) giveBack() {
	if c.Pipeline.Handled.Load() < giveBackAfter {
		return
	}
	c.mu.Lock()
	idle := c.running == 0 && len(c.ready) == 0
	c.mu.Unlock()
	if idle && c.Pipeline.Handled.Swap(0) >= giveBackAfter {
		debug.FreeOSMemory()
	}
}

// serve processes a batch of a workspace. again reports whether there is more work.
func (c *Scheduler) serve(uid string) (again bool, err error) {
	ctx := c.gate.Life()
	t, err := c.registry.TenantByUID(ctx, uid)
	if errors.Is(err, backend.ErrNotFound) || (err == nil && t.State == backend.TenantDeleting) {
		c.forget(uid)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.mu.Lock()
	c.attention(uid).seen = time.Now()
	c.mu.Unlock()
	if t.State == backend.TenantReady {
		if declines, err := c.declines(ctx, uid); err != nil || declines {
			return false, openErr(err)
		}
	}
	if mine, until, err := c.holds(ctx, uid); err != nil {
		return false, err
	} else if !mine {
		return c.standBy(ctx, uid, until)
	}
	defer c.keeps(ctx, uid)()
	if t.State == backend.TenantProvisioning {
		if err := c.set.Provision(ctx, t); err != nil {
			return false, err
		}
	} else if t.State == backend.TenantFailed {
		c.forget(uid)
		return false, c.registry.SetWake(ctx, uid, time.Time{})
	}
	sp, err := c.set.Acquire(ctx, uid)
	if err != nil {
		return false, openErr(err)
	}
	defer c.set.ReleaseUID(uid)
	vectors := sp.Use()
	defer vectors.Done()
	if err := vectors.Foreign(); err != nil {
		return false, err
	}
	if err := c.endStrays(ctx, sp); err != nil {
		return false, err
	}
	n := 0
	if !c.Pipeline.PausedUntil().After(time.Now()) {
		token := c.begin(uid)
		space := c.space(t, sp, vectors)
		space.Cause = c.cause(uid)
		n, err = c.Pipeline.Step(ctx, space, token)
		c.ended(uid, token, err)
		if n == 0 {
			c.uncause(space.Cause, uid)
		}
		if err != nil {
			return false, err
		}
	}
	if n > 0 {
		c.signal()
	}
	if err := c.Outbox.HandOver(ctx, t, sp.Store); err != nil {
		return false, err
	}
	if n >= c.Pipeline.BatchItems {
		return true, c.flush(ctx, sp, flushFull)
	}
	return c.rest(ctx, sp)
}

// openErr returns an error of opening a workspace, or nil if nothing is to be done because the service closes or the
// workspace is gone.
func openErr(err error) error {
	if errors.Is(err, fault.ErrClosed) || errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	return err
}

// flush flushes the indexes of a workspace if they have at least from unflushed chunks; a long chunk counts as several. Flushed indexes are searched and opened
// faster, take less memory, and need not be rebuilt after a kill.
func (c *Scheduler) flush(ctx context.Context, sp *workspace.Space, from int64) error {
	n := sp.Unflushed.Load()
	if n < from || !sp.Unflushed.CompareAndSwap(n, 0) { // too few, or another worker flushes
		return nil
	}
	if c.Pipeline.Handled.Load() >= giveBackAfter { // free the garbage of ingestion first, since a flush allocates too
		debug.FreeOSMemory()
	}
	return sp.Follower.Flush(ctx)
}

// cause returns the context of a call that added items to a workspace, and clears it.
func (c *Scheduler) cause(uid string) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.attention(uid)
	ctx := a.cause
	a.cause = nil
	return ctx
}

// uncause sets the context that cause has returned again, since no batch used it.
func (c *Scheduler) uncause(ctx context.Context, uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.state[uid]; a != nil && a.cause == nil {
		a.cause = ctx
	}
}

// space returns a workspace in the form that the pipeline needs.
func (c *Scheduler) space(t backend.Tenant, sp *workspace.Space, vectors *workspace.Serving) pipeline.Space {
	space := pipeline.Space{
		UID:      t.UID,
		Embedder: vectors.Writer, Lane: vectors.WriteLane, Store: sp.Guarded(vectors), Follower: sp.Follower, Changed: sp.StateChanged, Reading: sp.Reading, Read: sp.Read,
		Refiner: vectors.Refiner, RefineLane: vectors.RefineLane, Unrefined: sp.Unrefined, Uncompared: sp.Uncompared, Rush: func() bool { return c.rush(sp) },
		Events: func() bool { return c.Outbox.Wanted(t.Org) },
		Claimed: func(full bool) {
			if full { // another worker may help
				c.mu.Lock()
				c.push(t.UID)
				c.mu.Unlock()
			}
		},
		Ended: func(completed, errored, weight int) {
			sp.AddUnflushed(weight)
			c.completed.Add(int64(completed))
			c.errored.Add(int64(errored))
		},
	}
	if c.Changes != nil {
		space.Settled = func(ctx context.Context, all []pipeline.Fresh) (int64, []bool) {
			return c.Changes.Generation(), c.Changes.Settled(ctx, sp.Store, all)
		}
	}
	return space
}

// rest determines when a workspace must be processed next. again reports whether that is at once.
func (c *Scheduler) rest(ctx context.Context, sp *workspace.Space) (again bool, err error) {
	c.mu.Lock()
	now := c.attention(sp.UID)
	now.looks++
	gen, look := now.gen, now.looks
	c.mu.Unlock()
	at := time.Now()
	expired, nextExpiry, err := sp.Store.Expire(ctx, at, expireBatch)
	if err != nil {
		return false, err
	}
	if expired == 0 && !nextExpiry.IsZero() && !nextExpiry.After(at) {
		nextExpiry = at.Add(expireRetry) // the Store cannot remove what has expired
	}
	if expired > 0 {
		if err := sp.Follower.Sync(ctx); err != nil {
			return false, err
		}
		sp.StateChanged()
	}
	if err := c.set.TidyLanes(ctx, sp); err != nil {
		return false, err
	}
	unfinished := c.unfinished(ctx, sp)
	counts, next, err := sp.Store.Backlog(ctx)
	if err != nil {
		return false, err
	}
	from := int64(flushFull)
	if counts[backend.Queued] == 0 {
		from = sp.FlushAfter()
	}
	if err := c.flush(ctx, sp, from); err != nil {
		return false, err
	}
	compare := false
	if c.Changes != nil {
		if compare, err = c.set.ToCompare(ctx, sp, c.changes()); err != nil {
			return false, err
		}
	}
	waiting := counts[backend.Queued] + counts[backend.Processing] + counts[backend.GraphCreation]
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.attention(sp.UID)
	if a.gen != gen {
		return true, nil
	}
	if a.looks != look { // another worker has read the backlog later, so its result counts
		return expired == expireBatch, nil
	}
	a.pending = waiting > 0 || !unfinished.IsZero()
	c.sendOn(sp, compare)
	if !a.pending {
		a.quiet = time.Now()
		c.upkeep[sp.UID] = true
	}
	if next.IsZero() || (!nextExpiry.IsZero() && nextExpiry.Before(next)) {
		next = nextExpiry
	}
	if paused := c.Pipeline.PausedUntil(); waiting > 0 && next.Before(paused) {
		next = paused
	}
	if next.IsZero() || (!unfinished.IsZero() && unfinished.Before(next)) {
		next = unfinished
	}
	if planned := c.dueAt[sp.UID]; a.strays && !planned.IsZero() && (next.IsZero() || planned.Before(next)) {
		next = planned // by a worker whose step has failed since the backlog was read: next may be the end of a claim that it left
	}
	c.setDue(sp.UID, next)
	return expired == expireBatch, nil
}

// unfinishedRetry is the pause after which what a workspace has left half done is tried again after a failure.
const unfinishedRetry = 30 * time.Second

// unfinished goes on with what a workspace has left half done, and returns when to do so again. A failure holds up nothing else.
func (c *Scheduler) unfinished(ctx context.Context, sp *workspace.Space) (next time.Time) {
	if c.Unfinished == nil {
		return time.Time{}
	}
	next, err := c.Unfinished(ctx, sp)
	if err != nil {
		if c.gate.Life().Err() == nil {
			c.Logger.Warn("a deletion that was cut off can't be finished", "uid", sp.UID, "err", err)
		}
		return time.Now().Add(unfinishedRetry)
	}
	return next
}

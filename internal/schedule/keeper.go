package schedule

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// upkeepAfter is how often workspaces are looked at that may have work that can wait.
const upkeepAfter = 10 * time.Second

// Upkeep plans that a workspace gets what can wait until no worker has anything to do.
func (c *Scheduler) Upkeep(uid string) {
	c.mu.Lock()
	c.upkeep[uid] = true
	c.mu.Unlock()
}

// keeper gives workspaces their upkeep. It ends with the gate.
func (c *Scheduler) keeper() {
	tick := time.NewTicker(upkeepAfter)
	defer tick.Stop()
	for {
		select {
		case <-c.gate.Life().Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		due := c.upkeep
		c.upkeep = map[string]bool{}
		c.mu.Unlock()
		for uid := range due {
			if c.gate.Life().Err() != nil {
				return
			}
			if err := c.tend(uid); err != nil && c.gate.Life().Err() == nil {
				c.Logger.Warn("the upkeep of a tenant failed", "uid", uid, "err", err)
			}
		}
	}
}

// tend gives an open workspace its upkeep. One that was closed meanwhile has it planned when it is opened again.
func (c *Scheduler) tend(uid string) error {
	ctx := c.gate.Life()
	sp, open := c.set.AcquireOpen(uid)
	if !open {
		return nil
	}
	defer c.set.ReleaseUID(uid)
	if sp.Unflushed.Load() >= flushAfter { // what was deleted is written down, so that files of indexes are merged
		sp.Unflushed.Store(0)
		if err := sp.Follower.Sync(ctx); err != nil {
			return err
		}
		if err := sp.Follower.Flush(ctx); err != nil {
			return err
		}
	}
	quiet := c.quiet(uid)
	if !quiet { // more may be about to come, with which files would be written again
		c.Upkeep(uid)
	}
	for _, x := range sp.Workspace.Indexes() {
		if t, ok := x.(backend.Tender); ok && quiet {
			if err := c.tendOne(ctx, t); err != nil {
				return err
			}
		}
	}
	if t, ok := sp.Store.(backend.Tender); ok {
		if err := c.tendOne(ctx, t); err != nil {
			return err
		}
	}
	if t, ok := sp.Store.(backend.Compacter); ok && quiet {
		c.idle()
		c.hold(uid)
		again, err := t.Compact(ctx)
		c.hold("")
		if again {
			c.Upkeep(uid)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// heldPause is how long an errand leaves a workspace alone whose files are being made anew: what it writes would make that void.
const heldPause = 50 * time.Millisecond

// hold keeps errands from a workspace, and waits for those that work on it; the empty uid lets them go on.
func (c *Scheduler) hold(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = uid
	for uid != "" && (c.refiner.at == uid || c.comparer.at == uid) && c.gate.Life().Err() == nil {
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-c.gate.Life().Done():
		}
		c.mu.Lock()
	}
}

// quiet reports whether a workspace has had nothing to do for a while.
func (c *Scheduler) quiet(uid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.state[uid]
	return a == nil || !a.pending && time.Since(a.quiet) >= upkeepAfter
}

// tendOne has upkeep done until there is none left, while no worker has anything to do.
func (c *Scheduler) tendOne(ctx context.Context, t backend.Tender) error {
	for {
		c.idle()
		if ctx.Err() != nil {
			return nil
		}
		if more, err := t.Tend(ctx); err != nil || !more {
			return err
		}
	}
}

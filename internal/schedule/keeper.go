package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/workspace"
)

// upkeepAfter is the interval at which the keeper checks workspaces for upkeep.
const upkeepAfter = 10 * time.Second

// Upkeep plans upkeep for a workspace: flushing, merging and compacting files, which run while the workers are idle.
func (c *Scheduler) Upkeep(uid string) {
	c.mu.Lock()
	c.upkeep[uid] = true
	c.mu.Unlock()
}

// keeper does the planned upkeep of workspaces until the gate closes.
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
			if err := c.maintain(uid); err != nil && c.gate.Life().Err() == nil {
				c.Logger.Warn("the upkeep of a tenant failed", "uid", uid, "err", err)
			}
		}
	}
}

// maintain does the upkeep of a workspace if it is open. A closed workspace gets upkeep planned when it is opened again.
func (c *Scheduler) maintain(uid string) error {
	ctx := c.gate.Life()
	sp, open := c.set.AcquireOpen(uid)
	if !open {
		return nil
	}
	defer c.set.ReleaseUID(uid)
	if err := c.flushIdle(ctx, sp); err != nil {
		return err
	}
	quiet := c.quiet(uid)
	if !quiet { // try again later: more changes may follow, which would make merging now useless
		c.Upkeep(uid)
	}
	for _, x := range sp.Workspace.Indexes() {
		if t, ok := x.(backend.Maintainer); ok && quiet {
			if err := c.maintainPart(ctx, t); err != nil {
				return err
			}
		}
	}
	if t, ok := sp.Store.(backend.Maintainer); ok {
		if err := c.maintainPart(ctx, t); err != nil {
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

// flushIdle flushes the indexes of a workspace if that is worth it. A flush also writes deletions, after which indexes may
// merge files.
func (c *Scheduler) flushIdle(ctx context.Context, sp *workspace.Space) error {
	if sp.Unflushed.Load() < sp.FlushAfter() {
		return nil
	}
	sp.Unflushed.Store(0)
	if !sp.Shared() {
		if err := sp.Follower.Sync(ctx); err != nil {
			return err
		}
	}
	err := sp.Follower.Flush(ctx)
	if sp.Shared() && errors.Is(err, backend.ErrUnavailable) { // the indexes of this process were flushed
		return nil
	}
	return err
}

// heldPause is the time for which a background job waits if its next workspace is held. The files of a held workspace are being compacted, and a write would
// make that void.
const heldPause = 50 * time.Millisecond

// hold keeps background jobs from starting in a workspace, and waits until those in it end. An empty uid releases the workspace.
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

// quiet reports whether a workspace has been without work for upkeepAfter.
func (c *Scheduler) quiet(uid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.state[uid]
	return a == nil || !a.pending && time.Since(a.quiet) >= upkeepAfter
}

// maintainPart calls t.Maintain until there is no upkeep left. Before each call it waits until the workers are idle.
func (c *Scheduler) maintainPart(ctx context.Context, t backend.Maintainer) error {
	for {
		c.idle()
		if ctx.Err() != nil {
			return nil
		}
		if more, err := t.Maintain(ctx); err != nil || !more {
			return err
		}
	}
}

package schedule

import (
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
	t, ok := sp.Store.(backend.Tender)
	if !ok {
		return nil
	}
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

package schedule

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lease"
)

// Where several processes have a deployment open, one at a time works on a workspace: who holds its lease. The others
// take items in, answer, and take over when the holder is silent.

const (
	seekEvery   = 2 * time.Second // how often a process looks for workspaces that nobody works on
	lookAgain   = 10 * time.Second
	seekDeleted = 15                     // every so many times it looks for deleted tenants too
	heardPause  = 100 * time.Millisecond // changes by others that come in the meantime are looked at together
	maxAwake    = 10_000
)

// holds reports whether this process works on a workspace, or may begin to; else until says when the one that does is to be asked for again.
func (c *Scheduler) holds(ctx context.Context, uid string) (mine bool, until time.Time, err error) {
	name := lease.OfWorkspace(uid)
	had := c.Leases.Holds(name)
	mine, until, err = c.Leases.Take(ctx, name)
	if mine && !had { // what another has done to its vectors may not be known here
		c.set.Outdated(uid)
	}
	return mine, until, err
}

// seeker finds workspaces that need attention and that no process works on: those whose process died, and those of which
// nobody has heard.
func (c *Scheduler) seeker() {
	tick := time.NewTicker(seekEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-c.gate.Life().Done():
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_ = c.Leases.ReleaseAll(ctx) // else they end by themselves
			cancel()
			return
		case <-tick.C:
		case <-c.search:
		}
		if n%seekDeleted == 0 {
			c.RemoveLater()
		}
		if err := c.seek(c.gate.Life(), time.Now()); err != nil && c.gate.Life().Err() == nil {
			c.Logger.Warn("looking for tenants that need attention failed", "err", err)
		}
	}
}

func (c *Scheduler) seek(ctx context.Context, now time.Time) error {
	ts, err := c.registry.Awake(ctx, now, maxAwake)
	if err != nil {
		return err
	}
	for _, t := range ts {
		c.mu.Lock()
		a := c.state[t.UID]
		known := c.queued[t.UID] || a != nil && (a.parked != nil || now.Sub(a.seen) < lookAgain)
		c.mu.Unlock()
		if known {
			continue
		}
		mine, _, err := c.holds(ctx, t.UID)
		if err != nil {
			return err
		}
		if mine {
			c.takeUp(t)
		}
	}
	return nil
}

// takeUp puts a workspace in line that its registry record wants to have looked at.
func (c *Scheduler) takeUp(t backend.Tenant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.attention(t.UID)
	if a.stored.IsZero() {
		a.stored = t.Wake
	}
	c.push(t.UID)
}

// Heard says that another process may have changed a workspace.
func (c *Scheduler) Heard(uid string) {
	c.set.Heard(uid)
	c.mu.Lock()
	a := c.state[uid]
	if a != nil {
		a.parked = nil
	}
	if a != nil && (a.pending || c.Leases.Holds(lease.OfWorkspace(uid))) {
		if at := time.Now().Add(heardPause); c.dueAt[uid].IsZero() || at.Before(c.dueAt[uid]) {
			c.setDue(uid, at)
		}
	}
	c.mu.Unlock()
	c.nudge()
}

// Bereft says that another process is gone: the workspaces that wait here, which it may have worked on, are looked at, and those that nobody
// knows of here are sought.
func (c *Scheduler) Bereft() {
	c.mu.Lock()
	for uid, a := range c.state {
		if a.pending && a.parked == nil {
			c.push(uid)
		}
		a.seen = time.Time{}
	}
	c.mu.Unlock()
	select {
	case c.search <- struct{}{}:
	default:
	}
}

// standBy finds out whether anything is pending in a workspace on which another process works until a time.
func (c *Scheduler) standBy(ctx context.Context, uid string, until time.Time) (again bool, err error) {
	c.mu.Lock()
	gen := c.attention(uid).gen
	c.mu.Unlock()
	waiting := 0
	if sp, open := c.set.AcquireOpen(uid); open {
		counts, _, err := sp.Store.Backlog(ctx)
		c.set.ReleaseUID(uid)
		if err != nil {
			return false, err
		}
		waiting = counts[backend.Queued] + counts[backend.Processing] + counts[backend.GraphCreation]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.attention(uid)
	if a.gen != gen {
		return true, nil
	}
	if a.pending = waiting > 0; a.pending {
		c.setDue(uid, until.Add(heardPause))
		return false, nil
	}
	// The holder knows when the workspace is due next.
	c.setDue(uid, time.Time{})
	if a.admitting == 0 && a.tasks == 0 {
		delete(c.state, uid)
	}
	return false, nil
}

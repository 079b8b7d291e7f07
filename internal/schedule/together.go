package schedule

import (
	"context"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lease"
)

// If several processes have a deployment open, only the holder of a workspace's lease processes its items. The other
// processes accept items and answer recalls. One of them takes the lease over when the holder does not renew it.

const (
	seekEvery   = 2 * time.Second // interval at which a process looks for workspaces that no process works on
	lookAgain   = 10 * time.Second
	seekDeleted = 15                     // every seekDeleted times it also looks for deleted tenants
	changePause = 100 * time.Millisecond // delay after a change by another process, to handle several changes together
	maxAwake    = 10_000
)

// holds takes or renews the lease of a workspace and reports whether this process holds it. If not, until is the time at which to try again.
func (c *Scheduler) holds(ctx context.Context, uid string) (mine bool, until time.Time, err error) {
	name := lease.OfWorkspace(uid)
	had, term := c.Leases.Holds(name), c.Leases.Term(name)
	mine, until, err = c.Leases.Take(ctx, name)
	if mine && !had { // another process may have changed the vectors
		c.set.Outdated(uid)
	}
	if mine {
		c.takenOver(uid, term)
	}
	return mine, until, err
}

// keeps keeps the lease of a workspace until end is called. A step may take longer than a lease lasts, as it waits for indexes on other machines. A process
// that took the workspace over meanwhile could do nothing, since the items are claimed, and would have the lead in applying changes handed over to it.
func (c *Scheduler) keeps(ctx context.Context, uid string) (end func()) {
	if c.Leases == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { c.Leases.Keep(ctx, lease.OfWorkspace(uid)) })
	return func() { cancel(); keeping.Wait() }
}

// seeker finds workspaces that are due and that no process works on. Their process may have died, or no process was
// notified of them.
func (c *Scheduler) seeker() {
	tick := time.NewTicker(seekEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-c.gate.Life().Done():
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_ = c.Leases.ReleaseAll(ctx) // leases that are not released expire
			cancel()
			return
		case <-tick.C:
		case <-c.search:
		}
		if n%seekDeleted == 0 {
			c.RemoveLater()
		}
		c.seekStrays()
		if err := c.seek(c.gate.Life(), time.Now()); err != nil && c.gate.Life().Err() == nil {
			c.Logger.Warn("looking for tenants that need attention failed", "err", err)
		}
	}
}

// seekStrays queues workspaces of this process whose stray claims it could not tell yet.
func (c *Scheduler) seekStrays() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uid, a := range c.state {
		if a.strays && a.pending && a.parked == nil && c.Leases.Holds(lease.OfWorkspace(uid)) {
			c.push(uid)
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
		free, err := c.Leases.Free(ctx, lease.OfWorkspace(t.UID))
		if err != nil {
			return err
		}
		if free { // the worker takes the lease, unless this process declines
			c.takeUp(t)
		}
	}
	return nil
}

// takeUp queues a workspace that is due by its record in the registry.
func (c *Scheduler) takeUp(t backend.Tenant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.attention(t.UID)
	if a.stored.IsZero() {
		a.stored = t.Wake
	}
	c.push(t.UID)
}

// WorkspaceChanged tells the scheduler that another process may have changed a workspace.
func (c *Scheduler) WorkspaceChanged(uid string) {
	c.set.WorkspaceChanged(uid)
	c.mu.Lock()
	a := c.state[uid]
	if a != nil {
		a.parked = nil
	}
	if a != nil && (a.pending || c.Leases.Holds(lease.OfWorkspace(uid))) {
		if at := time.Now().Add(changePause); c.dueAt[uid].IsZero() || at.Before(c.dueAt[uid]) {
			c.setDue(uid, at)
		}
	}
	c.mu.Unlock()
	c.nudge()
}

// ProcessLost tells the scheduler that another process is gone. The scheduler queues all workspaces with pending work, on which that process may have
// worked, and wakes the seeker for workspaces that this process does not know.
func (c *Scheduler) ProcessLost() {
	c.mu.Lock()
	for uid, a := range c.state {
		a.strays = true
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

// standBy checks whether a workspace on which another process works until a time has pending work. If so, it plans processing after that time.
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
		c.setDue(uid, until.Add(changePause))
		return false, nil
	}
	// The holder of the lease stores the time at which the workspace is due next.
	c.setDue(uid, time.Time{})
	if a.admitting == 0 && a.tasks == 0 {
		delete(c.state, uid)
	}
	return false, nil
}

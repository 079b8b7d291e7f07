package schedule

import (
	"container/heap"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lease"
)

// timekeeper queues workspaces when they are due, and corrects stored wake times.
func (c *Scheduler) timekeeper() {
	settle := time.NewTicker(settleAfter)
	defer settle.Stop()
	for {
		var next <-chan time.Time
		var timer *time.Timer
		c.mu.Lock()
		now := time.Now()
		for len(c.due) > 0 {
			e := c.due[0]
			if at, ok := c.dueAt[e.uid]; !ok || !at.Equal(e.at) { // the plan has changed since
				heap.Pop(&c.due)
				continue
			}
			if e.at.After(now) {
				timer = time.NewTimer(e.at.Sub(now))
				next = timer.C
				break
			}
			heap.Pop(&c.due)
			delete(c.dueAt, e.uid)
			c.push(e.uid)
		}
		c.mu.Unlock()
		select {
		case <-c.gate.Life().Done():
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			c.settle(ctx, 0)
			cancel()
		case <-c.kick:
		case <-next:
		case <-settle.C:
			c.settle(c.gate.Life(), settleAfter)
		}
		if timer != nil {
			timer.Stop()
		}
		if c.gate.Life().Err() != nil {
			return
		}
	}
}

// settle stores the correct wake time of workspaces that have been drained for quiet. It
// stores many concurrently, so that they share commits. It drops the state of workspaces
// that will not be due again by themselves.
func (c *Scheduler) settle(ctx context.Context, quiet time.Duration) {
	now := time.Now()
	still := func(a *attention) bool {
		return !a.pending && a.tasks == 0 && a.admitting == 0 && !a.quiet.IsZero() && now.Sub(a.quiet) >= quiet
	}
	off := func(uid string, a *attention) bool { return still(a) && !a.stored.Equal(c.dueAt[uid]) }
	var uids []string
	c.mu.Lock()
	for uid, a := range c.state {
		_, due := c.dueAt[uid]
		switch {
		case !c.Leases.Holds(lease.OfWorkspace(uid)): // the process that holds the lease stores the wake time
			if still(a) && !c.queued[uid] {
				c.setDue(uid, time.Time{})
				delete(c.state, uid)
			}
		case off(uid, a):
			uids = append(uids, uid)
		case still(a) && a.stored.IsZero() && !due && !c.queued[uid] && a.parked == nil:
			delete(c.state, uid)
		}
	}
	c.mu.Unlock()
	var g errgroup.Group
	g.SetLimit(settleAtOnce)
	for _, uid := range uids {
		g.Go(func() error {
			if err := c.correct(ctx, uid, off); err != nil && ctx.Err() == nil {
				c.Logger.Warn("storing a wake time failed", "uid", uid, "err", err)
			}
			return nil
		})
	}
	_ = g.Wait() // errors were logged
}

// correct stores the time at which a workspace is due, if the stored wake time is still
// wrong. A later Admit sees the new time, and stores its own after this one.
func (c *Scheduler) correct(ctx context.Context, uid string, off func(string, *attention) bool) error {
	w := c.wakeLock(uid)
	w.Lock()
	defer w.Unlock()
	c.mu.Lock()
	a := c.attention(uid)
	if !off(uid, a) {
		c.mu.Unlock()
		return nil
	}
	at := c.dueAt[uid]
	a.stored = at
	c.mu.Unlock()
	err := c.registry.SetWake(ctx, uid, at)
	if errors.Is(err, backend.ErrNotFound) { // the tenant is gone
		c.forget(uid)
		return nil
	}
	return err
}

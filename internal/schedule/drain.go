package schedule

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// Progress counts the items that are not terminal, and those that have become terminal since the service was opened.
type Progress struct {
	Queued, Processing, Graph int
	Completed, Errored        int
}

// Waiting is the number of items that are not terminal.
func (p Progress) Waiting() int { return p.Queued + p.Processing + p.Graph }

// Drain waits until no workspace has pending work. It does not wait for parked workspaces and returns an error for them. Other
// processes that have the deployment open keep processing their workspaces; this process takes those that none processes.
func (c *Scheduler) Drain(ctx context.Context, progress func(Progress)) error {
	if c.Leases != nil {
		if err := c.seek(ctx, time.Now()); err != nil {
			return err
		}
	}
	for {
		c.mu.Lock()
		changed := c.changed
		busy := c.running > 0 || len(c.ready) > 0
		var pending []string
		var parked error
		for uid, a := range c.state {
			switch {
			case !a.pending:
			case a.parked != nil:
				parked = a.parked
			default:
				busy = true
				pending = append(pending, uid)
			}
		}
		c.mu.Unlock()
		if progress != nil {
			p, err := c.progress(ctx, pending)
			if err != nil {
				return err
			}
			progress(p)
		}
		if !busy {
			return parked
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.gate.Life().Done():
			return &fault.Error{Op: "drain", Kind: fault.KindClosed, Err: fault.ErrClosed}
		}
	}
}

// Waiting counts the items that are not terminal in all workspaces that may have some. It does not open closed workspaces.
func (c *Scheduler) Waiting(ctx context.Context) (Progress, error) {
	p := Progress{Completed: int(c.completed.Load()), Errored: int(c.errored.Load())}
	c.mu.Lock()
	var pending []string
	for uid, a := range c.state {
		if a.pending {
			pending = append(pending, uid)
		}
	}
	c.mu.Unlock()
	for _, uid := range pending {
		sp, ok := c.set.AcquireOpen(uid)
		if !ok {
			continue
		}
		counts, _, err := sp.Store.Backlog(ctx)
		c.set.ReleaseUID(uid)
		if err != nil {
			return p, err
		}
		p.Queued += counts[backend.Queued]
		p.Processing += counts[backend.Processing]
		p.Graph += counts[backend.GraphCreation]
	}
	return p, nil
}

func (c *Scheduler) progress(ctx context.Context, pending []string) (Progress, error) {
	p := Progress{Completed: int(c.completed.Load()), Errored: int(c.errored.Load())}
	for _, uid := range pending {
		sp, err := c.set.Acquire(ctx, uid)
		if errors.Is(err, backend.ErrNotFound) {
			continue
		}
		if err != nil {
			return p, fault.Wrap("drain", "", "", err)
		}
		counts, _, err := sp.Store.Backlog(ctx)
		c.set.ReleaseUID(uid)
		if err != nil {
			return p, fault.Wrap("drain", "", "", err)
		}
		p.Queued += counts[backend.Queued]
		p.Processing += counts[backend.Processing]
		p.Graph += counts[backend.GraphCreation]
	}
	return p, nil
}

// DrainSpace waits until one workspace has no pending work.
func (c *Scheduler) DrainSpace(ctx context.Context, uid string) error {
	for {
		c.mu.Lock()
		changed := c.changed
		a := c.state[uid]
		busy := c.queued[uid] || a != nil && a.pending && a.parked == nil
		c.mu.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.gate.Life().Done():
			return &fault.Error{Op: "drain", Kind: fault.KindClosed, Err: fault.ErrClosed}
		}
	}
}

// WaitRefined waits until a workspace has no pending work, every version has vectors of the slow embedder, and every memory
// was compared. It does not wait for items that the embedder cannot embed.
func (c *Scheduler) WaitRefined(ctx context.Context, uid string) error {
	for {
		if err := c.DrainSpace(ctx, uid); err != nil {
			return err
		}
		c.mu.Lock()
		changed := c.changed
		a := c.state[uid]
		done := a == nil || a.tasks == 0 && !a.pending
		c.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.gate.Life().Done():
			return &fault.Error{Op: "wait", Kind: fault.KindClosed, Err: fault.ErrClosed}
		}
	}
}

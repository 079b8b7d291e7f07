package contextmem

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/backend"
)

// drain waits until nothing is pending but in workspaces that are parked, for which it
// returns an error.
func (c *scheduler) drain(ctx context.Context, progress func(Progress)) error {
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
		case <-c.svc.life.Done():
			return &Error{Op: "drain", Kind: KindClosed, Err: ErrClosed}
		}
	}
}

// drainSpace waits until nothing is pending in one workspace.
func (c *scheduler) drainSpace(ctx context.Context, uid string) error {
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
		case <-c.svc.life.Done():
			return &Error{Op: "drain", Kind: KindClosed, Err: ErrClosed}
		}
	}
}

func (c *scheduler) progress(ctx context.Context, pending []string) (Progress, error) {
	p := Progress{Completed: int(c.completed.Load()), Errored: int(c.errored.Load())}
	for _, uid := range pending {
		sp, err := c.svc.spaces.Acquire(ctx, uid)
		if errors.Is(err, backend.ErrNotFound) {
			continue
		}
		if err != nil {
			return p, wrap("drain", "", "", err)
		}
		counts, _, err := sp.store.Backlog(ctx)
		c.svc.spaces.Release(uid)
		if err != nil {
			return p, wrap("drain", "", "", err)
		}
		p.Queued += counts[backend.Queued]
		p.Processing += counts[backend.Processing]
		p.Graph += counts[backend.GraphCreation]
	}
	return p, nil
}

package schedule

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	awaitFor  = 2 * time.Second // how long a recall waits for the comparison of memories that were completed just now
	awaitMost = 512             // memories to be compared above which it does not wait: that takes longer
)

// AwaitCompared waits until the memories of a workspace that were completed just now were compared with what was said before them, for a while at most:
// what they take the place of would come first otherwise. It does not wait while items are on their way, for many memories, nor where comparing them has failed.
func (c *Scheduler) AwaitCompared(ctx context.Context, sp *workspace.Space) {
	if c.Changes == nil || sp.Compared() || !c.comparesSoon(sp.UID) {
		return
	}
	if few, err := c.set.FewToCompare(ctx, sp, changes{c.Changes}, awaitMost); err != nil || !few {
		return
	}
	late := time.NewTimer(awaitFor)
	defer late.Stop()
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if sp.Compared() || !c.comparesSoon(sp.UID) {
			return
		}
		counts, _, err := sp.Store.Backlog(ctx)
		if err != nil || counts[backend.Queued]+counts[backend.Processing]+counts[backend.GraphCreation] > 0 {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		case <-c.gate.Life().Done():
			return
		}
	}
}

// comparesSoon reports whether this process is to compare memories of a workspace next, or to find out whether there are some.
func (c *Scheduler) comparesSoon(uid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.state[uid]
	return a != nil && a.parked == nil && a.tasks&refining == 0 && a.failed&comparing == 0 && (a.tasks&comparing != 0 || a.pending)
}

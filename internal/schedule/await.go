package schedule

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	awaitFor  = 2 * time.Second // how long a recall waits for the comparison of memories that were completed just now
	awaitMost = 512             // if more memories are to be compared, a recall does not wait
)

// AwaitCompared waits up to awaitFor until the newest memories of a workspace have been compared with earlier ones. Without the comparison a recall does
// not know which memories they supersede. It does not wait while items are being processed, if more than awaitMost memories are to be compared, or if comparing failed.
func (c *Scheduler) AwaitCompared(ctx context.Context, sp *workspace.Space) {
	if c.Changes == nil || sp.Compared() || !c.comparesSoon(sp.UID) || sp.Follower.InTrouble() {
		return
	}
	if few, err := c.set.FewToCompare(ctx, sp, c.changes(), awaitMost); err != nil || !few {
		return
	}
	c.awaited.Add(1)
	defer c.awaited.Add(-1)
	late := time.NewTimer(awaitFor)
	defer late.Stop()
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if sp.Compared() || !c.comparesSoon(sp.UID) || sp.Follower.InTrouble() {
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

// comparesSoon reports whether this process will soon compare memories of a workspace, or check whether it must.
func (c *Scheduler) comparesSoon(uid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.state[uid]
	return a != nil && a.parked == nil && a.tasks&refining == 0 && a.failed&comparing == 0 && (a.tasks&comparing != 0 || a.pending)
}

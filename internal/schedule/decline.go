package schedule

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/internal/lease"
)

const (
	// declineFor is how long at most a process whose own indexes lag leaves a workspace to others. declinePause is the pause
	// after which it looks again.
	declineFor, declinePause = 3 * time.Second, 200 * time.Millisecond
	// declineAnew is the time after which a process may leave a workspace to others again.
	declineAnew = time.Minute
)

// declines reports whether this process leaves a workspace, on which no process works, to another one. It does so while its
// own indexes of the workspace lag, as after a restart: items that it processed would be found late. It does so for declineFor
// at most, and only while other processes live. It opens the workspace.
func (c *Scheduler) declines(ctx context.Context, uid string) (bool, error) {
	name := lease.OfWorkspace(uid)
	if c.Leases == nil || c.Leases.Holds(name) || c.Leases.Alone() {
		return false, nil
	}
	if free, err := c.Leases.Free(ctx, name); err != nil || !free {
		return false, err
	}
	sp, err := c.set.Acquire(ctx, uid)
	if err != nil {
		return false, err
	}
	lags := sp.Follower.Lags()
	c.set.ReleaseUID(uid)
	if !lags {
		return false, nil
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.attention(uid)
	if now.Sub(a.declined) > declineAnew {
		a.declined = now
	}
	if now.Sub(a.declined) >= declineFor {
		return false, nil
	}
	c.setDue(uid, now.Add(declinePause))
	return true, nil
}

package schedule

import (
	"time"

	"github.com/contextmem/contextmem/internal/pipeline"
)

// remover finishes the removal of deleted tenants.
func (c *Scheduler) remover() {
	for {
		select {
		case <-c.gate.Life().Done():
			return
		case <-c.removal:
		}
		for failures := 0; ; {
			all, err := c.set.RemoveDeleted(c.gate.Life())
			if all {
				break
			}
			pause := pipeline.Backoff(1) // some deleted tenants are still in use
			if err != nil {
				if c.gate.Life().Err() == nil {
					c.Logger.Warn("removing a tenant failed", "err", err)
				}
				failures++
				pause = pipeline.Backoff(failures)
			}
			select {
			case <-c.gate.Life().Done():
				return
			case <-time.After(pause):
			}
		}
	}
}

func (c *Scheduler) RemoveLater() {
	select {
	case c.removal <- struct{}{}:
	default:
	}
}

package schedule

import (
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/workspace"
)

// task is a kind of work that runs for workspaces while the workers are idle.
type task uint8

const (
	refining  task = 1 << iota // adds vectors of the slow embedder
	comparing                  // compares memories with earlier ones
)

// backgroundJob is a background job: a queue of workspaces that need one task, and the function that does a slice of it for one workspace.
// Scheduler.mu guards line, in and at.
type backgroundJob struct {
	task  task
	name  string
	line  []string        // uids of queued workspaces, first in first out
	in    map[string]bool // uids in line
	at    string          // uid of the workspace that is processed now; empty: none
	kick  chan struct{}
	pause func() time.Time                                 // no slice starts before this time; nil: no limit
	some  func(sp *workspace.Space) (more bool, err error) // does one slice; more: there is work left
	done  func(uid string)                                 // called when a workspace has no work left, with c.mu held; may be nil
}

func newBackgroundJob(t task, name string) *backgroundJob {
	return &backgroundJob{task: t, name: name, in: map[string]bool{}, kick: make(chan struct{}, 1)}
}

// send queues a workspace for a background job. The caller holds c.mu.
func (c *Scheduler) send(e *backgroundJob, uid string) {
	c.attention(uid).tasks |= e.task
	if !e.in[uid] {
		e.in[uid] = true
		e.line = append(e.line, uid)
	}
	select {
	case e.kick <- struct{}{}:
	default:
	}
}

// next removes the first workspace from the queue and returns its uid; empty: the queue is empty.
func (c *Scheduler) next(e *backgroundJob) (uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(e.line) > 0 {
		uid = e.line[0]
		e.line = e.line[1:]
		delete(e.in, uid)
	}
	return uid
}

// enter marks a workspace as being processed by a background job and returns true. If the workspace is held, enter queues
// it again and returns false.
func (c *Scheduler) enter(e *backgroundJob, uid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if uid == c.held {
		c.send(e, uid)
		return false
	}
	e.at = uid
	return true
}

// run runs a background job until the gate closes.
func (c *Scheduler) run(e *backgroundJob) {
	failures := 0
	for c.gate.Life().Err() == nil {
		uid := c.next(e)
		if uid == "" {
			select {
			case <-e.kick:
			case <-c.gate.Life().Done():
			}
			continue
		}
		c.idle()
		if e.pause != nil {
			c.wait(time.Until(e.pause()))
		}
		if c.gate.Life().Err() != nil {
			return
		}
		if !c.enter(e, uid) {
			c.wait(heldPause)
			continue
		}
		more, err := c.do(e, uid)
		if err != nil && c.gate.Life().Err() == nil {
			c.Logger.Warn(e.name+" a tenant failed", "uid", uid, "err", err)
			failures++
			c.stuck(e, uid, true)
			c.wait(min(time.Second<<min(failures-1, 16), c.Pipeline.MaxPause+time.Second)) // do not retry without a pause
		} else {
			failures = 0
			c.stuck(e, uid, false)
		}
		c.mu.Lock()
		e.at = ""
		switch {
		case more:
			c.send(e, uid)
		case !e.in[uid]:
			if e.done != nil {
				e.done(uid)
			}
			c.finished(e, uid)
		}
		c.mu.Unlock()
		c.signal()
	}
}

// stuck records whether the last slice of a task failed in a workspace. If that has changed, it wakes those who wait for
// the workspace.
func (c *Scheduler) stuck(e *backgroundJob, uid string, failed bool) {
	c.mu.Lock()
	a := c.state[uid]
	changed := a != nil && failed != (a.failed&e.task != 0)
	if changed {
		a.failed ^= e.task
	}
	c.mu.Unlock()
	if changed {
		c.signal()
	}
}

// finished records that a workspace no longer needs a task. The caller holds c.mu.
func (c *Scheduler) finished(e *backgroundJob, uid string) {
	a := c.state[uid]
	if a == nil {
		return
	}
	a.tasks &^= e.task
	if a.tasks == 0 && a.quiet.IsZero() && !a.pending {
		a.quiet = time.Now()
	}
}

// do does one slice of a background job for a workspace.
func (c *Scheduler) do(e *backgroundJob, uid string) (more bool, err error) {
	ctx := c.gate.Life()
	if mine, _, err := c.holds(ctx, uid); err != nil || !mine {
		return err != nil, err
	}
	sp, err := c.set.Acquire(ctx, uid)
	if errors.Is(err, fault.ErrClosed) || errors.Is(err, backend.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	defer c.set.ReleaseUID(uid)
	more, err = e.some(sp)
	if err == nil && more {
		err = c.keepAwake(ctx, uid)
	}
	if err != nil {
		return true, err
	}
	if !more {
		sp.StateChanged()
	}
	return more, nil
}

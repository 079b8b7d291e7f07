package schedule

import (
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/workspace"
)

// task is a kind of work that is done for workspaces when the workers have nothing to do.
type task uint8

const (
	refining  task = 1 << iota // adds vectors of the slow embedder
	comparing                  // compares memories with what was said before them
)

// errand does one task, a slice of a workspace after the other. Its fields but kick are the Scheduler's to lock.
type errand struct {
	task  task
	name  string
	line  []string        // uids in order of service
	in    map[string]bool // those in line
	at    string          // the one that is worked on; empty: none
	kick  chan struct{}
	pause func() time.Time                                 // nothing is done until then
	some  func(sp *workspace.Space) (more bool, err error) // does a slice
	done  func(uid string)                                 // a workspace needs no more; c.mu is held; nil: nobody is told
}

func newErrand(t task, name string) *errand {
	return &errand{task: t, name: name, in: map[string]bool{}, kick: make(chan struct{}, 1)}
}

// send puts uid in line; c.mu is held.
func (c *Scheduler) send(e *errand, uid string) {
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

// next takes the first workspace out of line, empty where there is none.
func (c *Scheduler) next(e *errand) (uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(e.line) > 0 {
		uid = e.line[0]
		e.line = e.line[1:]
		delete(e.in, uid)
	}
	return uid
}

// enter notes which workspace an errand works on. One that is held is sent back to the end of the line.
func (c *Scheduler) enter(e *errand, uid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if uid == c.held {
		c.send(e, uid)
		return false
	}
	e.at = uid
	return true
}

// run does an errand until the gate closes.
func (c *Scheduler) run(e *errand) {
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
			c.wait(min(time.Second<<min(failures-1, 16), c.Pipeline.MaxPause+time.Second)) // what fails is not tried without a pause
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

// stuck notes whether the last slice of a task failed in a workspace, and lets go who waits for it.
func (c *Scheduler) stuck(e *errand, uid string, failed bool) {
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

// finished notes that a workspace needs a task no more; c.mu is held.
func (c *Scheduler) finished(e *errand, uid string) {
	a := c.state[uid]
	if a == nil {
		return
	}
	a.tasks &^= e.task
	if a.tasks == 0 && a.quiet.IsZero() && !a.pending {
		a.quiet = time.Now()
	}
}

// do does a slice of a workspace.
func (c *Scheduler) do(e *errand, uid string) (more bool, err error) {
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

package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// maxGroup is the maximal number of calls that share one transaction.
const maxGroup = 128

// writer runs the writing calls of a store. Calls that arrive during a transaction wait and then share the next transaction, and its
// wait for the disk. Each call runs after its own savepoint.
type writer struct {
	s    *store
	tx   *tx
	turn chan struct{} // holds one value; the goroutine that takes it runs a transaction

	mu      sync.Mutex
	waiting []*job
}

type job struct {
	run      func(t *tx) error
	claimed  atomic.Bool // set by the goroutine that runs the call, or by a caller that gave up
	done     chan struct{}
	err      error
	panicked any
}

func newWriter(s *store, t *tx) *writer {
	w := &writer{s: s, tx: t, turn: make(chan struct{}, 1)}
	w.turn <- struct{}{}
	return w
}

// do runs f in a transaction and returns when the transaction is durable. If ctx ends before f begins, f is not run. f may be called
// again if the transaction is retried. A panic of f is raised in the caller's goroutine.
func (w *writer) do(ctx context.Context, f func(t *tx) error) error {
	j := &job{run: f, done: make(chan struct{})}
	w.mu.Lock()
	w.waiting = append(w.waiting, j)
	w.mu.Unlock()
	for {
		select {
		case <-w.turn:
			if group := w.take(); len(group) > 0 {
				w.group(group)
			}
			w.turn <- struct{}{}
		case <-j.done:
			if j.panicked != nil {
				panic(j.panicked)
			}
			return j.err
		case <-ctx.Done():
			if j.claimed.CompareAndSwap(false, true) {
				return ctx.Err()
			}
			<-j.done
		}
	}
}

// take removes the longest-waiting calls from the queue, at most maxGroup.
func (w *writer) take() (group []*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, j := range w.waiting {
		if len(group) == maxGroup {
			break
		}
		n++
		if j.claimed.CompareAndSwap(false, true) {
			group = append(group, j)
		}
	}
	w.waiting = append([]*job(nil), w.waiting[n:]...)
	return group
}

// errNothing causes a rollback of a transaction in which every call failed.
var errNothing = errors.New("nothing to commit")

// group runs calls in one transaction, and passes its result to them.
func (w *writer) group(jobs []*job) {
	err := w.transact(jobs, len(jobs) == 1)
	if w.tx.mistaken(err) {
		w.tx.known = -1
		err = w.transact(jobs, false)
	}
	if err == nil {
		w.tx.committed()
		w.s.changed(uint64(w.tx.led.Seq) << storerules.SeqShift)
	} else {
		w.tx.known = -1
		if err = taken(err); errors.Is(err, errNothing) {
			err = nil
		}
	}
	for _, j := range jobs {
		if j.err == nil {
			j.err = err
		}
		close(j.done)
	}
}

// transact runs calls in one transaction. If assume is set, it may fail because of a wrong assumption; see assume.go.
func (w *writer) transact(jobs []*job, assume bool) error {
	return w.s.db.writeAsking(bg, w.s.scope, w.tx.happened, func(c *conn) error {
		if err := w.tx.begin(c, assume); err != nil {
			return err
		}
		good := 0
		for _, j := range jobs {
			j.err = nil
			if j.panicked != nil {
				continue
			}
			err := w.attempt(c, j, len(jobs) > 1)
			if err != nil {
				return err
			}
			if j.err == nil && j.panicked == nil {
				good++
			}
		}
		if good == 0 {
			return errNothing
		}
		return w.tx.prepare()
	})
}

// taken returns the error of package backend for a violated constraint.
func taken(err error) error {
	if breaks(err, "chunks_") {
		return fmt.Errorf("the key of a chunk is taken: %w", backend.ErrExists)
	}
	return err
}

// attempt runs a call and passes the call's own error to the job. If attempt returns an error, the transaction is lost with all its calls.
func (w *writer) attempt(c *conn, j *job, saved bool) error {
	queued, sent := len(c.pending), c.sent
	if saved {
		c.pending = append(c.pending, statement{sql: "SAVEPOINT call"})
	}
	w.tx.mark()
	err := j.call(w.tx)
	if err == nil {
		err = w.tx.Settle()
	}
	if err == nil && c.awaited {
		err = c.flush(bg)
	}
	if err == nil && w.tx.Left {
		err = w.tx.sweep()
	}
	if err == nil && saved {
		err = c.flush(bg) // so that errors are attributed to this call
	}
	if err == nil && saved {
		c.pending = append(c.pending, statement{sql: "RELEASE call"})
	}
	if err == nil || again(err) || errors.Is(err, errAssumed) {
		return err
	}
	if w.tx.assumes() {
		return errAssumed
	}
	j.err = taken(err)
	w.tx.undo()
	if saved && c.sent == sent { // the savepoint was not sent either, and what is queued before it belongs to other calls
		clear(c.pending[queued:])
		c.pending = c.pending[:queued]
		return nil
	}
	clear(c.pending)
	c.pending = c.pending[:0]
	if !saved {
		return errNothing
	}
	c.pending = append(c.pending, statement{sql: "ROLLBACK TO call"}, statement{sql: "RELEASE call"})
	return c.flush(bg)
}

// call runs the job's function and captures its panic for the caller.
func (j *job) call(t *tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			j.panicked, err = p, errors.New("postgres: panic in a transaction")
		}
	}()
	return j.run(t)
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Bounds of a group commit: the number of waiting calls, the number of calls in one
// transaction, and the time after which a transaction takes no more calls.
const (
	maxQueued    = 1024
	maxGroup     = 256
	maxGroupTime = 10 * time.Millisecond
)

// state is the state that a writer's jobs share beside the database. Only one
// goroutine at a time calls its methods.
type state interface {
	mark()          // a job begins
	settle() error  // the job has succeeded: write its changes in memory
	undo()          // the job or settle has failed: restore the state at mark
	prepare() error // before COMMIT
	committed()     // after COMMIT
	aborted()       // the whole transaction was rolled back
}

// writer owns the only writing connection. Calls that arrive during a transaction wait
// and then share the next one, and its fsync; each runs in a savepoint of its own. If no
// transaction is running, a call runs its own in the caller's goroutine, since switching to
// another goroutine and back takes longer than many transactions.
type writer struct {
	c       *conn
	state   state
	space   *logSpace
	turn    sync.Mutex   // guards c and state
	waiting atomic.Int64 // number of jobs that no transaction has taken
	jobs    chan *job
	done    chan struct{}
	groups  atomic.Int64 // number of commits so far
	logs    *logs
	emptied time.Time // last failed attempt to empty the log; guarded by turn
	closed  bool      // guarded by turn
}

type job struct {
	ctx      context.Context
	run      func() error
	claimed  atomic.Bool // taken by a transaction, or withdrawn by its caller
	done     chan struct{}
	err      error
	panicked any
}

func startWriter(c *conn, s state, space *logSpace, l *logs) *writer {
	w := &writer{c: c, state: s, space: space, logs: l, jobs: make(chan *job, maxQueued), done: make(chan struct{})}
	go w.loop()
	return w
}

// close stops the goroutine and closes the connection. No call may be in flight.
func (w *writer) close() error {
	close(w.jobs)
	<-w.done
	w.turn.Lock() // another writer may be emptying the log
	defer w.turn.Unlock()
	w.closed = true
	w.logs.note(w, 0)
	return w.c.close()
}

// do runs f in a transaction and returns when the transaction is durable. f runs at most
// once. If ctx ends before f has begun, do does nothing. If f panics, do panics with the
// same value.
func (w *writer) do(ctx context.Context, f func() error) error {
	j := &job{ctx: ctx, run: f, done: make(chan struct{})}
	if w.waiting.Load() == 0 && w.turn.TryLock() {
		w.group(j)
		w.turn.Unlock()
	} else if err := w.queue(ctx, j); err != nil {
		return err
	}
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.err
}

// queue passes a job to the running or the next transaction. If it returns an error, the job is not run.
func (w *writer) queue(ctx context.Context, j *job) error {
	w.waiting.Add(1)
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		w.waiting.Add(-1)
		return ctx.Err()
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.claimed.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-j.done
	}
	return nil
}

func (w *writer) loop() {
	defer close(w.done)
	for j := range w.jobs {
		w.turn.Lock()
		w.waiting.Add(-1)
		w.group(j)
		w.turn.Unlock()
	}
}

// group runs first and waiting jobs in one transaction.
func (w *writer) group(first *job) {
	var ran []*job
	start := time.Now()
	err := w.c.do("BEGIN IMMEDIATE")
	for j := first; j != nil; j = w.next(len(ran), start) {
		if !j.claimed.CompareAndSwap(false, true) {
			continue
		}
		if err != nil {
			j.finish(err)
			break
		}
		if cerr := j.ctx.Err(); cerr != nil {
			j.finish(cerr)
			continue
		}
		var jerr error
		if jerr, err = w.attempt(j, len(ran) > 0); jerr != nil {
			j.finish(jerr)
		} else {
			ran = append(ran, j)
		}
		if err != nil {
			break
		}
	}
	if err == nil && len(ran) > 0 {
		err = w.state.prepare()
		if err == nil {
			err = w.c.do("COMMIT")
		}
	}
	if err == nil && len(ran) > 0 {
		w.state.committed()
		w.groups.Add(1)
		w.space.ahead()
	} else {
		// There is nothing to commit, or COMMIT has failed. SQLite may have ended the transaction by itself.
		if inTransaction(w.c.dc) {
			if rerr := w.c.do("ROLLBACK"); err == nil {
				err = rerr
			}
		}
		w.state.aborted()
	}
	for _, j := range ran {
		j.finish(err)
	}
	if err == nil && len(ran) > 0 {
		w.reckon()
	}
}

// next returns another job for a transaction that has n jobs, or nil if it should commit.
func (w *writer) next(n int, start time.Time) *job {
	if n >= maxGroup || n > 0 && time.Since(start) > maxGroupTime {
		return nil
	}
	select {
	case j, ok := <-w.jobs: // nil once closed
		if ok {
			w.waiting.Add(-1)
		}
		return j
	default:
		return nil
	}
}

// attempt runs a job. If there are jobs before it, it runs in a savepoint. The first job
// needs none, since the whole transaction can be rolled back. jerr is the error of the job; err
// means that the transaction is lost with all its jobs.
func (w *writer) attempt(j *job, behind bool) (jerr, err error) {
	if behind {
		if err := w.c.do("SAVEPOINT call"); err != nil {
			return err, err
		}
	}
	w.state.mark()
	if jerr = j.call(); jerr == nil {
		jerr = w.state.settle()
	}
	if jerr == nil {
		if behind {
			err = w.c.do("RELEASE call")
		}
		return err, err
	}
	w.state.undo()
	switch {
	case !inTransaction(w.c.dc):
		return jerr, fmt.Errorf("sqlite: a transaction ended early: %w", errors.Join(jerr, backend.ErrUnavailable))
	case behind:
		err = w.c.do("ROLLBACK TO call")
		if err == nil {
			err = w.c.do("RELEASE call")
		}
	default:
		err = w.c.do("ROLLBACK")
		w.state.aborted()
		if err == nil {
			err = w.c.do("BEGIN IMMEDIATE")
		}
	}
	return jerr, err
}

// call runs the job's function and recovers a panic, which do passes to the caller.
func (j *job) call() (err error) {
	defer func() {
		if p := recover(); p != nil {
			j.panicked, err = p, errors.New("sqlite: panic in a transaction")
		}
	}()
	return j.run()
}

func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

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

// Bounds of a group commit: how many calls may wait, how many one transaction
// takes, and after which time it takes no more.
const (
	maxQueued    = 1024
	maxGroup     = 256
	maxGroupTime = 10 * time.Millisecond
)

// state is what the closures of a writer share beyond the database. All methods
// run by one goroutine at a time.
type state interface {
	mark()          // a closure begins
	settle() error  // it succeeded: write what it left in memory
	undo()          // it or settle failed: back to mark
	prepare() error // before COMMIT
	committed()     // after COMMIT
	aborted()       // the whole transaction is gone
}

// writer owns the one connection that writes. Calls that arrive while it works wait
// and then share a transaction, and so one fsync: each runs in a savepoint of its own.
// A call that finds nobody at work runs its transaction itself: handing it to another
// goroutine and waking up again takes longer than many a transaction.
type writer struct {
	c       *conn
	state   state
	space   *logSpace
	turn    sync.Mutex   // held by who uses c and state
	waiting atomic.Int64 // jobs that nobody has taken up
	jobs    chan *job
	done    chan struct{}
	groups  atomic.Int64 // commits so far
	logs    *logs
	emptied time.Time // when that was last tried in vain; guarded by turn
	closed  bool      // guarded by turn
}

type job struct {
	ctx      context.Context
	run      func() error
	claimed  atomic.Bool // by the writer, or by a caller that gave up
	done     chan struct{}
	err      error
	panicked any
}

func startWriter(c *conn, s state, space *logSpace, l *logs) *writer {
	w := &writer{c: c, state: s, space: space, logs: l, jobs: make(chan *job, maxQueued), done: make(chan struct{})}
	go w.loop()
	return w
}

// close stops the goroutine and closes the connection; no call may be under way.
func (w *writer) close() error {
	close(w.jobs)
	<-w.done
	w.turn.Lock() // another writer may be emptying the log
	defer w.turn.Unlock()
	w.closed = true
	w.logs.note(w, 0)
	return w.c.close()
}

// do runs f in a transaction and returns when that is
// durable. f runs at most once. A call whose ctx ends before f began does nothing;
// a panic of f becomes the caller's.
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

// queue has a job run by whoever is at work, or is next. An error means that it is not run.
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

// group runs first and the jobs that wait behind it in one transaction.
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
		// Nothing to keep, or nothing kept: the transaction may have ended by itself.
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

// next returns another job for a transaction with n, nil when it should commit.
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

// attempt runs a job. Behind others it gets a savepoint; the first needs none, since
// with it the whole transaction can go. jerr is the job's own failure; err means that
// the transaction is lost with all of its jobs.
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

// call runs the job's function and keeps a panic for the caller.
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

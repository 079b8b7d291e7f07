package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// patience is how long a search waits for an index in trouble. After that it continues with an incomplete index.
	patience = time.Second
	// troubleAgain is the interval at which a search that has waited for patience checks again whether an index is in trouble.
	troubleAgain = 100 * time.Millisecond
)

// pursuits applies changes to indexes on other machines in a goroutine of its own, one at a time. If a caller applied
// them, its deadline would interrupt the work, and the next caller, with a deadline too, would have to start again.
type pursuits struct {
	mu    sync.Mutex
	now   *pursuit    // nil: none is running
	again *time.Timer // timer of keepPolling; nil: it is not running
	ended bool
}

type pursuit struct {
	end  context.CancelFunc
	goal uint64        // sequence number up to which to apply changes; guarded by pursuits.mu
	done chan struct{} // closed when it has ended
	err  error         // why it failed; valid after done is closed
}

// close cancels the running pursuit and waits for it.
func (p *pursuits) close() {
	p.mu.Lock()
	p.ended = true
	now := p.now
	if p.again != nil {
		p.again.Stop()
	}
	p.mu.Unlock()
	if now != nil {
		now.end()
		<-now.done
	}
}

// join lets the running pursuit, or a new one, apply all changes up to a sequence number.
func (f *Follower) join(last uint64) (*pursuit, error) {
	p := &f.pursuits
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil, backend.ErrClosed
	}
	if p.now != nil {
		p.now.goal = max(p.now.goal, last)
		return p.now, nil
	}
	ctx, end := context.WithCancel(context.Background())
	run := &pursuit{end: end, goal: last, done: make(chan struct{})}
	p.now = run
	go func() {
		defer close(run.done)
		defer end()
		run.err = f.run(ctx, run)
	}()
	return run, nil
}

// run applies changes until the goal of a pursuit is reached.
func (f *Follower) run(ctx context.Context, run *pursuit) error {
	p := &f.pursuits
	err := f.look(ctx)
	for {
		p.mu.Lock()
		goal := run.goal
		if f.applied() >= goal {
			p.now = nil // the next caller starts another pursuit
			f.keepPolling()
			p.mu.Unlock()
			return nil
		}
		p.mu.Unlock()
		if err == nil {
			err = f.applyTo(ctx, goal, true)
		}
		if err != nil {
			p.mu.Lock()
			p.now = nil
			f.keepPolling()
			p.mu.Unlock()
			return err
		}
	}
}

// pursue waits until all changes up to a sequence number are applied.
func (f *Follower) pursue(ctx context.Context, last uint64) error {
	w := &waiter{last, make(chan struct{})}
	defer f.await(w)()
	for f.applied() < last {
		run, err := f.join(last)
		if err != nil {
			return err
		}
		select {
		case <-w.done:
			return nil
		case <-run.done:
			if run.err != nil {
				return run.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// patiently waits until all changes committed before the call are applied. While an index is in trouble it waits for
// patience only, or for troubleAgain if another search has given up waiting and nothing was applied since. late is the
// number of changes that the search may then miss.
func (f *Follower) patiently(ctx context.Context) (late uint64, err error) {
	last := f.store.LastSeq()
	if f.applied() >= last {
		return f.lacking(0), nil
	}
	once, give := context.WithCancel(ctx)
	defer give()
	applied := make(chan error, 1)
	go func() { applied <- f.pursue(once, last) }()
	wait := patience
	if f.gaveUpAt.Load() == f.applied()+1 {
		wait = troubleAgain
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case err := <-applied:
			if slow, _ := f.trouble(); slow && errors.Is(err, backend.ErrUnavailable) && ctx.Err() == nil {
				return f.lacking(1), nil
			}
			if err != nil {
				return 0, err
			}
			return f.lacking(0), nil
		case <-timer.C:
		}
		if slow, _ := f.trouble(); slow {
			give()
			<-applied
			f.gaveUpAt.Store(f.applied() + 1)
			return f.lacking(1), nil
		}
		timer.Reset(troubleAgain)
	}
}

// lacking returns the number of changes that a search may miss, but not less than least.
func (f *Follower) lacking(least uint64) uint64 {
	if _, lacks := f.trouble(); lacks {
		least = max(least, 1)
	}
	if least == 0 {
		return 0
	}
	return max(least, f.lack())
}

// InTrouble reports whether changes may take long to be applied now. It does no I/O.
func (f *Follower) InTrouble() bool {
	slow, _ := f.trouble()
	return slow
}

// trouble calls [backend.Troubled] of all indexes. It reports whether any is slow, and whether any may lack changes.
func (f *Follower) trouble() (slow, lacks bool) {
	slow = f.stalls()
	for _, t := range f.troubled {
		s, l := t.Trouble()
		slow, lacks = slow || s, lacks || l
	}
	return slow, lacks
}

const (
	// stalledAfter is how long a call made by ask may take before it counts as trouble. stalledFor is how long a slow call
	// continues to count: after a fail-over all processes call the Store at once.
	stalledAfter, stalledFor = 500 * time.Millisecond, 5 * time.Second
	// idleAfter is how long the leading process may apply nothing before that counts as trouble: it may have died.
	idleAfter = time.Second
)

// ask makes a call of the Store or of the Leader that is needed before changes can be applied. It records whether the call
// is slow. The caller has f.turn.
func (f *Follower) ask(call func() error) error {
	began := time.Now()
	f.asking.Store(began.UnixNano())
	err := call()
	f.asking.Store(0)
	if time.Since(began) > stalledAfter {
		f.stalled.Store(time.Now().UnixNano())
	}
	return err
}

// stalls reports whether a call made by ask is slow, or has been within stalledFor, or the leading process has applied nothing for idleAfter
// while this one waited for it.
func (f *Follower) stalls() bool {
	if at := f.idle.Load(); at != 0 && time.Since(time.Unix(0, at)) > idleAfter {
		return true
	}
	if at := f.asking.Load(); at != 0 && time.Since(time.Unix(0, at)) > stalledAfter {
		return true
	}
	at := f.stalled.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < stalledFor
}

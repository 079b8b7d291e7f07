package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// patience is how long a search waits for indexes that are in trouble, before it goes on with what is indexed.
	patience = time.Second
	// troubleAgain is how often one that has waited for so long asks whether they are.
	troubleAgain = 100 * time.Millisecond
)

// pursuits apply changes beside the calls that wait for them, one at a time. Indexes on other machines are applied to in that way: what a
// caller that gives up would break off there has to be done again by the next one, who may have no more time.
type pursuits struct {
	mu    sync.Mutex
	now   *pursuit // nil: none is running
	ended bool
}

type pursuit struct {
	end  context.CancelFunc
	goal uint64        // it ends when everything up to it is applied; it belongs to pursuits.mu
	done chan struct{} // closed when it has ended
	err  error         // why it gave up; to be read after done
}

// close ends what is under way and waits for it.
func (p *pursuits) close() {
	p.mu.Lock()
	p.ended = true
	now := p.now
	p.mu.Unlock()
	if now != nil {
		now.end()
		<-now.done
	}
}

// join has everything up to a sequence number applied, by the pursuit that is running or a new one.
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

// run is a pursuit.
func (f *Follower) run(ctx context.Context, run *pursuit) error {
	p := &f.pursuits
	for {
		p.mu.Lock()
		goal := run.goal
		if f.applied() >= goal {
			p.now = nil // the next caller begins another
			p.mu.Unlock()
			return nil
		}
		p.mu.Unlock()
		if err := f.applyTo(ctx, goal, true); err != nil {
			p.mu.Lock()
			p.now = nil
			p.mu.Unlock()
			return err
		}
	}
}

// pursue returns when everything up to a sequence number is applied.
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

// patiently waits until everything that was committed before is applied, but not for long while an index is in trouble. late is how many changes
// the search may miss then.
func (f *Follower) patiently(ctx context.Context) (late uint64, err error) {
	last := f.store.LastSeq()
	if f.applied() >= last {
		return f.lacking(0), nil
	}
	once, give := context.WithCancel(ctx)
	defer give()
	applied := make(chan error, 1)
	go func() { applied <- f.pursue(once, last) }()
	timer := time.NewTimer(patience)
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
			return f.lacking(1), nil
		}
		timer.Reset(troubleAgain)
	}
}

// lacking returns how many changes a search may miss, at least some number; 0: it finds all.
func (f *Follower) lacking(least uint64) uint64 {
	if _, lacks := f.trouble(); lacks {
		least = max(least, 1)
	}
	if least == 0 {
		return 0
	}
	return max(least, f.lack())
}

// trouble reports what [backend.Troubled] does, of all indexes.
func (f *Follower) trouble() (slow, lacks bool) {
	for _, t := range f.troubled {
		s, l := t.Trouble()
		slow, lacks = slow || s, lacks || l
	}
	return slow, lacks
}

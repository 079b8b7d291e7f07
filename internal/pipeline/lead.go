package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// refreshPause is the initial pause between two checks of how far the leading process has come. It doubles up to longestRefresh.
	refreshPause, longestRefresh = 10 * time.Millisecond, 200 * time.Millisecond
	// learnEvery is the number of checks after which the Store is read again.
	learnEvery = 3
	// attendEvery is the interval at which the leading process looks for commits of other processes, in addition to
	// notifications. attendFor is for how long at least it continues after it last applied changes.
	attendEvery, attendFor = 500 * time.Millisecond, 15 * time.Second
)

// Leader determines which of several processes applies changes to their shared indexes.
type Leader interface {
	// Lead returns 0 if another process applies changes. Otherwise it returns a term, a number that changes whenever another
	// process may have applied changes since the last call. If keep is set, a process that leads does not hand the lead over to another one. It is
	// called by one goroutine at a time.
	Lead(ctx context.Context, keep bool) (term uint64, err error)
	// Still reports whether this process has led without interruption since a call of Lead returned term, and no other process
	// can apply changes at this moment. It does no I/O.
	Still(term uint64) bool
	// Keep keeps this process in the lead until ctx ends, as far as it can. It may run beside Still alone.
	Keep(ctx context.Context)
}

// mayApply reports whether this process applies changes to an index. It tells the index when that has changed. The caller
// has f.turn.
func (f *Follower) mayApply(ctx context.Context, s backend.Index) (bool, error) {
	l, shared := s.(backend.Led)
	if !shared || f.Leader == nil {
		return true, nil
	}
	var term uint64
	err := f.ask(func() (err error) {
		term, err = f.Leader.Lead(ctx, f.unsettled())
		return err
	})
	if err != nil {
		return false, err
	}
	mine := term != 0
	if f.announced && term == f.term {
		return mine, nil
	}
	f.announced = false
	f.leads.Store(mine)
	if err := f.learn(ctx); err != nil {
		return false, err
	}
	var still func() bool
	if mine {
		still = func() bool { return f.Leader.Still(term) }
	}
	if err := l.Lead(ctx, still); err != nil {
		return false, err
	}
	f.announced, f.term = true, term
	return mine, nil
}

// unsettled reports whether an index on other machines has something to do that another process would have to do again if it led.
func (f *Follower) unsettled() bool {
	for _, t := range f.troubled {
		if slow, _ := t.Trouble(); slow {
			return true
		}
	}
	return false
}

// apply applies changes to an index. A process that leads stays in the lead meanwhile, even if that takes longer than a
// lease lasts.
func (f *Follower) apply(ctx context.Context, s backend.Index, changes []backend.Change) error {
	if _, shared := s.(backend.Led); !shared || f.Leader == nil {
		return s.Apply(ctx, changes)
	}
	ctx, end := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	defer keeping.Wait()
	defer end()
	keeping.Go(func() { f.Leader.Keep(ctx) })
	return s.Apply(ctx, changes)
}

// awaitLeader waits until the leading process has applied all changes up to last. done is false if this process has to apply them
// itself.
func (f *Follower) awaitLeader(ctx context.Context, s backend.Index, last uint64) (done bool, err error) {
	l, shared := s.(backend.Led)
	if !shared || f.Leader == nil {
		return false, nil
	}
	pause := refreshPause
	timer := time.NewTimer(pause)
	defer timer.Stop()
	far := s.Applied()
	f.idle.Store(time.Now().UnixNano())
	defer f.idle.Store(0)
	for n := 0; ; n++ {
		if f.announced && !f.leads.Load() {
			if err := l.Refresh(ctx); err != nil {
				return false, err
			}
			at := s.Applied()
			if at >= last {
				return true, nil
			}
			if at > far {
				far = at
				f.idle.Store(time.Now().UnixNano())
			}
			f.wake()
		}
		if mine, err := f.mayApply(ctx, s); err != nil || mine {
			return s.Applied() >= last, err
		}
		if n%learnEvery == learnEvery-1 {
			if err := f.learn(ctx); err != nil {
				return false, err
			}
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		pause = min(2*pause, longestRefresh)
		timer.Reset(pause)
	}
}

// learn makes the Store read the epochs of its changes: this process may not know those of changes that another process
// has applied.
func (f *Follower) learn(ctx context.Context) error {
	err := f.ask(func() error {
		_, err := f.store.Changes(ctx, f.store.LastSeq(), 1)
		return err
	})
	if errors.Is(err, backend.ErrFeedGone) {
		return nil
	}
	return err
}

// FeedChanged starts to apply changes that another process has committed, if this process leads or works on the workspace. works says whether it works on
// it. Call it after a notification of such a commit.
func (f *Follower) FeedChanged(works bool) {
	if (works || f.leads.Load()) && f.Behind() {
		_, _ = f.join(f.store.LastSeq()) // fails only if the Follower is closed
	}
}

// keepPolling checks at intervals whether other processes have committed more, for a while after changes were applied. A
// notification may have come while the workspace was being opened, or its changes could not be applied, and no call here
// may need them. The caller holds pursuits.mu.
func (f *Follower) keepPolling() {
	p := &f.pursuits
	if p.ended || !f.leads.Load() || p.again != nil {
		return
	}
	until := time.Now().Add(attendFor)
	p.again = time.AfterFunc(attendEvery, func() {
		f.keepLead()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.ended || p.now == nil && time.Now().After(until) && !f.InTrouble() {
			p.again = nil
			return
		}
		p.again.Reset(attendEvery)
	})
}

// keepLead starts a pursuit if other processes have committed changes, or if this process has to keep leading because
// writes are unconfirmed.
func (f *Follower) keepLead() {
	if f.leads.Load() && (f.Behind() || f.InTrouble()) {
		_, _ = f.join(f.store.LastSeq()) // fails only if the Follower is closed
	}
}

// look checks whether this process still leads.
func (f *Follower) look(ctx context.Context) error {
	if f.Leader == nil || !f.leads.Load() {
		return nil
	}
	if _, err := f.acquire(ctx, never); err != nil {
		return err
	}
	defer f.release()
	for _, s := range f.indexes {
		if _, err := f.mayApply(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

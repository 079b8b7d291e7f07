package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// hearPause is how soon who waits for the process that leads asks again how far it has come, at first; it doubles up to longestHear.
	hearPause, longestHear = 10 * time.Millisecond, 200 * time.Millisecond
	// learnEvery is how many times it asks before the Store is read anew.
	learnEvery = 3
	// attendEvery is how often the process that leads looks for what others have committed, beside being told, and attendFor for how long at least after
	// it applied something.
	attendEvery, attendFor = 500 * time.Millisecond, 15 * time.Second
)

// Leader says which of several processes applies changes to the indexes that they share.
type Leader interface {
	// Lead returns 0 where another process does, and else a number that is another one whenever another process may have done so since the last call. It
	// is called by one goroutine at a time.
	Lead(ctx context.Context) (term uint64, err error)
	// Still reports whether no other process can do so at this moment. It does no I/O.
	Still() bool
}

// mayApply reports whether this process applies changes to an index, and tells the index when that has changed. The caller has f.turn.
func (f *Follower) mayApply(ctx context.Context, s backend.Index) (bool, error) {
	l, shared := s.(backend.Led)
	if !shared || f.Leader == nil {
		return true, nil
	}
	var term uint64
	err := f.ask(func() (err error) {
		term, err = f.Leader.Lead(ctx)
		return err
	})
	if err != nil {
		return false, err
	}
	mine := term != 0
	if f.told && term == f.term {
		return mine, nil
	}
	f.told = false
	f.leads.Store(mine)
	if err := f.learn(ctx); err != nil {
		return false, err
	}
	var still func() bool
	if mine {
		still = f.Leader.Still
	}
	if err := l.Lead(ctx, still); err != nil {
		return false, err
	}
	f.told, f.term = true, term
	return mine, nil
}

// heed waits until the process that leads has applied everything up to a number; done is false as soon as this process is to apply it.
func (f *Follower) heed(ctx context.Context, s backend.Index, last uint64) (done bool, err error) {
	l, shared := s.(backend.Led)
	if !shared || f.Leader == nil {
		return false, nil
	}
	pause := hearPause
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for n := 0; ; n++ {
		if f.told && !f.leads.Load() {
			if err := l.Hear(ctx); err != nil {
				return false, err
			}
			if s.Applied() >= last {
				return true, nil
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
		pause = min(2*pause, longestHear)
		timer.Reset(pause)
	}
}

// learn has the Store read of which epochs its changes are: those of what another process has applied may not be known here.
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

// Heard has what another process has committed applied, where this one does that for all, or is the one to begin to.
func (f *Follower) Heard(works bool) {
	if (works || f.leads.Load()) && f.Behind() {
		_, _ = f.join(f.store.LastSeq()) // where the follower is closed nobody leads
	}
}

// attend looks again, a while after something was applied for others, whether they have committed more: what was heard while the workspace was
// being opened, or could not be applied, nobody may ask for here. The caller holds pursuits.mu.
func (f *Follower) attend() {
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

// keepLead begins a pursuit where others have committed something, or the lead has to be kept because something is in doubt.
func (f *Follower) keepLead() {
	if f.leads.Load() && (f.Behind() || f.InTrouble()) {
		_, _ = f.join(f.store.LastSeq()) // where the follower is closed nobody leads
	}
}

// look finds out whether this process still leads.
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

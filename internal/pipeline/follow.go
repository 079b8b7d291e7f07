package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// feedRows is how many rows of content one step of catching up reads.
const feedRows = 2048

// Follower lets the shadows of a workspace catch up with its Store. It is safe
// for concurrent use.
type Follower struct {
	store   backend.Store
	shadows []backend.Shadow

	mu sync.Mutex
}

// NewFollower returns a follower of ws.
func NewFollower(ws backend.Workspace) *Follower {
	return &Follower{store: ws.Store(), shadows: ws.Shadows()}
}

// Behind tells whether a shadow lacks a change. It does no I/O.
func (f *Follower) Behind() bool {
	last := f.store.LastSeq()
	for _, s := range f.shadows {
		if s.Applied() < last {
			return true
		}
	}
	return false
}

// Sync returns when every change that was committed before the call is applied.
func (f *Follower) Sync(ctx context.Context) error {
	if !f.Behind() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.store.LastSeq()
	for _, s := range f.shadows {
		if err := f.catchUp(ctx, s, last); err != nil {
			return err
		}
	}
	return nil
}

// Advance applies what a call of Place put into the feed, and whatever comes before it.
// Shadows that are up to date need not read the feed for that.
func (f *Follower) Advance(ctx context.Context, p *backend.Placement) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.shadows {
		// What goes wrong here goes wrong again below, or was healed by it.
		if s.Applied() == p.After && s.Apply(ctx, p.Changes) == nil {
			continue
		}
		if err := f.catchUp(ctx, s, f.store.LastSeq()); err != nil {
			return err
		}
	}
	return nil
}

func (f *Follower) catchUp(ctx context.Context, s backend.Shadow, last uint64) error {
	started := false
	for s.Applied() < last {
		changes, err := f.store.Changes(ctx, s.Applied(), feedRows)
		if errors.Is(err, backend.ErrFeedGone) && !started {
			started = true
			if err := s.Reset(ctx); err != nil {
				return fmt.Errorf("reset a shadow: %w", err)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("read the change feed: %w", err)
		}
		if len(changes) == 0 { // what was left of the feed belongs to versions that are gone
			changes = []backend.Change{{Seq: last, Kind: backend.Mark}}
		}
		before := s.Applied()
		if err := s.Apply(ctx, changes); err != nil {
			return fmt.Errorf("apply changes to a shadow: %w", err)
		}
		if s.Applied() <= before {
			return fmt.Errorf("a shadow did not advance past change %d", before)
		}
	}
	return nil
}

// Flush lets every shadow persist what it applied.
func (f *Follower) Flush(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, s := range f.shadows {
		errs = append(errs, s.Flush(ctx))
	}
	return errors.Join(errs...)
}

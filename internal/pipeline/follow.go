package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

const (
	// feedRows is how many rows of content one step of catching up reads.
	feedRows = 2048
	// compactRows is how many tombstones one transaction drops from the feed, and
	// compactSteps how many transactions one Flush makes for that.
	compactRows, compactSteps = 5000, 8
)

// Follower lets the indexes of a workspace catch up with its Store. It is safe
// for concurrent use.
type Follower struct {
	store   backend.Store
	indexes []backend.Index

	mu        sync.Mutex
	compacted uint64 // sequence number up to which the feed has no tombstones
}

// NewFollower returns a follower of ws.
func NewFollower(ws backend.Workspace) *Follower {
	return &Follower{store: ws.Store(), indexes: ws.Indexes()}
}

// Open brings the indexes of a workspace that was just opened, and that nobody writes
// to yet, up to its Store. An index that is ahead of the Store has applied changes of
// another history, because an older copy of the Store was put in place: it is built
// anew.
func (f *Follower) Open(ctx context.Context) error {
	f.mu.Lock()
	last := f.store.LastSeq()
	for _, s := range f.indexes {
		if s.Applied() <= last {
			continue
		}
		if err := s.Reset(ctx); err != nil {
			f.mu.Unlock()
			return fmt.Errorf("reset an index that is ahead of its store: %w", err)
		}
	}
	f.mu.Unlock()
	return f.Sync(ctx)
}

// Behind reports whether an index lacks a change. It does no I/O.
func (f *Follower) Behind() bool {
	last := f.store.LastSeq()
	for _, s := range f.indexes {
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
	for _, s := range f.indexes {
		if err := f.catchUp(ctx, s, last); err != nil {
			return err
		}
	}
	return nil
}

// Advance applies what a call of Place put into the feed, and whatever comes before it.
// Indexes that are up to date need not read the feed for that.
func (f *Follower) Advance(ctx context.Context, p *backend.Placement) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.indexes {
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

func (f *Follower) catchUp(ctx context.Context, s backend.Index, last uint64) error {
	started := false
	for s.Applied() < last {
		changes, err := f.store.Changes(ctx, s.Applied(), feedRows)
		if errors.Is(err, backend.ErrFeedGone) && !started {
			started = true
			if err := s.Reset(ctx); err != nil {
				return fmt.Errorf("reset an index: %w", err)
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
			return fmt.Errorf("apply changes to an index: %w", err)
		}
		if s.Applied() <= before {
			return fmt.Errorf("an index did not advance past change %d", before)
		}
	}
	return nil
}

// Flush lets every index persist what it applied. Tombstones that all of them
// persisted are then dropped from the feed, a bounded number in one call.
func (f *Follower) Flush(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	persisted := f.store.LastSeq()
	var errs []error
	for _, s := range f.indexes {
		persisted = min(persisted, s.Applied())
		errs = append(errs, s.Flush(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return f.compact(ctx, persisted)
}

// compact drops tombstones up to seq from the feed.
func (f *Follower) compact(ctx context.Context, seq uint64) error {
	if seq <= f.compacted {
		return nil
	}
	for range compactSteps {
		n, err := f.store.CompactFeed(ctx, seq, compactRows)
		if err != nil {
			return fmt.Errorf("compact the change feed: %w", err)
		}
		if n < compactRows {
			f.compacted = seq
			break
		}
	}
	return nil
}

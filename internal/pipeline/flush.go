package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

// Flush lets every index persist what it applied. Tombstones that all of them
// persisted are then dropped from the feed, a bounded number in one call. Changes are
// applied meanwhile, so that no recall waits for it.
func (f *Follower) Flush(ctx context.Context) error {
	f.flushing.Lock()
	defer f.flushing.Unlock()
	persisted := f.store.LastSeq()
	var errs []error
	for _, s := range f.indexes {
		persisted = min(persisted, s.Applied())
		errs = append(errs, s.Flush(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if st, ok := f.store.(backend.FeedRetainer); ok { // those of other processes may be behind
		persisted -= min(persisted, st.RetainedFeed())
	}
	return f.compact(ctx, persisted)
}

// Purge flushes every index, drops all tombstones from the feed, and has the files of indexes rewritten, so that nothing
// of what was deleted is left in them. An index that can't do that is built anew.
func (f *Follower) Purge(ctx context.Context) error {
	if err := f.Sync(ctx); err != nil {
		return err
	}
	if _, err := f.acquire(ctx, never); err != nil {
		return err
	}
	defer f.release()
	last := f.store.LastSeq()
	for _, s := range f.indexes {
		if err := f.catchUp(ctx, s, last, false); err != nil {
			return err
		}
		if err := s.Flush(ctx); err != nil {
			return err
		}
	}
	for n := compactRows; n == compactRows; {
		var err error
		if n, err = f.store.CompactFeed(ctx, last, compactRows); err != nil {
			return fmt.Errorf("compact the change feed: %w", err)
		}
	}
	for _, s := range f.indexes {
		p, ok := s.(backend.Purger)
		if ok {
			if err := p.Purge(ctx); err != nil {
				return err
			}
			continue
		}
		if err := s.Reset(ctx); err != nil {
			return fmt.Errorf("reset an index: %w", err)
		}
		if err := f.catchUp(ctx, s, last, false); err != nil {
			return err
		}
		if err := s.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
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

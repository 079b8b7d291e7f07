package local

import (
	"context"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Purger = (*index)(nil)

// Purge implements [backend.Purger]. It flushes changes that are only in memory, and merges all files into one with live rows only.
// Searches can run meanwhile.
func (x *index) Purge(ctx context.Context) error {
	if err := x.Flush(ctx); err != nil {
		return err
	}
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	done := make(chan error, 1)
	if !x.work.start(func(life context.Context) { done <- x.purge(life) }) {
		return fmt.Errorf("purge indexes: %w", backend.ErrUnavailable)
	}
	select {
	case err := <-done:
		if isDamage(err) { // then the indexes are dropped, and rebuilt from live rows
			x.damage(err)
			x.applying.Lock()
			defer x.applying.Unlock()
			return x.startOver()
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// purge merges all files into one and removes files that are no longer listed. It runs as background work, so that no other merge runs
// at the same time.
func (x *index) purge(ctx context.Context) error {
	x.publishing.Lock()
	run, generation, id := slices.Clone(x.files), x.generation, x.nextID
	if len(run) > 0 {
		x.nextID++
	}
	for _, f := range run {
		f.acquire()
	}
	x.publishing.Unlock()
	if len(run) == 0 {
		return sweep(x.dir(), nil)
	}
	err := x.merge(ctx, run, id, true, generation)
	for _, f := range run {
		f.release()
	}
	if err != nil {
		return err
	}
	x.publishing.Lock()
	defer x.publishing.Unlock()
	return sweep(x.dir(), x.files) // earlier merges may have failed to remove files
}

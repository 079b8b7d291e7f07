package local

import (
	"context"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Purger = (*index)(nil)

// Purge implements [backend.Purger]: it writes what is in memory alone, and merges all files into one, which holds live
// rows only. Searches go on meanwhile.
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
		if isDamage(err) { // then everything is forgotten, and built again from live rows
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

// purge merges all files, as often as others come up meanwhile. It runs as background work, so that no merge runs beside it.
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
	return sweep(x.dir(), x.files) // what could not be removed at an earlier merge
}

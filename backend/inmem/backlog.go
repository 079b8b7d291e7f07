package inmem

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// ErrorCodes implements [backend.ErrorCounter].
func (s *store) ErrorCodes(ctx context.Context) (counts map[string]int, err error) {
	err = s.read(ctx, func(d *storeData) error {
		counts = map[string]int{}
		for _, p := range d.parts {
			for _, it := range p.items {
				if src := &it.newest.src; src.State == backend.Errored {
					counts[src.ErrorCode]++
				}
			}
		}
		return nil
	})
	return counts, err
}

func (s *store) Backlog(ctx context.Context) (counts map[backend.State]int, next time.Time, err error) {
	err = s.read(ctx, func(d *storeData) error {
		counts = make(map[backend.State]int)
		for state, n := range d.states {
			if n > 0 {
				counts[backend.State(state)] = n
			}
		}
		for _, num := range d.queue {
			v := d.waiting(num)
			if v == nil {
				continue
			}
			at := v.src.NotBefore
			if v.src.LeaseUntil.After(at) {
				at = v.src.LeaseUntil
			}
			next = earliest(next, atOrEpoch(at))
		}
		return nil
	})
	return counts, next, err
}

func (s *store) Requeue(ctx context.Context, part backend.Partition, id string) error {
	return s.write(ctx, func(d *storeData) error {
		it := d.item(part, id)
		if it == nil {
			return fmt.Errorf("requeue %q: %w", id, backend.ErrNotFound)
		}
		v := it.newest
		if v.src.State != backend.Errored {
			return fmt.Errorf("requeue %q: it did not fail: %w", id, backend.ErrConflict)
		}
		v.resetWork()
		d.setState(v, backend.Queued)
		v.src.Attempts = 0
		if i, found := slices.BinarySearch(d.queue, v.src.Num); !found {
			d.queue = slices.Insert(d.queue, i, v.src.Num)
		}
		return nil
	})
}

func (s *store) Events(ctx context.Context, limit int) (out []backend.Event, err error) {
	err = s.read(ctx, func(d *storeData) error {
		out = slices.Clone(firstN(d.events, limit))
		return nil
	})
	return out, err
}

func (s *store) Acknowledge(ctx context.Context, seq int64) error {
	return s.write(ctx, func(d *storeData) error {
		d.events = slices.DeleteFunc(d.events, func(e backend.Event) bool { return e.Seq <= seq })
		return nil
	})
}

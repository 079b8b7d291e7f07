package documents

import (
	"context"
	"reflect"
	"slices"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Watch calls f with each new state of items in a sub-tenant, given by its stored name, and with the number of items in a final state.
// It returns when all are final. It may miss states that last less than a call of f. A panic of f is returned as an error.
func Watch(ctx context.Context, op string, sp *workspace.Space, sub string, ids []string, f func(st content.ItemStatus, done int)) error {
	open, done := slices.Clone(ids), 0
	last := make(map[string]content.ItemStatus, len(ids))
	for len(open) > 0 {
		changed := sp.Changes()
		states, err := Statuses(ctx, op, sp, sub, open)
		if err != nil {
			return err
		}
		left := open[:0]
		for _, st := range states {
			final := st.Status.Terminal()
			if !final {
				left = append(left, st.ID)
			}
			if !final && reflect.DeepEqual(last[st.ID], st) {
				continue
			}
			last[st.ID] = st
			if final {
				done++
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := fault.Guard(func() error { f(st, done); return nil }); err != nil {
				return err
			}
		}
		if open = left; len(open) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

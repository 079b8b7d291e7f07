package contextmem

import (
	"context"
	"errors"
	"reflect"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/documents"
)

// ItemProgress says how far one item of an ingest call has come, and how far the call as a whole.
type ItemProgress struct {
	ItemStatus
	Done  int // accepted items of the call whose state is final, this one included when its is
	Total int // accepted items of the call
}

// ProgressFunc is told how the items of an ingest call move on; see MemoryBatch.Progress. It is called by one
// goroutine of the service, never twice at once: the states of an item in order, its final one once and last. States
// that an item leaves quickly, or while an earlier call of the function lasts, may be left out, so a slow function
// delays nothing but later reports. The first call may come before the ingest call returns, none comes after
// [Service.Close], which waits for one that runs. An item that is deleted meanwhile ends with Unknown set. A function that panics is not called again.
type ProgressFunc func(ItemProgress)

// follow reports the accepted items of a call to f from a goroutine of its own; nil follows nothing.
func (s scope) follow(f ProgressFunc, res *IngestResult) {
	if f == nil || res == nil || res.Accepted == 0 || s.svc.gate.Enter() != nil {
		return
	}
	seen := map[string]bool{}
	var ids []string
	for _, id := range res.IDs() {
		if !seen[id] {
			seen[id], ids = true, append(ids, id)
		}
	}
	s.svc.gate.Go(func() {
		defer s.svc.gate.Leave()
		err := s.report(s.svc.gate.Life(), f, ids)
		if err != nil && s.svc.gate.Life().Err() == nil && !errors.Is(err, fault.ErrNotFound) {
			s.svc.opts.Logger.Warn("progress is not reported to its end", "err", err)
		}
	})
}

// report calls f until every item is final.
func (s scope) report(ctx context.Context, f ProgressFunc, open []string) error {
	ref, name, err := s.enter(ctx, "progress")
	if err != nil {
		return err
	}
	defer ref.Release()
	total, done := len(open), 0
	last := make(map[string]ItemStatus, total)
	for len(open) > 0 {
		changed := ref.Changes()
		states, err := documents.Statuses(ctx, "progress", ref.Space, name, open)
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
			if err := fault.Guard(func() error { f(ItemProgress{st, done, total}); return nil }); err != nil {
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

package contextmem

import (
	"errors"
	"slices"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/documents"
	"github.com/contextmem/contextmem/internal/workspace"
)

// ItemProgress is the state of one item of an ingest call, with the progress of the whole call.
type ItemProgress struct {
	ItemStatus
	Done  int // number of accepted items of the call in a final state, including this one if its state is final
	Total int // number of accepted items of the call
}

// ProgressFunc receives the state changes of the items of an ingest call; see MemoryBatch.Progress. One goroutine of the
// service calls it, never concurrently. It gets the states of an item in order; the final state comes last, once. Brief
// states, and states that end during an earlier call of the function, may be skipped, so a slow function delays only
// later reports. The first call may happen before the ingest call returns. [Service.Close] waits for a running call, and
// no call follows it. An item that is deleted during processing ends with Unknown set. A function that panics is not called again.
type ProgressFunc func(ItemProgress)

// follow starts a goroutine that reports the accepted items of a call to f. If f is nil, follow does nothing.
func (s scope) follow(f ProgressFunc, res *IngestResult) {
	if f == nil || res == nil || res.Accepted == 0 || s.svc().gate.Enter() != nil {
		return
	}
	ids := slices.Compact(slices.Sorted(slices.Values(res.IDs())))
	s.svc().gate.Go(func() {
		defer s.svc().gate.Leave()
		ctx := s.svc().gate.Life()
		_, err := entered(ctx, s, "progress", func(ref *workspace.Ref, name string) (struct{}, error) {
			return struct{}{}, documents.Watch(ctx, "progress", ref.Space, name, ids, func(st ItemStatus, done int) {
				f(ItemProgress{st, done, len(ids)})
			})
		})
		if err != nil && ctx.Err() == nil && !errors.Is(err, fault.ErrNotFound) {
			s.svc().opts.Logger.Warn("progress is not reported to its end", "err", err)
		}
	})
}

package contextmem

import (
	"errors"
	"slices"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/documents"
	"github.com/contextmem/contextmem/internal/workspace"
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
	ids := slices.Compact(slices.Sorted(slices.Values(res.IDs())))
	s.svc.gate.Go(func() {
		defer s.svc.gate.Leave()
		ctx := s.svc.gate.Life()
		_, err := entered(ctx, s, "progress", func(ref *workspace.Ref, name string) (struct{}, error) {
			return struct{}{}, documents.Watch(ctx, "progress", ref.Space, name, ids, func(st ItemStatus, done int) {
				f(ItemProgress{st, done, len(ids)})
			})
		})
		if err != nil && ctx.Err() == nil && !errors.Is(err, fault.ErrNotFound) {
			s.svc.opts.Logger.Warn("progress is not reported to its end", "err", err)
		}
	})
}

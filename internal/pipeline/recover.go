package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// lateChanges is the number of missing changes from which on searches do not wait for the indexes. Fewer changes are applied in less than a
// tenth of a second. If indexes lack more when a workspace is opened, as after a kill or the loss of their files, they catch up in the background.
const lateChanges = 2048

// recovery lets indexes that lack many changes catch up in the background. Searches meanwhile use the incomplete indexes.
type recovery struct {
	end  context.CancelFunc
	done chan struct{} // closed when it has ended
}

// lack returns an upper bound of the changes that an index lacks, or 0 if the store cannot count them. It does no I/O.
func (f *Follower) lack() uint64 {
	c, ok := f.store.(backend.FeedCounter)
	if !ok {
		return 0
	}
	return c.ChangesAfter(f.applied())
}

// recover starts a recovery, unless one is running.
func (f *Follower) recover() {
	ctx, end := context.WithCancel(context.Background())
	r := &recovery{end, make(chan struct{})}
	if !f.recovery.CompareAndSwap(nil, r) {
		end()
		return
	}
	go func() {
		defer close(r.done)
		defer f.recovery.Store(nil)
		defer end()
		for f.lack() > 0 {
			if err := f.Sync(ctx); err != nil {
				if ctx.Err() == nil {
					f.failed.Store(&err)
				}
				return
			}
		}
	}()
}

// recovering reports whether a recovery is running.
func (f *Follower) recovering() bool { return f.recovery.Load() != nil }

// FreshOrLate is Fresh for a search whose result can be marked as incomplete. If late is 0, the indexes have applied all changes committed before
// the call. Otherwise late is an upper bound of the changes that they lack. FreshOrLate returns it at once during a recovery, and after [patience]
// while an index on another machine is in trouble.
func (f *Follower) FreshOrLate(ctx context.Context) (late uint64, err error) {
	f.searched.Store(time.Now().UnixNano())
	if late := f.lack(); late >= lateChanges {
		far := len(f.troubled) > 0
		if err := f.failed.Swap(nil); err != nil && !(far && errors.Is(*err, backend.ErrUnavailable)) {
			return 0, *err
		}
		if f.applied() == 0 { // the index was damaged and is being rebuilt
			if !far { // clears the damaged index, so that searches can use it; a process that lacks the files of its own indexes has those of other machines
				if err := f.syncTo(ctx, 1, true); err != nil {
					return 0, err
				}
			}
			f.recover()
			late = f.lack()
		}
		if late > 0 && f.recovering() {
			return late, nil
		}
	}
	if len(f.troubled) > 0 {
		return f.patiently(ctx)
	}
	return 0, f.sync(ctx, true)
}

// Close cancels background work and waits for it. The caller must not use the follower afterwards.
func (f *Follower) Close() {
	f.pursuits.close()
	if r := f.recovery.Load(); r != nil {
		r.end()
		<-r.done
	}
}

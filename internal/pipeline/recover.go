package pipeline

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// lateChanges is how many changes the indexes may lack for a search to wait until they are applied, which takes less than a tenth of
// a second. Indexes that lack more when a workspace is opened, as after a kill or where their files are lost, catch up beside searches.
const lateChanges = 2048

// recovery is the catching up of indexes that lack much. Searches go on meanwhile, over what is indexed.
type recovery struct {
	end  context.CancelFunc
	done chan struct{} // closed when it has ended
}

// lack is how many changes the indexes lack at most; 0 where the store can't tell. It does no I/O.
func (f *Follower) lack() uint64 {
	c, ok := f.store.(backend.FeedCounter)
	if !ok {
		return 0
	}
	return c.ChangesAfter(f.applied())
}

// recover catches up in the background, unless that goes on already.
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

// recovering reports whether indexes catch up in the background.
func (f *Follower) recovering() bool { return f.recovery.Load() != nil }

// FreshOrLate is Fresh for a search that can say that it does not know all: where the indexes lack so much that they catch up in
// the background, it returns at once how many changes they lack, at most. 0: they have everything that was committed before the call.
func (f *Follower) FreshOrLate(ctx context.Context) (late uint64, err error) {
	f.searched.Store(time.Now().UnixNano())
	if late := f.lack(); late >= lateChanges {
		if err := f.failed.Swap(nil); err != nil {
			return 0, *err
		}
		if f.applied() == 0 { // damage was found: everything is indexed anew
			if err := f.syncTo(ctx, 1, true); err != nil { // from here on searches find what is there
				return 0, err
			}
			f.recover()
			late = f.lack()
		}
		if late > 0 && f.recovering() {
			return late, nil
		}
	}
	return 0, f.sync(ctx, true)
}

// Close ends what goes on in the background and waits for it. Nobody else may use the follower any more.
func (f *Follower) Close() {
	if r := f.recovery.Load(); r != nil {
		r.end()
		<-r.done
	}
}

package pipeline

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// lateChanges is the number of missing changes from which on searches do not wait for the indexes. Fewer are applied in less than a tenth
// of a second. Indexes that lack more when a workspace is opened, as after a kill or when their files are lost, catch up beside searches.
const lateChanges = 2048

// recovery is the catching up of indexes that lack much. Searches go on meanwhile, over what is indexed.
type recovery struct {
	end  context.CancelFunc
	done chan struct{} // closed when it has ended
}

// lack returns the most changes that an index may lack; 0 if the store cannot count them. It does no I/O.
func (f *Follower) lack() uint64 {
	c, ok := f.store.(backend.FeedCounter)
	if !ok {
		return 0
	}
	return c.ChangesAfter(f.applied())
}

// recover catches up in the background, unless it already does.
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

// FreshOrLate is Fresh for a search whose answer can be marked as incomplete: while the indexes lack so much that they catch up in
// the background, it returns at once the most changes that they may lack, and after [patience] while machines of theirs are in trouble. 0: they have
// everything that was committed before the call.
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
	if len(f.troubled) > 0 {
		return f.patiently(ctx)
	}
	return 0, f.sync(ctx, true)
}

// Close ends background work and waits for it. The follower must not be used afterwards.
func (f *Follower) Close() {
	f.pursuits.close()
	if r := f.recovery.Load(); r != nil {
		r.end()
		<-r.done
	}
}

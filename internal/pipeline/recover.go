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
	life   context.Context // ends with the follower
	end    context.CancelFunc
	under  chan struct{} // holds something while a goroutine catches up
	failed chan error    // holds why the last one gave up, until a search tells it
}

func newRecovery() recovery {
	life, end := context.WithCancel(context.Background())
	return recovery{life, end, make(chan struct{}, 1), make(chan error, 1)}
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
	select {
	case f.recovery.under <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-f.recovery.under }()
		for f.lack() > 0 {
			if err := f.Sync(f.recovery.life); err != nil {
				if f.recovery.life.Err() == nil {
					select {
					case f.recovery.failed <- err:
					default:
					}
				}
				return
			}
		}
	}()
}

// recovering reports whether indexes catch up in the background.
func (f *Follower) recovering() bool { return len(f.recovery.under) > 0 }

// FreshOrLate is Fresh for a search that can say that it does not know all: where the indexes lack so much that they catch up in
// the background, it returns at once how many changes they lack, at most. 0: they have everything that was committed before the call.
func (f *Follower) FreshOrLate(ctx context.Context) (late uint64, err error) {
	f.searched.Store(time.Now().UnixNano())
	if late := f.lack(); late >= lateChanges {
		select {
		case err := <-f.recovery.failed:
			return 0, err
		default:
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

// Close ends what goes on in the background and waits for it.
func (f *Follower) Close() {
	f.recovery.end()
	f.recovery.under <- struct{}{}
}

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// applyChanges is the number of new items applied before the callers that wait for them are woken. dropsOfPut is how many
	// changes of other kinds count as one item, since each takes about a tenth of the time or less.
	applyChanges, dropsOfPut = 32, 8
	// feedRows is the maximum number of rows of content that one step of catching up reads.
	feedRows = 2048
	// compactRows is the maximum number of tombstones that one transaction deletes from the feed. compactSteps is the maximum
	// number of such transactions in one Flush.
	compactRows, compactSteps = 5000, 8
)

// Follower keeps the indexes of a workspace up to date with its Store. It is safe for concurrent use.
type Follower struct {
	// Leader determines which process applies changes to shared indexes. Nil: there is no other process.
	Leader Leader
	// Saw is called once with each change after the first index has applied it, before searches that wait for it continue. Nil:
	// not called.
	Saw func(changes []backend.Change)

	store   backend.Store
	indexes []backend.Index

	turn     chan struct{} // full while a goroutine applies changes
	reported uint64        // number of the last change that Saw was called with; guarded by turn

	waiting sync.Mutex
	waiters []*waiter

	searched atomic.Int64 // when Fresh was last called, in nanoseconds
	written  atomic.Int64 // when Writes was last called with few items, in nanoseconds
	fullRow  atomic.Int64 // number of full and fast batches since the last other one; see batchSize
	caughtUp atomic.Bool  // whether the indexes of this process are known to have caught up once; see Lags

	flushing  sync.Mutex // held while indexes are flushed, beside turn
	compacted uint64     // sequence number up to which the feed has no tombstones

	recovery atomic.Pointer[recovery] // nil: none is running
	failed   atomic.Pointer[error]    // error of the last failed recovery, until a search has returned it

	troubled  []backend.Troubled // the indexes on other machines
	pursuits  pursuits           // used if there are indexes on other machines
	asking    atomic.Int64       // when the running call of the Store for them began, in nanoseconds; 0: none is running
	stalled   atomic.Int64       // when the Store was last slow to answer, in nanoseconds
	idle      atomic.Int64       // since when the leading process has applied nothing while this one waits for it, in nanoseconds; 0: it does not wait
	gaveUpAt  atomic.Uint64      // 1 more than what was applied when a search last gave up waiting; 0: none has
	leads     atomic.Bool        // whether this process leads, as far as it knows; only changed while holding turn
	announced bool               // whether the indexes know whether this process leads; announced and term are guarded by turn
	term      uint64             // term that the indexes know; 0: another process leads
}

// waiter waits until the changes up to a sequence number are applied, by any goroutine.
type waiter struct {
	need uint64
	done chan struct{} // closed when they are applied
}

// NewFollower returns a Follower of ws. The caller ends it with Close.
func NewFollower(ws backend.Workspace) *Follower {
	return newFollower(ws.Store(), ws.Indexes())
}

func newFollower(st backend.Store, indexes []backend.Index) *Follower {
	f := &Follower{store: st, turn: make(chan struct{}, 1)}
	var far []backend.Index
	for _, s := range indexes {
		if t, ok := s.(backend.Troubled); ok {
			f.troubled, far = append(f.troubled, t), append(far, s)
		} else {
			f.indexes = append(f.indexes, s)
		}
	}
	f.indexes = append(f.indexes, far...) // indexes in this process need not wait for other machines
	return f
}

// applied returns the sequence number up to which every index has applied the changes. It does no I/O.
func (f *Follower) applied() uint64 { return appliedTo(f.indexes) }

func appliedTo(indexes []backend.Index) uint64 {
	seq := uint64(math.MaxUint64)
	for _, s := range indexes {
		seq = min(seq, s.Applied())
	}
	return seq
}

// acquire waits until no goroutine applies changes. It returns false if the changes up to need were applied meanwhile. After true the
// caller applies changes and then calls release.
func (f *Follower) acquire(ctx context.Context, need uint64) (bool, error) {
	select {
	case f.turn <- struct{}{}:
		return true, nil
	default:
	}
	w := &waiter{need, make(chan struct{})}
	defer f.await(w)()
	if f.applied() >= need { // applied before w was registered
		return false, nil
	}
	select {
	case f.turn <- struct{}{}:
		return true, nil
	case <-w.done:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// await registers a waiter to be woken, until the returned function is called.
func (f *Follower) await(w *waiter) (end func()) {
	f.waiting.Lock()
	f.waiters = append(f.waiters, w)
	f.waiting.Unlock()
	return func() {
		f.waiting.Lock()
		defer f.waiting.Unlock()
		f.waiters = slices.DeleteFunc(f.waiters, func(x *waiter) bool { return x == w })
	}
}

// release lets another goroutine apply changes.
func (f *Follower) release() {
	f.wake()
	<-f.turn
}

// wake wakes the waiters whose changes are applied.
func (f *Follower) wake() {
	f.waiting.Lock()
	defer f.waiting.Unlock()
	if len(f.waiters) == 0 {
		return
	}
	applied := f.applied()
	f.waiters = slices.DeleteFunc(f.waiters, func(w *waiter) bool {
		if w.need > applied {
			return false
		}
		close(w.done)
		return true
	})
}

// awaited reports whether a goroutine waits for changes that another one applies.
func (f *Follower) awaited() bool {
	f.waiting.Lock()
	defer f.waiting.Unlock()
	return len(f.waiters) > 0
}

// never is a sequence number that no index reaches: acquire then waits for the turn to apply changes.
const never = math.MaxUint64

// Open brings the indexes of a workspace that was just opened up to date with its Store, before anything is written to it.
// An index that is ahead of the Store, or whose last change is of another epoch, follows another history, because the
// Store was replaced by an older copy. Open rebuilds such an index. Indexes that lack many changes, or that several
// processes share, catch up in the background; see FreshOrLate.
func (f *Follower) Open(ctx context.Context) error {
	if _, err := f.acquire(ctx, never); err != nil {
		return err
	}
	for _, s := range f.indexes {
		same, err := f.follows(ctx, s)
		if err != nil {
			f.release()
			return fmt.Errorf("read the change feed: %w", err)
		}
		if same {
			continue
		}
		if err := s.Reset(ctx); err != nil {
			f.release()
			return fmt.Errorf("reset an index of another history than its store's: %w", err)
		}
	}
	f.release()
	if f.lack() >= lateChanges {
		f.recover()
		return nil
	}
	if f.Leader != nil && len(f.troubled) > 0 { // calls that need these indexes wait for them
		_, err := f.join(f.store.LastSeq())
		return err
	}
	return f.Sync(ctx)
}

// lagging is the number of changes that an index of this process lacks at least if it lags. Fewer are applied in some
// milliseconds.
const lagging = 256

// Lags reports whether an index in this process lacks many changes and has done so since the Follower was made, as after a restart.
// Indexes that had caught up and lack many again, as after an outage of the database, do not lag: those of all processes do then. It
// does no I/O.
func (f *Follower) Lags() bool {
	c, ok := f.store.(backend.FeedCounter)
	near := f.indexes[:len(f.indexes)-len(f.troubled)]
	if !ok || len(near) == 0 || f.caughtUp.Load() {
		return false
	}
	lags := c.ChangesAfter(appliedTo(near)) >= lagging
	f.caughtUp.Store(!lags)
	return lags
}

// Behind reports whether an index lacks a change. It does no I/O.
func (f *Follower) Behind() bool {
	last := f.store.LastSeq()
	for _, s := range f.indexes {
		if s.Applied() < last {
			return true
		}
	}
	return false
}

// Fresh is Sync for a search. It records that a search began; see Watched.
func (f *Follower) Fresh(ctx context.Context) error {
	f.searched.Store(time.Now().UnixNano())
	return f.sync(ctx, true)
}

// Watched reports whether a search that waits for committed changes began within watchedFor.
func (f *Follower) Watched() bool { return recent(&f.searched) }

// Writes records that a call is about to store a number of items. Commits stay shorter for a while if they are few, since their caller waits
// for the commit before it.
func (f *Follower) Writes(items int) {
	if items <= fewItems {
		f.written.Store(time.Now().UnixNano())
	}
}

// fewItems is how many items a call stores at most whose caller is taken to wait for each of them.
const fewItems = 16

// recent reports whether a time in nanoseconds is at most watchedFor ago.
func recent(at *atomic.Int64) bool { return time.Since(time.Unix(0, at.Load())) < watchedFor }

// watchedFor is the time after a search, or a call that stores few items, in which further ones are likely.
const watchedFor = time.Second

// Sync returns when every change that was committed before the call is applied. It does not wait for later changes.
func (f *Follower) Sync(ctx context.Context) error { return f.sync(ctx, false) }

// sync is Sync. The goroutine of an urgent caller does not yield the processor.
func (f *Follower) sync(ctx context.Context, urgent bool) error {
	return f.syncTo(ctx, f.store.LastSeq(), urgent)
}

// syncTo is sync up to a sequence number.
func (f *Follower) syncTo(ctx context.Context, last uint64, urgent bool) error {
	if f.applied() >= last {
		return nil
	}
	if len(f.troubled) > 0 {
		return f.pursue(ctx, last)
	}
	return f.applyTo(ctx, last, urgent)
}

// applyTo applies what is missing up to a sequence number.
func (f *Follower) applyTo(ctx context.Context, last uint64, urgent bool) error {
	mine, err := f.acquire(ctx, last)
	if err != nil || !mine {
		return err
	}
	defer f.release()
	for _, s := range f.indexes {
		if err := f.catchUp(ctx, s, last, urgent); err != nil {
			return err
		}
	}
	return nil
}

// Advance applies the changes that a call of Place put into the feed, and all earlier ones. Indexes that are up to date
// then need not read the feed. Nobody may read the rows of p afterwards; see [backend.Consumer].
func (f *Follower) Advance(ctx context.Context, p *backend.Placement) error {
	if _, err := f.acquire(ctx, never); err != nil {
		return err
	}
	defer f.release()
	for i, s := range f.indexes {
		apply := func(ctx context.Context, changes []backend.Change) error { return f.apply(ctx, s, changes) }
		if t, ok := s.(backend.Consumer); ok && i == len(f.indexes)-1 {
			apply = t.Consume
		}
		// An error here occurs again in catchUp, unless catchUp repairs its cause.
		if mine, err := f.mayApply(ctx, s); err == nil && mine && s.Applied() == p.After && accepts(s, p.Changes) {
			f.setEpoch(s, p.Changes[len(p.Changes)-1].Seq)
			if apply(ctx, p.Changes) == nil {
				f.reportChanges(p.Changes)
				continue
			}
		}
		if err := f.catchUp(ctx, s, f.store.LastSeq(), false); err != nil {
			return err
		}
	}
	return nil
}

// accepts reports whether an index can apply the changes of a call, of which there is one at least.
func accepts(s backend.Index, changes []backend.Change) bool {
	t, folds := s.(backend.Folder)
	folds = folds && t.FoldsEntities()
	return len(changes) > 0 && (folds || !slices.ContainsFunc(changes, func(c backend.Change) bool { return c.Kind == backend.FoldEntity }))
}

// follow returns when every change that was committed before the call is applied. placed holds the changes that a call put
// into the feed; it may be nil.
func (f *Follower) follow(ctx context.Context, placed *backend.Placement) error {
	if placed != nil {
		if err := f.Advance(ctx, placed); err != nil {
			return err
		}
	}
	return f.Sync(ctx)
}

// reportChanges calls Saw with those changes that it was not called with before, for another index. The caller has f.turn.
func (f *Follower) reportChanges(changes []backend.Change) {
	for len(changes) > 0 && changes[0].Seq <= f.reported {
		changes = changes[1:]
	}
	if f.Saw != nil && len(changes) > 0 {
		f.reported = changes[len(changes)-1].Seq
		f.Saw(changes)
	}
}

func (f *Follower) catchUp(ctx context.Context, s backend.Index, last uint64, urgent bool) error {
	started := false
	for s.Applied() < last {
		if done, err := f.awaitLeader(ctx, s, last); err != nil || done {
			return err
		}
		at := s.Applied()
		if at >= last {
			return nil
		}
		var changes []backend.Change
		err := f.ask(func() (err error) {
			changes, err = f.store.Changes(ctx, at, int(min(max(last-at, applyChanges), feedRows)))
			return err
		})
		if errors.Is(err, backend.ErrFeedGone) && !started {
			started = true
			if err := s.Reset(ctx); err != nil {
				return fmt.Errorf("reset an index: %w", err)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("read the change feed: %w", err)
		}
		if len(changes) == 0 { // the remaining changes of the feed belong to deleted versions
			changes = []backend.Change{{Seq: last, Kind: backend.Mark}}
		}
		for some := range slicesOf(changes) {
			if s.Applied() >= last { // later changes are applied by the calls that committed them
				break
			}
			mine, err := f.mayApply(ctx, s)
			if err != nil {
				return err
			}
			if !mine || s.Applied() != at { // another process applies changes, or the position was moved
				break
			}
			f.setEpoch(s, some[len(some)-1].Seq)
			if err := f.apply(ctx, s, some); err != nil {
				return fmt.Errorf("apply changes to an index: %w", err)
			}
			if s.Applied() <= at {
				return fmt.Errorf("an index did not advance past change %d", at)
			}
			at = s.Applied()
			f.reportChanges(some)
			f.Lags() // notices that they have caught up
			if f.wake(); !urgent && !f.awaited() {
				runtime.Gosched() // searches have priority: a batch occupies a processor for long
			}
		}
	}
	return nil
}

// slicesOf yields changes in slices that take about equally long to apply.
func slicesOf(changes []backend.Change) iter.Seq[[]backend.Change] {
	return func(yield func([]backend.Change) bool) {
		from, cost := 0, 0
		for i := range changes {
			if n := len(changes[i].Rows); n > 0 {
				cost += dropsOfPut * n
			} else {
				cost++
			}
			if cost >= applyChanges*dropsOfPut || i == len(changes)-1 {
				if !yield(changes[from : i+1]) {
					return
				}
				from, cost = i+1, 0
			}
		}
	}
}

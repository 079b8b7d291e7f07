package local

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/recent"
)

// index holds the indexes of one workspace. It implements Vectors, Keywords and Graph.
//
// Locks are taken in the order life, flushing, counting, applying, publishing, slot.mu, partition.mu,
// index.mu.
type index struct {
	owner *Indexers
	uid   string
	cache *cache

	life   sync.RWMutex // held for reading by every call, for writing by Close and sleep
	closed bool
	awake  atomic.Bool // slots and files are loaded; see wake

	flushing sync.Mutex  // one flush at a time
	pending  *pending    // the tails that a flush writes or could not write; guarded by flushing
	wanted   atomic.Bool // a flush was requested because a tail is full

	counting sync.Mutex // one new file at a time is taken into use, on disk and then in memory
	applying sync.Mutex // one writer at a time; flushes and merges hold it briefly
	applied  atomic.Uint64
	epoch    atomic.Uint64 // epoch of the last change
	damaged  atomic.Bool   // the next Apply or Flush drops everything
	stale    uint64        // value of applied when damage was found, until the feed starts again; 0: none

	mu    sync.RWMutex // guards slots
	slots map[backend.Partition]*slot

	publishing sync.Mutex // guards the fields from files to generation
	files      []*file    // from the oldest to the newest
	fileBytes  int64      // heap bytes of the open files, as counted in the cache
	flushed    uint64     // the last change that files cover
	flushedIn  uint64     // epoch of the change flushed
	nextID     uint64
	generation int // counts calls of forget, so that flushes and merges notice one

	work    background // merges and checks
	flusher background

	parsed, parsedMemory recent.Table[*lexical.Query] // queries for any word, by text; callers must not change them
}

func (x *index) Vectors() backend.Vectors   { return x }
func (x *index) Keywords() backend.Keywords { return x }
func (x *index) Graph() backend.Graph       { return x }

// Indexes returns the index itself: it follows the change feed for vectors, keywords and graph together.
func (x *index) Indexes() []backend.Index { return []backend.Index{x} }

// Close ends background work, waits for calls under way and releases memory. Changes that
// were not flushed are replayed from the feed after the next opening. Closing again does
// nothing.
func (x *index) Close() error {
	x.flusher.stop()
	x.work.stop()
	x.life.Lock()
	defer x.life.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	x.cache.unregister(x)
	x.mu.Lock()
	for _, s := range x.slots {
		x.unload(s)
	}
	x.mu.Unlock()
	x.drop()
	x.owner.open.Release(x.uid)
	return nil
}

// enter begins a call and wakes the index if it sleeps. The caller must call leave unless enter returns an error.
func (x *index) enter(ctx context.Context) error {
	x.life.RLock()
	err := ctx.Err()
	if x.closed {
		err = backend.ErrClosed
	}
	if err == nil && !x.awake.Load() {
		err = x.wake()
	}
	if err != nil {
		x.life.RUnlock()
	}
	return err
}

func (x *index) leave() { x.life.RUnlock() }

// read runs f with a partition that has the facets of need and is locked for reading. It does
// not run f if the partition is unknown.
func (x *index) read(ctx context.Context, part backend.Partition, need facet, f func(p *partition) error) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.cache.shrink()
	defer x.leave()
	err := x.readSlot(part, need, f)
	if isDamage(err) {
		x.damage(err)
	}
	if x.damaged.Load() {
		return fmt.Errorf("the indexes are built again from the store: %w", backend.ErrUnavailable)
	}
	return err
}

func (x *index) readSlot(part backend.Partition, need facet, f func(p *partition) error) error {
	for {
		s := x.find(part)
		if s == nil {
			return nil
		}
		p, err := x.load(s)
		if err != nil || p == nil {
			return err
		}
		built, err := p.need(need)
		if err != nil {
			return err
		}
		if here, err := x.readPartition(s, p, built, f); here {
			return err
		}
	}
}

// readPartition runs f with a partition of a slot. here reports whether it did: it does not if the partition was evicted or
// replaced meanwhile. built says that a facet was built just before, so that the partition has grown.
func (x *index) readPartition(s *slot, p *partition, built bool, f func(p *partition) error) (here bool, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.gone {
		return false, nil
	}
	if built {
		x.weigh(s, p)
	}
	err = f(p)
	if kept := p.keptBytes(); p.kept.Load() != kept && p.kept.Swap(kept) != kept {
		x.weigh(s, p)
	}
	return true, err
}

// Applied returns the sequence number of the last change that is in memory or in files. It is
// 0 after damage was found.
func (x *index) Applied() uint64 {
	if x.damaged.Load() {
		return 0
	}
	return x.applied.Load()
}

// Epoch implements [backend.EpochKeeper].
func (x *index) Epoch() (uint64, bool) { return x.epoch.Load(), true }

// SetEpoch implements [backend.EpochKeeper].
func (x *index) SetEpoch(epoch uint64) { x.epoch.Store(epoch) }

// Reset drops everything, in memory and in files; Applied is 0 afterwards.
func (x *index) Reset(ctx context.Context) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	x.applying.Lock()
	defer x.applying.Unlock()
	x.stale = 0
	return x.forget()
}

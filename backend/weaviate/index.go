package weaviate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// index is the tenant of a workspace: its dense and its keyword index.
type index struct {
	x        *Indexers
	uid      string
	sessions backend.Keywords // answers SearchSessions

	gate   sync.RWMutex // held for reading by calls
	closed bool

	applied atomic.Uint64
	epoch   atomic.Uint64 // of applied; 0: not known
	next    atomic.Uint64 // of what is applied next
	stats   statistics
	short   shortage
	holes   holes
	guide   atomic.Pointer[node] // the only node that has everything that another process, which leads, has applied; nil: all have, or this process leads
	behind  atomic.Bool          // not all replicas have what that one has applied
	tending tending

	// What follows belongs to Apply, Reset and Flush, which take mu.
	mu         sync.Mutex
	said       state             // what this process said last
	version    uint64            // of what it said last, or tried to
	slots      []time.Time       // until when something late may be stored in the slots of its state
	generation state             // of the tenant's content, as this process knows it
	owes       owed              // what it does for others
	others     map[string]halves // what others have left by halves
	asked      time.Time         // when others were last asked
	wroteAt    time.Time         // when something was last applied
	role       role              // whether it applies changes
	certain    func() bool       // whether it still leads, where it does
	alone      uint64            // changes up to it this process applies itself, whoever else has
	wrote      bool              // it has written since it last heard of others
	anew       uint64            // changes up to it may have been stored by halves
	met        []state           // what processes said when it was opened
	history    backend.Epochs    // of the store that it follows; nil: nobody has told
}

var (
	_ backend.Vectors       = (*index)(nil)
	_ backend.Keywords      = (*index)(nil)
	_ backend.ChunkScorer   = (*index)(nil)
	_ backend.EpochKeeper   = (*index)(nil)
	_ backend.HistoryTeller = (*index)(nil)
	_ backend.Purger        = (*index)(nil)
	_ backend.Remainer      = (*index)(nil)
	_ backend.Remote        = (*index)(nil)
	_ backend.Troubled      = (*index)(nil)
	_ backend.Led           = (*index)(nil)
)

func (x *Indexers) openIndex(ctx context.Context, uid string) (*index, error) {
	if err := x.schema.tenant(ctx, x.schema.chunks(), uid); err != nil {
		return nil, fmt.Errorf("open indexes of %s: %w", uid, err)
	}
	ix := &index{x: x, uid: uid}
	ix.said.Process, ix.short.late = x.process, x.late
	if err := ix.recover(ctx); err != nil {
		return nil, fmt.Errorf("open indexes of %s: %w", uid, err)
	}
	ix.tend()
	return ix, nil
}

// enter begins a call, which leave ends.
func (x *index) enter(ctx context.Context) error {
	x.gate.RLock()
	if x.closed {
		x.gate.RUnlock()
		return backend.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		x.gate.RUnlock()
		return err
	}
	return nil
}

func (x *index) leave() { x.gate.RUnlock() }

// close ends the index; the tenant rests from then on.
func (x *index) close() error {
	x.tending.end()
	x.gate.Lock()
	defer x.gate.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	x.x.shelf.drop(x)
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	return x.x.schema.rest(ctx, x.uid)
}

// Applied implements [backend.Index].
func (x *index) Applied() uint64 { return x.applied.Load() }

// Trouble implements [backend.Troubled].
func (x *index) Trouble() (slow, lacks bool) {
	through := x.short.node()
	if through == nil {
		through = x.guide.Load()
	}
	lacks = through != nil && through.isDown()
	return lacks || x.behind.Load() || !x.short.settled() || x.x.cluster.troubled(), lacks
}

// Epoch implements [backend.EpochKeeper].
func (x *index) Epoch() (uint64, bool) {
	epoch := x.epoch.Load()
	return epoch, epoch != 0
}

// SetEpoch implements [backend.EpochKeeper].
func (x *index) SetEpoch(epoch uint64) { x.next.Store(epoch) }

// Apply implements [backend.Index]. What another process has applied is not applied again.
func (x *index) Apply(ctx context.Context, changes []backend.Change) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	x.mu.Lock()
	defer x.mu.Unlock()
	changes = after(changes, x.applied.Load())
	if len(changes) == 0 {
		return nil
	}
	to := changes[len(changes)-1].Seq
	plans := planOf(changes)
	if len(plans) == 0 {
		x.reach(to)
		return nil
	}
	done, err := x.hear(ctx)
	if err != nil {
		return err
	}
	// What this process has to apply itself it applies to the end, whatever others have: what it stored may have undone what they made of it.
	if changes[0].Seq > x.alone && done > x.alone && x.short.settled() {
		if changes = after(changes, done); len(changes) == 0 {
			x.stats.forget()
			x.reach(to)
			return nil
		}
		plans = planOf(changes)
	}
	if err := x.write(ctx, changes, plans); err != nil {
		return err
	}
	x.stats.forget()
	x.reach(to)
	return nil
}

// reach notes up to which change everything is applied.
func (x *index) reach(seq uint64) {
	x.epoch.Store(x.next.Load())
	x.applied.Store(seq)
	x.wroteAt = time.Now()
}

// after returns the changes with larger numbers than seq.
func after(changes []backend.Change, seq uint64) []backend.Change {
	for len(changes) > 0 && changes[0].Seq <= seq {
		changes = changes[1:]
	}
	return changes
}

// Flush implements [backend.Index]: what was applied survives as soon as it is, but where replicas lack it.
func (x *index) Flush(ctx context.Context) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.heal(ctx); err != nil {
		if errors.Is(err, errShort) {
			return fmt.Errorf("weaviate: replicas lack changes: %w", backend.ErrUnavailable)
		}
		return err
	}
	return nil
}

// Purge implements [backend.Purger]: what was deleted is deleted on all replicas, and nothing is under way that could bring it back. Their files are the
// cluster's; see Remains.
func (x *index) Purge(ctx context.Context) error {
	for {
		if err := x.Flush(ctx); err != nil {
			return err
		}
		if all, err := x.everywhere(ctx); err != nil || all {
			return err
		}
		select {
		case <-time.After(firstPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Remains implements [backend.Remainer].
func (x *index) Remains() []string {
	return []string{"files of the Weaviate cluster, which hold the terms and vectors of deleted objects until it compacts them, and its backups"}
}

// Reset implements [backend.Index]. Other processes hear of it when they next apply something.
func (x *index) Reset(ctx context.Context) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.forget(ctx); err != nil {
		return err
	}
	x.stats.forget()
	x.applied.Store(0)
	x.epoch.Store(0)
	return nil
}

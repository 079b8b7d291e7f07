package weaviate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// index is the dense and the keyword index of a workspace, which is a tenant of the cluster.
type index struct {
	x        *Indexers
	uid      string
	sessions backend.Keywords // answers SearchSessions
	near     backend.Graph    // of the other Indexers; knows the number of chunks

	gate   sync.RWMutex // held for reading by calls
	closed bool

	applied        atomic.Uint64
	epoch          atomic.Uint64 // epoch of the change applied; 0: unknown
	next           atomic.Uint64 // epoch of the changes applied next
	stats          statistics
	pending        pendingWrites
	rewrites       rewriteLock
	leaderPrimary  atomic.Pointer[node] // the only node that has everything the leading process has applied; nil: all nodes have it, or this process leads
	replicasBehind atomic.Bool          // whether some replicas lack changes that the leading process has applied
	rewindFrom     atomic.Uint64        // changes up to this number are applied again if the position is before it
	leading        atomic.Bool          // whether role is leader
	idle           idleChanges          // the last changes that are not stored in the cluster
	wroteLate      atomic.Bool          // whether a write may be carried out after the lead of this process ended; see confess
	averageAtNodes atomicFloat          // average length of all chunks as the nodes' scores have shown it last; 0: they have not yet
	incomplete     atomic.Uint64        // number of reads that may have missed changes
	marks          rewriteMarks
	repaired       moment // when this process last rewrote something
	fills          fills
	maintenance    maintenance
	presence       presence

	// The fields below are guarded by mu, which Apply, Reset and Flush take.
	mu               sync.Mutex
	ownState         state                     // the state that this process stored last
	rewritten        uint64                    // number of rewrites of this process; see rewriteMarks. It begins with a random number
	version          uint64                    // of the last state that was stored or tried
	slots            []time.Time               // by slot of the state: the time until which a late write may still arrive there
	generation       state                     // of the tenant's content, as far as this process knows
	takenOver        takenOver                 // unfinished work of ended processes that this one has taken over
	unfinishedOthers map[string]unfinishedWork // by process: unfinished work of other processes
	statesReadAt     time.Time                 // when the states of other processes were last read
	pollUntil        time.Time                 // until when the states of other processes are read even if none has unfinished work
	role             role                      // whether this process applies changes
	stillLeads       func() bool               // reports whether this process still leads; nil if it does not
	mustApplyTo      uint64                    // this process applies changes up to this number itself, even if others have applied them
	wroteSinceRead   bool                      // whether this process has written since it last read the states of others
	storedTo         uint64                    // the leader before has stored changes up to this number, see adopt; 0: none are left to compare
	deleteFirstTo    uint64                    // changes up to this number may be partly stored, so their objects are deleted first
	statesAtOpen     []state                   // states of all processes when the index was opened
	history          backend.Epochs            // epochs of the store that the index follows; nil: not set yet
}

var (
	_ backend.Vectors        = (*index)(nil)
	_ backend.Keywords       = (*index)(nil)
	_ backend.ChunkScorer    = (*index)(nil)
	_ backend.EpochKeeper    = (*index)(nil)
	_ backend.HistoryChecker = (*index)(nil)
	_ backend.Purger         = (*index)(nil)
	_ backend.Remainer       = (*index)(nil)
	_ backend.Remote         = (*index)(nil)
	_ backend.Troubled       = (*index)(nil)
	_ backend.Led            = (*index)(nil)
)

func (x *Indexers) openIndex(ctx context.Context, uid string) (*index, error) {
	ix := &index{x: x, uid: uid}
	ix.ownState.Process, ix.pending.unconfirmedFor, ix.pending.limit = x.process, x.unconfirmedFor, maxKept
	ix.rewritten = 1 + rand.Uint64()>>1
	ix.fills.start()
	away, err := ix.openAway(ctx)
	if err == nil && !away {
		if err = x.schema.tenant(ctx, x.schema.chunks(), uid); err == nil {
			err = ix.recover(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open indexes of %s: %w", uid, err)
	}
	ix.startMaintenance()
	return ix, nil
}

// enterSearch is enter for a search, which waits longer for a tenant that is being brought back.
func (x *index) enterSearch(ctx context.Context) error {
	if err := x.presence.wait(ctx, x.x.cluster.patience()); err != nil {
		return err
	}
	return x.enter(ctx)
}

// enter begins a call. The caller ends it with leave.
func (x *index) enter(ctx context.Context) error {
	if err := x.presence.wait(ctx, awayPatience); err != nil {
		return err
	}
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

// close ends background maintenance and closes the index. It deactivates the tenant.
func (x *index) close() error {
	x.maintenance.stop()
	x.presence.close()
	x.fills.stop()
	x.gate.Lock()
	defer x.gate.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	x.x.partitions.drop(x)
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	x.mu.Lock()
	defer x.mu.Unlock()
	return errors.Join(x.confess(ctx), x.x.schema.deactivate(ctx, x.uid))
}

// Applied implements [backend.Index].
func (x *index) Applied() uint64 { return x.applied.Load() }

// Trouble implements [backend.Troubled].
func (x *index) Trouble() (slow, lacks bool) {
	if x.presence.isAway() { // searches wait until the tenant is back
		return true, false
	}
	primary := x.pending.primaryNode()
	if primary == nil {
		primary = x.leaderPrimary.Load()
	}
	lacks = primary != nil && primary.isDown()
	slow = x.replicasBehind.Load() || x.applied.Load() < x.rewindFrom.Load() || !x.pending.allConfirmed() || x.wroteLate.Load() || x.x.cluster.degraded()
	return lacks || slow, lacks
}

// Epoch implements [backend.EpochKeeper].
func (x *index) Epoch() (uint64, bool) {
	epoch := x.epoch.Load()
	return epoch, epoch != 0
}

// SetEpoch implements [backend.EpochKeeper].
func (x *index) SetEpoch(epoch uint64) { x.next.Store(epoch) }

// Apply implements [backend.Index]. It skips changes that another process has applied.
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
	plans := planOf(changes)
	if len(plans) == 0 {
		x.reach(changes)
		return nil
	}
	given := changes
	done, err := x.readProgress(ctx)
	if err != nil {
		return err
	}
	// Changes up to x.mustApplyTo are always applied here, even if others have applied them: the writes of this process may have
	// undone the effect of theirs.
	if changes[0].Seq > x.mustApplyTo && done > x.mustApplyTo && x.pending.allConfirmed() {
		if changes = after(changes, done); len(changes) == 0 {
			x.stats.clear()
			x.reach(given)
			return nil
		}
		plans = planOf(changes)
	}
	if changes[len(changes)-1].Seq <= x.storedTo {
		err = x.adopt(ctx, changes)
	} else {
		err = x.write(ctx, changes, plans)
	}
	if err != nil {
		return err
	}
	x.stats.clear()
	x.reach(given)
	return nil
}

// reach records that changes are applied, the next ones of the feed.
func (x *index) reach(changes []backend.Change) {
	seq := changes[len(changes)-1].Seq
	x.saw(x.applied.Load(), seq, changes)
	x.epoch.Store(x.next.Load())
	x.applied.Store(seq)
	x.adopted()
	x.pollFor(statePollDuration)
}

// after returns the changes whose numbers are greater than seq. changes are in ascending order.
func after(changes []backend.Change, seq uint64) []backend.Change {
	for len(changes) > 0 && changes[0].Seq <= seq {
		changes = changes[1:]
	}
	return changes
}

// Flush implements [backend.Index]. Applied changes are durable at once, so Flush only stores what replicas lack. It
// returns [backend.ErrUnavailable] if not all replicas can be reached.
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

// Purge implements [backend.Purger]. It returns once deleted objects are deleted on all replicas and no pending request
// can bring them back. The cluster's files may still contain them; see Remains.
func (x *index) Purge(ctx context.Context) error {
	for {
		if err := x.Flush(ctx); err != nil {
			return err
		}
		if all, err := x.allReplicated(ctx); err != nil || all {
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

// Reset implements [backend.Index]. Other processes notice it when they next apply a change.
func (x *index) Reset(ctx context.Context) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.deleteContent(ctx); err != nil {
		return err
	}
	x.forget()
	x.rewindFrom.Store(0)
	x.applied.Store(0)
	x.epoch.Store(0)
	return nil
}

package weaviate

import (
	"context"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// role is the part of a process in applying the change feed of a tenant.
type role int

const (
	unled  role = iota // the process applies changes, as others may at the same time: there is no agreed leader
	leader             // the process applies changes and repairs replicas
	led                // the process reads from the cluster which changes the leader has applied
)

// Lead implements [backend.Led]. It is harmless if two processes take themselves for the leader for a moment: they then
// apply changes like processes without a leader.
func (x *index) Lead(ctx context.Context, still func() bool) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.confess(ctx); err != nil {
		return err
	}
	x.leading.Store(false)
	x.forget()
	if x.stillLeads = still; still == nil {
		// The state of this process records its unfinished work and what some replicas lack. The new leader completes it.
		x.leaderPrimary.Store(x.pending.primaryNode())
		x.pending.clear()
		x.role, x.mustApplyTo, x.storedTo, x.deleteFirstTo, x.wroteSinceRead, x.takenOver, x.unfinishedOthers = led, 0, 0, 0, false, nil, nil
		return nil
	}
	found, err := x.states(ctx)
	if err != nil {
		return err
	}
	_ = x.checkGeneration(found) // an error means that the position was reset to 0
	before := x.farthestProgress(found)
	x.leaderPrimary.Store(before.primary)
	x.pending.clear()
	x.ownState, x.mustApplyTo, x.deleteFirstTo, x.wroteSinceRead, x.takenOver, x.unfinishedOthers = state{Process: x.x.process}, 0, 0, false, nil, nil
	x.resumeFrom(found)
	x.inherit(before)
	x.replicasBehind.Store(false)
	x.forget() // it was read before the position was set
	x.role = leader
	x.leading.Store(true)
	x.pollFor(leadPollDuration)
	return nil
}

// mayRepair reports whether this process may repair replicas now. The caller holds mu.
func (x *index) mayRepair() bool { return x.role == unled || x.role == leader && x.stillLeads() }

// progress is a point up to which changes are stored: on one node, primary, or on all nodes if primary is nil.
type progress struct {
	point
	primary   *node
	confirmed bool // all replicas have the changes, confirmed
}

// farthestProgress returns the greatest point that any process has reached.
func (x *index) farthestProgress(found processStates) (out progress) {
	for i := range found.all {
		s := &found.all[i]
		r := progress{s.replicatedPoint(), nil, true}
		if s.Version > 0 && s.Primary == allNodes {
			r = progress{s.finishedPoint(), nil, s.Replicated >= s.Seq}
		} else if n := x.x.cluster.nodeAt(s.Primary); n != nil {
			r = progress{s.finishedPoint(), n, false}
		}
		if x.inHistory(r.point) && (r.seq > out.seq || r.seq == out.seq && r.primary == nil) {
			out = r
		}
	}
	return out
}

// nodeAt returns the node with an address, or nil.
func (c *cluster) nodeAt(address string) *node {
	for _, n := range c.nodes {
		if n.name == address {
			return n
		}
	}
	return nil
}

// Refresh implements [backend.Led].
func (x *index) Refresh(ctx context.Context) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	x.mu.Lock()
	defer x.mu.Unlock()
	found, err := x.states(ctx)
	if err != nil {
		return err
	}
	_ = x.checkGeneration(found) // an error means that the position was reset to 0
	r := x.farthestProgress(found)
	if upto := x.idle.skip(r.seq); upto > r.seq {
		r.seq, r.epoch = upto, x.next.Load()
		if x.history != nil {
			r.epoch = x.history.EpochOf(upto)
		}
	}
	if r.seq < x.applied.Load() {
		return nil
	}
	x.leaderPrimary.Store(r.primary)
	x.replicasBehind.Store(!r.confirmed)
	if r.seq > x.applied.Load() {
		x.epoch.Store(r.epoch)
		x.applied.Store(r.seq)
		x.stats.clear()
	}
	return nil
}

// idleChanges is the last changes of the feed that this process has seen, as far as the cluster stores nothing of them: marks
// and changes of the graph. The leader does not store its state after them, so that another process would wait for it.
type idleChanges struct {
	mu         sync.Mutex
	from, upto uint64 // the changes after from, up to upto
}

// add adds changes that this process has seen: all changes after number from, up to number upto.
func (i *idleChanges) add(from, upto uint64, changes []backend.Change) {
	last := from
	for _, c := range changes {
		if c.Kind != backend.Mark && c.Kind != backend.PutGraph {
			last = c.Seq
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case upto <= i.upto:
	case last == from && i.from <= from && from <= i.upto:
		i.upto = upto
	default:
		i.from, i.upto = last, upto
	}
}

// skip returns the last change up to which the cluster has everything, if it has every change up to seq.
func (i *idleChanges) skip(seq uint64) uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.from <= seq && seq < i.upto {
		return i.upto
	}
	return seq
}

// allReplicated reports whether all replicas have all applied changes, confirmed.
func (x *index) allReplicated(ctx context.Context) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.role != led {
		return x.pending.allConfirmed(), nil
	}
	found, err := x.states(ctx)
	if err != nil {
		return false, err
	}
	r := x.farthestProgress(found)
	return r.confirmed && r.seq >= x.applied.Load(), nil
}

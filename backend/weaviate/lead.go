package weaviate

import (
	"context"
)

// role is the part of a process in applying the change feed of a tenant.
type role int

const (
	beside  role = iota // the process applies changes, as others may at the same time: there is no agreed leader
	leads               // the process applies changes and repairs replicas
	follows             // the process reads from the cluster which changes the leader has applied
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
	if x.certain = still; still == nil {
		// The state of this process records its unfinished work and what some replicas lack. The new leader completes it.
		x.guide.Store(x.short.node())
		x.short.clear()
		x.role, x.alone, x.anew, x.wrote, x.owes, x.others = follows, 0, 0, false, nil, nil
		return nil
	}
	found, err := x.states(ctx)
	if err != nil {
		return err
	}
	_ = x.same(found) // an error means that the position was reset to 0
	x.guide.Store(x.farthest(found).by)
	x.short.clear()
	x.said, x.alone, x.anew, x.wrote, x.owes, x.others = state{Process: x.x.process}, 0, 0, false, nil, nil
	x.begin(found)
	x.behind.Store(false)
	x.stats.forget()
	x.role = leads
	return nil
}

// mends reports whether this process may repair replicas now. The caller holds mu.
func (x *index) mends() bool { return x.role == beside || x.role == leads && x.certain() }

// reached is a point up to which changes are stored: on one node, by, or on all nodes if by is nil.
type reached struct {
	point
	by    *node
	whole bool // all replicas have the changes, confirmed
}

// farthest returns the greatest point that any process has reached.
func (x *index) farthest(found spoken) (out reached) {
	for i := range found.all {
		s := &found.all[i]
		r := reached{s.everyone(), nil, true}
		if s.Version > 0 && s.Through == everyNode {
			r = reached{s.at(), nil, s.Whole >= s.Seq}
		} else if n := x.x.cluster.named(s.Through); n != nil {
			r = reached{s.at(), n, false}
		}
		if x.follows(r.point) && (r.seq > out.seq || r.seq == out.seq && r.by == nil) {
			out = r
		}
	}
	return out
}

// named returns the node with an address, or nil.
func (c *cluster) named(address string) *node {
	for _, n := range c.nodes {
		if n.name == address {
			return n
		}
	}
	return nil
}

// Hear implements [backend.Led].
func (x *index) Hear(ctx context.Context) error {
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
	_ = x.same(found) // an error means that the position was reset to 0
	r := x.farthest(found)
	if r.seq < x.applied.Load() {
		return nil
	}
	x.guide.Store(r.by)
	x.behind.Store(!r.whole)
	if r.seq > x.applied.Load() {
		x.epoch.Store(r.epoch)
		x.applied.Store(r.seq)
		x.stats.forget()
	}
	return nil
}

// everywhere reports whether all replicas have all applied changes, confirmed.
func (x *index) everywhere(ctx context.Context) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.role != follows {
		return x.short.settled(), nil
	}
	found, err := x.states(ctx)
	if err != nil {
		return false, err
	}
	r := x.farthest(found)
	return r.whole && r.seq >= x.applied.Load(), nil
}

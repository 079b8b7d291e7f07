package weaviate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// shortage is what replicas of a tenant lack. Changes are stored on all of them, so that whichever answers a search has what
// was acknowledged. While one is away a majority has to do: then a single node stores and searches, and what was
// stored is kept in memory, to be stored again on all of them once they are back. Should that node go away too, another one
// gets what was kept before it is searched. After a restart of the process the feed is read again instead.
type shortage struct {
	mu      sync.Mutex
	through *node            // that has all; nil: all have
	kept    []backend.Change // that not all have
	bytes   int
}

// maxKept bounds what is kept; then changes are refused until all replicas are back.
const maxKept = 64 << 20

const (
	// allPatience is for how long a write on all replicas is tried before a majority has to do.
	allPatience = time.Second
	// allTimeout is how long one such try may take: a node that is stopped, and not gone, says nothing.
	allTimeout = 3 * time.Second
	// healTimeout is how long one may take that stores what replicas lack.
	healTimeout = 10 * time.Second
	// oneTimeout is how long a node may take at first that leads a write on a majority: one that has not noticed yet that
	// another is gone waits for it. It doubles up to attemptTimeout.
	oneTimeout = 2 * time.Second
	// onePatience is for how long a node is asked before another takes its place.
	onePatience = time.Second
)

func (s *shortage) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.through, s.kept, s.bytes = nil, nil, 0
}

// node is the only one that has all, nil when all have.
func (s *shortage) node() *node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.through
}

// keep remembers changes.
func (s *shortage) keep(changes []backend.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.kept) > 0 && s.kept[len(s.kept)-1].Seq >= changes[0].Seq { // of a call that failed
		s.kept = s.kept[:len(s.kept)-1]
	}
	size := 0
	for _, c := range changes {
		size += objectBytes + len(c.Title) + 8*len(c.Tags)
		for _, r := range c.Rows {
			size += objectBytes + len(r.Text) + len(r.Heading) + len(r.Extra) + 4*len(r.Vector)
		}
	}
	if s.bytes+size > maxKept {
		return fmt.Errorf("weaviate: replicas have been away for too long: %w", backend.ErrUnavailable)
	}
	s.kept, s.bytes = append(s.kept, changes...), s.bytes+size
	return nil
}

// owned copies changes: the caller's slices are not kept.
func owned(changes []backend.Change) []backend.Change {
	out := make([]backend.Change, len(changes))
	for i, c := range changes {
		c.Tags, c.Rows, c.Mentions = append([]uint64(nil), c.Tags...), append([]backend.Row(nil), c.Rows...), nil
		for j := range c.Rows {
			r := &c.Rows[j]
			r.Vector, r.Extra = append([]float32(nil), r.Vector...), append([]byte(nil), r.Extra...)
		}
		out[i] = c
	}
	return out
}

// everywhere is a write on all replicas. from is the node that has all; nil: all have.
func everywhere(from *node) target {
	return target{route{patience: allPatience, timeout: allTimeout}, levelAll, from, false}
}

// by is a write on a majority of replicas, with a node among them: the one that leads the write is one of those that take it,
// unless it is no replica of the tenant.
func by(n *node, timeout time.Duration) target {
	return target{route{only: n, patience: onePatience, timeout: timeout}, levelQuorum, n, false}
}

// write carries out plans, on all replicas or, while some are away, on a majority.
func (x *index) write(ctx context.Context, changes []backend.Change, plans []*plan) error {
	last := point{changes[len(changes)-1].Seq, x.next.Load()}
	if err := x.heal(ctx); err != nil && !errors.Is(err, errShort) {
		return err
	}
	if x.short.node() == nil && x.x.cluster.whole(ctx) {
		to := everywhere(nil)
		to.anew = changes[0].Seq <= x.anew
		err := x.writeTo(ctx, to, plans, last, last)
		if !errors.Is(err, errShort) {
			return err
		}
		x.x.cluster.lacks(ctx)
	}
	if err := x.short.keep(owned(changes)); err != nil {
		return err
	}
	return x.elect(ctx, plans, last)
}

// writeTo carries out plans, and says that everything up to last is there, and on all replicas up to whole.
func (x *index) writeTo(ctx context.Context, to target, plans []*plan, last, whole point) error {
	s := x.said
	s.intend(last)
	if err := x.say(ctx, to, s); err != nil {
		return err
	}
	x.wrote = true
	for _, p := range plans {
		if err := x.carryOut(ctx, to, p); err != nil {
			return err
		}
	}
	s.finish(last, whole)
	return x.say(ctx, to, s)
}

// elect stores what is kept by one node, which from then on is the only one that is searched. The one that it was before
// only needs the plans. last is the last change of them.
func (x *index) elect(ctx context.Context, plans []*plan, last point) error {
	deadline := time.Now().Add(x.x.cluster.retry)
	var failed error
	for timeout := oneTimeout; ; timeout = min(2*timeout, attemptTimeout) {
		through := x.short.node()
		if through != nil {
			if failed = x.writeTo(ctx, by(through, timeout), plans, last, x.said.everyone()); failed == nil || !errors.Is(failed, backend.ErrUnavailable) {
				return failed
			}
		}
		for _, n := range x.x.cluster.nodes {
			if n == through || !x.x.cluster.ready(ctx, n) {
				continue
			}
			to := by(n, timeout)
			to.anew = true
			failed = x.writeTo(ctx, to, planOf(x.short.kept), last, x.said.everyone())
			if failed == nil {
				x.short.mu.Lock()
				x.short.through = n
				x.short.mu.Unlock()
				return nil
			}
			if !errors.Is(failed, backend.ErrUnavailable) {
				return failed
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("weaviate: no majority of replicas can be reached: %w", backend.ErrUnavailable)
		}
		select {
		case <-time.After(firstPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// heal stores what replicas lack on all of them, where all nodes answer; errShort: they do not. The caller holds mu.
func (x *index) heal(ctx context.Context) error {
	if x.short.node() == nil {
		return nil
	}
	if !x.x.cluster.whole(ctx) {
		return errShort
	}
	to := everywhere(x.short.node())
	to.anew, to.timeout = true, healTimeout
	err := x.writeTo(ctx, to, planOf(x.short.kept), x.said.at(), x.said.at())
	if err == nil {
		x.short.clear()
	} else if errors.Is(err, errShort) {
		x.x.cluster.lacks(ctx)
	}
	return err
}

// search makes a call that reads, on any node, or on the only one that has all.
func (x *index) search(ctx context.Context, f func(r route) error) error {
	only := x.short.node()
	err := x.read(only, onePatience, f)
	if only == nil || !errors.Is(err, backend.ErrUnavailable) {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.short.node() == only {
		if err := x.elect(ctx, nil, x.said.at()); err != nil {
			return err
		}
	}
	return x.read(x.short.node(), 0, f)
}

// read makes a call that reads, while nothing is stored anew.
func (x *index) read(only *node, patience time.Duration, f func(r route) error) error {
	x.holes.RLock()
	defer x.holes.RUnlock()
	if only == nil {
		return f(route{})
	}
	return f(route{only: only, patience: patience})
}

// get makes a search in the tenant.
func (x *index) get(ctx context.Context, a ask) (out []object, err error) {
	err = x.search(ctx, func(r route) error {
		out, err = x.x.cluster.get(ctx, r, a)
		return err
	})
	return out, err
}

package weaviate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// allPatience is for how long a write on all replicas is tried before a majority has to do.
	allPatience = time.Second
	// allTimeout is how long one such try may take: a node that is stopped, and not gone, says nothing.
	allTimeout = 3 * time.Second
	// healTimeout is how long one may take that stores what replicas lack: changes to be applied wait meanwhile.
	healTimeout = 4 * time.Second
	// oneTimeout is how long a node may take at first that leads a write on a majority: one that has not noticed yet that
	// another is gone waits for it. It doubles up to attemptTimeout.
	oneTimeout = 2 * time.Second
	// onePatience is for how long a node is asked before another takes its place.
	onePatience = time.Second
)

// everywhere is a write on all replicas. from is the node that has all; nil: all have.
func everywhere(from *node) target {
	return target{route: route{patience: allPatience, timeout: allTimeout, all: true}, level: levelAll, from: from}
}

// by is a write on a majority of replicas, with a node among them: the one that leads the write is one of those that take it,
// unless it is no replica of the tenant.
func by(n *node, timeout time.Duration) target {
	return target{route: route{only: n, patience: onePatience, timeout: timeout}, level: levelQuorum, from: n}
}

// write carries out plans, on all replicas or, while some are away or lack something, on a majority: what they lack is stored beside that, by and by.
func (x *index) write(ctx context.Context, changes []backend.Change, plans []*plan) error {
	last, began := point{changes[len(changes)-1].Seq, x.next.Load()}, time.Now()
	again := changes[0].Seq <= x.anew
	if x.short.node() == nil && x.x.cluster.whole() {
		to := everywhere(nil)
		to.anew = again
		err := x.writeTo(ctx, to, plans, changes, last, began)
		if !errors.Is(err, errShort) {
			return err
		}
		x.x.cluster.lacks(ctx)
	}
	if err := x.short.keep(changes, last, began, false); err != nil {
		return err
	}
	return x.elect(ctx, plans, last, again)
}

// writeTo carries out plans, and says that everything up to last is there. changes are those of the plans where they are new and go to all replicas: what is in
// doubt of them is kept.
//
// What this process stores may undo what another has made of later changes meanwhile. So it then asks how far the others had got, and goes on
// to say that it has to apply as much itself.
func (x *index) writeTo(ctx context.Context, to target, plans []*plan, changes []backend.Change, last point, began time.Time) error {
	s := x.said
	s.intend(last)
	if err := x.say(ctx, to, s); err != nil {
		return err
	}
	x.wrote = true
	to.doubt = x.short.doubt
	for _, p := range plans {
		if err := x.carryOut(ctx, to, p); err != nil {
			return err
		}
	}
	beyond, err := x.beyond(ctx)
	if err != nil {
		return err
	}
	whole := last
	if to.level != levelAll {
		whole = s.everyone()
	} else if !x.short.settled() {
		whole = s.everyone()
		if len(changes) > 0 {
			if err := x.short.keep(changes, last, began, true); err != nil {
				return err
			}
		}
	}
	x.owes.settle(&s, whole)
	if s.Through = everyNode; to.level != levelAll {
		s.Through = to.only.name
	}
	s.finish(last, whole)
	s.intend(beyond)
	if err := x.say(ctx, to, s); err != nil {
		return err
	}
	if to.level == levelAll {
		x.short.stored()
	}
	return nil
}

// elect stores what not all replicas have by one node, which from then on is the only one that is searched. The one that it was before
// only needs the plans. last is the last change of them.
func (x *index) elect(ctx context.Context, plans []*plan, last point, again bool) error {
	deadline := time.Now().Add(x.x.cluster.retry)
	var failed error
	for timeout := oneTimeout; ; timeout = min(2*timeout, attemptTimeout) {
		through := x.short.node()
		if through != nil && !through.isDown() {
			to := by(through, timeout)
			to.anew = again
			if failed = x.writeTo(ctx, to, plans, nil, last, time.Time{}); failed == nil || !errors.Is(failed, backend.ErrUnavailable) {
				return failed
			}
		}
		for _, n := range x.x.cluster.order() {
			if n == through || n.isDown() {
				continue
			}
			lacking, since := x.short.lacking()
			to := by(n, timeout)
			to.anew = again || n.cameBack().After(since) // else it has not died while it stored some of them
			failed = x.writeTo(ctx, to, planOf(lacking), nil, last, time.Time{})
			if failed == nil {
				x.short.lead(n)
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

// healChanges is about how many changes are stored on all replicas at a time: what is applied meanwhile waits.
const healChanges = 32

// heal stores what replicas lack on all of them, where all nodes answer; errShort: they do not. The caller holds mu.
func (x *index) heal(ctx context.Context) error {
	for {
		done, err := x.healSome(ctx)
		if err != nil || done {
			return err
		}
	}
}

// healSome is heal of the first changes that are lacking; done: nothing is any more.
//
// A node that died while it stored an object may have it and not find it, so that it is deleted first. What was begun after a node was last seen to go
// down is only stored again.
func (x *index) healSome(ctx context.Context) (done bool, err error) {
	through := x.short.node()
	if through == nil {
		return true, nil
	}
	if !x.x.cluster.whole() {
		return false, errShort
	}
	some, n, since := x.short.next(healChanges)
	to := everywhere(through)
	to.anew, to.timeout, to.doubt = x.x.cluster.fell().After(since), healTimeout, x.short.doubt
	x.wrote = true
	for _, p := range planOf(some) {
		if err = x.carryOut(ctx, to, p); err != nil {
			break
		}
	}
	if errors.Is(err, errShort) {
		x.x.cluster.lacks(ctx)
	}
	if err != nil || !x.short.heal(n) {
		return false, err
	}
	return true, x.writeTo(ctx, everywhere(through), nil, nil, x.said.at(), time.Time{})
}

// search makes a call that reads, on any node, or on the only one that has all.
func (x *index) search(ctx context.Context, f func(r route) error) error {
	if g := x.guide.Load(); g != nil && x.short.node() == nil {
		if !g.isDown() {
			if err := x.read(ctx, g, onePatience, f); !errors.Is(err, backend.ErrUnavailable) {
				return err
			}
		}
		return x.read(ctx, nil, 0, f) // Trouble tells that something may lack
	}
	only := x.short.node()
	if only == nil || !only.isDown() {
		err := x.read(ctx, only, onePatience, f)
		if only == nil || !errors.Is(err, backend.ErrUnavailable) {
			return err
		}
	}
	if !soon(ctx, x.x.electing, x.mu.TryLock) {
		return x.read(ctx, nil, 0, f) // Trouble tells that something may lack
	}
	err := x.replaced(ctx, only)
	x.mu.Unlock()
	if err != nil {
		return err
	}
	return x.read(ctx, x.short.node(), 0, f)
}

// electWait is how long a search waits for changes to be applied before it does without the node that has all.
const electWait = time.Second

// replaced has another node take the place of the one that has all, where it still is that one. It goes on when the caller gives up: what is broken off
// has to be done again. The caller holds mu.
func (x *index) replaced(ctx context.Context, old *node) error {
	if x.short.node() != old {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.x.cluster.retry)
	defer cancel()
	return x.elect(ctx, nil, x.said.at(), false)
}

// read makes a call that reads, while nothing is stored anew.
func (x *index) read(ctx context.Context, only *node, patience time.Duration, f func(r route) error) error {
	defer x.holes.avoid(ctx)()
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

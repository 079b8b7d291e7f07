package weaviate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// allPatience is how long a write on all replicas is retried before a majority is enough.
	allPatience = time.Second
	// allTimeout is the timeout of one such attempt. A node that is suspended, but not gone, gives no answer.
	allTimeout = 3 * time.Second
	// healTimeout is the timeout of a write that stores what replicas lack. Changes to apply wait for it.
	healTimeout = 4 * time.Second
	// oneTimeout is the initial timeout of a majority write at the node that coordinates it. A node that has not noticed yet
	// that another is gone waits for that one. The timeout doubles up to attemptTimeout.
	oneTimeout = 2 * time.Second
	// onePatience is how long calls to a single node are retried before another node replaces it.
	onePatience = time.Second
)

// everywhere returns the target of a write on all replicas. from is the only node that has all changes; nil: all nodes
// have them.
func everywhere(from *node) target {
	return target{route: route{patience: allPatience, timeout: allTimeout, all: true}, level: levelAll, from: from}
}

// by returns the target of a majority write that n coordinates. n stores the write itself unless it is no replica of the
// tenant.
func by(n *node, timeout time.Duration) target {
	return target{route: route{only: n, patience: onePatience, timeout: timeout}, level: levelQuorum, from: n}
}

// write carries out plans. It writes to all replicas, or to a majority while some are away or lack changes. Background
// upkeep later stores what those lack.
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

// writeTo carries out plans and then records in the state of the process that all changes up to last are stored. changes
// are the changes of plans if they are new and go to all replicas; unconfirmed ones are kept.
//
// The writes of this process may undo the effect of later changes that another process has applied in the meantime. So
// writeTo then reads how far the other processes have got, and records that this process has to apply changes up to there
// itself.
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

// elect stores the changes that not all replicas have through one node, which from then on is the only one that is
// searched. It prefers the current such node, which only needs plans. Another node needs all lacking changes. last is the
// last change of plans. elect returns [backend.ErrUnavailable] if no majority can be reached within Options.Retry.
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
			to.anew = again || n.cameBack().After(since) // otherwise n has not died while it stored some of them
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

// healChanges is the approximate number of changes stored on all replicas at a time. Changes to apply wait meanwhile.
const healChanges = 32

// heal stores what replicas lack on all of them. It returns errShort if not all nodes answer. The caller holds mu.
func (x *index) heal(ctx context.Context) error {
	for {
		done, err := x.healSome(ctx)
		if err != nil || done {
			return err
		}
	}
}

// healSome is heal for the first of the lacking changes. done reports whether none is left.
//
// A node that died while it stored an object may have the object but not its index entries. So if a node has gone down
// since the changes were begun, objects are deleted before they are stored.
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

// search makes a read call on any node, or on the only node that has all changes.
func (x *index) search(ctx context.Context, f func(r route) error) error {
	if g := x.guide.Load(); g != nil && x.short.node() == nil {
		if !g.isDown() {
			if err := x.read(ctx, g, onePatience, f); !errors.Is(err, backend.ErrUnavailable) {
				return err
			}
		}
		return x.read(ctx, nil, 0, f) // Trouble reports that changes may be missing
	}
	only := x.short.node()
	if only == nil || !only.isDown() {
		err := x.read(ctx, only, onePatience, f)
		if only == nil || !errors.Is(err, backend.ErrUnavailable) {
			return err
		}
	}
	if !soon(ctx, x.x.electing, x.mu.TryLock) {
		return x.read(ctx, nil, 0, f) // Trouble reports that changes may be missing
	}
	err := x.replaced(ctx, only)
	x.mu.Unlock()
	if err != nil {
		return err
	}
	return x.read(ctx, x.short.node(), 0, f)
}

// electWait is how long a search waits for a running write before it continues without the node that has all changes.
const electWait = time.Second

// replaced replaces old, the only node that has all changes, by another node. It does nothing if old has been replaced
// already. It continues after ctx ends, since an interrupted attempt would have to start again. The caller holds mu.
func (x *index) replaced(ctx context.Context, old *node) error {
	if x.short.node() != old {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.x.cluster.retry)
	defer cancel()
	return x.elect(ctx, nil, x.said.at(), false)
}

// read makes a read call. It waits for objects that are being deleted and stored again.
func (x *index) read(ctx context.Context, only *node, patience time.Duration, f func(r route) error) error {
	defer x.holes.avoid(ctx)()
	if only == nil {
		return f(route{})
	}
	return f(route{only: only, patience: patience})
}

// get searches the tenant.
func (x *index) get(ctx context.Context, a ask) (out []object, err error) {
	err = x.search(ctx, func(r route) error {
		out, err = x.x.cluster.get(ctx, r, a)
		return err
	})
	return out, err
}

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

// toAllReplicas returns the target of a write on all replicas. from is the only node that has all changes; nil: all nodes
// have them.
func (x *index) toAllReplicas(from *node) target {
	return target{route: route{patience: allPatience, timeout: allTimeout, all: true, fence: x.newFence()}, level: levelAll, from: from}
}

// toMajority returns the target of a majority write that n coordinates. n stores the write itself unless it is no replica of the
// tenant.
func (x *index) toMajority(n *node, timeout time.Duration) target {
	return target{route: route{only: n, patience: onePatience, timeout: timeout, fence: x.newFence()}, level: levelQuorum, from: n}
}

// write carries out plans. It writes to all replicas, or to a majority while some are away or lack changes. Background
// maintenance later stores what those lack.
func (x *index) write(ctx context.Context, changes []backend.Change, plans []*plan) error {
	last, began := point{changes[len(changes)-1].Seq, x.next.Load()}, time.Now()
	again := changes[0].Seq <= x.deleteFirstTo
	if x.pending.primaryNode() == nil && x.x.cluster.allReachable() {
		to := x.toAllReplicas(nil)
		to.deleteFirst = again
		err := x.writeTo(ctx, to, plans, changes, last, began)
		if !errors.Is(err, errShort) {
			return err
		}
		x.x.cluster.noteMissedReplicas(ctx)
	}
	if err := x.pending.keep(changes, last, began, false); err != nil {
		return err
	}
	return x.electPrimary(ctx, plans, last, again)
}

// writeTo carries out plans and then records in the state of the process that all changes up to last are stored. changes
// are the changes of plans if they are new and go to all replicas; unconfirmed ones are kept.
//
// The writes of this process may undo the effect of later changes that another process has applied in the meantime. So
// writeTo then reads how far the other processes have got, and records that this process has to apply changes up to there
// itself.
func (x *index) writeTo(ctx context.Context, to target, plans []*plan, changes []backend.Change, last point, began time.Time) error {
	s := x.ownState
	s.intend(last)
	if err := x.storeState(ctx, to, s); err != nil {
		return err
	}
	x.wroteSinceRead = true
	to.onUnconfirmed = x.pending.markUnconfirmed
	if err := x.executeAll(ctx, to, plans, len(changes) > 0); err != nil {
		return err
	}
	beyond, err := x.readIntents(ctx)
	if err != nil {
		return err
	}
	whole := last
	if to.level != levelAll {
		whole = s.replicatedPoint()
	} else if !x.pending.allConfirmed() {
		whole = s.replicatedPoint()
		if len(changes) > 0 {
			if err := x.pending.keep(changes, last, began, true); err != nil {
				return err
			}
		}
	}
	x.takenOver.markCompleted(&s, whole)
	if s.Primary = allNodes; to.level != levelAll {
		s.Primary = to.only.name
	}
	s.finish(last, whole)
	s.intend(beyond)
	if err := x.storeState(ctx, to, s); err != nil {
		return err
	}
	if to.level == levelAll {
		x.pending.markReplicated()
	}
	return nil
}

// electPrimary stores the changes that not all replicas have through one node, which from then on is the only one that is
// searched. It prefers the current such node, which only needs plans. Another node needs all lacking changes. last is the
// last change of plans. electPrimary returns [backend.ErrUnavailable] if no majority can be reached within Options.Retry.
func (x *index) electPrimary(ctx context.Context, plans []*plan, last point, again bool) error {
	began := time.Now()
	var failed error
	for timeout := oneTimeout; ; timeout = min(2*timeout, attemptTimeout) {
		primary := x.pending.primaryNode()
		if primary != nil && !primary.isDown() {
			to := x.toMajority(primary, timeout)
			to.deleteFirst = again
			if failed = x.writeTo(ctx, to, plans, nil, last, time.Time{}); failed == nil || errors.Is(failed, errNotLeader) || !errors.Is(failed, backend.ErrUnavailable) {
				return failed
			}
		}
		for _, n := range x.x.cluster.order() {
			if n == primary || n.isDown() {
				continue
			}
			lacking, since := x.pending.unreplicated()
			to := x.toMajority(n, timeout)
			to.again = true
			to.deleteFirst = again || n.lastUp().After(since) // otherwise n has not died while it stored some of them
			failed = x.writeTo(ctx, to, planOf(lacking), nil, last, time.Time{})
			if failed == nil {
				x.pending.setPrimary(n)
				return nil
			}
			if errors.Is(failed, errNotLeader) || !errors.Is(failed, backend.ErrUnavailable) {
				return failed
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Since(began) > x.x.cluster.patience() {
			return fmt.Errorf("weaviate: no majority of replicas can be reached: %w", backend.ErrUnavailable)
		}
		select {
		case <-time.After(firstPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// healBatch is the approximate number of changes stored on all replicas at a time. Changes to apply wait meanwhile.
const healBatch = 32

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
	primary := x.pending.primaryNode()
	if primary == nil {
		return true, nil
	}
	if !x.x.cluster.allReachable() || x.adopting() { // the rest of what replicas may lack is not kept yet
		return false, errShort
	}
	some, n, since := x.pending.nextUnreplicated(healBatch)
	to := x.toAllReplicas(primary)
	to.deleteFirst, to.again, to.timeout, to.onUnconfirmed = x.x.cluster.lastDown().After(since), true, healTimeout, x.pending.markUnconfirmed
	x.wroteSinceRead = true
	err = x.executeAll(ctx, to, planOf(some), false)
	if errors.Is(err, errShort) {
		x.x.cluster.noteMissedReplicas(ctx)
	}
	if err != nil || !x.pending.markHealed(n) {
		return false, err
	}
	return true, x.writeTo(ctx, x.toAllReplicas(primary), nil, nil, x.ownState.finishedPoint(), time.Time{})
}

// search makes a read call on any node, or on the only node that has all changes.
func (x *index) search(ctx context.Context, f func(r route) error) error {
	if g := x.leaderPrimary.Load(); g != nil && x.pending.primaryNode() == nil {
		if !g.isDown() {
			if err := x.read(ctx, g, onePatience, f); !errors.Is(err, backend.ErrUnavailable) {
				return err
			}
		}
		return x.readIncomplete(ctx, f)
	}
	only := x.pending.primaryNode()
	if only == nil || !only.isDown() {
		err := x.read(ctx, only, onePatience, f)
		if only == nil || !errors.Is(err, backend.ErrUnavailable) {
			return err
		}
	}
	if !tryFor(ctx, x.x.electWait, x.mu.TryLock) {
		return x.readIncomplete(ctx, f)
	}
	err := x.replacePrimary(ctx, only)
	x.mu.Unlock()
	if err != nil {
		return err
	}
	return x.read(ctx, x.pending.primaryNode(), 0, f)
}

// electWait is how long a search waits for a running write before it continues without the node that has all changes.
const electWait = time.Second

// replacePrimary replaces old, the only node that has all changes, by another node. It does nothing if old has been replaced
// already. It continues after ctx ends, since an interrupted attempt would have to start again. The caller holds mu.
func (x *index) replacePrimary(ctx context.Context, old *node) error {
	if x.pending.primaryNode() != old {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.x.cluster.patience())
	defer cancel()
	return x.electPrimary(ctx, nil, x.ownState.finishedPoint(), false)
}

// readIncomplete makes a read call that may miss changes, as Trouble reports. Its answer is not cached.
func (x *index) readIncomplete(ctx context.Context, f func(r route) error) error {
	x.incomplete.Add(1)
	return x.read(ctx, nil, 0, f)
}

// read makes a read call. It waits for objects that are being deleted and stored again.
func (x *index) read(ctx context.Context, only *node, patience time.Duration, f func(r route) error) error {
	defer x.rewrites.beginSearch(ctx)()
	if only == nil {
		return f(route{})
	}
	return f(route{only: only, patience: patience})
}

// get searches the tenant.
func (x *index) get(ctx context.Context, a searchRequest) (out []object, err error) {
	err = x.search(ctx, func(r route) error {
		out, err = x.x.cluster.get(ctx, r, a)
		return err
	})
	return out, err
}

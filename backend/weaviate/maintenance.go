package weaviate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// maintenance is the background maintenance of an open index. It stores changes on replicas that lacked them once they
// are back. It compares unconfirmed writes with the content of the replicas. It completes the unfinished work of processes
// that have ended.
type maintenance struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

const (
	// maintenanceInterval is the interval of background maintenance.
	maintenanceInterval = time.Second
	// statePollInterval is the interval at which the states of other processes are read. statePollDuration is how long
	// that continues after the last applied change if no work is unfinished.
	statePollInterval, statePollDuration = 5 * time.Second, time.Minute
	// leadPollDuration is how long they are read at least after this process began to lead. A former leader that was suspended
	// may continue meanwhile.
	leadPollDuration = 10 * time.Minute
	// takeoverAfter is how long the state of a process with unfinished work may stay unchanged, while all nodes answer, before
	// another process takes the work over. A running process completes its work in about half of that time.
	takeoverAfter = time.Minute
)

// unfinishedWork is the unfinished work of another process: the version of its state, and when that version was first seen.
type unfinishedWork struct {
	version uint64
	since   time.Time
}

// startMaintenance starts background maintenance.
func (x *index) startMaintenance() {
	ctx, cancel := context.WithCancel(context.Background())
	x.maintenance.cancel = cancel
	x.maintenance.running.Go(func() { x.keepUsed(ctx) })
	x.maintenance.running.Go(func() {
		tick := time.NewTicker(maintenanceInterval)
		defer tick.Stop()
		for {
			if x.presence.isAway() {
				x.bringBack(ctx)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := x.maintain(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errShort) {
				x.x.cluster.log.LogAttrs(ctx, slog.LevelDebug, "replicas of Weaviate cannot be maintained now", slog.String("uid", x.uid), slog.Any("err", err))
			}
		}
	})
}

// stop stops background maintenance and waits for it.
func (m *maintenance) stop() {
	m.cancel()
	m.running.Wait()
}

// maintain is one step of background maintenance. It holds mu only for short pieces of work, so that changes can be
// applied in between.
func (x *index) maintain(ctx context.Context) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	if err := x.confessNow(ctx); err != nil {
		return err
	}
	for done := false; !done; {
		var err error
		if done, err = x.healStep(ctx); err != nil {
			return err
		}
	}
	if err := x.compareReplicas(ctx); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.mayRepair() {
		return nil
	}
	return x.takeOverAbandoned(ctx)
}

// healStep stores some of the changes that replicas lack on all of them. If the only node that has all changes is down,
// another node replaces it first. done reports whether nothing is left.
func (x *index) healStep(ctx context.Context) (done bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.mayRepair() {
		return true, nil
	}
	if n := x.pending.primaryNode(); n != nil && n.isDown() {
		if err := x.replacePrimary(ctx, n); err != nil {
			return false, err
		}
	}
	return x.healSome(ctx)
}

// confessNow is confess for a caller that does not hold mu.
func (x *index) confessNow(ctx context.Context) error {
	if !x.wroteLate.Load() {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.confess(ctx)
}

// pollFor has the states of other processes read for at least d. The caller holds mu.
func (x *index) pollFor(d time.Duration) {
	if until := time.Now().Add(d); until.After(x.pollUntil) {
		x.pollUntil = until
	}
}

// noteUnfinished records which other processes have unfinished work.
func (x *index) noteUnfinished(all []state) {
	x.statesReadAt = time.Now()
	seen := map[string]unfinishedWork{}
	for i := range all {
		s := &all[i]
		if s.Process == x.x.process || !s.unfinished() {
			continue
		}
		if old, ok := x.unfinishedOthers[s.Process]; ok && old.version == s.Version {
			seen[s.Process] = old
		} else {
			seen[s.Process] = unfinishedWork{s.Version, time.Now()}
		}
	}
	x.unfinishedOthers = seen
}

// takeOverAbandoned takes over the unfinished work of processes whose state has not changed for takeoverAfter, or which say
// that they have ended. The caller holds mu.
func (x *index) takeOverAbandoned(ctx context.Context) error {
	if time.Since(x.statesReadAt) < statePollInterval || len(x.unfinishedOthers) == 0 && time.Now().After(x.pollUntil) {
		return nil
	}
	found, err := x.states(ctx)
	if err != nil || found.generation.Epoch != x.generation.Epoch {
		return err
	}
	x.noteUnfinished(found.all)
	if !x.pending.allConfirmed() || !x.x.cluster.allUpFor(x.x.takeoverAfter) {
		return nil
	}
	var ended []state
	for _, s := range found.all {
		wait := x.x.takeoverAfter
		if s.Ended { // its last writes may still be carried out
			wait = x.x.unconfirmedFor
		}
		if h, ok := x.unfinishedOthers[s.Process]; ok && s.Version > 0 && time.Since(h.since) >= wait {
			ended = append(ended, s)
		}
	}
	if len(ended) == 0 {
		return nil
	}
	from, _ := x.takeOver(ended, point{x.applied.Load(), x.epoch.Load()})
	upto := x.applied.Load()
	for _, s := range found.all {
		upto = max(upto, s.Intent)
	}
	x.x.cluster.log.LogAttrs(ctx, slog.LevelWarn, "unfinished writes of an ended process in Weaviate are stored again", slog.String("uid", x.uid), slog.Uint64("from", from.seq), slog.Uint64("to", upto))
	x.rewind(from, upto)
	return nil
}

// rewind moves the position back to from, so that the feed is applied again from there. Objects of changes up to upto are
// deleted before they are stored. The caller holds mu.
func (x *index) rewind(from point, upto uint64) {
	x.forget()
	x.storedTo = 0
	x.mustApplyTo, x.deleteFirstTo = max(x.mustApplyTo, upto), max(x.deleteFirstTo, upto)
	x.rewindFrom.Store(max(x.rewindFrom.Load(), x.applied.Load()))
	x.epoch.Store(from.epoch)
	x.applied.Store(min(from.seq, x.applied.Load()))
}

package weaviate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// tending is the background upkeep of an open index. It stores changes on replicas that lacked them once they are back. It
// compares unconfirmed writes with the content of the replicas. It completes the unfinished work of processes that have
// ended.
type tending struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

const (
	// tendAfter is the interval of background upkeep.
	tendAfter = time.Second
	// askAfter is the interval at which the states of other processes are read. askFor is how long that continues after the
	// last applied change if no work is unfinished.
	askAfter, askFor = 5 * time.Second, time.Minute
	// takeAfter is how long the state of a process with unfinished work may stay unchanged, while all nodes answer, before
	// another process takes the work over. A running process completes its work in about half of that time.
	takeAfter = time.Minute
)

// halves is the unfinished work of another process: the version of its state, and when that version was first seen.
type halves struct {
	version uint64
	since   time.Time
}

// tend starts background upkeep.
func (x *index) tend() {
	ctx, stop := context.WithCancel(context.Background())
	x.tending.stop = stop
	x.tending.done.Go(func() {
		tick := time.NewTicker(tendAfter)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := x.upkeep(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errShort) {
				x.x.cluster.log.LogAttrs(ctx, slog.LevelDebug, "replicas of Weaviate cannot be looked after now", slog.String("uid", x.uid), slog.Any("err", err))
			}
		}
	})
}

// end stops background upkeep and waits for it.
func (t *tending) end() {
	t.stop()
	t.done.Wait()
}

// upkeep is one step of background upkeep. It holds mu only for short pieces of work, so that changes can be applied in
// between.
func (x *index) upkeep(ctx context.Context) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.leave()
	for done := false; !done; {
		var err error
		if done, err = x.healing(ctx); err != nil {
			return err
		}
	}
	if err := x.settle(ctx); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.mends() {
		return nil
	}
	return x.attend(ctx)
}

// healing stores some of the changes that replicas lack on all of them. If the only node that has all changes is down,
// another node replaces it first. done reports whether nothing is left.
func (x *index) healing(ctx context.Context) (done bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.mends() {
		return true, nil
	}
	if n := x.short.node(); n != nil && n.isDown() {
		if err := x.replaced(ctx, n); err != nil {
			return false, err
		}
	}
	return x.healSome(ctx)
}

// note records which other processes have unfinished work.
func (x *index) note(all []state) {
	x.asked = time.Now()
	seen := map[string]halves{}
	for i := range all {
		s := &all[i]
		if s.Process == x.x.process || !s.byHalves() {
			continue
		}
		if old, ok := x.others[s.Process]; ok && old.version == s.Version {
			seen[s.Process] = old
		} else {
			seen[s.Process] = halves{s.Version, time.Now()}
		}
	}
	x.others = seen
}

// attend takes over the unfinished work of processes whose state has not changed for takeAfter. The caller holds mu.
func (x *index) attend(ctx context.Context) error {
	if time.Since(x.asked) < askAfter || len(x.others) == 0 && time.Since(x.wroteAt) > askFor {
		return nil
	}
	found, err := x.states(ctx)
	if err != nil || found.gen.Epoch != x.generation.Epoch {
		return err
	}
	x.note(found.all)
	if !x.short.settled() || !x.x.cluster.wholeFor(x.x.taking) {
		return nil
	}
	var ended []state
	for _, s := range found.all {
		if h, ok := x.others[s.Process]; ok && s.Version > 0 && time.Since(h.since) >= x.x.taking {
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
	x.x.cluster.log.LogAttrs(ctx, slog.LevelWarn, "what a process has left by halves in Weaviate is stored again", slog.String("uid", x.uid), slog.Uint64("from", from.seq), slog.Uint64("to", upto))
	x.again(from, upto)
	return nil
}

// again moves the position back to from, so that the feed is applied again from there. Objects of changes up to upto are
// deleted before they are stored. The caller holds mu.
func (x *index) again(from point, upto uint64) {
	x.alone, x.anew = max(x.alone, upto), max(x.anew, upto)
	x.epoch.Store(from.epoch)
	x.applied.Store(min(from.seq, x.applied.Load()))
}

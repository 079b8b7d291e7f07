package weaviate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// tending is what goes on beside calls while an index is open: what replicas lack is stored there once they are back, what was in doubt is compared
// with what they have, and what a process has left by halves that ended is done in its place.
type tending struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

const (
	// tendAfter is how often an index is looked after.
	tendAfter = time.Second
	// askAfter is how often others are asked how far they are, and askFor for how long after something was applied, where all is done.
	askAfter, askFor = 5 * time.Second, time.Minute
	// takeAfter is how long a process that has left something by halves may say nothing while all nodes answer, until another does it. One that runs
	// needs about half of it.
	takeAfter = time.Minute
)

// halves is what another process had left by halves, and since when it has said nothing else.
type halves struct {
	version uint64
	since   time.Time
}

// tend begins to look after the index.
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

// end ends that.
func (t *tending) end() {
	t.stop()
	t.done.Wait()
}

// upkeep is one step of it. It holds mu for short pieces alone, between which changes are applied.
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

// healing stores some of what replicas lack on all of them, by another node where the one that has all has gone.
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

// note remembers who has left something by halves.
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

// attend takes over what processes have left by halves that say nothing any more. The caller holds mu.
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

// again has the feed applied again from a point on: everything up to a number is stored anew. The caller holds mu.
func (x *index) again(from point, upto uint64) {
	x.alone, x.anew = max(x.alone, upto), max(x.anew, upto)
	x.epoch.Store(from.epoch)
	x.applied.Store(min(from.seq, x.applied.Load()))
}

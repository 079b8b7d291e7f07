package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// storageFailed defers jobs after a transaction failed. If that fails too, they keep their claims, and the step ends with an error.
func (c *Config) storageFailed(ctx context.Context, st backend.Store, jobs []*job, token string, err error) error {
	if errors.Is(err, backend.ErrClosed) || ctx.Err() != nil {
		return err
	}
	c.Logger.Warn("storing processed items failed", "items", len(jobs), "err", err)
	var later []backend.Deferred
	for _, j := range jobs {
		j.fail = &failure{code: CodeStorage, message: "storage error while persisting processed data; it is retried", retry: true, transient: true}
		if !c.retries(j) {
			j.fail = &failure{code: CodeStorage, message: "storage error while persisting processed data"}
			ok, ferr := st.Finish(ctx, []backend.Finished{{Num: j.Num, Token: token, State: backend.Errored, ErrorCode: CodeStorage, ErrorMessage: j.fail.message, Event: true}})
			if ferr == nil && ok[0] {
				j.final, j.lost = true, true
				continue
			}
		}
		later = append(later, c.deferral(j, token))
		j.lost = true
	}
	if derr := deferEach(ctx, st, later); derr != nil {
		return errors.Join(err, derr)
	}
	return nil
}

// warn logs that a plug-in failed on an item, unless the service stops: then the item returns to the queue.
func (c *Config) warn(ctx context.Context, what string, j *job, err error) {
	if ctx.Err() == nil {
		c.Logger.Warn(what, "source", j.Num, "err", err)
	}
}

// deferEach defers items, each alone if one of several is damaged: that one keeps its claim until its lease expires, and the others do not wait for it.
func deferEach(ctx context.Context, st backend.Store, later []backend.Deferred) error {
	err := st.Defer(ctx, later)
	if !errors.Is(err, backend.ErrCorrupt) || len(later) == 1 {
		return err
	}
	for i := range later {
		if err := st.Defer(ctx, later[i:i+1]); err != nil && !errors.Is(err, backend.ErrCorrupt) {
			return err
		}
	}
	return nil
}

// retries reports whether a failed job is tried again. It is, up to MaxAttempts. While a dependency is down, it is also
// tried again until RetryFor after its acceptance.
func (c *Config) retries(j *job) bool {
	return j.fail.retry && (j.Attempts < c.MaxAttempts || j.fail.transient && time.Since(j.UpdatedAt) < c.RetryFor)
}

func (c *Config) deferral(j *job, token string) backend.Deferred {
	state := backend.Queued
	if j.State == backend.GraphCreation {
		state = backend.GraphCreation
	}
	now := time.Now()
	next := now.Add(Backoff(j.Attempts))
	if j.fail.transient && j.fail.code == CodeStorage {
		next = now.Add(BackoffAway(j.Attempts))
	}
	if pause := c.PausedUntil().Sub(now); j.fail.transient && pause > 0 { // another item probes the dependency first
		next = now.Add(2 * pause)
	}
	return backend.Deferred{Num: j.Num, Token: token, State: state, NotBefore: next,
		ErrorCode: j.fail.code, ErrorMessage: j.fail.message}
}

// giveBackPatience is the time that giveBack may take while the service stops. If the
// storage takes longer, the claims end when their leases expire.
const giveBackPatience = 3 * time.Second

// giveBack ends claims at once when the service stops, so that the next start need not wait
// until their leases expire.
func (c *Config) giveBack(st backend.Store, token string, jobs []*job) error {
	ctx, cancel := context.WithTimeout(context.Background(), giveBackPatience)
	defer cancel()
	var later []backend.Deferred
	for _, j := range jobs {
		if j.final || j.lost {
			continue
		}
		state := backend.Queued
		if j.State == backend.GraphCreation {
			state = backend.GraphCreation
		}
		later = append(later, backend.Deferred{Num: j.Num, Token: token, State: state, NotBefore: time.Now()})
	}
	return errors.Join(context.Canceled, st.Defer(ctx, later))
}

// Backoff returns the pause before try n+1: 100 ms, doubled for each try up to 1 minute. It
// adds up to a quarter of jitter, so that items that failed together are not retried together.
func Backoff(n int) time.Duration { return backoff(n, time.Minute) }

// BackoffAway is Backoff up to 5 seconds, for what needs a store or an index that does not answer. When it answers again, that is to be found out soon.
func BackoffAway(n int) time.Duration { return backoff(n, 5*time.Second) }

func backoff(n int, most time.Duration) time.Duration {
	d := most
	if n < 10 {
		d = min(d, 100*time.Millisecond<<max(n-1, 0))
	}
	return d + time.Duration(rand.Int64N(int64(d)/4+1))
}

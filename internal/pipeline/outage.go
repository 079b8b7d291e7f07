package pipeline

import (
	"math/rand/v2"
	"sync"
	"time"
)

// outage is the state of a dependency that all items need. While it is down, no item is claimed, so none uses up its
// tries. From time to time one item is claimed to probe whether the dependency is back.
type outage struct {
	mu       sync.Mutex
	tries    int             // consecutive failures; 0: the dependency is not down
	until    time.Time       // no item is claimed before this time
	answers  int             // number of calls that succeeded
	suspects map[suspect]int // failed items -> answers at their first failure
}

// firstPause is the first pause of an outage. Each further pause is twice as long.
const firstPause = time.Second

// pause begins or extends the outage of the dependencies that all items need.
func (c *Config) pause(what string) { c.pauseOf(&c.outage, what) }

// pauseOf begins or extends an outage.
func (c *Config) pauseOf(o *outage, what string) {
	o.mu.Lock()
	o.tries++
	d := c.MaxPause
	if o.tries < 20 {
		d = min(d, firstPause<<(o.tries-1))
	}
	d += time.Duration(rand.Int64N(int64(d)/4 + 1)) // jitter, so that processes that failed together do not retry together
	o.until = time.Now().Add(d)
	tries := o.tries
	o.mu.Unlock()
	c.Logger.Warn("a dependency is down; the queue pauses", "dependency", what, "tries", tries, "pause", d)
}

// over ends the outage.
func (o *outage) over() {
	o.mu.Lock()
	o.tries, o.until = 0, time.Time{}
	o.answers++
	o.mu.Unlock()
}

// suspect identifies a failed item.
type suspect struct {
	num      int64
	accepted time.Time
}

// maxSuspects bounds the number of suspects. Beyond it all are removed, which only costs more tries.
const maxSuspects = 10_000

// blame reports whether a failed item is itself at fault. It is if at least n calls for other items have succeeded
// since its first failure.
func (o *outage) blame(j *job, n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := suspect{j.Num, j.UpdatedAt}
	first, ok := o.suspects[k]
	if !ok {
		if o.suspects == nil || len(o.suspects) >= maxSuspects {
			o.suspects = map[suspect]int{}
		}
		o.suspects[k], first = o.answers, o.answers
	}
	if o.answers-first < n {
		return false
	}
	delete(o.suspects, k)
	return true
}

// probing reports whether the last call failed, so that only one item may be claimed.
func (o *outage) probing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tries > 0
}

// PausedUntil returns the time from which on items may be claimed; a past or zero time means now.
func (c *Config) PausedUntil() time.Time { return c.outage.paused() }

// RefiningPausedUntil returns the time from which on the refining embedder may be called; a past or zero time means now.
func (c *Config) RefiningPausedUntil() time.Time { return c.slowOutage.paused() }

func (o *outage) paused() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.until
}

package pipeline

import (
	"math/rand/v2"
	"sync"
	"time"
)

// outage is what is known of a dependency that all items need and that is down. While it lasts no item is claimed, so
// that none uses up its tries; from time to time one item finds out whether the dependency is back.
type outage struct {
	mu       sync.Mutex
	tries    int             // failures in a row; 0: nothing is down
	until    time.Time       // no item is claimed before
	answers  int             // calls that the dependency answered
	suspects map[suspect]int // items that failed, with answers as of their first failure
}

// firstPause is the pause after a dependency was first found down; each further one is twice as long.
const firstPause = time.Second

// pause begins or lengthens an outage.
func (c *Config) pause(what string) { c.pauseOf(&c.outage, what) }

// pauseOf begins or lengthens one of the outages.
func (c *Config) pauseOf(o *outage, what string) {
	o.mu.Lock()
	o.tries++
	d := c.MaxPause
	if o.tries < 20 {
		d = min(d, firstPause<<(o.tries-1))
	}
	d += time.Duration(rand.Int64N(int64(d)/4 + 1)) // so that processes that failed together spread out
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

// suspect names an item that failed.
type suspect struct {
	num      int64
	accepted time.Time
}

// maxSuspects bounds what is remembered of items that failed; past it all are forgotten, which only costs more tries.
const maxSuspects = 10_000

// blame reports whether an item that failed is itself at fault: since its first failure the dependency has
// answered others at least n times.
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

// probing reports whether something was down when it was last tried.
func (o *outage) probing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tries > 0
}

// PausedUntil returns when items may be claimed again; a past or zero time means now.
func (c *Config) PausedUntil() time.Time { return c.outage.paused() }

// RefiningPausedUntil returns when the embedder that refines is tried again; a past or zero time means now.
func (c *Config) RefiningPausedUntil() time.Time { return c.slowOutage.paused() }

func (o *outage) paused() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.until
}

package httpapi

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// limiter is a token bucket for each name. A rate of 0 limits nothing.
type limiter struct {
	perSecond float64
	burst     int

	mu      sync.Mutex
	buckets *simplelru.LRU[string, *rate.Limiter]
}

// maxBuckets bounds memory: of more names, those that asked longest ago are forgotten.
const maxBuckets = 100_000

func newLimiter(perSecond, burst float64) *limiter {
	l := &limiter{perSecond: perSecond, burst: int(math.Max(burst, 1))}
	l.buckets, _ = simplelru.NewLRU[string, *rate.Limiter](maxBuckets, nil) // fails for sizes below 1 only
	return l
}

// bucket returns the bucket of a name, a full one when the name is new.
func (l *limiter) bucket(name string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, ok := l.buckets.Get(name)
	if !ok {
		b = rate.NewLimiter(rate.Limit(l.perSecond), l.burst)
		l.buckets.Add(name, b)
	}
	return b
}

// take takes a token; when there is none it says how long to wait.
func (l *limiter) take(name string) (time.Duration, bool) {
	if l.perSecond <= 0 {
		return 0, true
	}
	now := time.Now()
	r := l.bucket(name).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait, wait == 0
}

// headers tells the caller how many requests are left.
func (l *limiter) headers(w http.ResponseWriter, name string) {
	if l.perSecond <= 0 {
		return
	}
	now := time.Now()
	tokens := math.Max(0, l.bucket(name).TokensAt(now))
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(l.burst))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(int(tokens)))
	full := time.Duration((float64(l.burst) - tokens) / l.perSecond * float64(time.Second))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(full).Unix()+1, 10))
}

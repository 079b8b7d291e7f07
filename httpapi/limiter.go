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

// RateLimit limits the request rate with a token bucket for each name, such as the id of a key. Several handlers may share one RateLimit,
// so that the limit applies to the sum of a key's requests; see [Options.RateLimit]. It is safe for concurrent use.
type RateLimit struct {
	perSecond float64
	burst     int
	now       func() time.Time // [time.Now], unless a test replaced it

	mu      sync.Mutex
	buckets *simplelru.LRU[string, *rate.Limiter]
}

// maxBuckets bounds the number of names. Beyond it, the least recently used ones are removed.
const maxBuckets = 100_000

// NewRateLimit returns a limit of perSecond requests for each name, with bursts of twice as many. 0 or less: no limit.
func NewRateLimit(perSecond float64) *RateLimit { return newRateLimit(perSecond, 2*perSecond) }

func newRateLimit(perSecond, burst float64) *RateLimit {
	l := &RateLimit{perSecond: perSecond, burst: int(math.Max(burst, 1)), now: time.Now}
	l.buckets, _ = simplelru.NewLRU[string, *rate.Limiter](maxBuckets, nil) // fails for sizes below 1 only
	return l
}

// bucket returns the bucket of a name. The bucket of a new name is full.
func (l *RateLimit) bucket(name string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, ok := l.buckets.Get(name)
	if !ok {
		b = rate.NewLimiter(rate.Limit(l.perSecond), l.burst)
		l.buckets.Add(name, b)
	}
	return b
}

// Take counts a request of a name and reports whether the request is within the limit. If it is not, Take does not count it, and wait is
// the time until the next allowed request.
func (l *RateLimit) Take(name string) (wait time.Duration, ok bool) {
	if l.perSecond <= 0 {
		return 0, true
	}
	now := l.now()
	r := l.bucket(name).ReserveN(now, 1)
	wait = r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait, wait == 0
}

// headers sets the response headers with the number of remaining requests.
func (l *RateLimit) headers(w http.ResponseWriter, name string) {
	if l.perSecond <= 0 {
		return
	}
	now := l.now()
	tokens := math.Max(0, l.bucket(name).TokensAt(now))
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(l.burst))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(int(tokens)))
	full := time.Duration((float64(l.burst) - tokens) / l.perSecond * float64(time.Second))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(full).Unix()+1, 10))
}

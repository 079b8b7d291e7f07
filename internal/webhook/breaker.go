package webhook

import (
	"sync"
	"time"
)

// Bounds of a breaker. It opens after breakAfter attempts in a row without an answer. Its pause begins with firstBreak and doubles up to maxBreak.
const (
	breakAfter = 3
	firstBreak = 30 * time.Second
	maxBreak   = 5 * time.Minute
)

// breakers holds back deliveries to addresses that do not answer, so that they do not delay others or use up their attempts.
// While a breaker is open nothing is sent to its address. Then a single delivery tests whether the address answers again.
type breakers struct {
	mu  sync.Mutex
	url map[string]*breaker
}

type breaker struct {
	failures int       // failed attempts in a row
	until    time.Time // nothing is sent before this time
	probing  bool
}

func newBreakers() *breakers { return &breakers{url: map[string]*breaker{}} }

// skip returns the addresses to which nothing may be sent now.
func (b *breakers) skip(now time.Time) (urls []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for u, x := range b.url {
		if x.probing || x.until.After(now) {
			urls = append(urls, u)
		}
	}
	return urls
}

// admit reports whether a delivery may be sent to an address. It returns false if the address has failed and another delivery is testing it.
func (b *breakers) admit(url string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.url[url]
	if x == nil || x.failures < breakAfter {
		return true
	}
	if x.probing {
		return false
	}
	x.probing = true
	return true
}

// ended records the end of an attempt. An attempt that was cut off counts neither as answered nor as failed.
func (b *breakers) ended(url string, answered, cutOff bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.url[url]
	switch {
	case answered:
		delete(b.url, url)
		return
	case x == nil:
		x = &breaker{}
		b.url[url] = x
	}
	x.probing = false
	if cutOff {
		return
	}
	if x.failures++; x.failures >= breakAfter {
		x.until = now.Add(min(maxBreak, firstBreak<<min(x.failures-breakAfter, 8)))
	}
}

// forget drops the breakers whose pause ended before the given time.
func (b *breakers) forget(before time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for u, x := range b.url {
		if !x.probing && x.until.Before(before) {
			delete(b.url, u)
		}
	}
}

package webhook

import (
	"sync"
	"time"
)

// Bounds of a breaker: it opens after so many attempts in a row without an answer, for a pause that doubles.
const (
	breakAfter = 3
	firstBreak = 30 * time.Second
	maxBreak   = 5 * time.Minute
)

// breakers keep deliveries from addresses that do not answer, so that they take no place from others and their attempts
// are not used up: while one is open nothing is sent, then a single delivery tries whether the address answers again.
type breakers struct {
	mu  sync.Mutex
	url map[string]*breaker
}

type breaker struct {
	failures int       // in a row
	until    time.Time // nothing is sent before
	probing  bool
}

func newBreakers() *breakers { return &breakers{url: map[string]*breaker{}} }

// skip lists the addresses to which nothing is sent now.
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

// admit reports whether a delivery may be sent to an address: always, unless the address is on probation and
// another tries it.
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

// ended notes the end of an attempt; cut off ones tell nothing.
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

// forget drops addresses of which nothing was heard for a while.
func (b *breakers) forget(before time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for u, x := range b.url {
		if !x.probing && x.until.Before(before) {
			delete(b.url, u)
		}
	}
}

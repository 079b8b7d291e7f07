package webhook

import (
	"sync"
	"time"
)

// Bounds of a breaker. It opens after breakAfter attempts in a row without an answer. Its first pause is firstBreak, the next shortTests are
// shortBreak, so that an address that was away for an hour is found soon, and then they are maxBreak, since each test uses up an attempt.
const (
	breakAfter = 3
	firstBreak = 30 * time.Second
	shortBreak = time.Minute
	shortTests = 60
	maxBreak   = 5 * time.Minute
)

// wakeEvery is the least time between two wakes of the deliveries that wait for an address. A receiver that does not answer some events, and
// answers others, would otherwise use up the attempts of the former.
const wakeEvery = 10 * time.Minute

// breakers holds back deliveries to addresses that do not answer, so that they do not delay others or use up their attempts.
// While a breaker is open nothing is sent to its address. Then a single delivery tests whether the address answers again.
type breakers struct {
	mu    sync.Mutex
	url   map[string]*breaker
	woken map[string]time.Time // when the deliveries of an address were woken last
}

type breaker struct {
	failures int       // failed attempts in a row
	until    time.Time // nothing is sent before this time
	probing  bool
}

func newBreakers() *breakers {
	return &breakers{url: map[string]*breaker{}, woken: map[string]time.Time{}}
}

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

// ended records the end of an attempt. An attempt that was cut off counts neither as answered nor as failed. It reports whether the
// address answers again after its breaker was open, so that what waits for it should be sent.
func (b *breakers) ended(url string, answered, cutOff bool, now time.Time) (back bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.url[url]
	switch {
	case answered:
		delete(b.url, url)
		if back = x != nil && x.failures >= breakAfter && now.Sub(b.woken[url]) >= wakeEvery; back {
			b.woken[url] = now
		}
		return back
	case x == nil:
		x = &breaker{}
		b.url[url] = x
	}
	x.probing = false
	if cutOff {
		return false
	}
	if x.failures++; x.failures >= breakAfter {
		x.until = now.Add(pauseOf(x.failures - breakAfter))
	}
	return false
}

// pauseOf returns the pause after a number of tests.
func pauseOf(tests int) time.Duration {
	switch {
	case tests < 1:
		return firstBreak
	case tests <= shortTests:
		return shortBreak
	}
	return maxBreak
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
	for u, at := range b.woken {
		if at.Before(before) {
			delete(b.woken, u)
		}
	}
}

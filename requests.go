package contextmem

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
)

// requestLog remembers the latest recalls, so that feedback can be tied to them.
type requestLog struct {
	mu   sync.Mutex
	ring []remembered // the oldest at next
	next int
	seen map[string]int32 // places in ring by request id
}

type remembered struct {
	id string
	recalled
}

// recalled is what is remembered of a recall.
type recalled struct {
	org, tenant string
	query       string
	class       Class
	subs        []string
	sources     []string // returned, best first
}

// rememberedRequests is how many recalls are remembered; about 1 KB each.
const rememberedRequests = 10_000

// keptSources bounds the memory that an entry keeps for the next one.
const keptSources = 64

func (l *requestLog) init() { l.seen = map[string]int32{} }

// add remembers a recall in place of the oldest. fill sets what is remembered; the slices
// that it finds may be used again.
func (l *requestLog) add(id string, fill func(r *recalled)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.next
	if len(l.ring) < rememberedRequests {
		at = len(l.ring)
		l.ring = append(l.ring, remembered{})
	} else {
		delete(l.seen, l.ring[at].id)
		l.next = (at + 1) % rememberedRequests
	}
	slot := &l.ring[at]
	if slot.id = id; cap(slot.sources) > keptSources {
		slot.sources = nil
	}
	fill(&slot.recalled)
	l.seen[id] = int32(at)
}

func (l *requestLog) get(org, id string) (recalled, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.seen[id]
	if !ok || l.ring[at].org != org {
		return recalled{}, false
	}
	r := l.ring[at].recalled
	r.subs, r.sources = slices.Clone(r.subs), slices.Clone(r.sources)
	return r, true
}

// NewRequestID returns a random UUID (version 4).
func NewRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	hex.Encode(s[:8], b[:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:], b[10:])
	return string(s[:])
}

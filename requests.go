package contextmem

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
)

// requestLog remembers the latest recalls, so that feedback can be tied to them.
type requestLog struct {
	mu   sync.Mutex
	ring []string // request ids, oldest at next
	next int
	seen map[string]recalled
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

func (l *requestLog) init() { l.seen = map[string]recalled{} }

func (l *requestLog) add(id string, r recalled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < rememberedRequests {
		l.ring = append(l.ring, id)
	} else {
		delete(l.seen, l.ring[l.next])
		l.ring[l.next] = id
		l.next = (l.next + 1) % rememberedRequests
	}
	l.seen[id] = r
}

func (l *requestLog) get(org, id string) (recalled, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.seen[id]
	return r, ok && r.org == org
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

package contextmem

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sync"
)

// requestLog remembers the latest recalls, so that feedback can be tied to them. It is two
// pieces of memory without pointers, which the garbage collector need not look into.
type requestLog struct {
	mu   sync.Mutex
	ring []remembered // the oldest at next
	next int
	text []byte // of the latest entries, in their order, from its start again at its end
	end  int64  // bytes written so far, those left out at an end included
	one  []byte // the entry that is added
}

// requestID is the UUID of a request.
type requestID [16]byte

type remembered struct {
	id   requestID
	from int64 // of the bytes written
	size int
}

// recalled is what is remembered of a recall.
type recalled struct {
	org, tenant string
	query       string
	class       Class
	subs        []string
	sources     []string // returned, best first
}

// Bounds of what is remembered: so many recalls, and so many bytes of them. Most take less than 1 KB.
const (
	rememberedRequests = 10_000
	rememberedBytes    = 8 << 20
	firstRemembered    = 64 << 10
)

// add remembers a recall in place of the oldest.
func (l *requestLog) add(id string, sub Sub, q *Recall, scopes []scope, sources []SourceInfo) {
	key, ok := readRequestID(id)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.one = appendRecalled(l.one[:0], sub, q, scopes, sources)
	e := remembered{id: key, size: len(l.one)}
	if e.from, ok = l.room(e.size); !ok {
		return
	}
	copy(l.text[e.from%int64(len(l.text)):], l.one)
	if len(l.ring) < rememberedRequests {
		l.ring = append(l.ring, e)
		return
	}
	l.ring[l.next] = e
	l.next = (l.next + 1) % rememberedRequests
}

// room returns where n bytes go, in one piece; false: they are more than are remembered at all.
func (l *requestLog) room(n int) (from int64, ok bool) {
	for len(l.text) < rememberedBytes && l.end+int64(n) > int64(len(l.text)) { // nothing was written over yet
		grown := make([]byte, max(2*len(l.text), firstRemembered))
		copy(grown, l.text)
		l.text = grown
	}
	if n > len(l.text) {
		return 0, false
	}
	if left := len(l.text) - int(l.end%int64(len(l.text))); left < n {
		l.end += int64(left)
	}
	from = l.end
	l.end += int64(n)
	return from, true
}

// get looks at each entry: feedback is rare beside recalls.
func (l *requestLog) get(org, id string) (recalled, bool) {
	key, ok := readRequestID(id)
	if !ok {
		return recalled{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.ring, func(r remembered) bool { return r.id == key })
	if at < 0 {
		return recalled{}, false
	}
	e := l.ring[at]
	if e.from+int64(len(l.text)) < l.end { // written over
		return recalled{}, false
	}
	r := decodeRecalled(l.text[e.from%int64(len(l.text)):][:e.size])
	return r, r.org == org
}

// appendText appends a text so that readText finds its end.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func readText(b []byte) (s string, rest []byte) {
	n, width := binary.Uvarint(b)
	b = b[width:]
	return string(b[:n]), b[n:]
}

func appendRecalled(b []byte, sub Sub, q *Recall, scopes []scope, sources []SourceInfo) []byte {
	b = append(b, byte(q.Class))
	b = appendText(appendText(appendText(b, sub.org), sub.tenant), q.Query)
	b = binary.AppendUvarint(b, uint64(len(scopes)))
	for i := range scopes {
		b = appendText(b, scopes[i].part.Sub)
	}
	b = binary.AppendUvarint(b, uint64(len(sources)))
	for i := range sources {
		b = appendText(b, sources[i].ID)
	}
	return b
}

// decodeRecalled reads what appendRecalled wrote.
func decodeRecalled(b []byte) (r recalled) {
	r.class, b = Class(b[0]), b[1:]
	r.org, b = readText(b)
	r.tenant, b = readText(b)
	r.query, b = readText(b)
	for _, to := range [...]*[]string{&r.subs, &r.sources} {
		n, width := binary.Uvarint(b)
		b = b[width:]
		*to = make([]string, n)
		for i := range *to {
			(*to)[i], b = readText(b)
		}
	}
	return r
}

// NewRequestID returns a random UUID (version 4).
func NewRequestID() string {
	var b requestID
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return b.String()
}

// String returns the usual form, in lower case.
func (id requestID) String() string {
	var s [36]byte
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	hex.Encode(s[:8], id[:4])
	hex.Encode(s[9:13], id[4:6])
	hex.Encode(s[14:18], id[6:8])
	hex.Encode(s[19:23], id[8:10])
	hex.Encode(s[24:], id[10:])
	return string(s[:])
}

// readRequestID reads the form that String writes, in either case.
func readRequestID(s string) (id requestID, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:]))
	return id, err == nil
}

package feedback

import (
	"encoding/binary"
	"sync"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Bounds of what is remembered: so many recalls, and so many bytes of them. Most take less than 1 KB.
const (
	rememberedRequests = 10_000
	rememberedBytes    = 8 << 20
)

// Recalled is what is remembered of a recall.
type Recalled struct {
	Org, Tenant string
	Query       string
	Class       uint8
	Subs        []string // sub-tenants that were searched
	Sources     []string // ids that were returned, best first
}

// Requests remembers the latest recalls, so that feedback can be tied to them. The zero value remembers none yet. It
// is safe for concurrent use.
type Requests struct {
	mu     sync.Mutex
	latest *simplelru.LRU[uuid.UUID, string] // of stored forms: one text each is little work for the garbage collector
	bytes  int
}

// Add remembers a recall, and forgets the oldest ones beyond the bounds. An id that is no UUID is not remembered, nor is
// what is over the bounds by itself.
func (l *Requests) Add(id string, r *Recalled) {
	key, err := uuid.Parse(id)
	if err != nil {
		return
	}
	stored := r.encode()
	if len(stored) > rememberedBytes {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil {
		l.latest, _ = simplelru.NewLRU(rememberedRequests, func(_ uuid.UUID, old string) { l.bytes -= len(old) }) // fails for sizes below 1 only
	}
	if old, ok := l.latest.Peek(key); ok { // Add does not tell of what it writes over
		l.bytes -= len(old)
	}
	l.latest.Add(key, stored)
	for l.bytes += len(stored); l.bytes > rememberedBytes; {
		l.latest.RemoveOldest()
	}
}

// Get returns a recall of an organisation; false: it is not remembered.
func (l *Requests) Get(org, id string) (Recalled, bool) {
	key, err := uuid.Parse(id)
	if err != nil {
		return Recalled{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil {
		return Recalled{}, false
	}
	stored, ok := l.latest.Peek(key)
	if !ok {
		return Recalled{}, false
	}
	r := decode(stored)
	return r, r.Org == org
}

// encode returns the stored form: the class, then texts and counts of texts.
func (r *Recalled) encode() string {
	var room [1 << 10]byte // most take less
	b := append(room[:0], r.Class)
	for _, s := range [...]string{r.Org, r.Tenant, r.Query} {
		b = appendText(b, s)
	}
	for _, list := range [...][]string{r.Subs, r.Sources} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			b = appendText(b, s)
		}
	}
	return string(b)
}

// decode reads what encode wrote.
func decode(stored string) (r Recalled) {
	b := []byte(stored)
	r.Class, b = b[0], b[1:]
	for _, to := range [...]*string{&r.Org, &r.Tenant, &r.Query} {
		*to, b = readText(b)
	}
	for _, to := range [...]*[]string{&r.Subs, &r.Sources} {
		n, width := binary.Uvarint(b)
		b = b[width:]
		*to = make([]string, n)
		for i := range *to {
			(*to)[i], b = readText(b)
		}
	}
	return r
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

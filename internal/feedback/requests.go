package feedback

import (
	"encoding/binary"
	"sync"

	"github.com/google/uuid"
)

// Bounds of the remembered recalls: their number and their bytes. Most take less than 1 KB.
const (
	rememberedRequests = 10_000
	rememberedBytes    = 8 << 20
)

// Recalled holds the parts of a recall that are remembered.
type Recalled struct {
	Org, Tenant string
	Query       string
	Class       uint8
	Subs        []string // sub-tenants that were searched
	Sources     []string // ids of the returned sources, best first
}

// Requests remembers the latest recalls, so that feedback can refer to them. The zero value is empty. It
// is safe for concurrent use.
//
// Every recall writes to it and few calls read it, so it is a ring buffer with linear search.
type Requests struct {
	mu    sync.Mutex
	ring  []remembered // grows up to rememberedRequests
	next  int          // index in ring of the next write
	kept  int          // number of entries before next that hold a recall
	bytes int          // total capacity of the stored forms in ring
}

// remembered is a recall in its stored form. A single buffer for each saves work of the garbage collector.
type remembered struct {
	id     uuid.UUID
	stored []byte // reused by the next recall in this entry
}

// maxStored is the capacity in bytes up to which an entry's buffer is reused.
const maxStored = 1 << 10

// Add remembers a recall and forgets the oldest ones beyond the bounds. It ignores ids that are not UUIDs, and recalls that exceed the bounds
// alone. Of two recalls with one id the later one counts.
func (l *Requests) Add(id string, r *Recalled) {
	key, err := uuid.Parse(id)
	if err != nil {
		return
	}
	var room [maxStored]byte // most forms are shorter
	form := r.encode(room[:0])
	if len(form) > rememberedBytes {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == len(l.ring) {
		if len(l.ring) < rememberedRequests {
			l.ring = append(l.ring, remembered{})
		} else {
			l.next = 0
		}
	}
	at := &l.ring[l.next]
	l.next++
	l.kept = min(l.kept+1, len(l.ring))
	l.bytes -= cap(at.stored)
	if n := cap(at.stored); n < len(form) || n > maxStored {
		at.stored = make([]byte, 0, len(form))
	}
	at.id, at.stored = key, append(at.stored[:0], form...)
	for l.bytes += cap(at.stored); l.bytes > rememberedBytes; l.kept-- {
		oldest := l.at(l.kept - 1)
		l.bytes -= cap(oldest.stored)
		oldest.stored = nil
	}
}

// at returns the recall of the given age; 0 is the latest.
func (l *Requests) at(age int) *remembered {
	i := l.next - 1 - age
	if i < 0 {
		i += len(l.ring)
	}
	return &l.ring[i]
}

// Get returns a recall of an organisation, or false if it is not remembered.
func (l *Requests) Get(org, id string) (Recalled, bool) {
	key, err := uuid.Parse(id)
	if err != nil {
		return Recalled{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for age := range l.kept {
		if x := l.at(age); x.id == key {
			r := decode(x.stored)
			return r, r.Org == org
		}
	}
	return Recalled{}, false
}

// encode appends the stored form: the class, then length-prefixed texts and lists.
func (r *Recalled) encode(b []byte) []byte {
	b = append(b, r.Class)
	for _, s := range [...]string{r.Org, r.Tenant, r.Query} {
		b = appendText(b, s)
	}
	for _, list := range [...][]string{r.Subs, r.Sources} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			b = appendText(b, s)
		}
	}
	return b
}

// decode decodes the form that encode writes.
func decode(b []byte) (r Recalled) {
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

// appendText appends a text with its length, for readText.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func readText(b []byte) (s string, rest []byte) {
	n, width := binary.Uvarint(b)
	b = b[width:]
	return string(b[:n]), b[n:]
}

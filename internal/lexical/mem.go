package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/contextmem/contextmem/internal/bitset"
)

// ErrFull is returned by a Mem that has run out of addresses, at about 4 GB.
var ErrFull = errors.New("lexical: in-memory index is full")

// ErrOrder is returned for a row that is not greater than all rows before it.
var ErrOrder = errors.New("lexical: rows must rise")

// compactMin is the number of deleted documents below which Mem is not compacted.
const compactMin = 256

// Mem is an in-memory index to which documents can be added and from which they can be
// deleted. It is safe for concurrent use. A writer excludes other writers and all readers.
type Mem struct {
	mu       sync.RWMutex
	ids      termNumbers
	recent   []recentTerm // by place, see recentPlace; nil in a small index
	terms    []memTerm
	store    arena
	rows     []uint32 // row of each document, ascending
	lens     []uint32
	forward  []uint32 // address of each document's terms in store
	dead     *bitset.Set
	deadDocs int
	totalLen int64 // of live documents
	bag      bag
	buf      []byte
	fwd      []byte
}

// memTerm is a term with its postings. A posting is a row of varints. The first is twice the
// distance to the document before, plus 1 if the term occurs once with weight 1. In that
// case its position follows. Otherwise tf, the byte length of the positions, and the
// distances between the positions follow.
type memTerm struct {
	text     string
	postings chain
	n        uint32 // postings, including those of deleted documents
	df       uint32 // live documents with the term
	last     uint32 // document of the last posting
}

// NewMem returns an empty index.
func NewMem() *Mem {
	return &Mem{dead: bitset.New(0)}
}

// Add indexes doc under row. It returns ErrOrder unless row is greater than all rows added
// before, including deleted ones. Any text is accepted. An error leaves the index unchanged.
func (m *Mem) Add(row uint32, doc Doc) error {
	var a analyzed
	a.read(doc)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(row, &a)
}

// addTogether is the number of documents that AddAll adds under one lock. Up to readAlone documents are analyzed by its own goroutine.
const addTogether, readAlone = 32, 16

// AddAll adds n documents under the rows first to first+n-1. It calls doc with the numbers 0 to n-1, in any order and from
// several goroutines. It takes the lock once for every addTogether documents. added is the number of documents that were
// added; after an error these are the ones before the failing one.
func (m *Mem) AddAll(first uint32, n int, doc func(i int) Doc) (added int, err error) {
	if n <= readAlone {
		docs := make([]analyzed, n)
		for i := range docs {
			docs[i].read(doc(i))
		}
		return m.addRead(first, docs)
	}
	r := newReading(n, doc)
	defer r.end()
	for added < n && err == nil {
		p := r.next()
		var some int
		some, err = m.addRead(first+uint32(added), p.docs)
		added += some
		r.release(p)
	}
	return added, err
}

func (m *Mem) addRead(first uint32, docs []analyzed) (added int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range docs {
		if err := m.add(first+uint32(i), &docs[i]); err != nil {
			return i, err
		}
	}
	return len(docs), nil
}

func (m *Mem) add(row uint32, doc *analyzed) error {
	if n := len(m.rows); row == noDoc || n > 0 && m.rows[n-1] >= row {
		return fmt.Errorf("%w: row %d", ErrOrder, row)
	}
	m.bag.fill(doc, m.number)
	if !m.store.fits(len(m.bag.occs) * (linkBytes(maxLevel) + linkPointer + 4*binary.MaxVarintLen32)) {
		return ErrFull
	}
	m.insert(row)
	return nil
}

// number returns the number of the term of a word. It adds the term if it is new.
func (m *Mem) number(w *docWord) uint32 {
	if w.cached == nil {
		return m.known(w.term)
	}
	if len(m.recent) == 0 {
		if len(m.terms) < recentTerms {
			return m.known(w.term)
		}
		m.recent = make([]recentTerm, recentTerms)
	}
	place := &m.recent[recentPlace(w.cached)]
	if place.of != w.cached {
		*place = recentTerm{w.cached, m.known(w.term)}
	}
	return place.id
}

// known returns the number of a term. It adds the term if it is new.
func (m *Mem) known(term string) uint32 {
	id, hash, ok := m.ids.find(m.terms, term)
	if !ok {
		id = uint32(len(m.terms))
		m.ids.add(hash, id)
		m.terms = append(m.terms, memTerm{text: strings.Clone(term)})
	}
	return id
}

// recentTerm is the number of a term that is in a cache. It is found by the address there, so that a look-up compares no text.
type recentTerm struct {
	of *cachedTerm
	id uint32
}

// recentTerms is the number of places for terms that were numbered last, a power of two. Only an index with as many terms has them.
const recentTerms = 1 << recentBits

const recentBits = 14

// recentPlace returns the place of a term, which depends on its address.
func recentPlace(t *cachedTerm) uint64 {
	const mix = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	return uint64(uintptr(unsafe.Pointer(t))) * mix >> (64 - recentBits)
}

// insert adds the document in the bag.
func (m *Mem) insert(row uint32) {
	doc := uint32(len(m.rows))
	last := uint32(0)
	m.fwd = m.fwd[:0]
	for _, term := range m.bag.terms {
		tf, positions := m.bag.occurrences(term)
		m.fwd = binary.AppendUvarint(m.fwd, uint64(term-last))
		m.fwd = binary.AppendUvarint(m.fwd, uint64(tf))
		last = term
		m.post(term, doc, tf, positions)
	}
	m.rows = append(m.rows, row)
	m.lens = append(m.lens, m.bag.length)
	m.forward = append(m.forward, m.putForward(len(m.bag.terms)))
	m.dead.Grow(len(m.rows))
	m.totalLen += int64(m.bag.length)
}

// putForward stores fwd, preceded by the number of terms, and returns its address.
func (m *Mem) putForward(terms int) uint32 {
	var head [binary.MaxVarintLen32]byte
	n := binary.PutUvarint(head[:], uint64(terms))
	addr, room := m.store.alloc(n + len(m.fwd))
	copy(room[copy(room, head[:n]):], m.fwd)
	return addr
}

// post appends a posting.
func (m *Mem) post(term, doc, tf uint32, positions []uint32) {
	t := &m.terms[term]
	delta := uint64(doc-t.last) << 1
	buf := m.buf[:0]
	if tf == 1 && len(positions) == 1 {
		buf = binary.AppendUvarint(buf, delta|1)
		buf = binary.AppendUvarint(buf, uint64(positions[0]))
	} else {
		last := uint32(0)
		size := 0
		for _, pos := range positions {
			size += uvarintLen(pos - last)
			last = pos
		}
		buf = binary.AppendUvarint(buf, delta)
		buf = binary.AppendUvarint(buf, uint64(tf))
		buf = binary.AppendUvarint(buf, uint64(size))
		last = 0
		for _, pos := range positions {
			buf = binary.AppendUvarint(buf, uint64(pos-last))
			last = pos
		}
	}
	t.postings.write(&m.store, buf)
	m.buf = buf
	t.n++
	t.df++
	t.last = doc
}

// uvarintLen returns the number of bytes of v as a varint.
func uvarintLen(v uint32) int { return (bits.Len32(v|1) + 6) / 7 }

// Delete deletes a row and reports whether it was live. The statistics become those of an
// index to which the document was never added. The space is reclaimed once half of the
// documents are deleted. The error is always nil.
func (m *Mem) Delete(row uint32) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	doc, ok := m.find(row)
	if !ok {
		return false, nil
	}
	m.dead.Add(doc)
	m.deadDocs++
	m.eachTerm(doc, func(term, tf uint32) { m.terms[term].df-- })
	m.totalLen -= int64(m.lens[doc])
	if m.deadDocs >= compactMin && m.deadDocs*2 > len(m.rows) {
		m.compact()
	}
	return true, nil
}

// find returns the document of a live row.
func (m *Mem) find(row uint32) (uint32, bool) {
	i, ok := slices.BinarySearch(m.rows, row)
	if !ok || m.dead.Has(uint32(i)) {
		return 0, false
	}
	return uint32(i), true
}

// eachTerm calls f for every term of a document, in ascending order of term numbers.
func (m *Mem) eachTerm(doc uint32, f func(term, tf uint32)) {
	buf := m.store.at(m.forward[doc])
	n, at := binary.Uvarint(buf)
	term := uint32(0)
	for range n {
		delta, size := binary.Uvarint(buf[at:])
		at += size
		tf, size := binary.Uvarint(buf[at:])
		at += size
		term += uint32(delta)
		f(term, uint32(tf))
	}
}

// compact copies the live documents into new memory.
func (m *Mem) compact() {
	live := len(m.rows) - m.deadDocs
	old := m.frozen()
	m.ids, m.terms, m.store, m.recent = termNumbers{}, nil, arena{}, nil
	m.rows, m.lens = make([]uint32, 0, live), make([]uint32, 0, live)
	m.forward = make([]uint32, 0, live)
	m.dead, m.deadDocs = bitset.New(live), 0

	docs := make([]uint32, len(old.rows)) // old document number -> new one
	for doc := range old.rows {
		if old.dead.Has(uint32(doc)) {
			docs[doc] = noDoc
			continue
		}
		docs[doc] = uint32(len(m.rows))
		m.rows = append(m.rows, old.rows[doc])
		m.lens = append(m.lens, old.lens[doc])
	}
	terms := make([]uint32, len(old.terms)) // old term number -> new one, in the same order
	var positions []uint32
	for id := range old.terms {
		t := &old.terms[id]
		if t.df == 0 {
			continue
		}
		terms[id] = m.known(t.text)
		c := old.cursor(uint32(id))
		for doc := c.advance(0); doc != noDoc; doc = c.advance(doc + 1) {
			if docs[doc] == noDoc {
				continue
			}
			positions = c.positions(positions[:0])
			m.post(terms[id], docs[doc], c.freq(), positions)
		}
	}
	for doc, now := range docs {
		if now == noDoc {
			continue
		}
		n, last := 0, uint32(0)
		m.fwd = m.fwd[:0]
		old.eachTerm(uint32(doc), func(term, tf uint32) {
			m.fwd = binary.AppendUvarint(m.fwd, uint64(terms[term]-last))
			m.fwd = binary.AppendUvarint(m.fwd, uint64(tf))
			n, last = n+1, terms[term]
		})
		m.forward = append(m.forward, m.putForward(n))
	}
}

// frozen returns an index that shares the memory of m. compact reads it while it rebuilds m.
func (m *Mem) frozen() *Mem {
	return &Mem{ids: m.ids, terms: m.terms, store: m.store, rows: m.rows, lens: m.lens,
		forward: m.forward, dead: m.dead}
}

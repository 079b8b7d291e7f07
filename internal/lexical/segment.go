package lexical

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sort"
	"sync"

	"github.com/contextmem/contextmem/internal/bitset"
)

// Segment is an immutable index in a byte slice, usually a mapped file. Delete records
// deleted rows in memory only. A Segment is safe for concurrent use. Damaged bytes cause
// errors, never a panic.
type Segment struct {
	footer
	postings, terms, termSlots, termInfo []byte
	rows, lengths                        []byte
	fwdOffsets, forward                  []byte
	raw                                  [sections][]byte
	long                                 []byte
	short                                bool // lengths has one byte per document

	mu   sync.RWMutex
	gone *removed // nil if no row is deleted
}

// removed records the deleted documents of a segment.
type removed struct {
	dead   *bitset.Set
	docs   int
	length int64
	df     map[uint32]int32 // number of deleted documents that have each term
}

// OpenSegment opens a segment and reads only its footer. data must not change while the
// segment is used. Errors are ErrCorrupt and ErrVersion.
func OpenSegment(data []byte) (*Segment, error) {
	f, err := decodeFooter(data)
	if err != nil {
		return nil, err
	}
	s := &Segment{footer: *f, short: f.sections[secLengths].length == uint64(f.docs)}
	for i, sec := range f.sections {
		s.raw[i] = data[sec.offset : sec.offset+sec.length : sec.offset+sec.length]
	}
	s.postings, s.terms, s.termSlots, s.termInfo = s.raw[secPostings], s.raw[secTerms], s.raw[secTermSlots], s.raw[secTermInfo]
	s.rows, s.lengths = s.raw[secRows], s.raw[secLengths]
	s.long = s.raw[secLongLengths]
	s.fwdOffsets, s.forward = s.raw[secFwdOffsets], s.raw[secForward]
	return s, nil
}

// Verify reads the whole segment and compares its checksums. It returns ErrCorrupt if one
// does not match.
func (s *Segment) Verify() error {
	for i, sec := range s.sections {
		if crc32.Checksum(s.raw[i], castagnoli) != sec.crc {
			return fmt.Errorf("%w: checksum of section %d", ErrCorrupt, i)
		}
	}
	return nil
}

// Rows returns the number of rows of the segment, including deleted ones.
func (s *Segment) Rows() int { return int(s.docs) }

func (s *Segment) row(doc uint32) uint32 {
	if len(s.rows) == 0 {
		return s.firstRow + doc
	}
	return binary.LittleEndian.Uint32(s.rows[4*int(doc):])
}

func (s *Segment) length(doc uint32) uint32 {
	if !s.short {
		return binary.LittleEndian.Uint32(s.lengths[4*int(doc):])
	}
	if n := s.lengths[doc]; n < longLength {
		return uint32(n)
	}
	return s.longLength(doc)
}

// longLength returns the length of a document whose length does not fit in a byte.
func (s *Segment) longLength(doc uint32) uint32 {
	n := len(s.long) / longBytes
	i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint32(s.long[longBytes*i:]) >= doc })
	if i == n || binary.LittleEndian.Uint32(s.long[longBytes*i:]) != doc {
		return longLength
	}
	return binary.LittleEndian.Uint32(s.long[longBytes*i+4:])
}

// find returns the document of a row, deleted or not.
func (s *Segment) find(row uint32) (uint32, bool) {
	if len(s.rows) == 0 {
		doc := row - s.firstRow
		return doc, row >= s.firstRow && doc < s.docs
	}
	doc := uint32(sort.Search(int(s.docs), func(i int) bool { return s.row(uint32(i)) >= row }))
	return doc, doc < s.docs && s.row(doc) == row
}

// df returns the document frequency of a term, including deleted documents.
func (s *Segment) df(id uint32) uint32 {
	return binary.LittleEndian.Uint32(s.termInfo[termInfoBytes*int(id)+12:])
}

// eachTerm calls f for every term of a document, in ascending order of term numbers.
func (s *Segment) eachTerm(doc uint32, f func(term, tf uint32)) error {
	from := binary.LittleEndian.Uint32(s.fwdOffsets[4*int(doc):])
	to := binary.LittleEndian.Uint32(s.fwdOffsets[4*int(doc)+4:])
	if from > to || uint64(to) > uint64(len(s.forward)) {
		return fmt.Errorf("%w: forward offsets", ErrCorrupt)
	}
	buf := s.forward[from:to]
	next := uint64(0) // least possible number of the next term
	for len(buf) > 0 {
		delta, n := binary.Uvarint(buf)
		if n <= 0 {
			return fmt.Errorf("%w: forward index", ErrCorrupt)
		}
		tf, m := binary.Uvarint(buf[n:])
		if m <= 0 || delta >= uint64(s.footer.terms)-next || tf > maxTF {
			return fmt.Errorf("%w: forward index", ErrCorrupt)
		}
		f(uint32(next+delta), uint32(tf))
		next += delta + 1
		buf = buf[n+m:]
		if next == uint64(s.footer.terms) && len(buf) > 0 {
			return fmt.Errorf("%w: forward index", ErrCorrupt)
		}
	}
	return nil
}

// isDead reports whether a document is deleted. The caller holds the lock.
func (s *Segment) isDead(doc uint32) bool { return s.gone != nil && s.gone.dead.Has(doc) }

// Delete deletes a row and reports whether it was live. The statistics become those of a
// segment without the row. The error is ErrCorrupt, and then nothing has changed.
func (s *Segment) Delete(row uint32) (bool, error) {
	doc, ok := s.find(row)
	if !ok {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isDead(doc) {
		return false, nil
	}
	if err := s.eachTerm(doc, func(uint32, uint32) {}); err != nil {
		return false, err
	}
	g := s.gone
	if g == nil {
		g = &removed{dead: bitset.New(int(s.docs)), df: make(map[uint32]int32)}
		s.gone = g
	}
	_ = s.eachTerm(doc, func(term, _ uint32) { g.df[term]++ }) // cannot fail: the terms were read above
	length := int64(s.length(doc))
	g.dead.Add(doc)
	g.docs++
	g.length += length
	return true, nil
}

// count implements Part. It sets ids to the numbers of the terms, or noTerm.
func (s *Segment) count(r *run, ids []uint32) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r.stats.Docs += int(s.docs)
	r.stats.TotalLen += s.totalLen
	if s.gone != nil {
		r.stats.Docs -= s.gone.docs
		r.stats.TotalLen -= s.gone.length
	}
	s.lookupAll(r.terms, ids)
	for i, id := range ids {
		if id == noTerm {
			continue
		}
		df := int(s.df(id))
		if s.gone != nil {
			df -= int(s.gone.df[id])
		}
		r.df[i] += max(df, 0)
	}
	return nil
}

// Forward appends the terms of a live row and their frequencies to dst, in order
// of the terms. The error is ErrCorrupt.
func (s *Segment) Forward(row uint32, dst []TermFreq) ([]TermFreq, error) {
	doc, ok := s.liveDoc(row)
	if !ok {
		return dst, nil
	}
	err := s.eachTerm(doc, func(term, tf uint32) {
		dst = append(dst, TermFreq{string(s.term(term)), tf})
	})
	return dst, err
}

func (s *Segment) liveDoc(row uint32) (uint32, bool) {
	doc, ok := s.find(row)
	if !ok {
		return 0, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return doc, !s.isDead(doc)
}

// Has reports whether a row is live.
func (s *Segment) Has(row uint32) bool {
	_, ok := s.liveDoc(row)
	return ok
}

// Length returns the document length of a live row, or 0 if the row is not live.
func (s *Segment) Length(row uint32) int64 {
	if doc, ok := s.liveDoc(row); ok {
		return int64(s.length(doc))
	}
	return 0
}

// Len returns the number of live rows.
func (s *Segment) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.gone == nil {
		return int(s.docs)
	}
	return int(s.docs) - s.gone.docs
}

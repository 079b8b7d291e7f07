package lexical

import (
	"bytes"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/internal/bitset"
)

// source is the state of a part at one instant, for merging into a segment. It numbers terms
// in byte order.
type source interface {
	docCount() int
	doc(doc uint32) (row, length uint32)
	termCount() int
	termText(i int) []byte
	cursorAt(i int) (cursor, error)
	// eachTermOf calls f for the terms of a document, in no particular order.
	eachTermOf(doc uint32, f func(term, tf uint32)) error
}

// snapshot is a source together with its deleted documents.
type snapshot struct {
	source
	dead *bitset.Set // nil if no document is deleted
}

// memSource is the state of a Mem at one instant. It needs no lock, since later additions write
// only to bytes that it does not read.
type memSource struct {
	*Mem
	order []uint32 // numbers of the terms, in byte order of the terms
	rank  []uint32 // index of each term in order
}

func (m *Mem) snapshot() snapshot {
	m.mu.RLock()
	copied := m.frozen()
	copied.terms = slices.Clone(m.terms)
	dead := m.dead.Clone()
	m.mu.RUnlock()
	src := &memSource{Mem: copied, rank: make([]uint32, len(copied.terms))}
	for id, t := range copied.terms {
		if t.n > 0 {
			src.order = append(src.order, uint32(id))
		}
	}
	slices.SortFunc(src.order, func(x, y uint32) int {
		return strings.Compare(copied.terms[x].text, copied.terms[y].text)
	})
	for i, id := range src.order {
		src.rank[id] = uint32(i)
	}
	return snapshot{src, dead}
}

func (m *memSource) docCount() int { return len(m.rows) }

func (m *memSource) doc(doc uint32) (row, length uint32) {
	return m.rows[doc], m.lens[doc]
}

func (m *memSource) termCount() int { return len(m.order) }

func (m *memSource) termText(i int) []byte { return []byte(m.terms[m.order[i]].text) }

func (m *memSource) cursorAt(i int) (cursor, error) { return m.cursor(m.order[i]), nil }

func (m *memSource) eachTermOf(doc uint32, f func(term, tf uint32)) error {
	m.eachTerm(doc, func(term, tf uint32) { f(m.rank[term], tf) })
	return nil
}

// segSource is a Segment as it was written, without its deletions.
type segSource struct {
	*Segment
	c segCursor // of the term that is being merged
}

func (s *Segment) snapshot() snapshot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.gone == nil {
		return snapshot{&segSource{Segment: s}, nil}
	}
	return snapshot{&segSource{Segment: s}, s.gone.dead.Clone()}
}

func (s *segSource) docCount() int { return int(s.docs) }

func (s *segSource) doc(doc uint32) (row, length uint32) {
	return s.row(doc), s.length(doc)
}

func (s *segSource) termCount() int { return int(s.footer.terms) }

func (s *segSource) termText(i int) []byte { return s.term(uint32(i)) }

func (s *segSource) cursorAt(i int) (cursor, error) {
	if err := s.c.open(s.Segment, uint32(i)); err != nil {
		return nil, err
	}
	return &s.c, nil
}

func (s *segSource) eachTermOf(doc uint32, f func(term, tf uint32)) error { return s.eachTerm(doc, f) }

// termMerge iterates over the terms of several sources in byte order.
type termMerge struct {
	sources []snapshot
	at      []int // next term of each source
	current []byte
	heads   [][]byte
}

func newTermMerge(sources []snapshot) *termMerge {
	m := &termMerge{sources: sources, at: make([]int, len(sources)), heads: make([][]byte, len(sources))}
	for i := range sources {
		m.fetch(i)
	}
	return m
}

func (m *termMerge) fetch(i int) {
	m.heads[i] = nil
	if m.at[i] < m.sources[i].termCount() {
		m.heads[i] = m.sources[i].termText(m.at[i])
	}
}

// next calls f with each source that has the next term, and with the term's number in
// that source. It returns false if no term is left.
func (m *termMerge) next(f func(source, term int) error) (bool, error) {
	found := false
	for i := range m.heads {
		if m.at[i] < m.sources[i].termCount() && (!found || bytes.Compare(m.heads[i], m.current) < 0) {
			m.current, found = append(m.current[:0], m.heads[i]...), true
		}
	}
	if !found {
		return false, nil
	}
	for i := range m.heads {
		if m.at[i] >= m.sources[i].termCount() || !bytes.Equal(m.heads[i], m.current) {
			continue
		}
		if err := f(i, m.at[i]); err != nil {
			return false, err
		}
		m.at[i]++
		m.fetch(i)
	}
	return true, nil
}

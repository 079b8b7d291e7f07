package local

import (
	"github.com/contextmem/contextmem/internal/lexical"
)

// sealed is a tail that a flush is writing. Its rows count as flushed: the next flush writes later
// changes of them. Searches use it until the written block replaces it. No rows are added to it.
// Removed rows are deleted from its postings.
type sealed struct {
	slot    *slot
	p       *partition
	from    uint32 // its first row
	words   *lexical.Mem
	terms   int64
	rows    bool // some rows were live when it was sealed
	vectors map[int][]placed
	content *content
	// Properties of the block to write.
	cleared          bool
	alone            bool // the block is the first of its partition
	nextRow, dropped uint32
}

// seal seals the tail of the slot's partition and starts a new one. The caller holds applying.
func (s *slot) seal() *sealed {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
	p := s.p.Load()
	t := p.sealTail()
	t.slot = s
	return t
}

func (p *partition) sealTail() *sealed {
	if n := len(p.chunk); p.tailRows() >= alignRows && n%64 != 0 {
		p.mu.Lock()
		p.skipTo(uint32(n + 64 - n%64))
		p.mu.Unlock()
	}
	t := &sealed{
		p: p, from: p.tailFrom, words: p.words, terms: p.tailTerms, rows: p.words.Len() > 0,
		content: p.tail(), alone: p.cleared || p.tailFrom == 0,
		cleared: p.cleared, nextRow: uint32(len(p.chunk)), dropped: uint32(p.droppedRows),
	}
	var parts []*vectorPart
	for _, v := range p.vectors {
		if v.mem != nil {
			parts = append(parts, v)
		}
	}
	if t.rows {
		t.vectors = collect(parts, p.live.Has)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range parts {
		v.sealed = true
	}
	p.sealed = t
	p.words = lexical.NewMem()
	p.tailFrom, p.tailTerms, p.flushAt = uint32(len(p.chunk)), 0, maxTailRows
	p.cleared, p.dropped, p.droppedRows = false, nil, 0
	p.changedTags, p.changedGraph = make(map[uint32]struct{}), make(map[uint32]struct{})
	return t
}

// settle replaces the sealed tail by the segment that was written from it, or by nothing if seg is
// nil because the block has no rows. The caller holds mu. An error means damage.
func (p *partition) settle(seg *adoption) error {
	p.sealed = nil
	p.sessions.terms.empty()
	var parts, tail []*vectorPart
	for _, v := range p.vectors {
		switch {
		case v.mem == nil:
			parts = append(parts, v)
		case !v.sealed:
			tail = append(tail, v)
		}
	}
	if seg != nil {
		if err := p.adopt(seg); err != nil {
			return err
		}
		p.segments = append(p.segments, seg.segment)
		parts = append(parts, seg.parts...)
	}
	p.vectors = append(parts, tail...)
	return nil
}

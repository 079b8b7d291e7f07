package lexical

import (
	"context"
	"slices"
)

// noDoc is the document of a cursor that is past its last posting.
const noDoc = ^uint32(0)

// cursor walks the postings of one term in order of the documents of a part.
type cursor interface {
	// advance returns the first document at or after target, or noDoc if there is
	// none. A target must not be below the one before.
	advance(target uint32) uint32
	// freq returns the frequency in the current document.
	freq() uint32
	// positions appends the positions in the current document to dst, in ascending order. It
	// may be called only once per document.
	positions(dst []uint32) []uint32
	// count returns the number of postings, or an upper bound of it.
	count() int
	// err returns the error that ended the cursor early, or nil.
	err() error
}

// checkEvery is the number of documents that a search visits between two checks of its context.
const checkEvery = 1 << 12

// conjunction calls visit for every document that has all required terms and all
// phrases, in ascending order, with its score in units. cursors are parallel to
// s.terms; a nil cursor means that the part lacks the term. length returns the length
// of a document. keep reports whether a document may be found.
func conjunction(ctx context.Context, s *scorer, q *Query, cursors []cursor,
	length func(doc uint32) uint32, keep func(doc uint32) bool, visit func(score, doc uint32)) error {
	rarest := make([]cursor, s.required)
	for i := range rarest {
		if cursors[i] == nil {
			return nil
		}
		rarest[i] = cursors[i]
	}
	slices.SortFunc(rarest, func(x, y cursor) int { return x.count() - y.count() })
	lead, others := rarest[0], rarest[1:]
	m := newPhraseMatcher(s, q, cursors)
	steps := 0
next:
	for doc := lead.advance(0); doc != noDoc; doc = lead.advance(doc) {
		if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, c := range others {
			if at := c.advance(doc); at != doc {
				if at == noDoc {
					return firstError(cursors)
				}
				doc = at
				continue next
			}
		}
		if keep(doc) && m.match() {
			visit(s.sum(cursors, doc, length(doc)), doc)
		}
		doc++
	}
	return firstError(cursors)
}

func firstError(cursors []cursor) error {
	for _, c := range cursors {
		if c != nil && c.err() != nil {
			return c.err()
		}
	}
	return nil
}

// sum returns the score of doc. All required cursors are at doc.
func (s *scorer) sum(cursors []cursor, doc, length uint32) uint32 {
	norm := s.norm(length)
	score := uint32(0)
	for i, c := range cursors {
		if i < s.required || c != nil && c.advance(doc) == doc {
			score += s.terms[i].units(c.freq(), norm)
		}
	}
	return score
}

// phraseMatcher checks whether the phrases of a query occur in the current document of the cursors.
type phraseMatcher struct {
	phrases [][]phraseStep
	cursors []cursor
	read    [][]uint32 // positions of each cursor in the current document
	fresh   []bool     // whether read is up to date for each cursor
	starts  []uint32
}

type phraseStep struct {
	cursor int
	offset uint32
}

func newPhraseMatcher(s *scorer, q *Query, cursors []cursor) *phraseMatcher {
	m := &phraseMatcher{cursors: cursors}
	if len(q.Phrases) == 0 {
		return m
	}
	index := make(map[string]int, s.required)
	for i, t := range s.terms[:s.required] {
		index[t.term] = i
	}
	for _, p := range q.Phrases {
		steps := make([]phraseStep, len(p))
		for i, t := range p {
			steps[i] = phraseStep{index[t.Term], uint32(t.Offset)}
		}
		m.phrases = append(m.phrases, steps)
	}
	m.read = make([][]uint32, s.required)
	m.fresh = make([]bool, s.required)
	return m
}

// match reports whether every phrase occurs in the current document.
func (m *phraseMatcher) match() bool {
	clear(m.fresh)
	for _, steps := range m.phrases {
		if !m.matchOne(steps) {
			return false
		}
	}
	return true
}

func (m *phraseMatcher) matchOne(steps []phraseStep) bool {
	for i, step := range steps {
		c := step.cursor
		if !m.fresh[c] {
			m.read[c] = m.cursors[c].positions(m.read[c][:0])
			m.fresh[c] = true
		}
		if i == 0 {
			m.starts = m.starts[:0]
			for _, p := range m.read[c] {
				if p >= step.offset {
					m.starts = append(m.starts, p-step.offset)
				}
			}
			continue
		}
		m.starts = keepShifted(m.starts, m.read[c], step.offset)
		if len(m.starts) == 0 {
			return false
		}
	}
	return len(m.starts) > 0 || len(steps) == 0
}

// keepShifted keeps those starts s for which s+offset is in positions. Both slices are ascending.
func keepShifted(starts, positions []uint32, offset uint32) []uint32 {
	kept, j := starts[:0], 0
	for _, s := range starts {
		for j < len(positions) && uint64(positions[j]) < uint64(s)+uint64(offset) {
			j++
		}
		if j == len(positions) {
			break
		}
		if uint64(positions[j]) == uint64(s)+uint64(offset) {
			kept = append(kept, s)
		}
	}
	return kept
}

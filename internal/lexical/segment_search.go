package lexical

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/internal/bitset"
)

// windowDocs is how many documents are scored at a time: their scores fit the
// first-level cache, and bounds are taken per window. A power of two.
const windowDocs = 4096

// windowed is what a search of a segment borrows.
type windowed struct {
	acc     [windowDocs]uint32
	hit     [windowDocs / 64]uint64 // documents of the window with a score so far
	cursors []*segCursor
	tables  []*lengthTable
	terms   []windowTerm
	top     topK

	rests    lengthTable // what terms[restFrom:] score at most, if useRests
	restFrom int
	useRests bool
}

// lengthTable is a score for each length of a short document.
type lengthTable [shortDoc]uint32

// shortDoc is the size of a table by length. Its last entry bounds all longer
// documents and scores none of them.
const shortDoc = longLength + 1

// lookupFactor is how many postings can be added up in the time of a look-up.
const lookupFactor = 2

// restDF is the number of postings from which on bounds by length pay.
const restDF = 1024

// tableDF is the document frequency from which on a table of scores for tf 1 pays,
// tablesDF that for tf 2 and 3.
const (
	tableDF  = 256
	tablesDF = 4096
)

// windowTerm is a term of a disjunction.
type windowTerm struct {
	scoreTerm
	c     *segCursor
	byTF  [tfSlots]*lengthTable // scores for tf 1 and up; the last is for any tf; nil if not needed yet
	bound uint32                // most that the term scores in the window
	whole uint32                // most that the term scores in the segment
	tf    uint32                // greatest frequency in the window
}

var windows = sync.Pool{New: func() any { return new(windowed) }}

// cursor returns the i-th borrowed cursor.
func (w *windowed) cursor(i int) *segCursor {
	for len(w.cursors) <= i {
		w.cursors = append(w.cursors, new(segCursor))
	}
	return w.cursors[i]
}

// maxPooledTerms bounds the cursors that are kept between searches, at 5 KB each
// with their tables.
const maxPooledTerms = 64

// tfSlots is how many tables a term may have.
const tfSlots = 4

// table returns the table of the i-th term for the greatest frequency tf.
func (w *windowed) table(sc *scorer, i int, tf uint32) *lengthTable {
	t := &w.terms[i]
	slot := int(min(tf, tfSlots)) - 1
	if t.byTF[slot] != nil {
		return t.byTF[slot]
	}
	at := i*tfSlots + slot
	for len(w.tables) <= at {
		w.tables = append(w.tables, new(lengthTable))
	}
	table := w.tables[at]
	if slot == tfSlots-1 {
		tf = widenTF(t.c.maxTF)
	}
	for n := range table {
		table[n] = t.units(tf, sc.norm(uint32(n)))
	}
	t.byTF[slot] = table
	return table
}

// widenTF returns the frequency that a stored greatest one stands for.
func widenTF(tf uint8) uint32 {
	if tf == cappedTF {
		return math.MaxUint32
	}
	return uint32(tf)
}

// Search appends to dst the k best live rows that match q and are in accept, best
// first; nil accepts all. Scores follow st, which must cover this part. Fewer than
// one wanted hit gives none. Errors are that of ctx and ErrCorrupt.
func (s *Segment) Search(ctx context.Context, q *Query, st *Stats, k int, accept *bitset.Set, dst []Hit) ([]Hit, error) {
	if err := ctx.Err(); err != nil || k <= 0 {
		return dst, err
	}
	sc := newScorer(q, st)
	w := windows.Get().(*windowed)
	defer w.release()
	w.top.reset(k)
	s.mu.RLock()
	defer s.mu.RUnlock()
	var err error
	if sc.any {
		err = s.searchAny(ctx, sc, w, st, accept)
	} else {
		err = s.searchAll(ctx, sc, w, q, accept)
	}
	if err != nil {
		return dst, err
	}
	return w.top.hits(dst, sc.unit, s.row), nil
}

// release gives back what was borrowed, without references to the segment and
// without what only a huge query needed.
func (w *windowed) release() {
	if len(w.cursors) > maxPooledTerms {
		w.cursors, w.tables = nil, nil
	}
	w.top.trim()
	for _, c := range w.cursors {
		c.skips, c.data, c.posData, c.packed, c.posRest = nil, nil, nil, nil, nil
	}
	clear(w.terms)
	windows.Put(w)
}

// keep tells whether a document may be found. The caller holds the lock.
func (s *Segment) keep(doc uint32, accept *bitset.Set) bool {
	return !s.isDead(doc) && (accept == nil || accept.Has(s.row(doc)))
}

// searchAll runs a conjunction.
func (s *Segment) searchAll(ctx context.Context, sc *scorer, w *windowed, q *Query, accept *bitset.Set) error {
	cursors := make([]cursor, len(sc.terms))
	for i, t := range sc.terms {
		id, ok := s.lookup(t.term)
		if !ok {
			continue
		}
		c := w.cursor(i)
		if err := c.open(s, id); err != nil {
			return err
		}
		cursors[i] = c
	}
	return conjunction(ctx, sc, q, cursors, s.length, func(doc uint32) bool { return s.keep(doc, accept) }, w.top.push)
}

// searchAny runs a disjunction, window by window. In each window the terms whose
// bounds together cannot lift a document among the best (the tail in w.terms) are
// only looked up for documents that have one of the others: MAXSCORE of Turtle and
// Flood (1995), with bounds from the impacts of the blocks.
func (s *Segment) searchAny(ctx context.Context, sc *scorer, w *windowed, st *Stats, accept *bitset.Set) error {
	w.terms = w.terms[:0]
	// An impact bounds the score at the average length it was computed for. A greater
	// average raises tf/(tf+norm) by no more than the ratio of the averages.
	stretch := float32(max(1, st.Average()/s.average)) * (1 + 1e-5) / impactOne
	for _, t := range sc.terms {
		id, ok := s.lookup(t.term)
		if !ok || t.weight == 0 {
			continue
		}
		c := w.cursor(len(w.terms))
		if err := c.open(s, id); err != nil {
			return err
		}
		w.terms = append(w.terms, windowTerm{scoreTerm: t, c: c, whole: t.bound(c.maxImpact, stretch)})
	}
	slices.SortStableFunc(w.terms, func(x, y windowTerm) int { return int(y.whole) - int(x.whole) })
	w.useRests = false
	for i := range w.terms {
		if df := w.terms[i].c.df; s.short && df >= tableDF {
			w.table(sc, i, 1)
			if df >= tablesDF {
				w.table(sc, i, 2)
				w.table(sc, i, 3)
			}
		}
	}
	for base := uint32(0); base < s.docs; {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(base+windowDocs, s.docs)
		next, err := s.window(sc, w, base, end, stretch, accept)
		if err != nil {
			return err
		}
		base = max(end, next&^(windowDocs-1))
	}
	return nil
}

// EachPosting calls f for every live row with a term that is in accept, nil being
// all, in rising order, with the term's frequency there. f must not call s. The error
// is ErrCorrupt.
func (s *Segment) EachPosting(term string, accept *bitset.Set, f func(row, tf uint32)) error {
	id, ok := s.lookup(term)
	if !ok {
		return nil
	}
	w := windows.Get().(*windowed)
	defer w.release()
	c := w.cursor(0)
	if err := c.open(s, id); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for block := range c.nblocks {
		if !c.load(block) {
			break
		}
		c.loadTFs()
		for i, doc := range c.docs[:c.n] {
			if s.keep(doc, accept) {
				f(s.row(doc), c.tfs[i])
			}
		}
	}
	return c.fault
}

package lexical

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/internal/bitset"
)

// minWindow and maxWindow bound the number of documents of a window; both are powers of two. The
// scores of minWindow documents fit into the first-level cache, those of maxWindow into the
// second. windowSize aims for windowPostings postings in a window.
const (
	minWindow      = 1 << 12
	maxWindow      = 1 << 16
	windowPostings = 1 << 10
)

// windowed is the pooled memory of a search of a segment. acc is all zero between windows.
type windowed struct {
	acc     [maxWindow]uint32
	touched [maxWindow + 1]uint16 // touched[:n] are the indexes at which acc is not zero
	n       int
	marks   [maxWindow / 64]uint64 // used by arrange; all zero between its calls
	cursors []*segCursor
	tables  []*lengthTable
	norms   [shortDoc]float32 // by document length; the last entry is unused
	terms   []windowTerm
	run     *run
	stretch float32 // factor from impacts to upper bounds at the run's average length

	rests    lengthTable // if useRests: upper bounds of the scores of terms[restFrom:]
	restFrom int
	useRests bool
}

// lengthTable holds a score for each document length that fits in a byte.
type lengthTable [shortDoc]uint32

// shortDoc is the size of a lengthTable. The last entry bounds the scores of all longer
// documents, and is the exact score of none.
const shortDoc = longLength + 1

// lookupFactor is the number of postings that can be added in the time of one look-up.
const lookupFactor = 2

// setRests computes bounds by length only if there are at least restDF postings. searchAny
// computes a table of the scores of frequency 1 only for terms with a df of at least onesDF.
const (
	restDF = 256
	onesDF = 4096
)

// windowTerm is a term of an Or query.
type windowTerm struct {
	scoreTerm
	c     *segCursor
	ones  *lengthTable // scores for tf 1; nil if df is below onesDF
	bound uint32       // upper bound of the term's scores in the window
	whole uint32       // upper bound of the term's scores in the segment
	tf    uint32       // greatest frequency in the window
}

var windows = sync.Pool{New: func() any { return new(windowed) }}

// cursor returns the i-th pooled cursor.
func (w *windowed) cursor(i int) *segCursor {
	for len(w.cursors) <= i {
		w.cursors = append(w.cursors, new(segCursor))
	}
	return w.cursors[i]
}

// maxPooledTerms bounds the cursors that stay in the pool. Each takes 2 KB with its table.
const maxPooledTerms = 64

// table returns the i-th pooled table.
func (w *windowed) table(i int) *lengthTable {
	for len(w.tables) <= i {
		w.tables = append(w.tables, new(lengthTable))
	}
	return w.tables[i]
}

// setNorms sets w.norms for the statistics of the run. Often they are equal to those of the run before.
func (w *windowed) setNorms() {
	if w.norms[1] == w.run.norm(1) && w.norms[longLength] == w.run.norm(longLength) {
		return
	}
	for n := range w.norms {
		w.norms[n] = w.run.norm(uint32(n))
	}
}

// widenTF returns an upper bound of the frequencies for a stored greatest one.
func widenTF(tf uint8) uint32 {
	if tf == cappedTF {
		return math.MaxUint32
	}
	return uint32(tf)
}

// search implements Part. ids are the numbers of the terms.
func (s *Segment) search(ctx context.Context, r *run, ids []uint32, accept *bitset.Set) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := windows.Get().(*windowed)
	defer w.release()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if r.any {
		return s.searchAny(ctx, r, w, ids, accept)
	}
	return s.searchAll(ctx, r, w, ids, accept)
}

// release returns w to the pool. It drops references to the segment, and memory that only a
// huge query needs.
func (w *windowed) release() {
	if len(w.cursors) > maxPooledTerms {
		w.cursors, w.tables = nil, nil
	}
	for _, c := range w.cursors {
		c.skips, c.data, c.posData, c.packed, c.posRest = nil, nil, nil, nil, nil
	}
	clear(w.terms)
	w.run = nil
	windows.Put(w)
}

// keep reports whether a document may be found. The caller holds the lock.
func (s *Segment) keep(doc uint32, accept *bitset.Set) bool {
	return !s.isDead(doc) && (accept == nil || accept.Has(s.row(doc)))
}

// searchAll runs an And or Phrase query.
func (s *Segment) searchAll(ctx context.Context, r *run, w *windowed, ids []uint32, accept *bitset.Set) error {
	cursors := make([]cursor, len(r.terms))
	for i, id := range ids {
		if id == noTerm {
			continue
		}
		c := w.cursor(i)
		if err := c.open(s, id); err != nil {
			return err
		}
		cursors[i] = c
	}
	return conjunction(ctx, &r.scorer, r.query, cursors, s.length, func(doc uint32) bool { return s.keep(doc, accept) },
		func(score, doc uint32) { r.top.push(score, s.row(doc)) })
}

// searchAny runs an Or query window by window with MAXSCORE (Turtle and Flood 1995). The bounds
// of scores come from the impacts of blocks. w.terms is sorted by bound. In each window the
// terms at its end, whose bounds together do not reach the threshold, are not essential: they
// are only looked up for documents that have an essential term.
func (s *Segment) searchAny(ctx context.Context, r *run, w *windowed, ids []uint32, accept *bitset.Set) error {
	w.run, w.terms, w.useRests = r, w.terms[:0], false
	// An impact bounds the score at the average length it was computed for. A greater
	// average raises tf/(tf+norm) by no more than the ratio of the averages.
	ratio := r.stats.Average() / s.average
	w.stretch = float32(max(1, ratio)) * (1 + 1e-5) / impactOne
	shrink := float32(min(1, ratio)) * (1 - 1e-5) / impactOne
	for i, t := range r.terms {
		if ids[i] == noTerm || t.weight == 0 {
			continue
		}
		c := w.cursor(len(w.terms))
		if err := c.open(s, ids[i]); err != nil {
			return err
		}
		if accept == nil && s.gone == nil {
			r.seed = max(r.seed, t.seed(s.seedOf(ids[i], r.top.k), shrink))
		}
		w.terms = append(w.terms, windowTerm{scoreTerm: t, c: c, whole: t.bound(c.maxImpact, w.stretch)})
	}
	slices.SortStableFunc(w.terms, func(x, y windowTerm) int { return int(y.whole) - int(x.whole) })
	w.setNorms()
	for i := range w.terms {
		if t := &w.terms[i]; s.short && t.c.df >= onesDF {
			t.ones = w.table(i)
			for n, norm := range w.norms {
				t.ones[n] = t.units(1, norm)
			}
		}
	}
	size := s.windowSize(r, w)
	for base := uint32(0); base < s.docs; {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(base+size, s.docs)
		next, err := s.window(r, w, base, end, accept)
		if err != nil {
			return err
		}
		base = max(end, next&^(size-1))
	}
	return nil
}

// windowSize returns the number of documents of a window. It is minWindow, or more if they have few postings,
// since each window has a fixed cost.
func (s *Segment) windowSize(r *run, w *windowed) uint32 {
	floor, rest := r.floor(s.row(0)), uint32(0)
	i := len(w.terms)
	for i > 0 && floor > 0 && rest+w.terms[i-1].whole <= floor {
		i--
		rest += w.terms[i].whole
	}
	postings := uint64(1)
	for _, t := range w.terms[:i] {
		postings += uint64(t.c.df)
	}
	size := uint32(minWindow)
	for size < maxWindow && postings*uint64(size) < windowPostings*uint64(s.docs) {
		size *= 2
	}
	return size
}

// seedOf returns an impact that at least k documents with a term reach, or 0 if none is known.
func (s *Segment) seedOf(id uint32, k int) uint8 {
	for i, rank := range seedRanks {
		if k <= rank {
			return s.termInfo[termInfoBytes*int(id)+infoSeeds+i]
		}
	}
	return 0
}

// EachPosting implements [Part]. The error is ErrCorrupt.
func (s *Segment) EachPosting(term string, accept *bitset.Set, f func(rows, tfs []uint32)) error {
	id := s.lookup(term)
	if id == noTerm {
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
		rows, tfs := c.docs[:0], c.tfs[:0]
		for i, doc := range c.docs[:c.n] {
			if s.keep(doc, accept) {
				rows, tfs = append(rows, s.row(doc)), append(tfs, c.tfs[i])
			}
		}
		if len(rows) > 0 {
			f(rows, tfs)
		}
	}
	return c.fault
}

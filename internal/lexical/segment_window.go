package lexical

import (
	"math"
	"math/bits"
	"slices"

	"github.com/contextmem/contextmem/internal/bitset"
)

// setRests sets w.rests to upper bounds, by document length, of the score of the terms from
// index essential on. They are lower than the window's bound, which must hold for its shortest
// document. setRests does so only if the essential terms have many postings.
func (s *Segment) setRests(w *windowed, essential int) {
	if w.useRests && w.restFrom == essential {
		return
	}
	postings := uint64(0)
	for _, t := range w.terms[:essential] {
		postings += uint64(t.c.df)
	}
	w.restFrom, w.useRests = essential, s.short && essential < len(w.terms) && postings >= restDF
	if !w.useRests {
		return
	}
	w.rests = lengthTable{}
	for i := essential; i < len(w.terms); i++ {
		if t := &w.terms[i]; t.tf > 0 {
			for n, norm := range w.norms {
				w.rests[n] += t.units(t.tf, norm) + 1
			}
		}
	}
}

// bound returns the greatest possible score of the term in documents of at most the given impact.
func (t *scoreTerm) bound(impact uint8, stretch float32) uint32 {
	return uint32(t.weight*min(1, float32(impact)*stretch)) + 2
}

// window scores the documents base to end-1. It returns the document with which the next window
// starts: end, or a later one if no posting lies between.
func (s *Segment) window(r *run, w *windowed, base, end uint32, accept *bitset.Set) (uint32, error) {
	total, next := uint32(0), uint32(math.MaxUint32)
	for i := range w.terms {
		t := &w.terms[i]
		first, impact, tf := t.c.peek(base, end)
		next = min(next, first)
		t.bound = 0
		if first < end {
			t.bound = t.scoreTerm.bound(impact, w.stretch)
		}
		if tf := widenTF(tf); tf != t.tf {
			t.tf, w.useRests = tf, false
		}
		total += t.bound
	}
	if next >= end {
		return next, nil
	}
	floor := r.floor(s.row(base))
	if total <= floor {
		return end, nil
	}
	// A document that has only terms from essential on cannot exceed the floor.
	essential, rest := len(w.terms), uint32(0)
	for rest+w.terms[essential-1].bound <= floor {
		essential--
		rest += w.terms[essential].bound
	}
	// Adding all postings of a term is cheaper than looking documents up, unless there are many more.
	if essential > 1 {
		postings := uint64(0)
		for _, t := range w.terms[:essential] {
			postings += uint64(t.c.df)
		}
		for essential < len(w.terms) && uint64(w.terms[essential].c.df) <= lookupFactor*postings {
			postings += uint64(w.terms[essential].c.df)
			rest -= w.terms[essential].bound
			essential++
		}
	}
	s.setRests(w, essential)
	if essential == 1 {
		s.scanWindow(r, w, base, end, rest, accept)
		return end, w.fault()
	}
	for i := range w.terms[:essential] {
		if t := &w.terms[i]; t.bound > 0 {
			s.addWindow(r, w, t, base, end)
			if t.c.fault != nil {
				w.clear()
				return 0, t.c.fault
			}
		}
	}
	return end, s.finish(r, w, base, essential, rest, accept)
}

// seed returns a score that all documents of at least the given impact exceed.
func (t *scoreTerm) seed(impact uint8, shrink float32) uint32 {
	return uint32(t.weight * float32(impact) * shrink) // units adds 1, so scores exceed this
}

// peek returns a lower bound of the cursor's first posting at or after base. It also returns the
// greatest impact and frequency of the blocks that may overlap [base, end).
func (c *segCursor) peek(base, end uint32) (first uint32, impact, tf uint8) {
	if c.block == c.nblocks {
		return noDoc, 0, 0
	}
	if c.block >= 0 && c.docs[c.n-1] >= base && c.docs[c.i] >= end {
		return c.docs[c.i], 0, 0
	}
	if len(c.skips) == 0 {
		return base, c.maxImpact, c.maxTF
	}
	from := max(c.block, 0)
	for from < c.nblocks && c.blockLast(from) < base {
		from++
	}
	if from == c.nblocks {
		return noDoc, 0, 0
	}
	if from > 0 {
		if least := c.blockLast(from-1) + 1; least >= end {
			return least, 0, 0
		}
	}
	for block := from; block < c.nblocks; block++ {
		impact, tf = max(impact, c.blockImpact(block)), max(tf, c.blockTF(block))
		if c.blockLast(block) >= end-1 {
			break
		}
	}
	return base, impact, tf
}

// addWindow adds the scores of a term to the window. The caller checks the cursor for an error.
func (s *Segment) addWindow(r *run, w *windowed, t *windowTerm, base, end uint32) {
	c := t.c
	for doc := c.advance(base); doc < end; doc = c.advance(doc + 1) {
		docs := c.docs[c.i:c.n]
		if docs[len(docs)-1] >= end {
			n := 0
			for docs[n] < end {
				n++
			}
			docs = docs[:n]
		}
		doc = docs[len(docs)-1]
		switch {
		case t.ones != nil && c.ones:
			s.addOnes(r, w, t, docs, base)
		case s.short:
			c.loadTFs()
			s.addShort(r, w, t, docs, c.tfs[c.i:], base)
		default:
			c.loadTFs()
			for i, tf := range c.tfs[c.i:][:len(docs)] {
				w.n = w.add(w.n, (docs[i]-base)&(maxWindow-1), s.units(r, w, t, docs[i], tf))
			}
		}
		c.i = min(c.i+len(docs), c.n-1)
	}
}

// addOnes adds the scores of documents in which the term has a frequency of 1.
func (s *Segment) addOnes(r *run, w *windowed, t *windowTerm, docs []uint32, base uint32) {
	lengths, ones, touched := s.lengths, t.ones, w.n
	for _, doc := range docs {
		n := lengths[doc]
		score := ones[n]
		if n == longLength {
			score = s.units(r, w, t, doc, 1)
		}
		touched = w.add(touched, (doc-base)&(maxWindow-1), score)
	}
	w.n = touched
}

// addShort adds scores in a segment whose lengths have one byte.
func (s *Segment) addShort(r *run, w *windowed, t *windowTerm, docs, tfs []uint32, base uint32) {
	lengths, weight, touched := s.lengths, t.weight, w.n
	tfs = tfs[:len(docs)]
	for i, doc := range docs {
		n, f := lengths[doc], float32(tfs[i])
		score := uint32(weight*(f/(f+w.norms[n]))) + 1 // scoreTerm.units, inlined
		if n == longLength {
			score = s.units(r, w, t, doc, tfs[i])
		}
		touched = w.add(touched, (doc-base)&(maxWindow-1), score)
	}
	w.n = touched
}

// units returns the score of a term in a document.
func (s *Segment) units(r *run, w *windowed, t *windowTerm, doc, tf uint32) uint32 {
	if s.short {
		if n := s.lengths[doc]; n < longLength {
			return t.units(tf, w.norms[n])
		}
	}
	return t.units(tf, r.norm(s.length(doc)))
}

// scanWindow searches a window in which only the first term is essential. It does not decode
// blocks that cannot hold a document among the best.
func (s *Segment) scanWindow(r *run, w *windowed, base, end, rest uint32, accept *bitset.Set) {
	t := &w.terms[0]
	c := t.c
	for base < end {
		block := c.findBlock(base)
		if block >= c.nblocks {
			c.stop()
			return
		}
		floor := r.floor(s.row(base))
		if t.scoreTerm.bound(c.blockImpact(block), w.stretch)+rest <= floor {
			base = c.blockLast(block) + 1
			continue
		}
		if block != c.block && !c.load(block) {
			return
		}
		c.loadTFs()
		docs, tfs := c.docs[:c.n], c.tfs[:c.n]
		i := c.i
		for i < len(docs) && docs[i] < base {
			i++
		}
		for ; i < len(docs) && docs[i] < end; i++ {
			doc := docs[i]
			score := s.units(r, w, t, doc, tfs[i])
			if score+rest > floor && s.hopeful(w, doc, score, floor) {
				floor = s.candidate(r, w, doc, score, 1, rest, accept)
			}
		}
		c.i = min(i, c.n-1)
		if i == len(docs) {
			base = docs[i-1] + 1
		} else {
			base = end
		}
	}
}

// add adds score, which is not 0, to the document at an index of the window. n is the number of
// touched documents before; add returns their number after.
func (w *windowed) add(n int, at, score uint32) int {
	old := w.acc[at]
	w.acc[at] = old + score
	w.touched[n] = uint16(at)
	if old == 0 {
		n++
	}
	return n
}

// clear empties the window.
func (w *windowed) clear() {
	for _, at := range w.touched[:w.n] {
		w.acc[at] = 0
	}
	w.n = 0
}

// finish pushes those documents of the window that are among the best, and empties the window.
func (s *Segment) finish(r *run, w *windowed, base uint32, essential int, rest uint32, accept *bitset.Set) error {
	floor := r.floor(s.row(base))
	n := 0
	touched := w.touched[:w.n]
	for _, at := range touched {
		touched[n] = at
		if w.acc[at]+rest > floor {
			n++
		} else {
			w.acc[at] = 0
		}
	}
	w.n = 0
	if essential < len(w.terms) || r.top.fills(r.stats.Docs) {
		w.arrange(touched[:n]) // cursors only advance, and a floor holds only for later rows
	}
	for _, at := range touched[:n] {
		score := w.acc[at]
		w.acc[at] = 0
		if doc := base + uint32(at); score+rest > floor && s.hopeful(w, doc, score, floor) {
			floor = s.candidate(r, w, doc, score, essential, rest, accept)
		}
	}
	return w.fault()
}

// fewTouched is the number of offsets up to which sorting them is faster than scanning the marks of a window.
const fewTouched = 48

// arrange sorts distinct offsets in the window.
func (w *windowed) arrange(places []uint16) {
	if len(places) <= fewTouched {
		slices.Sort(places)
		return
	}
	lo, hi := places[0], places[0]
	for _, at := range places {
		w.marks[at/64] |= 1 << (at % 64)
		lo, hi = min(lo, at), max(hi, at)
	}
	n := 0
	for i := lo / 64; i <= hi/64; i++ {
		for m := w.marks[i]; m != 0; m &= m - 1 {
			places[n] = i*64 + uint16(bits.TrailingZeros64(m))
			n++
		}
		w.marks[i] = 0
	}
}

// hopeful reports whether a document with the given score so far can still exceed the floor.
func (s *Segment) hopeful(w *windowed, doc, score, floor uint32) bool {
	return !w.useRests || score+w.rests[s.lengths[doc]] > floor
}

// candidate adds the scores of the terms from index from on, whose bounds add up to rest, and
// pushes the document if it is among the best. It returns the floor for the documents after it.
func (s *Segment) candidate(r *run, w *windowed, doc, score uint32, from int, rest uint32, accept *bitset.Set) uint32 {
	row := s.row(doc)
	floor := r.floor(row)
	if !s.keep(doc, accept) {
		return floor
	}
	for i := from; i < len(w.terms); i++ {
		t := &w.terms[i]
		if t.bound == 0 {
			continue
		}
		rest -= t.bound
		block := t.c.findBlock(doc)
		if block >= t.c.nblocks {
			continue
		}
		if block != t.c.block && score+rest+t.scoreTerm.bound(t.c.blockImpact(block), w.stretch) <= floor {
			return floor // the block's bound does not reach the floor, so it need not be decoded
		}
		if t.c.advance(doc) == doc {
			score += s.units(r, w, t, doc, t.c.freq())
		}
		if score+rest <= floor {
			return floor
		}
	}
	if score > floor {
		r.top.push(score, row)
	}
	return r.floor(row)
}

// fault returns the first error of a cursor.
func (w *windowed) fault() error {
	for i := range w.terms {
		if err := w.terms[i].c.fault; err != nil {
			return err
		}
	}
	return nil
}

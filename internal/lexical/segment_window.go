package lexical

import (
	"math"
	"math/bits"

	"github.com/contextmem/contextmem/internal/bitset"
)

// setRests makes w.rests what the terms from index essential on score at most, by
// document length: a better bound than that of the window, which is for its shortest
// document. It does so only if the other terms have many postings.
func (s *Segment) setRests(sc *scorer, w *windowed, essential int) {
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
		if tf := w.terms[i].tf; tf > 0 {
			table := w.table(sc, i, tf)
			for n := range w.rests {
				w.rests[n] += table[n] + 1
			}
		}
	}
}

// bound returns the most that the term scores where no impact is above the given one.
func (t *scoreTerm) bound(impact uint8, stretch float32) uint32 {
	return uint32(t.weight*min(1, float32(impact)*stretch)) + 2
}

// window scores documents base to end-1. It returns a document before which
// nothing can be found: end, or more if postings are scarce.
func (s *Segment) window(sc *scorer, w *windowed, base, end uint32, stretch float32, accept *bitset.Set) (uint32, error) {
	total, next := uint32(0), uint32(math.MaxUint32)
	for i := range w.terms {
		t := &w.terms[i]
		first, impact, tf := t.c.peek(base, end)
		next = min(next, first)
		t.bound = 0
		if first < end {
			t.bound = t.scoreTerm.bound(impact, stretch)
		}
		if tf := widenTF(tf); tf != t.tf {
			t.tf, w.useRests = tf, false
		}
		total += t.bound
	}
	if next >= end {
		return next, nil
	}
	threshold := uint32(w.top.min >> 32)
	if total <= threshold && w.top.min > 0 {
		return end, nil
	}
	// Terms from essential on cannot lift a document alone.
	essential, rest := len(w.terms), uint32(0)
	if w.top.min > 0 {
		for essential > 0 && rest+w.terms[essential-1].bound <= threshold {
			essential--
			rest += w.terms[essential].bound
		}
	}
	// Adding up a term is cheaper than looking it up unless it has far more postings.
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
	s.setRests(sc, w, essential)
	if essential == 1 {
		s.scanWindow(sc, w, base, end, rest, stretch, accept)
		return end, w.fault()
	}
	for i := range w.terms[:essential] {
		if t := &w.terms[i]; t.bound > 0 {
			s.addWindow(sc, w, t, base, end)
			if t.c.fault != nil {
				w.clear()
				return 0, t.c.fault
			}
		}
	}
	return end, s.finish(sc, w, base, essential, rest, accept)
}

// peek returns a document before which the cursor has no posting at or after base,
// and the greatest impact and frequency of the blocks that may reach into [base, end).
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

// addWindow adds the scores of a term to the window. A fault of its cursor is for
// the caller to see.
func (s *Segment) addWindow(sc *scorer, w *windowed, t *windowTerm, base, end uint32) {
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
		if ones := t.byTF[0]; ones != nil && c.ones {
			lengths := s.lengths
			for _, doc := range docs {
				at := (doc - base) & (windowDocs - 1)
				if n := lengths[doc]; n < longLength {
					w.acc[at] += ones[n]
				} else {
					w.acc[at] += s.units(sc, t, doc, 1)
				}
				w.hit[at>>6] |= 1 << (at & 63)
			}
		} else {
			c.loadTFs()
			for i, tf := range c.tfs[c.i:][:len(docs)] {
				at := (docs[i] - base) & (windowDocs - 1)
				w.acc[at] += s.units(sc, t, docs[i], tf)
				w.hit[at>>6] |= 1 << (at & 63)
			}
		}
		c.i = min(c.i+len(docs), c.n-1)
	}
}

// units returns the score of a term in a document.
func (s *Segment) units(sc *scorer, t *windowTerm, doc, tf uint32) uint32 {
	if tf < tfSlots && t.byTF[tf-1] != nil {
		if n := s.lengths[doc]; n < longLength {
			return t.byTF[tf-1][n]
		}
	}
	return t.units(tf, sc.norm(s.length(doc)))
}

// scanWindow searches a window in which only documents with the first term can be
// among the best. Blocks that cannot hold one are not decoded.
func (s *Segment) scanWindow(sc *scorer, w *windowed, base, end, rest uint32, stretch float32, accept *bitset.Set) {
	t := &w.terms[0]
	c := t.c
	for base < end {
		block := c.findBlock(base)
		if block >= c.nblocks {
			c.stop()
			return
		}
		threshold := uint32(w.top.min >> 32)
		if w.top.min > 0 && t.scoreTerm.bound(c.blockImpact(block), stretch)+rest <= threshold {
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
			score := s.units(sc, t, doc, tfs[i])
			if score+rest > threshold && s.hopeful(w, doc, score, threshold) {
				s.candidate(sc, w, doc, score, 1, rest, accept)
				threshold = uint32(w.top.min >> 32)
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

// clear empties the window.
func (w *windowed) clear() {
	for j := range w.hit {
		for word := w.hit[j]; word != 0; word &= word - 1 {
			w.acc[j<<6+bits.TrailingZeros64(word)] = 0
		}
	}
	w.hit = [windowDocs / 64]uint64{}
}

// finish looks at the documents of the window that can still be among the best,
// and empties the window.
func (s *Segment) finish(sc *scorer, w *windowed, base uint32, essential int, rest uint32, accept *bitset.Set) error {
	threshold := uint32(w.top.min >> 32)
	for j := range w.hit {
		word := w.hit[j]
		if word == 0 {
			continue
		}
		w.hit[j] = 0
		acc := w.acc[j<<6 : j<<6+64]
		for ; word != 0; word &= word - 1 {
			at := bits.TrailingZeros64(word) & 63
			score := acc[at]
			acc[at] = 0
			if score+rest <= threshold {
				continue
			}
			if doc := base + uint32(j<<6+at); s.hopeful(w, doc, score, threshold) {
				s.candidate(sc, w, doc, score, essential, rest, accept)
				threshold = uint32(w.top.min >> 32)
			}
		}
	}
	return w.fault()
}

// hopeful tells whether a document with the given score so far can still be above
// the threshold.
func (s *Segment) hopeful(w *windowed, doc, score, threshold uint32) bool {
	return !w.useRests || score+w.rests[s.lengths[doc]] > threshold
}

// candidate completes the score of a document with the terms from index from on,
// whose bounds add up to rest, and keeps the document if it is among the best.
func (s *Segment) candidate(sc *scorer, w *windowed, doc, score uint32, from int, rest uint32, accept *bitset.Set) {
	if !s.keep(doc, accept) {
		return
	}
	for i := from; i < len(w.terms); i++ {
		t := &w.terms[i]
		if t.bound == 0 {
			continue
		}
		if t.c.advance(doc) == doc {
			score += s.units(sc, t, doc, t.c.freq())
		}
		rest -= t.bound
		if topKey(score+rest, doc) <= w.top.min {
			return
		}
	}
	w.top.push(score, doc)
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

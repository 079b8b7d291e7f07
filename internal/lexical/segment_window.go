package lexical

import (
	"math"
	"math/bits"

	"github.com/contextmem/contextmem/internal/bitset"
)

// setRests makes w.rests what the terms from index essential on score at most, by
// document length: a better bound than that of the window, which is for its shortest
// document. It does so only if the other terms have many postings.
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
		if tf := w.terms[i].tf; tf > 0 {
			table := w.table(i, tf)
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
	// Terms from essential on cannot lift a document alone.
	essential, rest := len(w.terms), uint32(0)
	for rest+w.terms[essential-1].bound <= floor {
		essential--
		rest += w.terms[essential].bound
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
	return end, s.finish(r, w, base, end, essential, rest, accept)
}

// seed returns a score that all documents of at least the given impact are above.
func (t *scoreTerm) seed(impact uint8, shrink float32) uint32 {
	return uint32(t.weight * float32(impact) * shrink) // units adds one
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
		if ones := t.byTF[0]; ones != nil && c.ones {
			lengths := s.lengths
			for _, doc := range docs {
				at := (doc - base) & (maxWindow - 1)
				if n := lengths[doc]; n < longLength {
					w.acc[at] += ones[n]
				} else {
					w.acc[at] += s.units(r, t, doc, 1)
				}
				w.hit[at>>6] |= 1 << (at & 63)
			}
		} else {
			c.loadTFs()
			for i, tf := range c.tfs[c.i:][:len(docs)] {
				at := (docs[i] - base) & (maxWindow - 1)
				w.acc[at] += s.units(r, t, docs[i], tf)
				w.hit[at>>6] |= 1 << (at & 63)
			}
		}
		c.i = min(c.i+len(docs), c.n-1)
	}
}

// units returns the score of a term in a document.
func (s *Segment) units(r *run, t *windowTerm, doc, tf uint32) uint32 {
	if tf < tfSlots && t.byTF[tf-1] != nil {
		if n := s.lengths[doc]; n < longLength {
			return t.byTF[tf-1][n]
		}
	}
	return t.units(tf, r.norm(s.length(doc)))
}

// scanWindow searches a window in which only documents with the first term can be
// among the best. Blocks that cannot hold one are not decoded.
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
			score := s.units(r, t, doc, tfs[i])
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

// words returns the words of hit that speak of a window.
func (w *windowed) words(base, end uint32) []uint64 { return w.hit[:(end-base+63)/64] }

// clear empties the window.
func (w *windowed) clear() {
	for j, word := range &w.hit {
		for ; word != 0; word &= word - 1 {
			w.acc[j<<6+bits.TrailingZeros64(word)] = 0
		}
		w.hit[j] = 0
	}
}

// finish looks at the documents of the window that can still be among the best,
// and empties the window.
func (s *Segment) finish(r *run, w *windowed, base, end uint32, essential int, rest uint32, accept *bitset.Set) error {
	floor := r.floor(s.row(base))
	hit := w.words(base, end)
	for j, word := range hit {
		if word == 0 {
			continue
		}
		hit[j] = 0
		acc := w.acc[j<<6 : j<<6+64]
		for ; word != 0; word &= word - 1 {
			at := bits.TrailingZeros64(word) & 63
			score := acc[at]
			acc[at] = 0
			if score+rest <= floor {
				continue
			}
			if doc := base + uint32(j<<6+at); s.hopeful(w, doc, score, floor) {
				floor = s.candidate(r, w, doc, score, essential, rest, accept)
			}
		}
	}
	return w.fault()
}

// hopeful tells whether a document with the given score so far can still be above
// the floor.
func (s *Segment) hopeful(w *windowed, doc, score, floor uint32) bool {
	return !w.useRests || score+w.rests[s.lengths[doc]] > floor
}

// candidate completes the score of a document with the terms from index from on,
// whose bounds add up to rest, and keeps the document if it is among the best. It returns
// the floor for the documents behind.
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
		if t.c.advance(doc) == doc {
			score += s.units(r, t, doc, t.c.freq())
		}
		rest -= t.bound
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

package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// emit writes a statement as a relation, with mentions for ends that have none yet.
func (d *doc) emit(s *sentence, st *statement, dates []dateHit) {
	if len(d.out.Relations) >= maxRelations {
		return
	}
	d.mentionNode(&st.source, st.frame, true)
	d.mentionNode(&st.target, st.frame, false)
	rel := extract.Relation{Source: st.source.key, Target: st.target.key, Predicate: st.predicate, Raw: st.raw, Confidence: st.conf}
	rel.Context = clip(d.text[d.toks[s.lo].start:d.toks[s.hi-1].end])
	rel.Temporal = d.temporalWords(s, dates)
	if st.clause != nil {
		rel.Negated, rel.Retracts, rel.Functional = st.clause.negated || st.clause.ended, st.clause.ended, d.functional(st)
		rel.Asserted = d.asserted(s, dates, st)
		rel.ValidFrom, rel.ValidTo, rel.Precision = d.validity(s, dates, st)
	}
	if len(d.in.Chunks) > 0 {
		rel.Chunk, _ = chunksAt(d.in.Chunks, int(d.toks[s.lo].start))
		_, rel.Chunk = chunksAt(d.in.Chunks, int(d.toks[s.lo].start))
	}
	d.out.Relations = append(d.out.Relations, rel)
}

// mentionNode makes sure that a relation's end is a mention, and lets the frame type a name that nothing else does.
func (d *doc) mentionNode(n *node, fr *frame, source bool) {
	typ := n.typ
	if fr != nil {
		want := fr.target
		if source != fr.swap {
			want = fr.source
		}
		if want != "" && (typ == extract.TypeConcept || typ == "") && n.kind != nodePhrase {
			typ = want
		}
	}
	switch n.kind {
	case nodePronoun, nodeDate, nodeLiteral:
		return
	}
	m := extract.Mention{Name: n.name, Key: n.key, Type: typ, Start: int(d.toks[n.lo].start), End: int(d.toks[n.hi-1].end), Weak: n.weak, Phrase: n.kind == nodePhrase}
	if m.Name == "" {
		m.Name = d.text[m.Start:m.End]
	}
	d.addMention(m)
}

// clip bounds a sentence at a rune.
func clip(s string) string {
	if len(s) <= extract.MaxContext {
		return s
	}
	n := extract.MaxContext
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// temporalWords joins the words of a sentence that say when.
func (d *doc) temporalWords(s *sentence, dates []dateHit) string {
	first, rest := "", []string(nil)
	add := func(w string) {
		if first == "" {
			first = w
		} else if len(rest) < 8 {
			rest = append(rest, w)
		}
	}
	di := 0
	for i := s.lo; i < s.hi; i++ {
		for di < len(dates) && dates[di].lo < i {
			di++
		}
		if di < len(dates) && dates[di].lo == i {
			lo := i
			if i > s.lo && d.toks[i-1].kind == kWord && d.toks[i-1].is(fPrep) {
				lo = i - 1
			}
			add(d.surface(lo, dates[di].hi))
			i = dates[di].hi - 1
			continue
		}
		if t := &d.toks[i]; t.kind == kWord && t.shape == sLower && t.is(fTemporal) && !t.is(fPrep|fAdj) {
			add(d.str(i))
		}
	}
	if len(rest) == 0 {
		return first
	}
	return first + "; " + strings.Join(rest, "; ")
}

// validity bounds a statement by the dates of its sentence: "since" opens, "until" closes, "from ... to" does both; a
// date alone bounds an event and a past state on both sides, and opens a state that goes on.
func (d *doc) validity(s *sentence, dates []dateHit, st *statement) (from, to time.Time, prec string) {
	c := st.clause
	count := 0
	for i := range dates {
		h := &dates[i]
		if h.from.IsZero() || h.lo >= c.end && c.end > 0 || h.lo < c.lo && h.lo > s.lo+2 {
			continue
		}
		count++
		coarser(&prec, h.prec)
		switch {
		case d.isWord(s, h.lo-1, "until"), d.isWord(s, h.lo-1, "till"), d.isWord(s, h.lo-1, "before"), count == 2 && (d.isWord(s, h.lo-1, "to") || d.isPunct(s, h.lo-1, '-') || d.isWord(s, h.lo-1, "and")):
			to = h.to
		case d.isWord(s, h.lo-1, "since"), d.isWord(s, h.lo-1, "from"), d.isWord(s, h.lo-1, "after"), d.isWord(s, h.lo-1, "between"):
			from = h.from
		case count == 1:
			from = h.from
			lasting := st.frame != nil && st.frame.functional && (st.frame.kind == extract.KindEvent || !c.past || c.perfect)
			if !lasting && (c.past || st.frame != nil && st.frame.kind == extract.KindEvent) {
				to = h.to
			}
		}
	}
	if c.ended && to.IsZero() && !d.ref.IsZero() {
		to = midnight(d.ref)
		if !from.IsZero() && !from.Before(to) {
			from = time.Time{}
		}
		coarser(&prec, extract.PrecisionDay)
	}
	if !from.IsZero() && !to.IsZero() && to.Before(from) {
		to = time.Time{}
	}
	if from.IsZero() && to.IsZero() {
		prec = ""
	}
	return from, to, prec
}

// functional reports whether a statement says what is so now, of a predicate that has one value at a time.
func (d *doc) functional(st *statement) bool {
	f, c := st.frame, st.clause
	if f == nil || !f.functional || c == nil {
		return false
	}
	gone := f.kind != extract.KindEvent && c.past && !c.perfect && !c.passive // "worked at" says nothing about now
	return !gone && !c.future && !c.hyp && !c.negated && !c.ended
}

// asserted is the end of the period in which a dated change took place: "in 2015 I moved to Oslo" says nothing about
// later years. Zero means that the statement is about when it was said.
func (d *doc) asserted(s *sentence, dates []dateHit, st *statement) time.Time {
	if !d.functional(st) || st.frame.kind != extract.KindEvent || d.ref.IsZero() {
		return time.Time{}
	}
	from, _, _ := d.validity(s, dates, st)
	for i := range dates {
		if h := &dates[i]; !from.IsZero() && h.from.Equal(from) && h.to.Before(d.ref) {
			return h.to
		}
	}
	return time.Time{}
}

// coarser keeps the coarser of two precisions.
func coarser(prec *string, p string) {
	if *prec == "" || p == extract.PrecisionYear || p == extract.PrecisionMonth && *prec == extract.PrecisionDay {
		*prec = p
	}
}

package rules

import (
	"sort"
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// nameHit is a name in the token range [lo, hi) of the text, in reading order.
type nameHit struct {
	lo, hi int
	sent   int
	typ    string
	key    string
	weak   bool
	part   bool
}

// findNames collects the capitalised spans of every sentence.
func (d *doc) findNames() {
	if d.upper > d.lower {
		return
	}
	for k := range d.sents {
		s := &d.sents[k]
		if s.prefix.hi > s.prefix.lo {
			d.names = append(d.names, nameHit{lo: s.prefix.lo, hi: s.prefix.hi, sent: k, typ: extract.TypePerson})
		}
		if d.shouting(s) {
			continue
		}
		for i := s.lo; i < s.hi; {
			hi := d.nameAt(s, i)
			if hi == i {
				i++
				continue
			}
			d.name(k, i, hi)
			i = hi
		}
	}
	d.dropWeak()
}

// shouting reports whether a sentence of some length has more capitals than small letters.
func (d *doc) shouting(s *sentence) bool {
	words, loud := 0, 0
	for i := s.lo; i < s.hi; i++ {
		if d.toks[i].kind == kWord {
			words++
			if d.toks[i].shape == sUpper {
				loud++
			}
		}
	}
	return words >= 4 && loud*2 > words
}

// nameAt returns where the name that begins at token i ends, or i if none does.
func (d *doc) nameAt(s *sentence, i int) int {
	t := &d.toks[i]
	if !t.capital() || t.is(fI) {
		return i
	}
	first := d.firstWord(s, i)
	multi := i+1 < s.hi && d.toks[i+1].capital() && d.toks[i+1].gap == gapSpace
	switch {
	case d.common(t) && (first || !multi || t.is(fDet)) && !(t.is(fGiven) && multi && !first):
		return i
	case t.is(fStarter|fDayWord) && first && !(multi && t.is(fGiven|fPlace)):
		return i
	case first && multi && t.w.verb > 0 && t.shape == sCap && !t.is(fGiven|fPlace|fTitle):
		return i // "Visit Paris"
	case t.is(fMonth|fWeekday) && !multi && !t.is(fGiven):
		return i
	}
	hi := i + 1
	for hi < s.hi && hi-i < maxSpan {
		j := d.extend(s, i, hi)
		if j == hi {
			break
		}
		hi = j
	}
	return hi
}

// extend returns the end of the span [lo, hi) with the next word of the name, or hi.
func (d *doc) extend(s *sentence, lo, hi int) int {
	j := hi
	prev := &d.toks[hi-1]
	for connectors := 0; j < s.hi; {
		t := &d.toks[j]
		switch {
		case t.gap > gapSpace && (j == hi || t.gap == gapBlank):
			return hi
		case t.capital() && t.gap != gapNone && !t.is(fI):
			if t.kind == kIdent && j == hi && d.firstWord(s, hi-1) {
				return hi // "Ticket JIRA-12"
			}
			return j + 1
		case t.kind == kNumber && j == hi && t.gap == gapSpace && d.numbered(s, lo, j):
			return j + 1
		case t.kind == kPunct && t.gap == gapNone && j == hi && t.ch == '.' && (prev.is(fAbbrev) || prev.end-prev.start == 1 || isDotted(d.str(hi-1))) && j+1 < s.hi && d.toks[j+1].capital():
			j++
		case t.kind == kPunct && t.ch == '&' && j == hi:
			j++
		case t.kind == kPunct && t.ch == '-' && j == hi && t.gap == gapNone && j+1 < s.hi && d.toks[j+1].capital() && d.toks[j+1].gap == gapNone:
			return j + 2
		case t.kind == kClitic && j == hi && j+1 < s.hi && d.toks[j+1].capital() && !d.toks[j+1].is(fStop) && d.str(j)[1:] == "s":
			return j + 2
		case t.kind == kWord && t.shape == sLower && t.is(fConn) && !t.used && connectors < 2 && !(connectors > 0 && t.is(fConj)):
			if prev.is(fMonth|fWeekday) && !prev.is(fGiven) || t.is(fDet) && connectors == 0 {
				return hi
			}
			connectors++
			j++
		default:
			return hi
		}
	}
	return hi
}

// numbered reports whether the number at j is part of the name before it: "Apollo 11", not "Berlin 1990".
func (d *doc) numbered(s *sentence, lo, j int) bool {
	t, prev := &d.toks[j], &d.toks[j-1]
	n := t.end - t.start
	if t.used || n > 4 || prev.is(fMonth|fWeekday|fStop|fPlace) {
		return false
	}
	if j+1 < s.hi {
		next := &d.toks[j+1]
		if next.is(fUnit|fTimeUnit|fMonth|fMonthX|fCurrency|fScale|fOrdinal) || next.kind == kPunct && (next.ch == '%' || next.ch == ')') {
			return false
		}
	}
	return j > lo
}

// firstWord reports whether no word stands before token i in the sentence.
func (d *doc) firstWord(s *sentence, i int) bool {
	for j := i - 1; j >= s.lo; j-- {
		if d.toks[j].kind != kPunct || d.toks[j].ch == ':' {
			return d.toks[j].kind == kPunct
		}
	}
	return true
}

// name records the span [lo, hi) and the parts around its connectors.
func (d *doc) name(sent, lo, hi int) {
	if hi-lo == 1 {
		d.oneWord(sent, lo)
		return
	}
	join := false // joined by "and" or "in": the parts are the names
	var cuts [maxSpan]int
	n := 0
	for i := lo + 1; i < hi-1; i++ {
		t := &d.toks[i]
		if t.kind == kClitic || t.kind == kWord && t.shape == sLower {
			if n == 0 || cuts[n-1] != i-1 {
				n++
			}
			cuts[n-1] = i
			w := d.str(i)
			join = join || w == "and" || w == "in" || w == "und" || w == "et" || w == "y"
		}
	}
	whole := nameHit{lo: lo, hi: hi, sent: sent, typ: d.typeOf(lo, hi)}
	if join && whole.typ != extract.TypeOrganization {
		whole.part = true
	}
	d.keep(whole)
	if n == 0 {
		if d.toks[hi-1].kind == kNumber && hi-1-lo > 0 {
			d.keep(nameHit{lo: lo, hi: hi - 1, sent: sent, typ: d.typeOf(lo, hi-1), part: true})
		}
		return
	}
	from := lo
	for c := 0; c <= n; c++ {
		to := hi
		if c < n {
			to = cuts[c]
			for to > from && d.toks[to-1].shape == sLower && d.toks[to-1].kind == kWord {
				to--
			}
		}
		if to > from && !(to-from == 1 && d.toks[from].is(fStop)) {
			d.keep(nameHit{lo: from, hi: to, sent: sent, typ: d.typeOf(from, to), part: !whole.part})
		}
		if c < n {
			from = cuts[c] + 1
		}
	}
}

// keep adds a name, unless it is only nouns in a language that writes nouns with capitals.
func (d *doc) keep(h nameHit) {
	if d.german && h.typ == extract.TypeConcept && !d.cued(h.lo, h.hi) {
		return
	}
	d.names = append(d.names, h)
}

// oneWord records a name of one word unless it is a common word, weak at the start of a sentence.
func (d *doc) oneWord(sent, i int) {
	t := &d.toks[i]
	if d.common(t) || t.end-t.start == 1 && t.kind == kWord {
		return
	}
	typ := d.typeOf(i, i+1)
	known := t.is(fGiven|fPlace|fProduct) || t.shape == sMixed || t.kind == kIdent
	if t.is(fTitle|fTimeUnit|fClock|fWh|fConj|fPrep) && !known && t.shape != sUpper {
		return
	}
	weak := !known && d.firstWord(&d.sents[sent], i)
	if weak && (t.w.verb > 0 || t.is(fAdj|fAdv|fKin|fRole|fNum|fUnit)) {
		return
	}
	d.keep(nameHit{lo: i, hi: i + 1, sent: sent, typ: typ, weak: weak})
}

// cued reports whether a span of capitalised nouns has a cue that it is a name.
func (d *doc) cued(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		t := &d.toks[i]
		if t.is(fGiven|fPlace|fOrg|fLoc|fTitle|fProduct|fDemonym) || t.shape == sUpper || t.shape == sMixed || t.kind == kIdent {
			return true
		}
	}
	return false
}

// dropWeak removes weak names whose word the text itself has in lower case more than twice.
func (d *doc) dropWeak() {
	n := 0
	for _, h := range d.names {
		if h.weak && d.lowerCount(d.str(h.lo)) > lowerCaseAllowed {
			continue
		}
		d.names[n] = h
		n++
	}
	d.names = d.names[:n]
}

// lowerCount counts the tokens that are name in lower case.
func (d *doc) lowerCount(name string) int {
	if len(d.toks) <= smallVocabulary {
		n := 0
		for i := range d.toks {
			if t := &d.toks[i]; t.kind == kWord && t.shape == sLower && int(t.end-t.start) == len(name) && strings.EqualFold(d.str(i), name) {
				n++
			}
		}
		return n
	}
	if !d.counted {
		d.counted = true
		if d.vocabulary == nil {
			d.vocabulary = make(map[string]int32)
		}
		for i := range d.toks {
			if t := &d.toks[i]; t.kind == kWord && t.shape == sLower && !t.is(fStop) {
				d.vocabulary[d.str(i)]++
			}
		}
	}
	return int(d.vocabulary[strings.ToLower(name)])
}

// addMention adds a mention of the bytes [start, end) to every chunk that holds its start, once per chunk and key.
func (d *doc) addMention(m extract.Mention) {
	if m.Key == "" || len(d.out.Mentions) >= maxMentions {
		return
	}
	if m.Weight == 0 {
		m.Weight = extract.WeightText
	}
	chunks := d.in.Chunks
	if len(chunks) == 0 {
		d.addOnce(m)
		return
	}
	first, last := chunksAt(chunks, m.Start)
	for c := first; c <= last; c++ {
		m.Chunk = c
		d.addOnce(m)
	}
}

// maxOverlap is how many chunks may share a place in the text.
const maxOverlap = 4

// chunksAt returns the range of chunks that hold the byte at off, or the nearest one before it.
func chunksAt(chunks []extract.Span, off int) (first, last int) {
	last = sort.Search(len(chunks), func(i int) bool { return chunks[i].Start > off }) - 1
	if last < 0 {
		return 0, 0
	}
	first = last
	for first > 0 && last-first < maxOverlap-1 && chunks[first-1].End > off {
		first--
	}
	return first, last
}

func (d *doc) addOnce(m extract.Mention) {
	ms := d.out.Mentions
	if len(ms) < smallIndex {
		for i := range ms {
			if ms[i].Chunk == m.Chunk && ms[i].Key == m.Key {
				strengthen(&ms[i], &m)
				return
			}
		}
		d.out.Mentions = append(ms, m)
		return
	}
	if len(d.index) == 0 {
		if d.index == nil {
			d.index = make(map[mentionKey]int32)
		}
		for i := range ms {
			d.index[mentionKey{ms[i].Chunk, ms[i].Key}] = int32(i)
		}
	}
	k := mentionKey{m.Chunk, m.Key}
	if i, ok := d.index[k]; ok {
		strengthen(&ms[i], &m)
		return
	}
	d.index[k] = int32(len(ms))
	d.out.Mentions = append(ms, m)
}

// strengthen merges a later mention of the same entity into the first.
func strengthen(m, later *extract.Mention) {
	m.Weak = m.Weak && later.Weak
	m.Part = m.Part && later.Part
	m.Phrase = m.Phrase && later.Phrase
	if m.Type == extract.TypeConcept {
		m.Type = later.Type
	}
}

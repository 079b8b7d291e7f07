package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// clause is a verb with what stands around it.
type clause struct {
	verbTok int // the main verb
	lo, hi  int // the verb group [lo, hi): auxiliaries, adverbs, verb, particle
	end     int // where its reach ends
	subject int // index of its node, -1 for none
	far     bool
	passive bool
	negated bool
	past    bool
	perfect bool // "has worked", "have been to"
	future  bool
	hyp     bool // not stated as true
	ended   bool // "no longer", "used to", "anymore"
}

// clauses finds the verbs of a sentence and their subjects.
func (d *doc) clauses(s *sentence, nodes []node, out []clause) []clause {
	hyp := d.hypothetical(s)
	for i := s.lo; i < s.hi; i++ {
		t := &d.toks[i]
		if t.kind != kWord || t.w.verb == 0 || t.shape == sCap && i != s.lo || t.is(fDo) || nodeAt(nodes, i) >= 0 || d.usedAsNoun(s, i) {
			continue
		}
		if d.isWord(s, i, "used") && d.isWord(s, i+1, "to") || t.is(fHave) && d.auxiliary(s, i) {
			continue
		}
		c := clause{verbTok: i, lo: i, hi: i + 1, subject: -1, hyp: hyp}
		d.verbGroup(s, &c)
		if d.infinitive(s, &c) {
			continue
		}
		if len(out) > 0 && c.lo < out[len(out)-1].hi {
			continue
		}
		d.findSubject(s, nodes, &c, out)
		out = append(out, c)
	}
	return out
}

// hypothetical reports whether a sentence begins with a condition or a wish.
func (d *doc) hypothetical(s *sentence) bool {
	for i := s.lo; i < s.hi && i < s.lo+3; i++ {
		if d.isWord(s, i, "if") || d.isWord(s, i, "unless") || d.isWord(s, i, "suppose") || d.isWord(s, i, "imagine") || d.isWord(s, i, "wish") || d.isWord(s, i, "maybe") ||
			d.isWord(s, i, "perhaps") || d.isWord(s, i, "assuming") {
			return true
		}
	}
	return false
}

// auxiliary reports whether "have" at i only helps a participle.
func (d *doc) auxiliary(s *sentence, i int) bool {
	for j := i + 1; j < s.hi && j < i+4; j++ {
		t := &d.toks[j]
		if d.isWord(s, j, "been") {
			return true
		}
		if t.is(fAdv | fNeg) {
			continue
		}
		return t.kind == kWord && !t.is(fDet) && (t.w.verb > 0 && t.w.form&formPart != 0 || t.w.verb == 0 && strings.HasSuffix(d.str(j), "ed"))
	}
	return false
}

// usedAsNoun reports whether the word at i that could be a verb stands where a noun stands: "the work", "a visit".
func (d *doc) usedAsNoun(s *sentence, i int) bool {
	t := &d.toks[i]
	if i == s.lo {
		return false
	}
	prev := &d.toks[i-1]
	switch {
	case prev.kind == kWord && prev.is(fDet|fPoss) && !prev.is(fHe|fShe|fThey) || prev.kind == kClitic && d.text[prev.end-1] == 's' && t.w.form&(formIng|formPart) == 0:
		return true
	case prev.kind == kWord && prev.w.verb > 0 && !prev.is(fBe|fHave|fDo|fModal|fPrep) && prev.w.form&formIng == 0 && t.w.form&(formPast|formIng) == 0 &&
		(t.w.form&form3s != 0 || !d.isWord(s, i-1, "help") && !d.isWord(s, i-1, "let")):
		return true // "enjoys trains"
	case prev.kind == kWord && prev.is(fAdj) && !prev.is(fAdv) && t.w.form&(formBase|form3s) != 0 && !prev.is(fStop):
		return true
	case prev.kind == kWord && prev.is(fPrep) && !d.isWord(s, i-1, "to") && t.w.form&(formBase|form3s|formPast) != 0 && t.w.form&formIng == 0:
		return true
	}
	if t.w.form&formIng != 0 { // a gerund is a clause only behind "be" or as a participle behind a comma
		return !prev.is(fBe|fAdv|fNeg) && prev.kind != kClitic
	}
	if t.w.form&(formBase|formPast) == formBase && i+1 < s.hi && d.toks[i+1].kind == kWord && d.toks[i+1].is(fBe) && !prev.is(fModal) {
		return true // "the plan is"
	}
	return false
}

// verbGroup takes in the auxiliaries and adverbs before a verb, and notes tense, voice and negation.
func (d *doc) verbGroup(s *sentence, c *clause) {
	t := &d.toks[c.verbTok]
	be := false
	c.past = t.w.form&formPast != 0 && t.w.form&formBase == 0
	i := c.verbTok - 1
	for ; i >= s.lo && c.verbTok-i <= 6; i-- {
		p := &d.toks[i]
		if p.kind == kPunct || p.kind == kNumber {
			break
		}
		switch {
		case d.isWord(s, i, "longer") && d.isWord(s, i-1, "no"):
			c.ended = true
			i--
		case p.is(fBe) && (p.kind != kClitic || d.text[p.end-1] != 's' || t.w.form&(formIng|formPart) != 0):
			be = true
			c.past = c.past || d.isWord(s, i, "was") || d.isWord(s, i, "were")
		case p.is(fHave):
			c.perfect, c.past = true, c.past || t.w.form&formPart != 0
		case p.is(fDo):
			c.past = c.past || d.isWord(s, i, "did") || d.isWord(s, i, "didn't")
		case p.is(fFuture):
			c.future = true
		case p.is(fModal):
			c.hyp = true
		case d.isWord(s, i, "to") && d.isWord(s, i-1, "used"):
			c.ended, c.past = true, true
			i--
		case d.isWord(s, i, "to") && d.isWord(s, i-1, "going"):
			c.future = true
			i--
		case p.is(fAdv) && p.kind == kWord, p.is(fNeg) && p.kind == kWord:
		default:
			goto done
		}
		c.negated = c.negated || p.is(fNeg)
		c.hyp = c.hyp || p.is(fHyp)
	}
done:
	c.lo = i + 1
	for c.lo < c.verbTok && d.toks[c.lo].is(fAdv) && !d.toks[c.lo].is(fNeg) && c.lo == s.lo {
		c.lo++
	}
	if be && t.w.form&formPart != 0 && t.w.form&formIng == 0 {
		c.passive = true
	}
	if !be && t.w.form&formPart != 0 && !c.perfect && c.hi < s.hi && d.isWord(s, c.hi, "by") {
		c.passive = true // "the book, written by"
	}
	if c.hi < s.hi && d.isWord(s, c.hi, "up") {
		c.hi++
	}
	for j := c.hi; j < s.hi && j < c.hi+12; j++ {
		if d.isWord(s, j, "anymore") || d.isWord(s, j, "any") && d.isWord(s, j+1, "more") || d.isWord(s, j, "any") && d.isWord(s, j+1, "longer") {
			c.ended = c.ended || c.negated
		}
	}
}

// infinitive reports whether the verb only completes another one ("wants to visit"), which states nothing done.
func (d *doc) infinitive(s *sentence, c *clause) bool {
	return d.isWord(s, c.lo-1, "to") && !c.ended && !c.future
}

// findSubject picks the node that a verb group belongs to.
func (d *doc) findSubject(s *sentence, nodes []node, c *clause, before []clause) {
	i := c.lo - 1
	if i < s.lo {
		return
	}
	t := &d.toks[i]
	if t.kind == kWord && t.is(fConj) && !t.is(fWh) && !d.isWord(s, i, "that") && len(before) > 0 {
		c.subject, c.far = before[len(before)-1].subject, true
		if d.isWord(s, i, "and") || d.isWord(s, i, "but") || d.isWord(s, i, "or") {
			c.hyp = c.hyp || before[len(before)-1].hyp
			c.passive = c.passive || before[len(before)-1].passive && d.toks[c.verbTok].w.form&formBase == 0 && d.toks[c.verbTok].w.form&formPart != 0 && c.lo == c.verbTok
		}
		return
	}
	if t.kind == kWord && (d.isWord(s, i, "who") || d.isWord(s, i, "which") || d.isWord(s, i, "that")) {
		if i--; i >= s.lo && d.toks[i].kind == kPunct {
			i--
		}
	} else if t.kind == kPunct && t.ch == ',' {
		// "Anna Lind, the founder of Acme, lives": the words between the commas are an aside.
		if k := d.openingName(s, nodes, c.lo); k >= 0 {
			c.subject, c.far = k, nodes[k].hi < c.lo-6
			return
		}
		j := i - 1
		for j > s.lo && !(d.toks[j].kind == kPunct && d.toks[j].ch == ',') {
			j--
		}
		if j > s.lo {
			i = j - 1
			if nodeAt(nodes, i) < 0 {
				i = c.lo - 2
			}
		} else {
			i--
		}
	} else if t.kind == kPunct && t.ch == ')' {
		for i > s.lo && !(d.toks[i].kind == kPunct && d.toks[i].ch == '(') {
			i--
		}
		i--
	}
	for steps := 0; i >= s.lo && steps < 10; i, steps = i-1, steps+1 {
		t := &d.toks[i]
		if k := nodeAt(nodes, i); k >= 0 {
			if nodes[k].kind == nodeDate {
				i = nodes[k].lo
				continue
			}
			if lo := nodes[k].lo; lo > s.lo && d.governed(s, lo) {
				i = d.beforePreposition(s, lo)
				continue
			}
			if d.toks[nodes[k].hi-1].end < d.toks[c.lo].start && nodes[k].hi < s.hi && d.toks[nodes[k].hi].kind == kClitic && d.text[d.toks[nodes[k].hi].end-1] == 's' && nodes[k].hi < c.lo {
				return // "Anna's dog sleeps": Anna is not the one
			}
			if d.toks[nodes[k].lo].is(fPoss) {
				return
			}
			if k > 0 && nodes[k-1].kind == nodeName && nodes[k-1].hi == nodes[k].lo-1 && d.isPunct(s, nodes[k-1].hi, ',') && !d.governed(s, nodes[k-1].lo) &&
				nodes[k].kind == nodeName && nodes[k].typ != extract.TypePerson {
				k-- // "Port Elder, Northland, lies"
			}
			c.subject, c.far = k, c.far || steps > 3
			return
		}
		if t.kind == kWord && t.shape == sLower && !t.is(fStop|fAdv) {
			start := d.phraseStart(s, i)
			if start == s.lo || !d.toks[start-1].is(fPrep) || d.toks[start-1].kind != kWord {
				return // a common noun is the subject
			}
			i = start - 1
			continue
		}
		if t.kind == kWord && t.is(fConj|fWh) && !t.is(fPrep) && !d.isWord(s, i, "and") && !d.isWord(s, i, "or") {
			return
		}
		if t.kind == kPunct && (t.ch == ';' || t.ch == ':' || t.ch == '"') || t.kind == kWord && t.w.verb > 0 && t.w.form&(formPast|form3s) != 0 && !d.usedAsNoun(s, i) && !t.is(fDet) {
			return
		}
	}
}

// openingName returns the name that opens a sentence and has an aside behind it, "Anna Lind (born 1961), a poet, lives".
func (d *doc) openingName(s *sentence, nodes []node, before int) int {
	if len(nodes) == 0 || nodes[0].kind != nodeName && nodes[0].kind != nodeSpeaker || nodes[0].lo > s.lo+1 || nodes[0].hi >= before {
		return -1
	}
	hi := nodes[0].hi
	if !d.isPunct(s, hi, ',') && !d.isPunct(s, hi, '(') {
		return -1
	}
	return 0
}

// phraseStart returns where the noun phrase in lower case that ends at token i begins.
func (d *doc) phraseStart(s *sentence, i int) int {
	for i > s.lo {
		p := &d.toks[i-1]
		if p.kind != kWord || p.shape != sLower || p.is(fPrep|fConj|fAdv) && !p.is(fAdj|fDet) || p.is(fStop) && !p.is(fAdj|fDet|fPoss) {
			break
		}
		i--
	}
	return i
}

// governed reports whether the node that begins at lo hangs on a preposition ("the mayor of Berlin").
func (d *doc) governed(s *sentence, lo int) bool {
	i := lo - 1
	for i > s.lo && d.toks[i].kind == kWord && d.toks[i].is(fDet|fAdj) && !d.toks[i].is(fPrep) {
		i--
	}
	return i >= s.lo && d.toks[i].kind == kWord && d.toks[i].is(fPrep) && d.toks[i].w.verb == 0
}

// beforePreposition returns the token before the preposition that governs the node at lo.
func (d *doc) beforePreposition(s *sentence, lo int) int {
	i := lo - 1
	for i > s.lo && !(d.toks[i].kind == kWord && d.toks[i].is(fPrep)) {
		i--
	}
	return i
}

package rules

import (
	"sort"
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// Confidence of facts by how they were found; relations pass theirs on.
const (
	confState   = 0.75 // a known form such as "I'm 34" or "my favorite X is Y"
	confGoal    = 0.7
	confGeneric = 0.55 // a verb without a frame
	confOther   = 0.6  // about someone else
	factorWe    = 0.85
	factorReply = 0.85 // "yes" to a question
)

// maxFactWords is the longest segment that is worth a statement of its own.
const maxFactWords = 60

// segment is a part of a sentence with the speaker as its subject: the tokens [lo, hi).
type segment struct {
	lo, hi   int
	opener   int  // tokens before lo of a date with which it opens: "Last May, I ..."
	comp     int  // where the complement begins, behind the main verb
	verb     int  // main verb or form of "be"
	we       bool // "we"
	my       bool // "my X ..."
	bare     bool // a note without a subject: "Prefers tea"
	third    bool // "The user prefers tea"
	be       bool
	negated  bool
	hyp      bool
	past     bool
	perfect  bool
	future   bool
	ended    bool
	progress bool
	wish     bool // "would like to"
}

// factsOf adds the facts that a sentence states about its speaker.
func (d *doc) factsOf(k int, s *sentence, sts []statement) {
	if s.speaker == "" || s.role == roleAssistant || len(d.out.Facts) >= maxFacts {
		return
	}
	if d.reply(k, s) || s.question {
		return
	}
	if d.standing(s) || d.note(s) {
		return
	}
	d.segments(s, func(g *segment) {
		if n := g.hi - g.lo; n <= maxFactWords && (n > 1 || g.bare) {
			d.segmentFacts(s, g, sts)
		}
	})
	d.otherFacts(s, sts)
}

// segments cuts a sentence where a new statement about the speaker begins.
func (d *doc) segments(s *sentence, yield func(*segment)) {
	lo := d.skipOpeners(s, s.lo)
	open := lo
	lo = d.skipDate(s, lo)
	start := lo
	flush := func(hi int) {
		for hi > start && (d.toks[hi-1].kind == kPunct && d.toks[hi-1].ch != '"' && d.toks[hi-1].ch != ')' || d.toks[hi-1].kind == kWord && d.coordinator(s, hi-1)) {
			hi--
		}
		if hi > start {
			g := segment{lo: start, hi: hi, verb: -1}
			if start == lo {
				g.opener = lo - open
			}
			if d.openSegment(s, &g) {
				yield(&g)
			}
		}
	}
	for i := lo + 1; i < s.hi; i++ {
		switch {
		case d.subjectStart(s, i) && d.boundary(s, i):
			flush(i)
			start = i
		case d.isPunct(s, i-1, ';') && d.in.Memory && d.toks[i].w.verb > 0 && d.toks[i].w.form == form3s:
			flush(i)
			start = i // "Likes hiking; hates rain"
		case d.isPunct(s, i-1, ',') && d.turnsAway(s, i):
			flush(i)
			start = s.hi // what follows is not about the speaker until a new start
		}
	}
	flush(s.hi)
}

// turnsAway reports whether ", so" or ", but she" at token i leaves the speaker as the subject.
func (d *doc) turnsAway(s *sentence, i int) bool {
	if !d.coordinator(s, i) && !d.isWord(s, i, "which") && !d.isWord(s, i, "maybe") {
		return false
	}
	if i+1 >= s.hi || d.subjectStart(s, i+1) {
		return false
	}
	next := &d.toks[i+1]
	return !d.isWord(s, i, "and") || next.kind == kWord && next.is(fHe|fShe|fIt|fThey|fYou)
}

// skipOpeners passes over "Well,", "Yes,", "Also" and the like.
func (d *doc) skipOpeners(s *sentence, i int) int {
	for i < s.hi {
		t := &d.toks[i]
		switch {
		case t.kind == kPunct && t.ch != '"':
			i++
		case t.kind == kWord && i+1 < s.hi && d.isPunct(s, i+1, ',') && (t.is(fYes|fNo|fStarter|fAdv|fConj) || d.isWord(s, i, "well")) && !t.is(fHyp):
			i += 2
		case t.kind == kWord && d.coordinator(s, i), d.isWord(s, i, "also"), d.isWord(s, i, "actually"), d.isWord(s, i, "because"), d.isWord(s, i, "btw"):
			i++
		default:
			return i
		}
	}
	return i
}

// skipDate passes over a date with which a sentence opens before its subject: "In 2015 I", "Last week, I".
func (d *doc) skipDate(s *sentence, i int) int {
	for k := range d.datesOf(s) {
		h := &d.datesOf(s)[k]
		if h.lo != i && !(h.lo == i+1 && d.toks[i].kind == kWord && d.toks[i].is(fPrep)) {
			continue
		}
		j := h.hi
		if j < s.hi && d.isPunct(s, j, ',') {
			j++
		}
		if j < s.hi && d.subjectStart(s, j) {
			return j
		}
	}
	return i
}

func (d *doc) coordinator(s *sentence, i int) bool {
	return d.isWord(s, i, "and") || d.isWord(s, i, "but") || d.isWord(s, i, "so") || d.isWord(s, i, "because") || d.isWord(s, i, "though") || d.isWord(s, i, "although") || d.isWord(s, i, "plus")
}

// subjectStart reports whether token i can be the subject of a statement about the speaker.
func (d *doc) subjectStart(s *sentence, i int) bool {
	t := &d.toks[i]
	if t.kind != kWord {
		return false
	}
	if t.is(fI|fWe) && !t.is(fPoss) {
		return !d.isWord(s, i, "me") && !d.isWord(s, i, "us") && !d.isWord(s, i, "myself") && !d.isWord(s, i, "ourselves")
	}
	if t.is(fI|fWe) && t.is(fPoss) && !d.isWord(s, i, "mine") && !d.isWord(s, i, "ours") {
		for j := i + 1; j < s.hi && j < i+6; j++ { // "my old boss is": a verb follows soon
			n := &d.toks[j]
			if n.is(fBe) && n.kind == kWord || n.kind == kWord && n.w.verb > 0 && n.w.form&(form3s|formPast) != 0 && n.w.form&formBase == 0 {
				return true
			}
			if n.kind == kPunct || n.is(fConj|fPrep) {
				return false
			}
		}
	}
	return false
}

// boundary reports whether a statement may begin at token i: behind a comma or a coordinating word.
func (d *doc) boundary(s *sentence, i int) bool {
	p := &d.toks[i-1]
	if p.kind == kPunct {
		return p.ch == ',' || p.ch == ';' || p.ch == '-' || p.ch == ':'
	}
	if d.isWord(s, i-1, "that") && i-2 > s.lo {
		p = &d.toks[i-2]
	}
	return d.coordinator(s, i-1) || p.kind == kWord && p.w.verb > 0 && chatter[verbs[p.w.verb-1].base] // "I think I like"

}

// openSegment reads the subject and the verb group of a segment.
func (d *doc) openSegment(s *sentence, g *segment) bool {
	t := &d.toks[g.lo]
	i := g.lo + 1
	switch {
	case t.kind != kWord:
		return false
	case t.is(fI|fWe) && t.is(fPoss):
		g.my = true
		return d.openMy(s, g)
	case t.is(fI) && !d.isWord(s, g.lo, "me") && !d.isWord(s, g.lo, "myself"):
		if d.isWord(s, g.lo, "im") || d.isWord(s, g.lo, "i'm") {
			i = g.lo // written together
		}
	case t.is(fWe) && !d.isWord(s, g.lo, "us"):
		g.we = true
	case d.isWord(s, g.lo, "the") && d.isWord(s, g.lo+1, "user"):
		g.third = true
		i++
	case d.isWord(s, g.lo, "user"), foldEqual(d.str(g.lo), s.speaker):
		g.third = true
	case t.w.verb > 0 && t.w.form == form3s && d.in.Memory:
		g.bare, g.verb, g.comp = true, g.lo, g.lo+1
		return true
	case d.complementWord(s, g.lo) && d.in.Memory:
		g.bare, g.be, g.verb, g.comp = true, true, g.lo, g.lo
		return true
	default:
		return false
	}
	return d.openVerb(s, g, i)
}

// complementWord reports whether a note may begin with the word at i without a subject: "Allergic to nuts", "Vegetarian".
func (d *doc) complementWord(s *sentence, i int) bool {
	_, ok := beComplements[strings.ToLower(d.str(i))]
	return ok
}

// openVerb reads auxiliaries from token i to the main verb.
func (d *doc) openVerb(s *sentence, g *segment, i int) bool {
	for ; i < g.hi; i++ {
		t := &d.toks[i]
		if t.kind == kPunct || t.kind == kNumber {
			break
		}
		w := strings.ToLower(d.str(i))
		switch {
		case w == "used" && d.isWord(s, i+1, "to"):
			g.ended, g.past = true, true
			i++
			continue
		case w == "no" && d.isWord(s, i+1, "longer"):
			g.ended = true
			i++
			continue
		case w == "'d" || w == "would":
			if d.isWord(s, i+1, "like") || d.isWord(s, i+1, "love") || d.isWord(s, i+1, "rather") || d.isWord(s, i+1, "prefer") {
				g.wish = true
			} else if i+1 < g.hi && w == "'d" && d.toks[i+1].w.form&formPart != 0 && d.toks[i+1].w.form&formBase == 0 {
				g.past = true
			} else {
				g.hyp = true
			}
			continue
		case (w == "going" || w == "gonna") && g.be && (w == "gonna" || d.isWord(s, i+1, "to") && i+2 < g.hi && d.toks[i+2].w.verb > 0):
			g.future, g.be = true, false
			if w == "going" {
				i++
			}
			continue
		case t.is(fFuture):
			g.future, g.negated = true, g.negated || t.is(fNeg)
			continue
		case t.is(fModal):
			g.hyp, g.negated = g.hyp || t.is(fHyp), g.negated || t.is(fNeg)
			continue
		case t.is(fDo) && (i+1 < g.hi && d.leadsToVerb(i+1)):
			g.past, g.negated = g.past || w == "did" || w == "didn't" || w == "didnt", g.negated || t.is(fNeg)
			continue
		case t.is(fHave) && d.auxiliary(s, i) && !d.isWord(s, i+1, "to"):
			g.perfect, g.negated = true, g.negated || t.is(fNeg)
			continue
		case t.is(fBe) && !(t.kind == kClitic && w == "'s"):
			g.be, g.verb = true, i
			g.past = g.past || w == "was" || w == "were"
			g.negated = g.negated || t.is(fNeg)
			continue
		case t.is(fNeg) || t.is(fAdv) && t.w.verb == 0:
			g.negated = g.negated || t.is(fNeg)
			g.hyp = g.hyp || t.is(fHyp)
			continue
		}
		if t.kind == kWord && t.w.verb > 0 && !(g.be && t.w.form&(formIng|formPart) == 0) {
			if g.be && t.w.form&formIng != 0 {
				g.progress, g.be = true, false
			} else if g.be {
				break // a participle behind "be": a state
			}
			g.verb, g.comp = i, i+1
			g.past = g.past || g.perfect || t.w.form&formPast != 0 && t.w.form&formBase == 0
			return true
		}
		if t.kind == kWord && !g.be && t.shape == sLower && !t.is(fStop) { // a verb that the table does not have
			g.verb, g.comp = i, i+1
			g.past = g.past || strings.HasSuffix(w, "ed")
			return true
		}
		break
	}
	g.comp = i
	return g.be && g.comp < g.hi
}

// leadsToVerb reports whether a verb comes at i, past adverbs.
func (d *doc) leadsToVerb(i int) bool {
	for j := i; j < len(d.toks) && j < i+4; j++ {
		t := &d.toks[j]
		if t.kind == kWord && t.w.verb > 0 {
			return true
		}
		if !t.is(fAdv | fNeg) {
			return t.kind == kWord && !t.is(fStop)
		}
	}
	return false
}

// openMy reads "my X is Y" and "my X does Y": verb is the verb behind the noun.
func (d *doc) openMy(s *sentence, g *segment) bool {
	for i := g.lo + 1; i < g.hi && i < g.lo+7; i++ {
		t := &d.toks[i]
		if t.kind == kPunct && t.ch != ',' {
			return false
		}
		if t.is(fBe) && (t.kind == kWord || d.text[t.end-1] != 's' || i+1 < g.hi && !d.isName(i+1) && d.toks[i+1].is(fDet|fAdj|fAdv)) {
			g.be, g.verb, g.comp = true, i, i+1
			w := strings.ToLower(d.str(i))
			g.past, g.negated = w == "was" || w == "were", t.is(fNeg)
			for g.comp < g.hi && d.toks[g.comp].kind == kWord && d.toks[g.comp].is(fAdv|fNeg) {
				g.negated = g.negated || d.toks[g.comp].is(fNeg)
				g.comp++
			}
			return i > g.lo+1
		}
		if t.kind == kWord && t.is(fModal|fDo|fHave) && i > g.lo+1 {
			return d.openVerb(s, g, i)
		}
		if t.kind == kWord && t.w.verb > 0 && t.w.form&(form3s|formPast) != 0 && t.w.form&formBase == 0 && i > g.lo+1 {
			g.verb, g.comp = i, i+1
			g.past = t.w.form&formPast != 0
			return true
		}
	}
	return false
}

func (d *doc) isName(i int) bool { return d.toks[i].shape != sLower }

// datesOf returns the dates of a sentence.
func (d *doc) datesOf(s *sentence) []dateHit {
	lo := sort.Search(len(d.dates), func(i int) bool { return d.dates[i].lo >= s.lo })
	hi := lo
	for hi < len(d.dates) && d.dates[hi].lo < s.hi {
		hi++
	}
	return d.dates[lo:hi]
}

// addFact completes a fact with its evidence and keeps the surer of two equal ones. Of two facts that one statement
// gives, the second gets a sentence of its own.
func (d *doc) addFact(s *sentence, f extract.Fact) {
	if len(d.out.Facts) >= maxFacts || f.Subject == "" || f.Predicate == "" || f.Text == "" {
		return
	}
	f.Time = d.ref
	f.Start, f.End = int(d.toks[s.lo].start), int(d.toks[s.hi-1].end)
	f.Evidence = clip(d.text[f.Start:f.End])
	f.Confidence = min(f.Confidence, 1)
	if f.Negated && !strings.HasPrefix(f.Predicate, extract.NotPrefix) {
		f.Predicate = extract.NotPrefix + f.Predicate
	}
	for i := range d.out.Facts {
		o := &d.out.Facts[i]
		if o.Predicate == f.Predicate && o.Negated == f.Negated && o.Retracts == f.Retracts && strings.EqualFold(o.Object, f.Object) && strings.EqualFold(o.Subject, f.Subject) {
			if f.Confidence > o.Confidence {
				*o = f
			}
			return
		}
		if o.Text == f.Text && !f.Negated && !f.Retracts {
			f.Text = plainText(&f)
		}
	}
	d.out.Facts = append(d.out.Facts, f)
}

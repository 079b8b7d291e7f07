package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// residence is the frame for where a person is based.
var residence = frame{predicate: "lives_in", target: extract.TypeLocation, kind: extract.KindFact, functional: true}

// candidate is what the frame of a clause's verb may state of a subject and an object.
type candidate struct {
	s       *language.Sentence
	c       *clause
	fr      *frame
	subject node
	object  node
}

// link adds a statement that links a clause's subject and an object, unless the words mean something else.
func (r *relator) link(s *language.Sentence, c *clause, fr *frame, object node) {
	l := candidate{s: s, c: c, fr: fr, subject: r.nodes[c.subject], object: object}
	if r.d.in.Memory && r.noSubject(s, &l.subject) || object.kind == nodeSpeaker && fr.target != extract.TypePerson {
		return // "let me eat", "brings us together"
	}
	if fr.predicate == "located_in" && l.subject.kind == nodeSpeaker {
		l.fr = &residence // "I'm based in Lisbon"
	}
	if r.saysNothing(&l) || !r.trimObject(&l.object) || r.meantOtherwise(&l) {
		return
	}
	r.deny(&l)
	if !r.objectFits(&l) || !r.begun(&l) {
		return
	}
	r.add(r.d.statementOf(&l))
}

// noSubject reports whether a node in a memory cannot be the subject that it seems to be: "let me eat", "it has a moose".
func (r *relator) noSubject(s *language.Sentence, n *node) bool {
	d := r.d
	if n.kind == nodePronoun {
		return d.Tokens[n.lo].Is(language.Neuter)
	}
	return d.isMe(s, n) && !d.IsWord(s, n.hi, "and") && !d.IsWord(s, n.lo-1, "and")
}

// saysNothing reports whether the words of a candidate say nothing, or nothing lasting.
func (r *relator) saysNothing(l *candidate) bool {
	d, c, fr := r.d, l.c, l.fr
	speaker := l.subject.kind == nodeSpeaker
	switch {
	case d.in.Memory && (r.besideObject(l.s, c, fr, &l.object) || r.passing(l.s, c, &l.subject)):
		return true
	case speaker && l.object.kind == nodeDate && fr.predicate != "born_on" && fr.predicate != "born_in":
		return true // "we went on Saturday"
	case (speaker || d.in.Memory) && d.emptyObject(&l.object):
		return true // "I run late", "I have your number"
	case c.negated && !c.ended && fr.functional && fr.kind == extract.KindEvent:
		return true // "I'm not moving to Perth" says nothing about the home
	}
	return d.in.Memory && (r.casual(l) || r.vagueObject(l))
}

// casual reports whether a clause only tells what somebody is about: "we're having a picnic".
func (r *relator) casual(l *candidate) bool {
	d, c := r.d, l.c
	base := d.verbName(c.verbTok)
	switch {
	case l.fr.predicate == "has" && c.negated && c.perfect && !c.ended:
		return true // "I've never had hope so dry"
	case l.fr.predicate == "has" && base == "have" && d.gerund(c.verbTok):
		return true
	}
	return (base == "have" || base == "get") && d.IsOneOf(l.s, l.object.hi, "over", "round") // "we've got people over on Saturday"
}

// vagueObject reports whether an object is a time, a share or an owner, or is no object: "I run every morning", "I keep 27 of it", "we're
// keeping grandad's", "nobody I know smokes".
func (r *relator) vagueObject(l *candidate) bool {
	d, n := r.d, &l.object
	t := &d.Tokens[n.lo]
	oneWord := n.hi-n.lo == 1
	switch {
	case n.kind == nodePhrase && d.IsOneOf(l.s, n.lo-1, "every", "each", "other") && t.Is(language.TimeUnit|language.DayWord|language.Weekday|language.DatePart):
		return true
	case len(l.fr.preps) == 0 && d.ownerAlone(l.s, n.hi):
		return true
	case oneWord && (t.Kind == language.KindNumber || t.Is(language.NumberWord)) && d.IsWord(l.s, n.hi, "of") && n.hi+1 < l.s.Hi && d.objectIsPronoun(n.hi+1, l.s.Hi):
		return true
	}
	return oneWord && n.kind == nodePhrase && l.fr.predicate == "knows" && t.Word().Form == language.ThirdForm
}

// trimObject cuts words off a noun phrase that are not part of the object. It reports whether an object is left.
func (r *relator) trimObject(n *node) bool {
	if n.kind != nodePhrase {
		return true
	}
	hi := r.d.withoutAgo(n.lo, n.hi)
	if hi == n.hi {
		hi = r.d.withoutDoing(n)
	}
	if hi == n.lo || r.d.besidePerson(n) {
		return false
	}
	if hi != n.hi {
		n.hi, n.key = hi, extract.Key(r.d.SpanText(n.lo, hi))
	}
	return true
}

// meantOtherwise reports whether the words around an object give it another meaning: "the purple one", "had the date moved", "the parents'
// association".
func (r *relator) meantOtherwise(l *candidate) bool {
	d, n, c := r.d, &l.object, l.c
	if d.in.Memory && (n.kind == nodeName || n.kind == nodePhrase) && d.IsOneOf(l.s, n.hi, "one", "ones") {
		return true
	}
	if n.kind == nodePhrase {
		if d.in.Memory && (d.causes(l.s, c, n.hi) || l.fr.kind == extract.KindPreference && d.isTheirs(n)) {
			return true
		}
		if d.IsPunct(l.s, n.hi, '\'') || strings.HasPrefix(d.Text[d.Tokens[n.hi-1].End:], "’ ") {
			return true
		}
	}
	if c.past && !c.ended && d.verbName(c.verbTok) == "have" && d.hadAround(l.s, n.hi) {
		return true
	}
	return d.wanted(l.s, c, n.hi) || d.unfitting(l.fr.predicate, n)
}

// deny negates the clause of a candidate whose object begins with "no": "speaks no English".
func (r *relator) deny(l *candidate) {
	if l.object.lo > 0 && r.d.IsWord(l.s, l.object.lo-1, "no") && !l.c.negated {
		denied := *l.c
		denied.negated = true
		l.c = &denied
	}
}

// objectFits reports whether an object has the type that its frame requires.
func (r *relator) objectFits(l *candidate) bool {
	dated := l.fr.predicate == "born_in" && l.object.kind == nodeDate
	if !dated && !r.d.fits(l.s, objectType(l.fr), &l.object) {
		return false
	}
	return l.fr.predicate != "works_in" || !wordLists()["no-field"][r.d.head(&l.object)]
}

// begun reports whether a candidate may supersede what is known. A plan needs a known start in the future.
func (r *relator) begun(l *candidate) bool {
	d := r.d
	if !l.fr.functional || d.modeAt(l.c.verbTok) != extract.ModePlan {
		return true
	}
	from, _, _ := d.validity(l.s, d.datesOf(l.s), &statement{clause: l.c, frame: l.fr})
	if !from.After(d.Reference) {
		return false
	}
	l.c.future = true
	return true
}

// statementOf returns what a candidate states.
func (d *doc) statementOf(l *candidate) statement {
	conf := float32(confVerb)
	if l.object.kind == nodePhrase {
		conf = confPhrase
	}
	if l.c.far {
		conf *= factorFar
	}
	st := statement{source: l.subject, target: l.object, predicate: d.habitual(l.c, l.fr.predicate), raw: d.rawVerb(l.s, l.c, l.fr), conf: conf, clause: l.c, frame: l.fr}
	if l.fr.swap {
		st.source, st.target = st.target, st.source
	}
	return st
}

// add adds a statement, unless it says nothing or was added before.
func (r *relator) add(st statement) {
	if st.source.key == st.target.key || st.source.key == "" || st.target.key == "" || r.mereAdjective(&st) {
		return
	}
	if r.d.in.Memory && (!r.d.classes(&st) || !r.d.bearsName(&st.source) || !r.d.plainly(&st.source) || !r.d.plainly(&st.target)) {
		return
	}
	if st.source.kind == nodePronoun {
		st.conf *= factorPronoun
	}
	if st.target.kind == nodePronoun {
		st.conf *= factorPronoun
	}
	for i := range r.sts {
		o := &r.sts[i]
		if o.source.key == st.source.key && o.target.key == st.target.key && (o.predicate == st.predicate || st.predicate == "related_to") {
			return
		}
		if st.predicate == "related_to" && o.source.key == st.target.key && o.target.key == st.source.key {
			return
		}
	}
	r.sts = append(r.sts, st)
}

// mereAdjective reports whether the subject of a statement is a nationality or a language and names nobody: "a Welsh who cooks", "my German is
// a toaster manual", "my husband's Basque".
func (r *relator) mereAdjective(st *statement) bool {
	n := &st.source
	if n.kind != nodeName || n.hi-n.lo != 1 || !r.d.Tokens[n.lo].Is(language.Demonym) {
		return false
	}
	return st.target.kind == nodeSpeaker || r.d.in.Memory && st.clause != nil && st.predicate != "is" && !r.d.Tokens[n.lo].Is(language.GivenName)
}

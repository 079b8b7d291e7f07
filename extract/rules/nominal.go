package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// nominal is a subject with words that say what or where it is: the complement of a form of "be", or an apposition.
type nominal struct {
	r       *relator
	s       *language.Sentence
	subject node
	c       *clause // of the form of "be"; nil for an apposition
	conf    float32
	raw     string // the form of "be", or the comma
}

// employment is the frame of "X is a nurse at Y".
var employment = frame{predicate: "works_at", target: extract.TypeOrganization, source: extract.TypePerson, kind: extract.KindFact, functional: true}

// state adds a statement about the subject, unless the words do not mean that.
func (p *nominal) state(n node, predicate, raw string) {
	st := statement{source: p.subject, target: n, predicate: predicate, raw: raw, conf: p.conf, clause: p.c}
	if p.c == nil {
		p.r.add(st)
		return
	}
	if p.misread(&n, predicate) {
		return
	}
	if n.kind == nodePhrase {
		st.conf = min(st.conf, confPhrase)
	}
	if predicate == "works_at" {
		st.frame = &employment
	}
	p.r.add(st)
}

// misread reports whether a complement does not describe the subject: "the dark one", "the kids' doctor", "Kestrel is also the name of the
// pub", "I'm all ears", "I'm in a mood".
func (p *nominal) misread(n *node, predicate string) bool {
	d := p.r.d
	if d.in.Memory {
		if n.kind == nodePhrase && (d.IsOneOf(p.s, n.hi, "one", "ones") || d.IsPunct(p.s, n.hi, '\'')) {
			return true
		}
		if predicate == "is_a" && (wordLists()["no-class"][d.head(n)] || d.emptyObject(n)) {
			return true
		}
	}
	if p.subject.kind != nodeSpeaker {
		return false
	}
	return predicate == "located_in" || predicate == "is_a" && !d.kindOfPerson(n) || !d.fits(p.s, predicateTypes[predicate], n)
}

// read reads the complement of a form of "be" from token i on.
func (p *nominal) read(i int) {
	k := nodeAt(p.r.nodes, i)
	switch {
	case p.r.d.IsOneOf(p.s, i, "in", "near", "at", "from"):
		p.place(i)
	case k < 0:
		p.describe(i)
	case p.isOwner(k):
		p.relation(k)
	default:
		p.identity(k)
	}
}

// place reads where the subject is or comes from; the preposition stands at token i.
func (p *nominal) place(i int) {
	r, d := p.r, p.r.d
	j := i + 1
	for j < p.s.Hi && d.Tokens[j].Is(language.Determiner) && nodeAt(r.nodes, j) < 0 {
		j++
	}
	k := nodeAt(r.nodes, j)
	if k < 0 || r.nodes[k].kind != nodeName || d.in.Memory && d.owns(p.s, r.nodes[k].hi) {
		return
	}
	predicate := "located_in"
	if d.IsWord(p.s, i, "from") {
		predicate = "from"
	}
	p.state(r.nodes[k], predicate, p.raw+" "+d.TokenText(i))
}

// isOwner reports whether "'s" and another word follow a node.
func (p *nominal) isOwner(k int) bool {
	d, hi := p.r.d, p.r.nodes[k].hi
	return hi+1 < p.s.Hi && d.Tokens[hi].Kind == language.KindClitic && d.Text[d.Tokens[hi].End-1] == 's'
}

// relation reads "X is Anna's brother", where node k is Anna.
func (p *nominal) relation(k int) {
	n := p.r.nodes[k]
	if noun := p.r.kinNoun(p.s, n.hi+1); noun >= 0 {
		word := p.r.d.TokenText(noun)
		p.state(n, kinPredicate(strings.ToLower(word)), word)
	}
}

// identity reads "I'm Anna" and "the capital is Oslo", where node k follows the form of "be".
func (p *nominal) identity(k int) {
	d, n := p.r.d, p.r.nodes[k]
	speaker := p.subject.kind == nodeSpeaker
	switch {
	case speaker && n.kind == nodePronoun && d.in.Memory:
		// "I'm her daughter"
	case speaker && n.typ == extract.TypePerson:
		p.state(n, "also_known_as", p.raw) // "I'm Anna"
	case speaker && n.kind == nodeName && n.typ == extract.TypeConcept && !d.Tokens[n.lo].Is(language.Demonym) && !d.greets(p.s):
		// "I'm Batman"
	case n.kind == nodeName || p.isSpeakerAlone(&n):
		p.state(n, "is", p.raw)
	}
}

// isSpeakerAlone reports whether a node is "me" and nobody else is named with it, not as in "House is me, Jack and the dog".
func (p *nominal) isSpeakerAlone(n *node) bool {
	d := p.r.d
	return n.kind == nodeSpeaker && !d.Tokens[n.lo].Is(language.Possessive) && (!d.in.Memory || n.hi >= p.s.Hi || d.Tokens[n.hi].Sign == '.')
}

// describe reads a description such as "the founder of Acme" or "a small town in Bavaria" at token i.
func (p *nominal) describe(i int) {
	d, s := p.r.d, p.s
	lo, hi, ok := p.description(i)
	if !ok {
		return
	}
	noun := strings.ToLower(d.TokenText(hi - 1))
	whole := p.wholes(noun, hi)
	p.placed(hi)
	if d.Tokens[hi-1].Is(language.Adverb|language.FunctionWord) || d.Tokens[lo].Is(language.FunctionWord) && hi-lo == 1 {
		return
	}
	if noun == "member" && d.IsWord(s, hi, "of") { // the sentence only states the membership
		if n, ok := d.phraseNode(s, hi+1); ok && !whole && nodeAt(p.r.nodes, n.lo) < 0 {
			p.state(n, "member_of", p.raw)
		}
		return
	}
	predicate := "is_a"
	_, state := beComplement(noun)
	if at, ok := d.dietAt(s, lo, hi); ok && at == hi-1 && (hi-lo == 1 || d.in.Memory) {
		predicate, lo = "diet", at // "a strict vegetarian"
	}
	if d.Tokens[hi-1].Is(language.Occupation) && !state && (p.subject.kind == nodeSpeaker || p.subject.typ == extract.TypePerson || p.subject.typ == extract.TypeConcept) {
		predicate = "has_role"
	}
	p.state(node{lo: lo, hi: hi, kind: nodePhrase, key: extract.Key(d.SpanText(lo, hi)), typ: extract.TypeConcept}, predicate, p.raw)
}

// description returns the noun phrase [lo, hi) at token i, if it can describe the subject. Without an article it must name a role.
func (p *nominal) description(i int) (lo, hi int, ok bool) {
	d := p.r.d
	if i >= p.s.Hi || d.Tokens[i].Kind != language.KindWord {
		return 0, 0, false
	}
	if lo, hi, ok = d.phraseAt(p.s, i); !ok {
		return 0, 0, false
	}
	noun := strings.ToLower(d.TokenText(hi - 1))
	if lo == i && !d.Tokens[hi-1].Is(language.Occupation|language.KinNoun) && rolePredicate(noun) == "" {
		return 0, 0, false
	}
	if k := nodeAt(p.r.nodes, lo); k >= 0 && p.r.nodes[k].hi >= hi {
		return 0, 0, false // "Luxembourg, the Netherlands": another name, not a description
	}
	return lo, hi, p.subject.kind != nodeSpeaker || !wordLists()["royals"][noun]
}

// wholes reads the names after the noun of a description and its preposition at token i: "the founder of Acme and Zorblax". It reports
// whether there are any.
func (p *nominal) wholes(noun string, i int) bool {
	r, d, s := p.r, p.r.d, p.s
	if !d.IsOneOf(s, i, "of", "at", "for", "in", "from") {
		return false
	}
	j := i + 1
	for count := 0; count < maxObjects && j < s.Hi; count++ {
		k := r.named(s, j)
		if k < 0 || r.nodes[k].kind == nodeDate || count > 0 && d.in.Memory && (r.nodes[k].kind == nodeSpeaker || r.nodes[k].kind == nodePronoun) {
			return count > 0 // "a chef in Leith and we don't talk"
		}
		p.state(r.nodes[k], p.wholePredicate(noun, i, r.nodes[k].typ), noun+" "+d.TokenText(i))
		j = r.nodes[k].hi
		if d.IsPunct(s, j, ',') && d.IsWord(s, j+1, "and") {
			j++
		}
		if !d.IsWord(s, j, "and") {
			return true
		}
		j++
	}
	return j > i+1
}

// wholePredicate returns the predicate of a noun with the preposition at token i before a name: "a manager in the big Sainsburys", "a nurse in
// Aberystwyth".
func (p *nominal) wholePredicate(noun string, i int, typ string) string {
	d := p.r.d
	predicate := nounPredicate(noun, d.TokenText(i), typ)
	switch {
	case !d.in.Memory:
	case predicate == "manages" && d.IsOneOf(p.s, i, "in", "at"):
		return "works_at"
	case predicate == "works_at" && d.IsWord(p.s, i, "in"):
		return "works_in"
	}
	return predicate
}

// placed reads the participle after a description: "a firm based in Porto".
func (p *nominal) placed(i int) {
	d := p.r.d
	if i+2 >= p.s.Hi || d.Tokens[i].Kind != language.KindWord || d.Tokens[i].Word().Verb == 0 || d.Tokens[i].Word().Form&language.Participle == 0 {
		return
	}
	v := framesOf(d.Tokens[i].Word())
	for f := range v {
		fr := &v[f]
		if !fr.passive || !fr.matches(d.TokenText(i+1)) {
			continue
		}
		if k := p.r.named(p.s, i+2); k >= 0 {
			p.state(p.r.nodes[k], fr.predicate, d.SpanText(i, i+2))
		}
		return
	}
}

// named returns the node that a phrase at token i names: "the Canadian province of Nova Scotia" is Nova Scotia.
func (r *relator) named(s *language.Sentence, i int) int {
	d := r.d
	for steps := 0; i < s.Hi && steps < 8; steps++ {
		if d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Determiner|language.Adjective) && nodeAt(r.nodes, i) < 0 {
			i++
			continue
		}
		k := nodeAt(r.nodes, i)
		if k < 0 {
			return -1
		}
		hi := d.modifies(s, &r.nodes[k])
		switch {
		case hi == r.nodes[k].hi:
			return k
		case d.IsWord(s, hi, "of"):
			i = hi + 1
		case nodeAt(r.nodes, hi) >= 0:
			return nodeAt(r.nodes, hi)
		default:
			return k
		}
	}
	return -1
}

// nounPredicate returns the predicate that "the NOUN of Y" states.
func nounPredicate(noun, prep, typ string) string {
	p := rolePredicate(noun)
	ok := p != ""
	switch {
	case ok && p == "leads" && typ == extract.TypePerson:
		return "related_to"
	case ok && p == "located_in" && typ == extract.TypePerson:
		return "related_to"
	case ok:
		return p
	case prep == "in" && typ != extract.TypePerson && language.Lookup(noun).Flags&language.Occupation == 0:
		return "located_in"
	case prep == "at" && typ == extract.TypeOrganization:
		return "works_at"
	}
	return snake(noun) + "_" + prep
}

package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// nodeKind says what an argument of a verb is.
type nodeKind uint8

const (
	nodeName nodeKind = iota
	nodeSpeaker
	nodePronoun // stands for an earlier name
	nodeDate
	nodeLiteral
	nodePhrase // a noun phrase in lower case
)

// node is something a relation can link: the tokens [lo, hi) and what they stand for.
type node struct {
	lo, hi int
	kind   nodeKind
	key    string
	name   string
	typ    string
	plural bool // "we": the speaker and others
	weak   bool
}

// Confidence of relations by how they were found. The API leaves it open (default 0.8); the order is what counts.
const (
	confVerb       = 0.8
	confCopula     = 0.75
	confApposition = 0.75
	confPhrase     = 0.7 // one end is a noun phrase in lower case
	confTogether   = 0.3 // two names in one sentence
	factorPronoun  = 0.75
	factorFar      = 0.85 // the subject stands far from its verb
)

// defaultSpeaker is the contract's default of user_name.
const defaultSpeaker = "User"

// memoryOf is what pronouns can refer to at a place in the text.
type memoryOf struct {
	para       int
	person     [2]node // 0 he, 1 she
	thing      node
	group      node
	subject    node // of the sentence before
	hasPerson  [2]bool
	hasThing   bool
	hasGroup   bool
	hasSubject bool
}

// nodesOf lists the arguments of a sentence by position.
func (d *doc) nodesOf(k int, nodes []node, names []nameHit, dates []dateHit, mem *memoryOf) []node {
	s := &d.sents[k]
	ni, di := 0, 0
	for i := s.lo; i < s.hi; i++ {
		for ni < len(names) && (names[ni].lo < i || names[ni].part) {
			ni++
		}
		for di < len(dates) && dates[di].lo < i {
			di++
		}
		t := &d.toks[i]
		switch {
		case ni < len(names) && names[ni].lo == i:
			h := &names[ni]
			n := node{lo: h.lo, hi: h.hi, kind: nodeName, key: h.key, typ: h.typ, weak: h.weak}
			mem.note(d, n)
			nodes = append(nodes, n)
			i = h.hi - 1
		case di < len(dates) && dates[di].lo == i:
			h := &dates[di]
			if !h.from.IsZero() {
				nodes = append(nodes, node{lo: h.lo, hi: h.hi, kind: nodeDate, key: h.key(), typ: extract.TypeDate})
			}
			i = h.hi - 1
		case t.kind == kIdent || t.kind == kError || t.kind == kURL || t.kind == kEmail || t.kind == kHandle:
			nodes = append(nodes, node{lo: i, hi: i + 1, kind: nodeLiteral, key: extract.Key(d.str(i)), typ: extract.TypeIdentifier})
		case t.kind == kWord && t.is(fI|fWe) && s.speaker != "", d.in.Memory && s.speaker != "" && d.isWord(s, i, "user") && (i == s.lo || d.isWord(s, i-1, "the")):
			nodes = append(nodes, d.speakerNode(s, i))
		case t.kind == kWord && t.is(fHe|fShe|fThey|fIt) && !t.is(fPoss) || t.kind == kWord && t.is(fPoss) && t.is(fHe|fShe|fIt|fThey):
			if n, ok := mem.resolve(t); ok {
				n.lo, n.hi, n.kind = i, i+1, nodePronoun
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}

func (d *doc) speakerNode(s *sentence, i int) node {
	return node{lo: i, hi: i + 1, kind: nodeSpeaker, key: extract.Key(s.speaker), name: s.speaker, typ: extract.TypePerson, plural: d.toks[i].is(fWe)}
}

// newSentence forgets names of earlier paragraphs.
func (m *memoryOf) newSentence(para int) {
	if para != m.para {
		*m = memoryOf{para: para}
	}
}

// note remembers a name for the pronouns that follow.
func (m *memoryOf) note(d *doc, n node) {
	n.name = d.surface(n.lo, n.hi)
	switch n.typ {
	case extract.TypePerson:
		if g := gender(d, &n); g >= 0 {
			m.person[g], m.hasPerson[g] = n, true
		} else {
			m.person[0], m.person[1] = n, n
			m.hasPerson = [2]bool{true, true}
		}
	case extract.TypeOrganization:
		m.group, m.hasGroup = n, true
		m.thing, m.hasThing = n, true
	default:
		if !n.weak {
			m.thing, m.hasThing = n, true
		}
	}
}

// gender guesses from the ending of a given name: 1 she, 0 he, -1 unknown.
func gender(d *doc, n *node) int {
	t := &d.toks[n.lo]
	if t.kind != kWord {
		return -1
	}
	w := strings.ToLower(d.str(n.lo))
	switch w {
	case "mr", "sir", "king", "prince", "lord", "father", "uncle", "grandpa", "herr", "luca", "joshua", "mustafa", "mika", "nikita", "sasha", "ezra":
		if w == "sasha" || w == "nikita" {
			return -1
		}
		return 0
	case "mrs", "ms", "miss", "queen", "princess", "lady", "sister", "aunt", "grandma", "frau", "alice", "jane", "claire", "kate", "rose", "grace", "anne",
		"marie", "julie", "nicole", "michelle", "charlotte", "caroline", "katherine", "catherine", "elizabeth", "sarah", "hannah", "ruth", "emily", "mary",
		"nancy", "lucy", "amy", "betty", "carol", "susan", "karen", "helen", "megan", "melanie", "sophie", "chloe", "zoe", "irene", "ingrid":
		return 1
	}
	switch {
	case !t.is(fGiven):
		return -1
	case w[len(w)-1] == 'a':
		return 1
	case strings.IndexByte("odkrt", w[len(w)-1]) >= 0:
		return 0
	}
	return -1
}

// resolve finds what a pronoun stands for.
func (m *memoryOf) resolve(t *token) (node, bool) {
	switch {
	case t.is(fHe):
		return m.person[0], m.hasPerson[0]
	case t.is(fShe):
		return m.person[1], m.hasPerson[1]
	case t.is(fIt):
		if m.hasSubject && m.subject.typ != extract.TypePerson {
			return m.subject, true
		}
		return m.thing, m.hasThing
	case t.is(fThey):
		return m.group, m.hasGroup
	}
	return node{}, false
}

// nodeAt returns the index of the node that holds token i, or -1.
func nodeAt(nodes []node, i int) int {
	for k := range nodes {
		if i >= nodes[k].lo && i < nodes[k].hi {
			return k
		}
	}
	return -1
}

// maxPhrase is the longest noun phrase in tokens.
const maxPhrase = 7

// phraseAt reads the noun phrase in lower case at token i: "the old wooden boat" gives "old wooden boat". It ends at a
// preposition, a conjunction, a sign, a verb that cannot be a noun, or after maxPhrase words.
func (d *doc) phraseAt(s *sentence, i int) (lo, hi int, ok bool) {
	for i < s.hi && d.toks[i].kind == kWord && d.toks[i].is(fDet|fPoss) && !d.toks[i].is(fNum) && d.toks[i].gap != gapNone {
		i++
	}
	lo = i
	for i < s.hi && i-lo < maxPhrase {
		t := &d.toks[i]
		if t.kind == kNumber && !t.used || t.kind == kIdent {
			i++
			continue
		}
		if t.kind == kClitic && i > lo && i+1 < s.hi && d.toks[i+1].kind == kWord && d.text[t.end-1] == 's' && !d.toks[i+1].is(fStop) {
			i++
			continue
		}
		if t.kind != kWord || t.used && i == lo && !t.is(fUnit) || t.is(fDayWord) {
			break
		}
		if i > lo && t.is(fStop|fAdv|fConj|fPrep) && !t.is(fAdj) {
			break
		}
		if i == lo && t.is(fStop|fConj) && !t.is(fAdj|fNum) {
			break
		}
		if i > lo && t.w.verb > 0 && t.w.form&(formPast|formPart) != 0 && t.w.form&(formBase|formIng) == 0 {
			break // "a dog named Rex"
		}
		if i > lo && t.is(fTemporal) && i+1 < s.hi && d.toks[i+1].is(fTimeUnit|fWeekday|fMonth|fSeason) {
			break
		}
		i++
	}
	for i > lo && (d.toks[i-1].is(fAdv|fTemporal) || d.toks[i-1].kind == kWord && d.isAdverbEnd(i-1)) {
		i--
	}
	return lo, i, i > lo
}

// phraseNode makes a node of the noun phrase at i.
func (d *doc) phraseNode(s *sentence, i int) (node, bool) {
	lo, hi, ok := d.phraseAt(s, i)
	if !ok {
		return node{}, false
	}
	if d.isWord(s, hi, "of") && hi-lo <= 3 { // "two cups of coffee"
		if _, more, ok := d.phraseAt(s, hi+1); ok && more-hi <= 4 {
			hi = more
		}
	}
	key := extract.Key(d.surface(lo, hi))
	return node{lo: lo, hi: hi, kind: nodePhrase, key: key, typ: extract.TypeConcept}, len(key) > 1
}

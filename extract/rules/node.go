package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// nodeKind is the kind of an argument of a verb.
type nodeKind uint8

const (
	nodeName nodeKind = iota
	nodeSpeaker
	nodePronoun // refers to an earlier name
	nodeDate
	nodeLiteral
	nodePhrase // a lower-case noun phrase
)

// node is something that a relation can link: the tokens [lo, hi) and what they refer to.
type node struct {
	lo, hi int
	kind   nodeKind
	key    string
	name   string
	typ    string
	from   int  // for a pronoun: the token after the name that it refers to
	plural bool // "we": the speaker and others
	weak   bool
}

// Confidence of relations by the way they were found. The API does not define the values (default 0.8); only their order matters.
const (
	confVerb       = 0.8
	confCopula     = 0.75
	confApposition = 0.75
	confPhrase     = 0.7 // one end is a lower-case noun phrase
	confTogether   = 0.3 // two names in one sentence
	factorPronoun  = 0.75
	factorFar      = 0.85 // the subject is far from its verb
)

// defaultSpeaker is the API's default of user_name.
const defaultSpeaker = "User"

// memoryOf holds the names that pronouns can refer to at a place in the text.
type memoryOf struct {
	para       int
	person     [2]node // 0 he, 1 she
	thing      node
	group      node
	subject    node // of the previous sentence
	hasPerson  [2]bool
	hasThing   bool
	hasGroup   bool
	hasSubject bool
}

// nodesOf returns the arguments of a sentence in the order of the text.
func (d *doc) nodesOf(k int, nodes []node, names []language.Name, dates []language.Date, mem *memoryOf) []node {
	s := &d.Sentences[k]
	for i := s.Lo; i < s.Hi; i++ {
		for len(names) > 0 && (names[0].Lo < i || names[0].Part) {
			names = names[1:]
		}
		for len(dates) > 0 && dates[0].Lo < i {
			dates = dates[1:]
		}
		t := &d.Tokens[i]
		switch {
		case len(names) > 0 && names[0].Lo == i:
			h := &names[0]
			n := node{lo: h.Lo, hi: h.Hi, kind: nodeName, key: h.Key, typ: h.Type, weak: h.Weak}
			mem.note(d, n)
			nodes = append(nodes, n)
			i = h.Hi - 1
		case len(dates) > 0 && dates[0].Lo == i:
			h := &dates[0]
			if !h.From.IsZero() {
				nodes = append(nodes, node{lo: h.Lo, hi: h.Hi, kind: nodeDate, key: h.Key(), typ: extract.TypeDate})
			}
			i = h.Hi - 1
		case isLiteral(t.Kind):
			nodes = append(nodes, node{lo: i, hi: i + 1, kind: nodeLiteral, key: extract.Key(d.TokenText(i)), typ: extract.TypeIdentifier})
		case d.isSpeaker(s, i):
			nodes = append(nodes, d.speakerNode(s, i))
		case t.Kind == language.KindWord && t.Is(language.Masculine|language.Feminine|language.ThirdPlural|language.Neuter):
			if n, ok := mem.resolve(t); ok {
				n.from, n.lo, n.hi, n.kind = n.hi, i, i+1, nodePronoun
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}

// isLiteral reports whether tokens of a kind name a thing by themselves, whatever stands around them.
func isLiteral(k language.Kind) bool {
	switch k {
	case language.KindIdentifier, language.KindErrorCode, language.KindURL, language.KindEmail, language.KindHandle:
		return true
	}
	return false
}

// isSpeaker reports whether the token at i means who speaks: "I", "we", and "the user" in a memory.
func (d *doc) isSpeaker(s *language.Sentence, i int) bool {
	switch t := &d.Tokens[i]; {
	case s.Speaker == "":
		return false
	case t.Kind == language.KindWord && t.Is(language.FirstPerson|language.FirstPlural):
		return true
	}
	return d.in.Memory && d.IsWord(s, i, "user") && (i == s.Lo || d.IsWord(s, i-1, "the"))
}

func (d *doc) speakerNode(s *language.Sentence, i int) node {
	return node{lo: i, hi: i + 1, kind: nodeSpeaker, key: extract.Key(s.Speaker), name: s.Speaker, typ: extract.TypePerson, plural: d.Tokens[i].Is(language.FirstPlural)}
}

// newSentence clears the names of earlier paragraphs.
func (m *memoryOf) newSentence(para int) {
	if para != m.para {
		*m = memoryOf{para: para}
	}
}

// note records a name that later pronouns can refer to.
func (m *memoryOf) note(d *doc, n node) {
	n.name = d.SpanText(n.lo, n.hi)
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

// gender guesses the gender from the ending of a given name: 1 she, 0 he, -1 unknown.
func gender(d *doc, n *node) int {
	t := &d.Tokens[n.lo]
	if t.Kind != language.KindWord {
		return -1
	}
	w := strings.ToLower(d.TokenText(n.lo))
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
	case !t.Is(language.GivenName):
		return -1
	case w[len(w)-1] == 'a':
		return 1
	case strings.IndexByte("odkrt", w[len(w)-1]) >= 0:
		return 0
	}
	return -1
}

// resolve returns the node that a pronoun refers to.
func (m *memoryOf) resolve(t *language.Token) (node, bool) {
	switch {
	case t.Is(language.Masculine):
		return m.person[0], m.hasPerson[0]
	case t.Is(language.Feminine):
		return m.person[1], m.hasPerson[1]
	case t.Is(language.Neuter):
		if m.hasSubject && m.subject.typ != extract.TypePerson {
			return m.subject, true
		}
		return m.thing, m.hasThing
	case t.Is(language.ThirdPlural):
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

// maxPhrase is the maximum length of a noun phrase in tokens.
const maxPhrase = 7

// phraseAt reads the lower-case noun phrase at token i: "the old wooden boat" gives "old wooden boat". The phrase ends at a
// preposition, a conjunction, a sign, or a verb that cannot be a noun, or after maxPhrase words.
func (d *doc) phraseAt(s *language.Sentence, i int) (lo, hi int, ok bool) {
	for i < s.Hi && d.Tokens[i].WordIs(language.Determiner|language.Possessive) && !d.Tokens[i].Is(language.NumberWord) && d.Tokens[i].Gap != language.NoGap {
		i++
	}
	lo = i
	for i < s.Hi && i-lo < maxPhrase && d.inPhrase(s, lo, i) {
		i++
	}
	for i > lo && (d.Tokens[i-1].Is(language.Adverb|language.Temporal) || d.Tokens[i-1].Kind == language.KindWord && (d.isAdverbEnd(i-1) || i-1 > lo && d.weekdaysAt(i-1))) {
		i--
	}
	return lo, i, i > lo && d.Tokens[i-1].Kind != language.KindClitic
}

// weekdaysAt reports whether token i is a day of the week in plural, which tells when: "I have dialysis Wednesdays".
func (d *doc) weekdaysAt(i int) bool {
	w := d.WordKey(i)
	return d.in.Memory && len(w) > 6 && w[len(w)-1] == 's' && wordLists()["weekdays"][w[:len(w)-1]]
}

// inPhrase reports whether token i belongs to the noun phrase that begins at lo.
func (d *doc) inPhrase(s *language.Sentence, lo, i int) bool {
	switch t := &d.Tokens[i]; t.Kind {
	case language.KindIdentifier:
		return true
	case language.KindNumber:
		return !t.Used
	case language.KindClitic:
		return i > lo && i+1 < s.Hi && d.Text[t.End-1] == 's' && d.Tokens[i+1].Kind == language.KindWord && !d.Tokens[i+1].Is(language.FunctionWord)
	case language.KindWord:
		if i == lo {
			return d.beginsPhrase(t)
		}
		return !t.Is(language.DayWord) && d.extendsPhrase(s, i)
	}
	return false
}

// beginsPhrase reports whether a word can be the first of a noun phrase after its article.
func (d *doc) beginsPhrase(t *language.Token) bool {
	if t.Is(language.DayWord) || t.Used && !t.Is(language.Unit) {
		return false
	}
	return !t.Is(language.FunctionWord|language.Conjunction) || t.Is(language.Adjective|language.NumberWord)
}

// extendsPhrase reports whether the word at token i can belong to the noun phrase that the words before it begin.
func (d *doc) extendsPhrase(s *language.Sentence, i int) bool {
	t := &d.Tokens[i]
	if t.Is(language.FunctionWord|language.Adverb|language.Conjunction|language.Preposition) && !t.Is(language.Adjective) {
		return false
	}
	if form := t.Word().Form; t.Word().Verb > 0 && form&(language.PastForm|language.Participle) != 0 && form&(language.BaseForm|language.IngForm) == 0 && d.Tokens[i-1].Kind != language.KindClitic {
		return false // "a dog named Rex"
	}
	if i+1 >= s.Hi {
		return true
	}
	if d.in.Memory && d.unknownParticiple(i) && d.Tokens[i+1].Kind == language.KindWord && (d.Tokens[i+1].Is(language.Preposition) || d.WordKey(i+1) == "like") {
		return false // "a cake shaped like a box"
	}
	return !t.Is(language.Temporal) || !d.Tokens[i+1].Is(language.TimeUnit|language.Weekday|language.Month|language.Season)
}

// unknownParticiple reports whether the word at token i, which the tables do not have, ends like a participle: "pierced".
func (d *doc) unknownParticiple(i int) bool {
	t := &d.Tokens[i]
	return t.Word().Verb == 0 && t.Word().Flags == 0 && t.End-t.Start > 5 && strings.HasSuffix(d.TokenText(i), "ed")
}

// phraseNode returns the noun phrase at i as a node.
func (d *doc) phraseNode(s *language.Sentence, i int) (node, bool) {
	lo, hi, ok := d.phraseAt(s, i)
	if !ok {
		return node{}, false
	}
	if d.IsWord(s, hi, "of") && hi-lo <= 3 { // "two cups of coffee"
		if _, more, ok := d.phraseAt(s, hi+1); ok && more-hi <= 4 {
			hi = more
		}
	}
	key := extract.Key(d.SpanText(lo, hi))
	return node{lo: lo, hi: hi, kind: nodePhrase, key: key, typ: extract.TypeConcept}, len(key) > 1
}

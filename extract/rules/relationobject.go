package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// notPreposition reports whether "to" at i begins an infinitive or ends a phrase such as "due to".
func (d *doc) notPreposition(s *language.Sentence, i int) bool {
	if i+1 < s.Hi && d.Tokens[i+1].Shape == language.LowerCase && d.Tokens[i+1].Word().Verb > 0 && d.Tokens[i+1].Word().Form&language.BaseForm != 0 {
		return true
	}
	if w := d.TokenText(i + min(1, s.Hi-1-i)); d.in.Memory && i+1 < s.Hi && d.Tokens[i+1].Shape == language.LowerCase && d.Tokens[i+1].Word().Flags == 0 && len(w) > 5 && (strings.HasSuffix(w, "ise") || strings.HasSuffix(w, "ize") || strings.HasSuffix(w, "ify")) {
		return true // "enough Dutch to apologise"
	}
	return d.IsWord(s, i-1, "due") || d.IsWord(s, i-1, "next") || d.IsWord(s, i-1, "up") || d.IsWord(s, i-1, "according") || d.IsWord(s, i-1, "thanks")
}

// objects adds the statements for the objects that begin at token i. Objects are names; a direct object, or one of the speaker, may
// also be a noun phrase.
func (r *relator) objects(s *language.Sentence, c *clause, fr *frame, i, end int, direct bool) {
	d := r.d
	if d.in.Memory && i < end {
		end = d.listEnd(i, end)
	}
	for count := 0; count < maxObjects && i < end; count++ {
		n, next, ok := r.object(s, c, fr, i, end, direct)
		if !ok {
			return
		}
		if direct && count == 0 {
			n, next = r.gift(s, c, n, next, end)
		}
		r.link(s, c, fr, n)
		if r.apposed(s, &n, next) {
			return
		}
		// more elements of a list: "tea, coffee and cake"
		j := next
		if j < end && d.IsPunct(s, j, ',') {
			j++
		}
		if j < end && (d.IsWord(s, j, "and") || d.IsWord(s, j, "or")) {
			j++
		}
		if j == next+1 && d.IsPunct(s, next, ',') && fr.target == extract.TypeLocation && (fr.predicate != "located_in" || r.nodes[c.subject].kind == nodeSpeaker) && !r.lists(s, j, end) {
			return // "in Lisbon, Portugal": the second place contains the first
		}
		if j == next || j >= end || d.Tokens[j].Kind == language.KindWord && (d.Tokens[j].Word().Verb > 0 && nodeAt(r.nodes, j) < 0 && !d.gerund(j) || d.Tokens[j].Is(language.Conjunction|language.WhWord|language.Adverb|language.FirstPerson|language.FirstPlural|language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural|language.SecondPerson)) {
			return
		}
		i = j
	}
}

// lists reports whether names after a comma form a list, which ends in "and" and a name: "Oslo, Rome and Paris".
func (r *relator) lists(s *language.Sentence, i, end int) bool {
	for ; i+1 < end; i++ {
		if r.d.IsWord(s, i, "and") || r.d.IsWord(s, i, "or") {
			return nodeAt(r.nodes, i+1) >= 0 && r.nodes[nodeAt(r.nodes, i+1)].kind == nodeName
		}
	}
	return false
}

func (d *doc) gerund(i int) bool { return d.Tokens[i].Word().Form&language.IngForm != 0 }

// object reads one object at token i: a name, or a noun phrase.
func (r *relator) object(s *language.Sentence, c *clause, fr *frame, i, end int, direct bool) (node, int, bool) {
	d := r.d
	if d.in.Memory && i < end && d.Tokens[i].Is(language.FormOfBe) {
		return node{}, 0, false // "the best city I've lived in is Turin"
	}
	if k := r.objectNode(s, i, end, direct); k >= 0 {
		if k == c.subject {
			return node{}, 0, false
		}
		if n, ok := r.wholeName(s, k, end); ok {
			return n, n.hi, true
		}
	}
	if subject := &r.nodes[c.subject]; !direct && subject.kind != nodeSpeaker && (objectType(fr) == "" || subject.typ != extract.TypePerson && subject.typ != extract.TypeConcept) {
		return node{}, 0, false
	}
	for i < end && d.Tokens[i].Is(language.Adverb) && !d.Tokens[i].Is(language.Adjective|language.Negation) {
		i++
	}
	n, ok := d.phraseNode(s, i)
	if !ok || n.hi > end || nodeAt(r.nodes, n.hi-1) >= 0 {
		return node{}, 0, false
	}
	return n, n.hi, true
}

// objectNode returns the node that is the object at token i, after articles and adjectives, or -1 if the object is a noun phrase.
func (r *relator) objectNode(s *language.Sentence, i, end int, direct bool) int {
	for j := i; j < min(end, i+6); j++ {
		if k := nodeAt(r.nodes, j); k >= 0 {
			if r.nodes[k].kind == nodeDate && (direct || j > i) {
				return -1 // "went to a workshop this month"
			}
			return k
		}
		if !r.d.beforeName(s, j, j == i) {
			return -1
		}
	}
	return -1
}

// beforeName reports whether token i may stand between a verb or preposition and a name that is its object; first says that it is the first
// such token.
func (d *doc) beforeName(s *language.Sentence, i int, first bool) bool {
	t := &d.Tokens[i]
	switch {
	case t.Kind == language.KindNumber, d.isSign(i, '"'):
		return true
	case t.Kind != language.KindWord, t.Is(language.Preposition|language.Conjunction) && !t.Is(language.Adjective), t.Is(language.KinNoun | language.Occupation):
		return false
	case first:
		return true
	case t.Is(language.Adverb) && !t.Is(language.Adjective):
		return false
	}
	return t.Word().Verb == 0 || t.Word().Form&language.IngForm != 0 || d.usedAsNoun(s, i)
}

// wholeName returns node k as an object, with the words after it that it modifies: "Harbor Street bakery". In "his brother" and "Anna's book"
// it is only the owner of the object.
func (r *relator) wholeName(s *language.Sentence, k, end int) (node, bool) {
	d, n := r.d, r.nodes[k]
	if hi := d.modifies(s, &n); hi > n.hi && hi <= end {
		if k := nodeAt(r.nodes, hi); k >= 0 && r.nodes[k].kind == nodeName {
			return r.nodes[k], true // "the Korean band Nightfall"
		}
		return node{lo: n.lo, hi: hi, kind: nodePhrase, key: extract.Key(d.SpanText(n.lo, hi)), typ: extract.TypeConcept}, true
	}
	owner := d.Tokens[n.lo].Is(language.Possessive) || n.hi < s.Hi && d.Tokens[n.hi].Kind == language.KindClitic && d.Text[d.Tokens[n.hi].End-1] == 's'
	return n, !owner
}

// modifies returns the end of the noun phrase that a name begins ("Harbor Street bakery"), or the end of the name.
func (d *doc) modifies(s *language.Sentence, n *node) int {
	if n.kind != nodeName || n.typ == extract.TypePerson {
		return n.hi
	}
	hi := n.hi
	for hi < s.Hi && hi-n.lo < 8 {
		t := &d.Tokens[hi]
		if t.Kind != language.KindWord || t.Gap != language.SpaceGap || t.Shape != language.LowerCase || t.Used || t.Is(language.FunctionWord|language.Adverb|language.Conjunction|language.Preposition|language.Temporal|language.TimeUnit|language.Retraction|language.DayWord) || d.isAdverbEnd(hi) || t.Word().Verb > 0 && t.Word().Form&(language.BaseForm|language.IngForm) == 0 {
			break
		}
		hi++
	}
	return hi
}

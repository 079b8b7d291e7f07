package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// clause is a verb with its subject and tense.
type clause struct {
	verbTok int // the main verb
	lo, hi  int // the verb group [lo, hi): auxiliaries, adverbs, verb, particle
	end     int // the end of the tokens that can hold its objects
	subject int // index of the subject's node, -1 for none
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
func (d *doc) clauses(s *language.Sentence, nodes []node, out []clause) []clause {
	hyp := d.hypothetical(s)
	for i := s.Lo; i < s.Hi; i++ {
		t := &d.Tokens[i]
		if t.Kind != language.KindWord || t.Word.Verb == 0 || t.Shape == language.Capitalized && i != s.Lo || t.Is(language.FormOfDo) || nodeAt(nodes, i) >= 0 || d.usedAsNoun(s, i) {
			continue
		}
		if d.IsWord(s, i, "like") && i > s.Lo && !d.Tokens[i-1].Is(language.FirstPerson|language.FirstPlural|language.SecondPerson|language.ThirdPlural|language.Modal|language.FormOfDo|language.Adverb|language.Negation|language.Conjunction) && (!plainPlural(d.TokenText(i-1)) || d.in.Memory && i-1 == s.Lo && d.Tokens[i-1].Shape == language.Capitalized && !d.Tokens[i-1].Is(language.GivenName)) {
			continue // "on the bus like a teenager", "Hands like a bishop"
		}
		if d.IsWord(s, i, "used") && d.IsWord(s, i+1, "to") || t.Is(language.FormOfHave) && d.auxiliary(s, i) {
			continue
		}
		c := clause{verbTok: i, lo: i, hi: i + 1, subject: -1, hyp: hyp || d.in.Memory && d.conditional(s, i)}
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
func (d *doc) hypothetical(s *language.Sentence) bool {
	for i := s.Lo; i < s.Hi && i < s.Lo+3; i++ {
		if d.IsWord(s, i, "if") || d.IsWord(s, i, "unless") || d.IsWord(s, i, "suppose") || d.IsWord(s, i, "imagine") || d.IsWord(s, i, "wish") || d.IsWord(s, i, "maybe") ||
			d.IsWord(s, i, "perhaps") || d.IsWord(s, i, "assuming") {
			return true
		}
	}
	return false
}

// auxiliary reports whether "have" at i is the auxiliary of a participle.
func (d *doc) auxiliary(s *language.Sentence, i int) bool {
	for j := i + 1; j < s.Hi && j < i+4; j++ {
		t := &d.Tokens[j]
		if d.IsWord(s, j, "been") {
			return true
		}
		if t.Is(language.Adverb | language.Negation) {
			continue
		}
		return t.Kind == language.KindWord && !t.Is(language.Determiner) && (t.Word.Verb > 0 && t.Word.Form&language.Participle != 0 || t.Word.Verb == 0 && strings.HasSuffix(d.TokenText(j), "ed"))
	}
	return false
}

// usedAsNoun reports whether the word at i, which could be a verb, is in the position of a noun: "the work", "a visit".
func (d *doc) usedAsNoun(s *language.Sentence, i int) bool {
	t := &d.Tokens[i]
	if i == s.Lo {
		return false
	}
	prev := &d.Tokens[i-1]
	switch {
	case prev.Kind == language.KindWord && prev.Is(language.Determiner|language.Possessive) && !prev.Is(language.Masculine|language.Feminine|language.ThirdPlural) || prev.Kind == language.KindClitic && d.Text[prev.End-1] == 's' && t.Word.Form&(language.IngForm|language.Participle) == 0:
		return true
	case prev.Kind == language.KindWord && prev.Word.Verb > 0 && !prev.Is(language.FormOfBe|language.FormOfHave|language.FormOfDo|language.Modal|language.Preposition) && prev.Word.Form&language.IngForm == 0 && t.Word.Form&(language.PastForm|language.IngForm) == 0 &&
		(t.Word.Form&language.ThirdForm != 0 || !d.IsWord(s, i-1, "help") && !d.IsWord(s, i-1, "let")):
		return true // "enjoys trains"
	case prev.Kind == language.KindWord && prev.Is(language.Adjective) && !prev.Is(language.Adverb) && t.Word.Form&(language.BaseForm|language.ThirdForm) != 0 && !prev.Is(language.FunctionWord):
		return true
	case prev.Kind == language.KindWord && prev.Is(language.Preposition) && !d.IsWord(s, i-1, "to") && t.Word.Form&(language.BaseForm|language.ThirdForm|language.PastForm) != 0 && t.Word.Form&language.IngForm == 0:
		return true
	}
	if t.Word.Form&language.IngForm != 0 { // a gerund is a clause only after "be", or as a participle after a comma
		return !prev.Is(language.FormOfBe|language.Adverb|language.Negation) && prev.Kind != language.KindClitic
	}
	if t.Word.Form&(language.BaseForm|language.PastForm) == language.BaseForm && i+1 < s.Hi && d.Tokens[i+1].Kind == language.KindWord && d.Tokens[i+1].Is(language.FormOfBe) && !prev.Is(language.Modal) {
		return true // "the plan is"
	}
	return false
}

// verbGroup adds the auxiliaries and adverbs before a verb to its clause, and notes tense, voice and negation.
func (d *doc) verbGroup(s *language.Sentence, c *clause) {
	t := &d.Tokens[c.verbTok]
	be := false
	c.past = t.Word.Form&language.PastForm != 0 && t.Word.Form&language.BaseForm == 0
	i := c.verbTok - 1
	for ; i >= s.Lo && c.verbTok-i <= 6; i-- {
		p := &d.Tokens[i]
		if p.Kind == language.KindPunct || p.Kind == language.KindNumber {
			break
		}
		switch {
		case d.IsWord(s, i, "longer") && d.IsWord(s, i-1, "no"):
			c.ended = true
			i--
		case p.Is(language.FormOfBe) && (p.Kind != language.KindClitic || d.Text[p.End-1] != 's' || t.Word.Form&(language.IngForm|language.Participle) != 0):
			be = true
			c.past = c.past || d.IsWord(s, i, "was") || d.IsWord(s, i, "were")
		case p.Is(language.FormOfHave):
			c.perfect, c.past = true, c.past || t.Word.Form&language.Participle != 0
		case p.Is(language.FormOfDo):
			c.past = c.past || d.IsWord(s, i, "did") || d.IsWord(s, i, "didn't")
		case p.Is(language.Future):
			c.future = true
		case p.Is(language.Modal):
			c.hyp = true
		case d.IsWord(s, i, "to") && d.IsWord(s, i-1, "used"):
			c.ended, c.past = true, true
			i--
		case d.IsWord(s, i, "to") && d.IsWord(s, i-1, "going"):
			c.future = true
			i--
		case p.Is(language.Adverb) && p.Kind == language.KindWord, p.Is(language.Negation) && p.Kind == language.KindWord:
		default:
			goto done
		}
		c.negated = c.negated || p.Is(language.Negation)
		c.hyp = c.hyp || p.Is(language.Hypothetical)
	}
done:
	c.lo = i + 1
	for c.lo < c.verbTok && d.Tokens[c.lo].Is(language.Adverb) && !d.Tokens[c.lo].Is(language.Negation) && c.lo == s.Lo {
		c.lo++
	}
	if be && t.Word.Form&language.Participle != 0 && t.Word.Form&language.IngForm == 0 {
		c.passive = true
	}
	if !be && t.Word.Form&language.Participle != 0 && !c.perfect && c.hi < s.Hi && d.IsWord(s, c.hi, "by") {
		c.passive = true // "the book, written by"
	}
	if c.hi < s.Hi && d.IsWord(s, c.hi, "up") {
		c.hi++
	}
	for j := c.hi; j < s.Hi && j < c.hi+12; j++ {
		if d.IsWord(s, j, "anymore") || d.IsWord(s, j, "any") && d.IsWord(s, j+1, "more") || d.IsWord(s, j, "any") && d.IsWord(s, j+1, "longer") {
			c.ended = c.ended || c.negated
		}
	}
}

// infinitive reports whether the verb only completes another one ("wants to visit"), so that it states no action.
func (d *doc) infinitive(s *language.Sentence, c *clause) bool {
	return d.IsWord(s, c.lo-1, "to") && !c.ended && !c.future
}

// findSubject picks the subject of a verb group.
func (d *doc) findSubject(s *language.Sentence, nodes []node, c *clause, before []clause) {
	i := c.lo - 1
	if i < s.Lo {
		return
	}
	t := &d.Tokens[i]
	if t.Kind == language.KindWord && t.Is(language.Conjunction) && !t.Is(language.WhWord) && !d.IsWord(s, i, "that") && len(before) > 0 {
		c.subject, c.far = before[len(before)-1].subject, true
		if c.subject >= 0 && d.in.Memory && nodes[c.subject].kind == nodeSpeaker && (d.IsWord(s, nodes[c.subject].lo, "me") || d.IsWord(s, nodes[c.subject].lo, "us")) {
			c.subject = -1 // "our helper, who has been with us for years and runs the country"
			return
		}
		if d.IsWord(s, i, "and") || d.IsWord(s, i, "but") || d.IsWord(s, i, "or") {
			c.hyp = c.hyp || before[len(before)-1].hyp
			c.passive = c.passive || before[len(before)-1].passive && d.Tokens[c.verbTok].Word.Form&language.BaseForm == 0 && d.Tokens[c.verbTok].Word.Form&language.Participle != 0 && c.lo == c.verbTok
		}
		return
	}
	if t.Kind == language.KindWord && (d.IsWord(s, i, "who") || d.IsWord(s, i, "which") || d.IsWord(s, i, "that")) {
		if i--; i >= s.Lo && d.Tokens[i].Kind == language.KindPunct {
			i--
		}
		if d.in.Memory && i >= s.Lo {
			if k := nodeAt(nodes, i); k >= 0 && nodes[k].kind == nodeName && nodes[k].typ == extract.TypePerson {
				c.subject = k // "with Meher, who plays"
				return
			} else if k >= 0 && nodes[k].kind == nodeName && d.governed(s, nodes[k].lo) {
				return // "the lad from Corwen who had"
			} else if t := &d.Tokens[i]; k < 0 && t.Kind == language.KindWord && t.Shape == language.LowerCase && i == c.lo-2 && !t.Is(language.FormOfBe) && t.Word.Verb == 0 {
				return // "somebody who takes"
			}
		}
	} else if t.Kind == language.KindPunct && t.Sign == ',' {
		// "Anna Lind, the founder of Acme, lives": the words between the commas are an aside.
		if k := d.openingName(s, nodes, c.lo); k >= 0 {
			c.subject, c.far = k, nodes[k].hi < c.lo-6
			return
		}
		j := i - 1
		for j > s.Lo && !(d.Tokens[j].Kind == language.KindPunct && d.Tokens[j].Sign == ',') {
			j--
		}
		if j > s.Lo {
			i = j - 1
			if nodeAt(nodes, i) < 0 {
				i = c.lo - 2
			}
		} else {
			i--
		}
	} else if t.Kind == language.KindPunct && t.Sign == ')' {
		for i > s.Lo && !(d.Tokens[i].Kind == language.KindPunct && d.Tokens[i].Sign == '(') {
			i--
		}
		i--
	}
	who := -1 // whom a pronoun without a node means
	for steps := 0; i >= s.Lo && steps < 10; i, steps = i-1, steps+1 {
		t := &d.Tokens[i]
		if k := nodeAt(nodes, i); k >= 0 {
			if nodes[k].kind == nodeDate {
				i = nodes[k].lo
				continue
			}
			if lo := nodes[k].lo; lo > s.Lo && d.governed(s, lo) && !d.subjectPronoun(s, lo) {
				i = d.beforePreposition(s, lo)
				continue
			}
			if d.Tokens[nodes[k].hi-1].End < d.Tokens[c.lo].Start && nodes[k].hi < s.Hi && d.Tokens[nodes[k].hi].Kind == language.KindClitic && d.Text[d.Tokens[nodes[k].hi].End-1] == 's' && nodes[k].hi < c.lo {
				return // "Anna's dog sleeps": Anna is not the one
			}
			if d.Tokens[nodes[k].lo].Is(language.Possessive) {
				return
			}
			if k > 0 && nodes[k-1].kind == nodeName && nodes[k-1].hi == nodes[k].lo-1 && d.IsPunct(s, nodes[k-1].hi, ',') && !d.governed(s, nodes[k-1].lo) &&
				nodes[k].kind == nodeName && nodes[k].typ != extract.TypePerson {
				k-- // "Port Elder, Northland, lies"
			}
			if d.in.Memory && nodes[k].hi-nodes[k].lo == 1 && d.Tokens[nodes[k].lo].Is(language.Demonym) && nodes[k].lo > s.Lo && d.Tokens[nodes[k].lo-1].Is(language.FormOfBe) {
				return // "the cook is Filipino, Rodel, makes"
			}
			if who >= 0 && who != k {
				return
			}
			c.subject, c.far = k, c.far || steps > 3
			return
		}
		if t.Kind == language.KindWord && t.Is(language.SecondPerson) && !t.Is(language.Possessive) {
			return // "Astrid, you keep mixing them up"
		}
		if d.in.Memory && t.Kind == language.KindWord && t.Is(language.Masculine|language.Feminine|language.ThirdPlural) && !t.Is(language.Possessive) {
			if who = d.lastPerson(nodes, i); who < 0 || t.Is(language.ThirdPlural) {
				return // "gave Lagos to Hulya, she knows them"
			}
		}
		if t.Kind == language.KindWord && t.Shape == language.LowerCase && !t.Is(language.FunctionWord|language.Adverb) {
			start := d.phraseStart(s, i)
			if start == s.Lo || !d.Tokens[start-1].Is(language.Preposition) || d.Tokens[start-1].Kind != language.KindWord {
				return // a common noun is the subject
			}
			i = start - 1
			continue
		}
		if t.Kind == language.KindWord && t.Is(language.Conjunction|language.WhWord) && !t.Is(language.Preposition) && !d.IsWord(s, i, "and") && !d.IsWord(s, i, "or") {
			return
		}
		if t.Kind == language.KindPunct && (t.Sign == ';' || t.Sign == ':' || t.Sign == '"') || t.Kind == language.KindWord && t.Word.Verb > 0 && t.Word.Form&(language.PastForm|language.ThirdForm) != 0 && !d.usedAsNoun(s, i) && !t.Is(language.Determiner) {
			return
		}
	}
}

// openingName returns the name that opens a sentence and is followed by an aside: "Anna Lind (born 1961), a poet, lives".
func (d *doc) openingName(s *language.Sentence, nodes []node, before int) int {
	if len(nodes) == 0 || nodes[0].kind != nodeName && nodes[0].kind != nodeSpeaker || nodes[0].lo > s.Lo+1 || nodes[0].hi >= before {
		return -1
	}
	hi := nodes[0].hi
	if !d.IsPunct(s, hi, ',') && !d.IsPunct(s, hi, '(') {
		return -1
	}
	return 0
}

// phraseStart returns the start of the lower-case noun phrase that ends at token i.
func (d *doc) phraseStart(s *language.Sentence, i int) int {
	for i > s.Lo {
		p := &d.Tokens[i-1]
		if p.Kind != language.KindWord || p.Shape != language.LowerCase || p.Is(language.Preposition|language.Conjunction|language.Adverb) && !p.Is(language.Adjective|language.Determiner) || p.Is(language.FunctionWord) && !p.Is(language.Adjective|language.Determiner|language.Possessive) {
			break
		}
		i--
	}
	return i
}

// governed reports whether a preposition governs the node that begins at lo ("the mayor of Berlin").
func (d *doc) governed(s *language.Sentence, lo int) bool {
	i := lo - 1
	for i > s.Lo && d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Determiner|language.Adjective) && !d.Tokens[i].Is(language.Preposition) {
		i--
	}
	return i >= s.Lo && d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Preposition) && d.Tokens[i].Word.Verb == 0
}

// beforePreposition returns the token before the preposition that governs the node at lo.
func (d *doc) beforePreposition(s *language.Sentence, lo int) int {
	i := lo - 1
	for i > s.Lo && !(d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Preposition)) {
		i--
	}
	return i
}

// plainPlural reports whether a word looks like a plural, so that a base form can be its verb: "my parents like".
func plainPlural(w string) bool {
	return len(w) > 2 && w[len(w)-1] == 's' && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") || w == "people" || w == "children"
}

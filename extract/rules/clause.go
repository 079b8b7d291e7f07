package rules

import (
	"strings"

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
		if t.Kind != language.KindWord || t.Word().Verb == 0 || t.Shape == language.Capitalized && i != s.Lo || t.Is(language.FormOfDo) || nodeAt(nodes, i) >= 0 || d.usedAsNoun(s, i) {
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
		return t.Kind == language.KindWord && !t.Is(language.Determiner) && (t.Word().Verb > 0 && t.Word().Form&language.Participle != 0 || t.Word().Verb == 0 && strings.HasSuffix(d.TokenText(j), "ed"))
	}
	return false
}

// usedAsNoun reports whether the word at i, which could be a verb, is in the position of a noun: "the work", "a visit".
func (d *doc) usedAsNoun(s *language.Sentence, i int) bool {
	if i == s.Lo {
		return false
	}
	t, prev := &d.Tokens[i], &d.Tokens[i-1]
	form := t.Word().Form
	if d.isOwned(t, prev) || prev.Kind == language.KindWord && d.isObjectOf(s, i) {
		return true
	}
	if d.in.Memory && prev.WordIs(language.NumberWord) && i-2 >= s.Lo && (d.Tokens[i-2].Is(language.FormOfHave) || form&language.BaseForm != 0 && d.Tokens[i-2].Word().Verb > 0) {
		return true // "I have two direct reports"
	}
	if form&language.IngForm != 0 { // a gerund is a clause only after "be", or as a participle after a comma
		return !prev.Is(language.FormOfBe|language.Adverb|language.Negation) && prev.Kind != language.KindClitic
	}
	beFollows := i+1 < s.Hi && d.Tokens[i+1].Kind == language.KindWord && d.Tokens[i+1].Is(language.FormOfBe)
	return form&(language.BaseForm|language.PastForm) == language.BaseForm && beFollows && !prev.Is(language.Modal) // "the plan is"
}

// isOwned reports whether the word before a token says whose or which it is: "the work", "Anna's visit".
func (d *doc) isOwned(t, prev *language.Token) bool {
	switch prev.Kind {
	case language.KindWord:
		return prev.Is(language.Determiner|language.Possessive) && !prev.Is(language.Masculine|language.Feminine|language.ThirdPlural)
	case language.KindClitic:
		return d.Text[prev.End-1] == 's' && t.Word().Form&(language.IngForm|language.Participle) == 0
	}
	return false
}

// isObjectOf reports whether the word before the word at i, a verb, an adjective or a preposition, takes it as a noun.
func (d *doc) isObjectOf(s *language.Sentence, i int) bool {
	form, prev := d.Tokens[i].Word().Form, &d.Tokens[i-1]
	if prev.Word().Verb > 0 && prev.Word().Form&language.IngForm == 0 && form&(language.PastForm|language.IngForm) == 0 &&
		!prev.Is(language.FormOfBe|language.FormOfHave|language.FormOfDo|language.Modal|language.Preposition) &&
		(form&language.ThirdForm != 0 || !d.IsWord(s, i-1, "help") && !d.IsWord(s, i-1, "let")) {
		return true // "enjoys trains"
	}
	if prev.Is(language.Adjective) && !prev.Is(language.Adverb|language.FunctionWord) && form&(language.BaseForm|language.ThirdForm) != 0 {
		return true // "a long walk"
	}
	return prev.Is(language.Preposition) && !d.IsWord(s, i-1, "to") && form&language.IngForm == 0 &&
		form&(language.BaseForm|language.ThirdForm|language.PastForm) != 0 // "for work"
}

// verbGroup adds the auxiliaries and adverbs before a verb to its clause, and notes tense, voice and negation.
func (d *doc) verbGroup(s *language.Sentence, c *clause) {
	t := &d.Tokens[c.verbTok]
	c.past = t.OnlyPast()
	be, i := false, c.verbTok-1
	for i >= s.Lo && c.verbTok-i <= 6 {
		words, formOfBe := d.auxiliaryEnding(s, c, i)
		if words == 0 {
			break
		}
		be = be || formOfBe
		c.negated = c.negated || d.Tokens[i].Is(language.Negation)
		c.hyp = c.hyp || d.Tokens[i].Is(language.Hypothetical)
		i -= words
	}
	c.lo = i + 1
	for c.lo == s.Lo && c.lo < c.verbTok && d.Tokens[c.lo].Is(language.Adverb) && !d.Tokens[c.lo].Is(language.Negation) {
		c.lo++
	}
	c.passive = d.isPassive(s, c, be)
	if c.hi < s.Hi && d.IsWord(s, c.hi, "up") {
		c.hi++
	}
	for j := c.hi; c.negated && j < s.Hi && j < c.hi+12; j++ {
		c.ended = c.ended || d.anymoreAt(s, j)
	}
}

// auxiliaryEnding notes what the auxiliary or adverb that ends at token i says of a clause. It returns its number of words, 0 if there is
// none, and whether it is a form of "be".
func (d *doc) auxiliaryEnding(s *language.Sentence, c *clause, i int) (words int, be bool) {
	t, p := &d.Tokens[c.verbTok], &d.Tokens[i]
	switch {
	case p.Kind == language.KindPunct || p.Kind == language.KindNumber:
		return 0, false
	case d.IsWord(s, i, "longer") && d.IsWord(s, i-1, "no"):
		c.ended = true
		return 2, false
	case p.Is(language.FormOfBe) && (p.Kind != language.KindClitic || d.Text[p.End-1] != 's' || t.Word().Form&(language.IngForm|language.Participle) != 0):
		c.past = c.past || d.IsOneOf(s, i, "was", "were")
		return 1, true
	case p.Is(language.FormOfHave):
		c.perfect, c.past = true, c.past || t.Word().Form&language.Participle != 0
	case p.Is(language.FormOfDo):
		c.past = c.past || d.IsOneOf(s, i, "did", "didn't")
	case p.Is(language.Future):
		c.future = true
	case p.Is(language.Modal):
		c.hyp = true
	case d.IsWord(s, i, "to") && d.IsWord(s, i-1, "used"):
		c.ended, c.past = true, true
		return 2, false
	case d.IsWord(s, i, "to") && d.IsWord(s, i-1, "going"):
		c.future = true
		return 2, false
	case !p.WordIs(language.Adverb | language.Negation):
		return 0, false
	}
	return 1, false
}

// isPassive reports whether the verb of a clause is a passive participle; be says that a form of "be" stands before it.
func (d *doc) isPassive(s *language.Sentence, c *clause, be bool) bool {
	form := d.Tokens[c.verbTok].Word().Form
	if form&language.Participle == 0 {
		return false
	}
	if be {
		return form&language.IngForm == 0
	}
	return !c.perfect && d.IsWord(s, c.hi, "by") // "the book, written by"
}

// anymoreAt reports whether "anymore" or the like stands at token i.
func (d *doc) anymoreAt(s *language.Sentence, i int) bool {
	return d.IsWord(s, i, "anymore") || d.IsWord(s, i, "any") && d.IsOneOf(s, i+1, "more", "longer")
}

// infinitive reports whether the verb only completes another one ("wants to visit"), so that it states no action.
func (d *doc) infinitive(s *language.Sentence, c *clause) bool {
	return d.IsWord(s, c.lo-1, "to") && !c.ended && !c.future
}

// plainPlural reports whether a word looks like a plural, so that a base form can be its verb: "my parents like".
func plainPlural(w string) bool {
	return len(w) > 2 && w[len(w)-1] == 's' && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") || w == "people" || w == "children"
}

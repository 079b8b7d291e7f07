package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// unsaid reports whether the words behind a claim take it back or limit it, or its object is no thing.
func (d *doc) unsaid(s *language.Sentence, c *claim) bool {
	for i := c.lo + 1; i < c.hi; i++ {
		if d.IsWord(s, i, "no") && d.IsOneOf(s, i+1, "sorry", "wait", "hang") || d.IsWord(s, i, "scratch") && d.IsWord(s, i+1, "that") {
			return true
		}
	}
	if c.negated && d.IsWord(s, c.lo-1, "no") && (d.Tokens[c.lo].Kind == language.KindNumber || d.Tokens[c.lo].WordIs(language.NumberWord)) {
		return true // "two kids no three kids"
	}
	return d.takenBack(s, c.hi) || c.negated && !c.ended && d.onlySometimes(s, c) || c.ended && d.resumed(s, c) || d.nameless(c) || d.movesThing(s, c) || (c.verb || !c.relation) && d.otherSubject(s, c)
}

// takenBack reports whether the speaker corrects himself right behind the object that ends before token i: "in Slough no sorry Staines", "a Volvo
// no hang on it's a Saab", "the post office no the bank".
func (d *doc) takenBack(s *language.Sentence, i int) bool {
	for end := i + 2; i < end && i < s.Hi && (d.IsPunct(s, i, ',') || d.IsPunct(s, i, '-') || d.Tokens[i].Is(language.Weekday|language.Preposition) && d.Tokens[i].Kind == language.KindWord); i++ {
	}
	if i+1 >= s.Hi {
		return false
	}
	meant := d.IsWord(s, i+1, "i") && d.IsWord(s, i+2, "mean")
	switch d.WordKey(i) {
	case "no":
		return meant || d.IsOneOf(s, i+1, "sorry", "wait", "hang", "hold", "actually") || d.noOther(s, i)
	case "wait":
		return d.IsWord(s, i+1, "no")
	case "sorry":
		name := i + 1
		if d.IsPunct(s, name, ',') {
			name++
		}
		return meant || d.IsWord(s, i+1, "no") || d.IsPunct(s, i-1, ',') && name < s.Hi && d.Tokens[name].Capital() && !d.subjectStart(s, name)
	case "scratch":
		return d.IsWord(s, i+1, "that")
	case "or":
		return d.IsWord(s, i+1, "rather")
	case "i":
		return d.IsOneOf(s, i+1, "mean", "meant") && d.namedNext(s, i+2)
	}
	return false
}

// noOther reports whether "no" at token i, without a sign, comes before what is said instead: "the post office no the bank".
func (d *doc) noOther(s *language.Sentence, i int) bool {
	before, n := &d.Tokens[i-1], &d.Tokens[i+1]
	return before.Kind == language.KindWord && !before.Is(language.Conjunction|language.Preposition) && n.Kind == language.KindWord &&
		(n.WordIs(language.Determiner) || n.Is(language.Weekday|language.Month)) && !d.IsOneOf(s, i+1, "more", "other", "such")
}

// namedNext reports whether a word that can be an object, and no clause, begins at token i: "I mean amoxicillin", not "I mean really allergic".
func (d *doc) namedNext(s *language.Sentence, i int) bool {
	first := i
	for i < s.Hi && d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Shape == language.LowerCase && (d.Tokens[i].WordIs(language.Adverb) || strings.HasSuffix(d.TokenText(i), "ly")) {
		i++
	}
	if i >= s.Hi || d.Tokens[i].Kind != language.KindWord || d.subjectStart(s, i) || i > first && d.Tokens[i].Is(language.Adjective) {
		return false
	}
	for j := s.Lo; j < first-2; j++ {
		if k := d.WordKey(j); k == d.WordKey(i) || i+1 < s.Hi && k != "" && k == d.WordKey(i+1) {
			return false // "I mean allergic allergic", "two dogs, I mean big dogs"
		}
	}
	return !d.Tokens[i].WordIs(language.Neuter | language.Masculine | language.Feminine | language.ThirdPlural | language.SecondPerson | language.Determiner | language.Conjunction | language.WhWord)
}

// onlySometimes reports whether something is denied for some times alone: "I don't drink coffee on weekdays".
func (d *doc) onlySometimes(s *language.Sentence, c *claim) bool {
	i := c.hi
	if i+1 >= s.Hi || i < 1 || d.Tokens[i-1].Kind != language.KindWord {
		return false
	}
	n := &d.Tokens[i+1]
	switch d.WordKey(i) {
	case "on":
		return d.weekdaysAt(i+1) || d.IsOneOf(s, i+1, "weekdays", "weekends", "sundays", "saturdays", "fridays", "mondays", "tuesdays", "wednesdays", "thursdays", "holidays", "planes")
	case "at":
		return d.IsOneOf(s, i+1, "night", "weekends", "lunch", "breakfast", "dinner", "christmas", "work", "school")
	case "before", "after":
		return n.Kind == language.KindNumber || n.Is(language.NumberWord|language.Weekday) || d.IsOneOf(s, i+1, "noon", "midnight", "lunch", "breakfast", "dinner", "bed", "work", "meals")
	case "during":
		return true
	case "unless", "except", "without":
		return true
	case "in":
		return d.IsWord(s, i+1, "the") && d.IsOneOf(s, i+2, "morning", "mornings", "evening", "evenings", "afternoon", "week", "winter", "summer")
	}
	return false
}

// resumed reports whether what ended was taken up again in the same sentence: "gave up the clarinet at twenty and took it up again at sixty". In "I
// quit smoking and I feel great again" something else came again.
func (d *doc) resumed(s *language.Sentence, c *claim) bool {
	for i := max(c.hi, c.at+1); i < s.Hi; i++ {
		if d.IsWord(s, i, "again") && !d.IsOneOf(s, i-1, "never", "not") {
			return d.anyWord(s, c.at, i, "and", "but", "then", "now") && !d.anyWord(s, c.at, i, "never", "not", "don't", "won't", "until", "till") && d.sameAgain(s, c, i)
		}
	}
	return false
}

// sameAgain reports whether "again" at token i is said of what a claim ends: of its words, of "it", or of a verb of taking something up.
func (d *doc) sameAgain(s *language.Sentence, c *claim, i int) bool {
	for i--; i > c.hi && d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Adverb) && !d.IsOneOf(s, i, "up", "back", "there", "on"); i-- {
	}
	if d.IsOneOf(s, i, "it", "them", "one", "up", "back", "there", "here", "on", "started", "start", "starting", "began", "begun", "resumed", "rejoined", "relapsed", "once") {
		return true
	}
	stem := func(j int) string {
		return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(d.verbName(j), "ing"), "ed"), "e")
	}
	for j := c.at; j < c.hi; j++ {
		if w := stem(j); len(w) > 1 && w == stem(i) {
			return true // "I quit vaping and then I vaped again"
		}
	}
	return false
}

// nameless reports whether the object of a relation is one word that names nothing: "hired a new", "publishes eleven", "on my own".
func (d *doc) nameless(c *claim) bool {
	lo := c.lo
	if c.hi-lo == 2 && d.Tokens[lo].WordIs(language.Determiner) {
		lo++
	}
	if c.hi-lo != 1 {
		return false
	}
	t := &d.Tokens[lo]
	switch w := d.WordKey(lo); {
	case t.Kind != language.KindWord || t.Shape != language.LowerCase:
		return false
	case w == "own", w == "standing":
		return c.relation || strings.Contains(c.predicate, "_") || c.predicate == "has"
	case w == "new", w == "old", t.WordIs(language.NumberWord):
		switch c.predicate {
		case "is", "was", "age", "has_role", "is_a", "likes", "dislikes", "turns", "feels":
			return false
		}
		return true
	}
	return false
}

// movesThing reports whether somebody moved a thing or another person, so that he did not move himself: "I moved the shop from Yaba".
func (d *doc) movesThing(s *language.Sentence, c *claim) bool {
	if c.predicate != "moved_from" && c.predicate != "moved_to" {
		return false
	}
	for i := c.lo - 1; i > s.Lo && i > c.lo-8 && d.Tokens[i].Kind == language.KindWord; i-- {
		if d.verbName(i) == "move" {
			return d.Tokens[i+1].WordIs(language.Determiner | language.Possessive)
		}
	}
	return false
}

// otherSubject reports whether a form of "be" stands between the verb of a relation and its object, which then belongs to what it says: "I
// started seeing someone his name is Ansel".
func (d *doc) otherSubject(s *language.Sentence, c *claim) bool {
	for i := c.at + 2; i < c.lo && i < s.Hi; i++ {
		if d.Tokens[i].WordIs(language.FormOfBe) && !d.IsOneOf(s, i, "be", "been", "being") && d.Tokens[i-1].Kind == language.KindWord && !d.Tokens[i-1].Is(language.WhWord) {
			return c.mode != extract.ModeQuote
		}
	}
	return false
}

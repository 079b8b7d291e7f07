package rules

import (
	"strings"
	"sync"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// sayable is the last check of a statement in a memory, whichever rule made it. It reports whether its subject is that of its verb, it is
// no guess or comparison, it has come about, and its object is a phrase that can be understood alone and has no further clause in it.
func (d *doc) sayable(s *language.Sentence, c *claim) bool {
	if d.otherTongue(s) || d.guessed(s, c) || d.impending(s, c) {
		return false
	}
	if c.verb || !c.relation {
		if d.compared(s, c.at) || c.about == "i" && d.strangerBefore(s, c.at) {
			return false
		}
	}
	if c.hi <= c.lo || c.lo < s.Lo || c.hi > s.Hi || c.about == "ofme" {
		return true
	}
	return !d.pointsAway(c) && !d.runsOn(c) && !lasts(d, c) && !d.cutShort(s, c) && !d.misread(s, c) && !d.unsaid(s, c) && !figurative(c.object)
}

// cutShort reports whether an object is only a part of what the words say: "walked across the room in the middle | of the night", "swims
// better | than I do", or says when or how long instead of what: "changed since the order", "I run every time".
func (d *doc) cutShort(s *language.Sentence, c *claim) bool {
	last, end := &d.Tokens[c.hi-1], d.WordKey(c.hi-1)
	if end == "enough" && (c.predicate == "was" || c.predicate == "is") {
		return true // "I was small enough"
	}
	switch d.WordKey(c.lo) {
	case "since":
		return !strings.HasPrefix(c.predicate, "is") && c.predicate != "was"
	case "which":
		return c.hi-c.lo < 3 // "which means"
	}
	if c.hi < s.Hi && last.Kind == language.KindWord {
		if t := &d.Tokens[c.hi]; (t.Kind == language.KindNumber || t.WordIs(language.NumberWord)) && d.IsOneOf(s, c.hi-1, "number", "platform", "grade", "form") {
			return true // "I drove the number nine"
		}
		switch d.WordKey(c.hi) {
		case "of":
			return !c.relation && wordLists()["edges"][end]
		case "than":
			return c.hi-c.lo == 1
		}
	}
	if last.Kind != language.KindWord {
		return false
	}
	if end == "time" && c.hi-1 > s.Lo && (c.hi-1 > c.lo || c.hi-c.lo == 1) {
		switch d.WordKey(c.hi - 2) {
		case "every", "each", "this":
			return true
		}
	}
	return false
}

// idiomFirst has the first words of the idioms.
var idiomFirst = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for idiom := range wordLists()["idioms"] {
		first, _, _ := strings.Cut(idiom, "_")
		m[first] = true
	}
	return m
})

// figurative reports whether an object is that of an idiom: "sold my soul", "I'll die on that hill".
func figurative(object string) bool {
	first, rest, _ := strings.Cut(object, " ")
	switch first {
	case "the", "a", "an", "my", "our", "The", "A", "An", "My", "Our":
		first, rest, _ = strings.Cut(rest, " ")
	}
	first = strings.ToLower(first)
	if !idiomFirst()[first] { // as of most objects
		return false
	}
	if rest == "" {
		return wordLists()["idioms"][first]
	}
	key, rest := first, strings.ToLower(rest)
	for range 4 {
		var word string
		if word, rest, _ = strings.Cut(rest, " "); word == "" {
			return false
		}
		if key += "_" + word; wordLists()["idioms"][key] {
			return true
		}
	}
	return false
}

// strangerBefore reports whether a noun that is no part of the speaker's clause stands right before the verb at token i and is its subject:
// "i like tea my husband likes coffee".
func (d *doc) strangerBefore(s *language.Sentence, i int) bool {
	if t := &d.Tokens[i]; t.Word().Verb == 0 || t.Word().Form != language.ThirdForm || i-2 < s.Lo {
		return false
	}
	p := &d.Tokens[i-1]
	return p.Kind == language.KindWord && p.Shape == language.LowerCase && !p.Is(language.FunctionWord|language.Adverb) && d.Tokens[i-2].Is(language.Possessive)
}

// compared reports whether the verb at token i belongs to a comparison: "more than I like most people".
func (d *doc) compared(s *language.Sentence, i int) bool {
	for j := i - 1; j >= s.Lo && j > i-4; j-- {
		if d.Tokens[j].Kind == language.KindPunct {
			return false
		}
		if d.WordKey(j) == "than" {
			return true
		}
	}
	return false
}

// guessed reports whether the speaker only guesses a state: "I think I have ADHD". What somebody thinks of his tastes is known to him.
func (d *doc) guessed(s *language.Sentence, c *claim) bool {
	for j := c.at - 1; j > s.Lo && j > c.at-6; j-- {
		t := &d.Tokens[j]
		if t.Kind == language.KindPunct || t.Is(language.Conjunction) && !d.IsWord(s, j, "that") {
			return false
		}
		switch d.WordKey(j) {
		case "guess", "suspect", "suppose", "reckon", "doubt":
			return d.Tokens[j-1].Is(language.FirstPerson)
		case "think":
			return d.Tokens[j-1].Is(language.FirstPerson) && (c.predicate == "has" || c.predicate == "has_role" || strings.HasSuffix(c.predicate, "_at") || strings.HasSuffix(c.predicate, "_in") || strings.HasSuffix(c.predicate, "_to"))
		}
	}
	return false
}

// impending reports whether a statement that shows a new state is of a change that is still going on: "my sister is moving to Wales".
func (d *doc) impending(s *language.Sentence, c *claim) bool {
	if c.mode == extract.ModePlan || c.ended || c.predicate != "lives_in" && c.predicate != "works_at" && c.predicate != "member_of" && c.predicate != "married_to" {
		return false
	}
	for i := c.at; i < min(s.Hi, c.at+2); i++ {
		if t := &d.Tokens[i]; t.Word().Verb > 0 && t.Word().Form&language.IngForm != 0 && t.Word().Form&language.BaseForm == 0 {
			switch language.VerbAt(t.Word().Verb).Base {
			case "move", "join", "marry", "relocate", "start":
				return true
			}
		}
	}
	return false
}

// pointsAway reports whether an object stands for something that was said before: "do it for a coffee", "same on mine".
func (d *doc) pointsAway(c *claim) bool {
	for i := c.lo; i < c.hi; i++ {
		switch d.WordKey(i) {
		case "that":
			return i == c.lo+1 && c.kind == extract.KindGoal && (i+1 >= c.hi || d.Tokens[i+1].Is(language.Preposition))
		case "another":
			return i+1 < c.hi && d.WordKey(i+1) == "one" && (i+2 >= c.hi || d.Tokens[i+2].Is(language.Preposition))
		case "it", "them":
			if c.kind != extract.KindGoal && (i == c.hi-1 || i <= c.lo+1) {
				return true
			}
		case "same":
			return i+1 >= c.hi || d.Tokens[i+1].Is(language.Preposition) || d.WordKey(i+1) == "one" || d.WordKey(i+1) == "ones"
		}
	}
	return false
}

// lasts reports whether the object of a doing is only how long it took: "played 14 years for Old Crescent".
func lasts(d *doc, c *claim) bool {
	if c.hi-c.lo < 4 || c.relation || d.WordKey(c.lo+2) != "for" || !d.Tokens[c.lo+1].Is(language.TimeUnit) || d.Tokens[c.lo].Kind != language.KindNumber && !d.Tokens[c.lo].Is(language.NumberWord) {
		return false
	}
	switch c.predicate {
	case "played", "worked", "lived", "taught", "drove", "studied", "served", "coached", "smoked", "trained", "spoke", "married":
		return true
	}
	return false
}

// runsOn reports whether another clause begins inside an object, so that the words do not belong together.
func (d *doc) runsOn(c *claim) bool {
	for i := c.lo + 1; i < c.hi; i++ {
		switch w := d.WordKey(i); {
		case w == "that", w == "than", w == "if", w == "as", d.Tokens[i].Is(language.WhWord):
			return false // a clause that belongs to the object
		case d.clauseBeginsWith(w, i, c.hi):
			return true
		}
	}
	switch d.WordKey(c.hi - 1) {
	case "the", "a", "an", "my", "our":
		return true // the noun is missing
	}
	first := &d.Tokens[c.lo]
	return c.hi-c.lo == 1 && first.Word().Verb > 0 && first.Word().Form == language.ThirdForm && first.Word().Flags == 0 && (c.predicate == "hopes" || c.predicate == "wishes")
}

// clauseBegins reports whether a clause of its own begins at token i, inside words up to hi that should be one phrase, although no sign
// says so, as in texts without punctuation.
func (d *doc) clauseBegins(i, hi int) bool {
	return d.Tokens[i].Kind == language.KindWord && d.clauseBeginsWith(d.WordKey(i), i, hi)
}

// clauseBeginsWith is clauseBegins for a token whose key is w.
func (d *doc) clauseBeginsWith(w string, i, hi int) bool {
	t := &d.Tokens[i]
	if t.Kind != language.KindWord || i == 0 {
		return false
	}
	before := &d.Tokens[i-1]
	if wordLists()["clause-words"][w] {
		return true
	}
	if t.Is(language.Possessive) && i+1 < hi && d.possessiveBegins(i, hi) {
		return true
	}
	switch w {
	case "you":
		return i+1 < hi && d.WordKey(i+1) == "know"
	case "can", "could", "would":
		return i+1 < hi && d.WordKey(i+1) == "you" // "a plumber can you believe it"
	case "she", "he", "they", "we", "i":
		return i+1 < hi && !before.Is(language.Conjunction|language.Preposition|language.WhWord) && d.verbOrClitic(i+1)
	case "mine", "ours":
		return i+1 < hi && d.Tokens[i+1].Is(language.FormOfBe) // "a new collie mine is called Fly"
	case "it", "there":
		return i+1 < hi && d.neuterBegins(w, i)
	case "and", "but", "or":
		return i+1 < hi && d.coordinates(i, hi)
	}
	return i+1 < hi && d.onlyThird(i) && t.Shape == language.LowerCase && before.Kind != language.KindPunct && (d.WordKey(i+1) == "a" || d.WordKey(i+1) == "an") // "a 2012 Polo needs a clutch"
}

// neuterBegins is clauseBegins for "it" or "there" at token i, the word w: "creatine in january it gave me cramps".
func (d *doc) neuterBegins(w string, i int) bool {
	before, next := &d.Tokens[i-1], &d.Tokens[i+1]
	if before.Kind != language.KindWord || before.Word().Verb > 0 || before.Is(language.Conjunction|language.Preposition|language.WhWord) {
		return false
	}
	return next.Kind == language.KindClitic || next.Is(language.FormOfBe) || w == "it" && next.Kind == language.KindWord && next.Word().Verb > 0 && next.OnlyPast()
}

// possessiveBegins is clauseBegins for a possessive at token i: "one bathroom its literally war", "first class in september her name is Hania".
func (d *doc) possessiveBegins(i, hi int) bool {
	next := &d.Tokens[i+1]
	if d.WordKey(i) == "its" && next.WordIs(language.Adverb|language.Determiner|language.Possessive|language.Negation) && !next.Is(language.Adjective) {
		return true
	}
	if i+2 < hi && plainPlural(d.TokenText(i+1)) && next.Kind == language.KindWord && !d.Tokens[i-1].Is(language.Preposition|language.Conjunction|language.WhWord) && d.Tokens[i-1].Kind == language.KindWord {
		switch d.WordKey(i + 2) {
		case "go", "come", "swell", "hurt", "itch", "turn", "get", "feel", "have", "do":
			return true // "allergic to kiwi my lips go massive"
		}
	}
	return i+2 < hi && d.WordKey(i) != "whose" && next.Kind == language.KindWord && d.Tokens[i+2].WordIs(language.FormOfBe) && !d.Tokens[i-1].Is(language.Preposition|language.Conjunction|language.WhWord)
}

// verbOrClitic reports whether a verb, an auxiliary or a clitic stands at token i.
func (d *doc) verbOrClitic(i int) bool {
	t := &d.Tokens[i]
	return t.Kind == language.KindClitic || t.Word().Verb > 0 || t.Is(language.FormOfBe|language.FormOfHave|language.FormOfDo|language.Modal)
}

// onlyThird reports whether the word at token i can only be the third person of a verb: "needs".
func (d *doc) onlyThird(i int) bool {
	t := &d.Tokens[i]
	return t.Word().Verb > 0 && t.Word().Form == language.ThirdForm && t.Word().Flags == 0
}

// ownerActs reports whether the noun behind the possessive at token i is the subject of a verb that is written without its sign: "chemistry and
// my mum doesnt know", "my mocks and my dads taking my phone".
func (d *doc) ownerActs(i int) bool {
	if i+2 >= len(d.Tokens) {
		return false
	}
	t := &d.Tokens[i+2]
	return wordLists()["clause-words"][d.WordKey(i+2)] || plainPlural(d.TokenText(i+1)) && t.Kind == language.KindWord && d.gerund(i+2) && t.Word().Flags == 0
}

// coordinates reports whether the "and" at token i joins a clause, whose verb follows, and no further noun.
func (d *doc) coordinates(i, hi int) bool {
	j := i + 1
	for j < hi-1 && d.Tokens[j].Is(language.Adverb) && !d.Tokens[j].Is(language.Adjective) {
		j++
	}
	if t := &d.Tokens[j]; j+1 < hi && t.Kind == language.KindWord && t.Is(language.FirstPerson|language.FirstPlural|language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural) && !t.Is(language.Possessive) && d.verbOrClitic(j+1) {
		return true // "in november and honestly it explains the tone"
	}
	n := &d.Tokens[i+1]
	switch {
	case n.Kind != language.KindWord:
		return false
	case n.Shape == language.Capitalized && i+3 < hi:
		v := &d.Tokens[i+2] // "the parser and Kofi does the frontend"
		return v.Kind == language.KindWord && v.Shape == language.LowerCase && v.Word().Verb > 0 && v.Word().Form == language.ThirdForm && d.Tokens[i+3].Is(language.Determiner|language.Possessive)
	case n.Shape != language.LowerCase:
		return false
	case n.Is(language.FormOfBe) && d.WordKey(i+1) != "be" && d.WordKey(i+1) != "being":
		return true // "a pilot or was until the spring"
	}
	if n.Is(language.Possessive) && d.ownerActs(i+1) {
		return true
	}
	if i+2 < hi && n.Word().Verb > 0 && n.Word().Form == language.ThirdForm && d.Tokens[i+2].WordIs(language.Determiner) {
		return true // "a pastry chef and guards the oven"
	}
	return i+2 < hi && d.onlyThird(i+1) && (d.Tokens[i+2].Is(language.Determiner|language.Possessive|language.Preposition) || d.objectIsPronoun(i+2, hi))
}

package rules

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// unmeant reports whether a claim is not meant by its words, or says nothing by them: "because I'm insane", "a mortgage in principle", "I go to bed",
// "I was seeing this guy", "Ola hears many things".
func (d *doc) unmeant(s *language.Sentence, c *claim) bool {
	if d.inThought(s, c) {
		return true
	}
	switch strings.TrimPrefix(c.predicate, extract.NotPrefix) {
	case "is":
		return c.about == "i" && wordLists()["in-jest"][strings.ToLower(c.object)]
	case "goes_to", "went_to":
		return c.hi-c.lo == 1 && d.IsOneOf(s, c.lo, "bed", "sleep")
	case "saw", "sees":
		return d.IsWord(s, c.at, "seeing") && d.IsOneOf(s, c.at-1, "was", "were") && d.anyPerson(c.at+1, min(c.hi, s.Hi))
	case "lives_with":
		return d.withinHome(s, c)
	case "do", "does", "did":
		return d.IsOneOf(s, c.hi-1, "bit", "lot", "little") && wordLists()["skills"][d.WordKey(c.lo)] // "I do code a bit"
	case "hears", "heard", "knows", "says", "said", "thinks":
		return d.IsOneOf(s, c.hi-1, "things", "stuff")
	}
	return false
}

// anyPerson reports whether one of the tokens [lo, hi) is a word for a person, such as "guy", but no occupation.
func (d *doc) anyPerson(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if wordLists()["persons"][d.WordKey(i)] {
			return true
		}
	}
	return false
}

// withinHome reports whether the object of a "with" behind a place is a part of that place, and nobody that the speaker lives with: "in a cupboard with a
// sink".
func (d *doc) withinHome(s *language.Sentence, c *claim) bool {
	t := &d.Tokens[c.hi-1]
	if first := &d.Tokens[c.lo]; t.Shape != language.LowerCase || first.Kind == language.KindNumber || first.Is(language.NumberWord) || t.Is(language.KinNoun|language.Occupation) || wordLists()["persons"][d.WordKey(c.hi-1)] || wordLists()["groups"][d.WordKey(c.hi-1)] || wordLists()["kinds-of-people"][d.WordKey(c.hi-1)] {
		return false
	}
	for i := c.at + 1; i < c.lo; i++ {
		if d.IsOneOf(s, i, "in", "at", "on") && d.Tokens[i+1].Is(language.Determiner) {
			return !d.Tokens[c.lo-1].Is(language.Possessive)
		}
	}
	return false
}

// inThought reports whether the words behind an object, or those that begin its sentence, say that there is none yet or only in thought: "a mortgage in
// principle", "in theory I own a house". An agreement in principle is one.
func (d *doc) inThought(s *language.Sentence, c *claim) bool {
	if d.thoughtAt(s, s.Lo) && c.at-s.Lo < 6 {
		return true
	}
	return d.thoughtAt(s, c.hi) && !(d.IsWord(s, c.hi+1, "principle") && d.IsOneOf(s, c.hi-1, "agreement", "offer", "deal"))
}

// thoughtAt reports whether words at token i say that something is so only in thought.
func (d *doc) thoughtAt(s *language.Sentence, i int) bool {
	return d.IsWord(s, i, "in") && (d.IsOneOf(s, i+1, "principle", "theory", "spirit") || d.IsWord(s, i+1, "my") && d.IsOneOf(s, i+2, "dreams", "head", "mind"))
}

// asksOn reports whether a question begins at token i, before hi, as in texts without signs: "I can't swim is that a problem".
func (d *doc) asksOn(i, hi int) bool {
	if i+2 >= hi || d.Tokens[i+1].Kind != language.KindWord {
		return false
	}
	switch d.WordKey(i) {
	case "is", "does":
		return slices.Contains([]string{"that", "this", "it", "he", "she"}, d.WordKey(i+1))
	case "are", "do":
		return slices.Contains([]string{"you", "we", "they", "i"}, d.WordKey(i+1))
	case "should", "could", "can", "will", "would", "did":
		return slices.Contains([]string{"i", "you", "we", "they", "he", "she"}, d.WordKey(i+1))
	}
	return false
}

package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// misread reports whether the words around a claim give its verb or its object another meaning.
func (d *doc) misread(s *language.Sentence, c *claim) bool {
	if d.otherMeaning(s, c) || d.halfObject(s, c) || d.unmeant(s, c) {
		return true
	}
	if c.hi-c.lo == 1 && strings.Contains(c.predicate, "_") && !strings.HasSuffix(c.predicate, "_on") && c.predicate != "looks_forward_to" && d.weekdaysAt(c.lo) {
		return true // "we don't deploy on Fridays"
	}
	if strings.HasSuffix(c.predicate, "_in") && d.dateEndsWithin(s, c) {
		return true // "my uncle who died in 2003 owned a pub"
	}
	if d.hadDone(s, c) {
		return true
	}
	if and := c.lo - 1; and > s.Lo && d.IsWord(s, and, "and") && d.IsOneOf(s, and-1, "hundred", "thousand") {
		return true // "three hundred and twenty ewes"
	}
	return d.IsWord(s, c.lo, "there") // "sat there like an idiot"
}

// hadDone reports whether somebody had something done to the object of a claim, which the object does not say: "I had my wisdom teeth | out".
func (d *doc) hadDone(s *language.Sentence, c *claim) bool {
	switch c.predicate {
	case "has", "had", "got", "gets":
	default:
		return false
	}
	return c.lo > s.Lo && d.Tokens[c.lo-1].WordIs(language.Determiner|language.Possessive) && d.IsOneOf(s, c.hi, "out", "done", "off", "removed", "fixed", "cut", "replaced", "checked", "serviced", "repaired", "stolen", "nicked") &&
		!d.IsOneOf(s, c.hi+1, "of", "for")
}

// otherMeaning reports whether a claim with this predicate means something else with these words.
func (d *doc) otherMeaning(s *language.Sentence, c *claim) bool {
	switch c.predicate {
	case "goes_to", "went_to":
		return d.IsOneOf(s, c.lo, "me", "him", "her", "us", "them") // "my nan goes to me you should marry a doctor"
	case "arrived_in", "arrive_in", "taught_in", "teaches_in", "works_in":
		return d.dateBegins(s, c.lo) // "arrived in September 2022 with a student visa"
	case "does":
		return c.ended && strings.Contains(c.object, " until ") // "given up port until my birthday"
	case "born_in":
		return !c.relation && d.dateBegins(s, c.lo)
	case "lives_in":
		return d.dateBegins(s, c.lo) || d.IsOneOf(s, c.hi-1, "team", "entity", "department", "office", "org", "squad", "role", "position", "desk") // "moving to the Singapore entity"
	case "lives_with":
		return wordLists()["rooms"][d.WordKey(c.hi-1)] // "we live in one room with kitchen"
	case "fears", "fear":
		return c.hi < s.Hi && d.Tokens[c.hi].Is(language.FormOfBe|language.Modal|language.FormOfHave) // "I fear the cellarer is part of the cause"
	case "wants":
		return d.hadWanted(s, c)
	case "likes":
		return d.IsWord(s, c.at-1, "or") && d.IsWord(s, c.at, "like") // "a pilot or like a YouTuber"
	case "started_at", "starts_at":
		t := &d.Tokens[c.at] // "I start at Siemens on the first"
		return c.about == "i" && c.mode != extract.ModePlan && !c.ended && t.Word().Form&language.PastForm == 0 && t.Word().Verb > 0
	case "diet", "is_a", "has_role", "is":
		return d.notQuite(s, c)
	}
	return c.kind == extract.KindGoal && d.hadWanted(s, c)
}

// hadWanted reports whether a wish was over when something else happened: "we had wanted a third".
func (d *doc) hadWanted(s *language.Sentence, c *claim) bool {
	return c.at > s.Lo && d.IsWord(s, c.at-1, "had") && d.Tokens[c.at].OnlyPast()
}

// notQuite reports whether somebody is not quite, or was, what a claim says: "I'm basically vegan", "vegan except for cheese", "a pilot or was
// until the spring".
func (d *doc) notQuite(s *language.Sentence, c *claim) bool {
	before := c.lo - 1
	if before > s.Lo && d.Tokens[before].WordIs(language.Determiner) {
		before--
	}
	if before >= s.Lo && wordLists()["as-good-as"][d.WordKey(before)] {
		return true
	}
	return d.IsWord(s, c.hi, "except") && d.IsWord(s, c.hi+1, "for") || d.IsWord(s, c.hi, "or") && d.IsOneOf(s, c.hi+1, "was", "were")
}

// halfObject reports whether an object is only how long somebody did something, or whom he made do something: "cried for like a week", "got
// Vodafone to accept".
func (d *doc) halfObject(s *language.Sentence, c *claim) bool {
	switch first, last := &d.Tokens[c.lo], &d.Tokens[c.hi-1]; {
	case c.predicate == "got":
		for i := c.lo; i <= c.hi; i++ {
			if d.toInfinitive(s, i) {
				return true
			}
		}
	case strings.HasSuffix(c.predicate, "_for"):
		return c.hi-c.lo <= 3 && last.Kind == language.KindWord && last.Is(language.TimeUnit) && first.Kind == language.KindWord && !first.Is(language.NumberWord)
	}
	return false
}

// dateEndsWithin reports whether the object of a claim begins with a date that a verb follows.
func (d *doc) dateEndsWithin(s *language.Sentence, c *claim) bool {
	for _, h := range d.datesOf(s) {
		if h.Lo == c.lo {
			return d.clauseBehind(&language.Sentence{Lo: h.Hi, Hi: max(h.Hi, c.hi)}, h.Hi)
		}
	}
	return false
}

// wholeAge reports whether the number at token i is one of years and not of what was named before: "I'm 95 and a half" is a weight, and a child
// of six and a half has that age.
func (d *doc) wholeAge(s *language.Sentence, i int) bool {
	if !d.IsWord(s, i+1, "and") || !d.IsOneOf(s, i+2, "a", "half") {
		return true
	}
	n, _ := d.Number(i)
	return n < 20
}

// withoutVocative cuts the name for a listener off the end of an object: "after two years man".
func (d *doc) withoutVocative(lo, hi int) int {
	if hi-lo < 2 {
		return hi
	}
	switch d.WordKey(hi - 1) {
	case "man", "mate", "bro", "bruv", "dude", "fam":
	default:
		return hi
	}
	if p := &d.Tokens[hi-2]; p.Kind == language.KindWord && (p.Is(language.TimeUnit|language.DayWord) || d.isAdverbEnd(hi-2) || plainPlural(d.TokenText(hi-2)) && !p.Is(language.FunctionWord|language.Adjective)) {
		return hi - 1
	}
	return hi
}

// saysBefore reports whether the words of a subject end with a verb of saying, so that what follows is what somebody says: "my landlord say he
// will sell house".
func (d *doc) saysBefore(lo, hi int) bool {
	if hi-lo < 2 {
		return false
	}
	switch d.WordKey(hi - 1) {
	case "say", "says", "said", "think", "thinks", "thought", "reckon", "reckons", "want", "wants", "need", "needs":
		return true // "my daughter want to be pharmacist"
	}
	return false
}

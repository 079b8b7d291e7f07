package rules

import (
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// subjectPronoun reports whether token i is "I" or "we" after "that", so that no earlier preposition governs it: "before that we had a
// book".
func (d *doc) subjectPronoun(s *language.Sentence, i int) bool {
	t := &d.Tokens[i]
	return d.in.Memory && t.Kind == language.KindWord && t.Is(language.FirstPerson|language.FirstPlural) && !t.Is(language.Possessive) && !d.IsWord(s, i, "me") && !d.IsWord(s, i, "us") && d.IsWord(s, i-1, "that")
}

// passing reports whether a present-tense clause only says when something else happens: "the app crashes when I open the camera".
func (r *relator) passing(s *language.Sentence, c *clause, subject *node) bool {
	if subject.kind != nodeSpeaker || c.past || c.perfect || subject.lo <= s.Lo {
		return false
	}
	switch r.d.WordKey(subject.lo - 1) {
	case "when", "whenever", "if", "unless", "until", "till", "once":
		return true
	case "time":
		return r.d.IsOneOf(s, subject.lo-2, "every", "each", "any", "next")
	}
	return false
}

// verbBehind reports whether a past-tense verb stands at token i, followed by a preposition or nothing. The words before it are then
// its subject, and the verb in between has no object: "everything I owned smelled of vinegar".
func (d *doc) verbBehind(i, hi int) bool {
	if i+1 >= hi {
		return false
	}
	t, next := &d.Tokens[i], &d.Tokens[i+1]
	return t.Kind == language.KindWord && t.Word().Verb > 0 && t.Shape == language.LowerCase && t.Word().Form&language.PastForm != 0 && t.Word().Form&language.BaseForm == 0 &&
		!t.Is(language.Adjective|language.Preposition|language.Conjunction|language.FunctionWord) && next.Kind == language.KindWord && next.Is(language.Preposition) && d.Tokens[i-1].Word().Form&language.PastForm != 0 &&
		!d.Tokens[i-1].Is(language.FormOfHave|language.FormOfBe) && d.verbName(i-1) != "get"
}

// hadAround reports whether the object of "had", which ends before token i, was only present or mentioned, not owned: "had the
// inspector in", "had a customer who said".
func (d *doc) hadAround(s *language.Sentence, i int) bool {
	if !d.in.Memory || i >= s.Hi {
		return false
	}
	switch d.WordKey(i) {
	case "who":
		return true
	case "in", "on", "over", "round", "up":
		return d.WordKey(i) != "in" && i+1 < s.Hi && d.Tokens[i+1].Is(language.Preposition) || i+1 >= s.Hi || d.Tokens[i+1].Kind == language.KindPunct || d.Tokens[i+1].Is(language.Conjunction)
	}
	return false
}

// hadSomebody is hadAround for the noun phrase that begins at token i.
func (d *doc) hadSomebody(s *language.Sentence, i int) bool {
	n, ok := d.phraseNode(s, i)
	return ok && d.hadAround(s, n.hi)
}

// behindOther reports whether a sentence without a subject follows one about somebody else, who may be its subject.
func (d *doc) behindOther(s *language.Sentence) bool {
	if s.Lo < 2 {
		return false
	}
	c := d.ClauseOf(s.Lo - 2)
	return c != nil && c.About != extract.AboutSpeaker
}

// isTheirs reports whether a thing belongs to somebody who was mentioned before: "I don't like their app".
func (d *doc) isTheirs(n *node) bool {
	if n.lo == 0 {
		return false
	}
	t := &d.Tokens[n.lo-1]
	return t.Kind == language.KindWord && t.Is(language.Possessive) && t.Is(language.ThirdPlural|language.Neuter)
}

// going reports whether the thing at token i is only started: "got the raffle going".
func (d *doc) going(s *language.Sentence, i, hi int) bool {
	n, ok := d.phraseNode(s, i)
	return ok && n.hi < hi && d.WordKey(n.hi) == "going" || ok && d.WordKey(n.hi-1) == "going" && n.hi-n.lo > 1
}

// plainly reports whether a pronoun is unambiguous: between it and the name that it refers to, no other name and no unnamed person
// occurs.
func (d *doc) plainly(n *node) bool {
	if n.kind != nodePronoun {
		return true
	}
	for i := n.from; i < n.lo; i++ {
		t := &d.Tokens[i]
		if t.Kind == language.KindWord && i > 0 && (t.Is(language.KinNoun) || wordLists()["persons"][d.WordKey(i)]) && d.Tokens[i-1].Is(language.Determiner|language.Possessive) && !(i > 1 && (d.Tokens[i-2].Is(language.FormOfBe) || d.Tokens[i-2].Kind == language.KindPunct)) {
			return false
		}
	}
	for k := range d.Names {
		if h := &d.Names[k]; h.Lo >= n.from && h.Hi <= n.lo && !h.Part && (h.Type == extract.TypePerson || h.Type == extract.TypeConcept && !h.Weak && d.Tokens[h.Lo].Shape == language.Capitalized && !d.Tokens[h.Lo].Is(language.Month|language.Weekday|language.PlaceName|language.OrgWord)) && h.Key != n.key {
			return false
		}
	}
	return true
}

// didThing reports whether "did" at token i is followed by a noun that cannot be a verb: "I did night buses".
func (d *doc) didThing(i int, w string) bool {
	t := &d.Tokens[i+1]
	return d.in.Memory && (w == "did" || w == "do" || w == "does") && t.Kind == language.KindWord && t.Word().Verb == 0 && t.Word().Flags != 0 && !t.Is(language.Adverb|language.Negation)
}

// doubted reports whether the speaker is unsure about a statement in the past: "I think I left my jacket at yours".
func (d *doc) doubted(s *language.Sentence, g *segment) bool {
	if !g.past || g.lo-2 < s.Lo {
		return false
	}
	switch d.WordKey(g.lo - 1) {
	case "think", "guess", "believe", "reckon", "suppose":
		return d.Tokens[g.lo-2].Is(language.FirstPerson)
	}
	return false
}

// callsSomething reports whether something is given a name at token i: "called the baby Arlo", "call her Mavis".
func (d *doc) callsSomething(i, hi int) bool {
	if i+1 < hi && d.WordKey(i) == "her" && d.Tokens[i+1].Capital() {
		return true
	}
	return i+1 < hi && d.Tokens[i].Kind == language.KindWord && (d.Tokens[i].Is(language.Determiner) || d.Tokens[i].Is(language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural) && !d.Tokens[i].Is(language.Possessive)) &&
		d.Tokens[hi-1].Shape != language.LowerCase
}

// untilTime returns where words such as "for thirty-eight years", "at forty" or "at new year" begin in [i, hi), or hi.
func (d *doc) untilTime(i, hi int) int {
	for j := i + 1; j+1 < hi && d.in.Memory; j++ {
		next := &d.Tokens[j+1]
		switch d.WordKey(j) {
		case "for", "since", "at", "on", "in", "after":
			if next.Kind == language.KindNumber || next.Is(language.NumberWord|language.TimeUnit|language.Weekday|language.Month|language.Season|language.DayWord) || d.WordKey(j+1) == "new" && j+2 < hi && d.Tokens[j+2].Is(language.TimeUnit) {
				return j
			}
		}
	}
	return hi
}

package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// unreal reports whether a word earlier in the sentence makes the content at token i a question, pretence or imagination: "asked
// whether I still work at", "I pretend I'm from".
func (d *doc) unreal(s *language.Sentence, i int) bool {
	for j := i - 1; j >= s.Lo; j-- {
		t := &d.Tokens[j]
		if t.Kind == language.KindPunct && (t.Sign == ',' || t.Sign == ';' || t.Sign == ':' || t.Sign == '.') {
			return false
		}
		if t.Kind == language.KindWord && wordLists()["unreal"][strings.ToLower(d.TokenText(j))] && !(j > s.Lo && (d.Tokens[j-1].Is(language.Negation) || d.IsWord(s, j-1, "or"))) {
			return true
		}
		if wordLists()["holding"][strings.ToLower(d.TokenText(j))] && j > s.Lo && (d.Tokens[j-1].Is(language.Negation) || j-1 > s.Lo && d.Tokens[j-2].Is(language.Negation)) && j+1 < i {
			return true // "I wouldn't say I'm religious"
		}
	}
	return false
}

// apposed reports whether the names after an object only say who it is: "two stepsisters, Marta and Kinga".
func (r *relator) apposed(s *language.Sentence, n *node, next int) bool {
	if n.kind != nodePhrase || !r.d.IsPunct(s, next, ',') || !plainPlural(r.d.TokenText(n.hi-1)) {
		return false
	}
	k := nodeAt(r.nodes, next+1)
	return k >= 0 && r.nodes[k].kind == nodeName && r.nodes[k].typ == extract.TypePerson
}

// unfitting reports whether an object does not fit a predicate: a weekday that one works on, the age at which one played.
func (d *doc) unfitting(predicate string, n *node) bool {
	word := d.head(n)
	switch {
	case strings.HasSuffix(predicate, "_on"):
		return n.hi-n.lo == 1 && (d.Tokens[n.lo].Is(language.DayWord) || wordLists()["weekdays"][strings.TrimSuffix(word, "s")])
	case strings.HasSuffix(predicate, "_as"):
		return wordLists()["ages"][word]
	case predicate == "raised_in":
		return n.lo > 0 && strings.HasSuffix(d.TokenText(n.lo-1), "ing") // "grew up speaking"
	}
	return false
}

// withoutDoing cuts an activity off the end of an object: "broke my wrist skating".
func (d *doc) withoutDoing(n *node) int {
	hi := n.hi
	if hi-n.lo > 1 && strings.HasSuffix(d.TokenText(hi-1), "ly") && d.Tokens[hi-1].Word().Flags == 0 {
		hi-- // "plays the accordion badly"
	}
	if hi-n.lo > 1 && n.lo > 0 && d.Tokens[n.lo-1].Is(language.Possessive) && (d.Tokens[hi-1].Word().Form&language.IngForm != 0 || strings.HasSuffix(d.TokenText(hi-1), "ing") && d.Tokens[hi-1].Word().Flags == 0) {
		hi--
	}
	return hi
}

// isDate reports whether an object is only a date of its sentence: "visited next weekend".
func (d *doc) isDate(s *language.Sentence, object string) bool {
	for _, h := range d.datesOf(s) {
		if strings.EqualFold(object, d.SpanText(h.Lo, h.Hi)) {
			return true
		}
	}
	return false
}

// withoutAgo cuts a length of time before "ago" off an object: "left the church years ago".
func (d *doc) withoutAgo(lo, hi int) int {
	if hi >= len(d.Tokens) || !language.FoldEqual(d.TokenText(hi), "ago") {
		return hi
	}
	for hi > lo && (d.Tokens[hi-1].Is(language.TimeUnit) || d.Tokens[hi-1].Kind == language.KindNumber || d.Tokens[hi-1].Is(language.Determiner) || language.FoldEqual(d.TokenText(hi-1), "ages")) {
		hi--
	}
	return hi
}

// empty reports whether the words after a verb look like its object but are not: "get rid of", "find that hard", "want the car to be
// red", "I hear Bonn is nice".
func (d *doc) empty(s *language.Sentence, c *clause, base string) bool {
	next := c.hi
	switch base {
	case "get":
		return d.IsWord(s, next, "rid")
	case "find", "think", "consider", "call":
		return base == "find" && !c.past && !c.perfect && c.lo == c.verbTok || d.IsWord(s, next, "that") || d.IsWord(s, next, "this") || d.IsWord(s, next, "it")
	case "hate", "love", "like", "wish":
		return d.in.Memory && d.IsWord(s, next, "that") && d.clauseBehind(s, next+1)
	case "read", "learn", "know", "understand":
		return d.IsWord(s, next, "that") && d.clauseBehind(s, next+1)
	case "hear", "see", "guess":
		if f := d.Tokens[c.verbTok].Word().Form; f&language.BaseForm == 0 || c.past || c.perfect {
			return false
		}
		return d.clauseBehind(s, next) // the rest is the content of what was heard
	}
	return false
}

// wanted reports whether the object that ends before token i is only the subject of a wish: "want my next car to be electric".
func (d *doc) wanted(s *language.Sentence, c *clause, i int) bool {
	base := language.VerbAt(d.Tokens[c.verbTok].Word().Verb).Base
	return (base == "want" || base == "need" || base == "expect" || base == "like" || base == "prefer") && d.IsWord(s, i, "to") && i+1 < s.Hi && (d.Tokens[i+1].Is(language.FormOfBe) || d.Tokens[i+1].Word().Verb > 0)
}

// besidePerson reports whether a phrase is a person followed by a thing: "teaches my daughter maths".
func (d *doc) besidePerson(n *node) bool {
	return n.kind == nodePhrase && n.hi-n.lo > 1 && d.Tokens[n.lo].Is(language.KinNoun) && n.typ != extract.TypePerson && !d.Tokens[n.hi-1].Is(language.KinNoun|language.Occupation) && !d.Tokens[n.lo+1].Is(language.Preposition)
}

// clauseBehind reports whether a clause with its own verb follows from token i on.
func (d *doc) clauseBehind(s *language.Sentence, i int) bool {
	for ; i < s.Hi; i++ {
		if d.Tokens[i].Is(language.FormOfBe|language.FormOfHave) || d.Tokens[i].Word().Verb > 0 && d.Tokens[i].Word().Form&(language.ThirdForm|language.PastForm) != 0 {
			return true
		}
	}
	return false
}

// habitual returns the predicate of a repeated action, where the frame's predicate says that it was done once, and the other way round: "I
// take the tram" is "takes", "I ran the fans" is "ran".
func (d *doc) habitual(c *clause, predicate string) string {
	if !d.in.Memory {
		return predicate
	}
	if once := d.doneOnce(c, predicate); once != "" {
		return once
	}
	t := &d.Tokens[c.verbTok]
	if c.past || c.perfect || c.passive || c.ended || c.future || d.modeAt(c.verbTok) == extract.ModePlan {
		return predicate
	}
	if form := t.Word().Form; form&(language.BaseForm|language.ThirdForm|language.IngForm) == 0 || form&language.PastForm != 0 {
		return predicate
	}
	first, rest, more := strings.Cut(predicate, "_")
	if w := language.Lookup(first); w.Verb != t.Word().Verb || w.Form&language.PastForm == 0 {
		return predicate
	}
	verb := language.VerbAt(t.Word().Verb)
	switch {
	case !more:
		return verb.Third
	case !wordLists()["moving"][verb.Base]:
		return predicate
	}
	return verb.Third + "_" + rest // "I go to the noon meeting"
}

// doneOnce returns the predicate of an action that was done once, where the frame's predicate is in the present; it is empty for others.
func (d *doc) doneOnce(c *clause, predicate string) string {
	t := &d.Tokens[c.verbTok]
	have := predicate == "has" && t.Is(language.FormOfHave)
	switch {
	case have && c.past && !c.perfect && !c.ended:
		return "had"
	case t.Word().Verb == 0 || !c.past || c.ended || c.perfect && d.since(c.verbTok):
		return ""
	case have && c.perfect:
		return "had" // "I've had a wobble"
	case predicate == "eats":
		return "ate"
	case predicate == "drinks":
		return "drank"
	case c.perfect || c.passive || !t.OnlyPast() || !wordLists()["over"][predicate]:
		return ""
	}
	if rest, ok := strings.CutPrefix(predicate, language.VerbAt(t.Word().Verb).Third); ok {
		return d.WordKey(c.verbTok) + rest // "I ran the fans"
	}
	return ""
}

// bygone reports whether a perfect tells of a state that may be over: "I've lived in Rome". With "since" or "for" it goes on.
func (d *doc) bygone(predicate string, i int) bool {
	switch predicate {
	case "lives_in", "lives_with", "works_at", "works_in", "works_for":
	default:
		return false
	}
	if !d.in.Memory || i < 0 || d.Tokens[i].Word().Form&language.Participle == 0 {
		return false
	}
	have := i - 1
	for have > 0 && d.Tokens[have].Is(language.Adverb) && !d.Tokens[have].Is(language.FormOfHave) {
		have--
	}
	if have < 0 || !d.Tokens[have].Is(language.FormOfHave) || d.since(i) {
		return false
	}
	switch d.verbName(i) {
	case "live", "work", "stay":
	default:
		return false
	}
	if c := d.ClauseOf(i); c != nil {
		for j := i; j < c.Hi; j++ {
			if d.Tokens[j].Is(language.TimeUnit) || d.WordKey(j) == "whole" {
				return false // "I've lived here ten years"
			}
		}
	}
	return true
}

// recentYears is how long ago somebody can have moved so that he lives there still, for all that is said.
const recentYears = 3

// arrived reports whether a past verb at token i tells what holds since: "my sister moved to Spain", "I joined a choir", "she got a job at Acme".
// A time long ago, or what was before or after it, leaves that open: "we moved to Winchester when I was six".
func (d *doc) arrived(s *language.Sentence, predicate string, i int, from time.Time) bool {
	if !d.in.Memory || i < s.Lo || i >= s.Hi || predicate != "marital_status" && !from.IsZero() && from.Before(d.Reference.AddDate(-recentYears, 0, 0)) {
		return false
	}
	return begins(predicate, d.verbName(i), d.IsWord(s, i+1, "into")) && !d.leftOpen(s)
}

// begins reports whether a verb begins what a predicate says; into says that "into" follows.
func begins(predicate, verb string, into bool) bool {
	switch predicate {
	case "lives_in":
		return verb == "move" || verb == "relocate" || verb == "settle"
	case "member_of":
		return verb == "join"
	case "works_at":
		return verb == "get" || verb == "land" || verb == "find" || verb == "join"
	case "marital_status":
		return verb == "get" || verb == "marry" && into
	}
	return false
}

// leftOpen reports whether words of a sentence say when something was, how long, or what came before or after it.
func (d *doc) leftOpen(s *language.Sentence) bool {
	for j := s.Lo; j < s.Hi; j++ {
		if d.Tokens[j].Shape != language.LowerCase {
			continue
		}
		switch d.TokenText(j) {
		case "at":
			if j+1 < s.Hi && (d.Tokens[j+1].Kind == language.KindNumber || d.Tokens[j+1].Is(language.NumberWord)) {
				return true // "at nineteen"
			}
		case "for":
			if d.howLong(s, j+1) {
				return true // "for two years"
			}
		case "when", "before", "after", "then", "first", "back", "once", "later", "where", "until", "till", "left", "quit", "used":
			return true
		}
	}
	return false
}

// howLong reports whether a length of time follows at token i: "two years", "a whole year", not "a job".
func (d *doc) howLong(s *language.Sentence, i int) bool {
	switch {
	case i >= s.Hi:
		return false
	case d.IsOneOf(s, i, "a", "an"):
		return i+1 < s.Hi && d.anyUnit(s, i+1)
	}
	return d.Tokens[i].Kind == language.KindNumber || d.Tokens[i].Is(language.NumberWord|language.TimeUnit|language.DateLead)
}

// anyUnit reports whether one of the two words from token i on is a unit of time: "a year", "a whole year".
func (d *doc) anyUnit(s *language.Sentence, i int) bool {
	return d.Tokens[i].Is(language.TimeUnit) || i+1 < s.Hi && d.Tokens[i+1].Is(language.TimeUnit)
}

// somebody reports whether the subject before the verb at token v is a person: "my sister", not "my team".
func (d *doc) somebody(s *language.Sentence, v int) bool {
	for i := v - 1; i >= s.Lo && i > v-6; i-- {
		if d.Tokens[i].Is(language.KinNoun|language.Occupation) || d.Tokens[i].Shape != language.LowerCase || wordLists()["persons"][d.WordKey(i)] || wordLists()["kinds-of-people"][d.WordKey(i)] {
			return true
		}
	}
	return false
}

// ownVerb reports whether the speaker is the subject of the verb at token i: "I think", not "the accountant said".
func (d *doc) ownVerb(s *language.Sentence, i int) bool {
	for i--; i >= s.Lo; i-- {
		t := &d.Tokens[i]
		if t.Kind == language.KindWord && t.Is(language.FirstPerson|language.FirstPlural) && !t.Is(language.Possessive) {
			return true
		}
		if t.Kind == language.KindPunct || !t.Is(language.Adverb|language.Negation|language.Modal|language.FormOfDo|language.FormOfHave|language.FormOfBe|language.Future) {
			return t.Kind == language.KindPunct || d.coordinator(s, i)
		}
	}
	return true
}

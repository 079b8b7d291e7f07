package rules

import (
	"strings"

	"github.com/contextmem/contextmem/internal/language"
)

// hollow reports whether an object says nothing without its context, or is no thing: "got two", "has half", "made one of those", "show
// her you".
func hollow(predicate, object string) bool {
	words := strings.Fields(strings.ToLower(object))
	if len(words) == 0 {
		return wordLists()["no-event"][predicate]
	}
	if wordLists()["pointing"][words[len(words)-1]] || onlyCounts(words) || pointsFirst(words) || unfinished(predicate, words) || hollowBeginning(words) {
		return true
	}
	switch {
	case predicate == "was_told" || predicate == "was_asked", words[0] == "told" && (predicate == "is" || predicate == "was"):
		return true
	case len(words) == 1:
		return hollowWord(predicate, words[0])
	}
	return wordLists()["owning"][predicate] && wordLists()["body"][words[len(words)-1]]
}

// onlyCounts reports whether words only say how many.
func onlyCounts(words []string) bool {
	for _, w := range words {
		if !wordLists()["counts"][w] {
			return false
		}
	}
	return true
}

// hollowWord is hollow for an object of one word: "got that wrong" leaves "wrong".
func hollowWord(predicate, w string) bool {
	if w == "no" || w == "god" || wordLists()["bare-doings"][w] {
		return true
	}
	return wordLists()["owning"][predicate] && (wordLists()["outcomes"][w] || wordLists()["body"][w] || strings.Trim(w, "0123456789.,") == "")
}

// hollowBeginning reports whether an object begins with words that need what was said before: "one of those", "the big one", "nothing".
func hollowBeginning(words []string) bool {
	first := words[0]
	if wordLists()["hollow-first"][first] || first == "stuck" || first == "nothing" {
		return true
	}
	if len(words) == 1 {
		return false
	}
	second := words[1]
	if (first == "one" && second != "of" || wordLists()["pointing-first"][first]) && language.Lookup(second).Flags&language.Preposition != 0 {
		return true
	}
	if len(words) == 2 {
		return second == "times" || first == "my" && second == "own" || first == "as" && second == "well"
	}
	switch {
	case second == "one" || second == "ones":
		return first != "this" && !wordLists()["counts"][first]
	case first == "one" && second == "of":
		return words[2] == "those" || words[2] == "these" || words[2] == "them"
	}
	return false
}

// timeAlone reports whether the object is only a time, for a predicate that has nothing to do with time: "runs Mondays".
func timeAlone(predicate, object string) bool {
	switch strings.TrimPrefix(predicate, "not_") {
	case "runs", "ran", "is", "has", "had", "got", "gets", "takes", "took", "wants", "knows", "drives", "drove", "makes", "made", "does", "plays", "uses", "keeps", "teaches", "owns":
	default:
		return false
	}
	for w := range strings.FieldsSeq(strings.ToLower(object)) {
		if w != "and" && language.Lookup(w).Flags&(language.Weekday|language.DayWord) == 0 && !wordLists()["weekdays"][strings.TrimSuffix(w, "s")] {
			return false
		}
	}
	return object != ""
}

// slang reports whether token i is a short form such as "bc" for "because", which ends an object.
func (d *doc) slang(i int) bool { return wordLists()["slang"][d.WordKey(i)] }

// closed reports whether a description after a name's comma is complete: it ends at a sign or the end of the sentence and has no verb
// of its own. In "my manager's Rosa, director is some guy", the description is not of Rosa.
func (d *doc) closed(s *language.Sentence, i int) bool {
	for ; i < s.Hi; i++ {
		t := &d.Tokens[i]
		switch {
		case t.Kind == language.KindPunct && t.Sign != '-' && t.Sign != '\'':
			return true
		case t.Kind == language.KindWord && t.Is(language.WhWord) || d.IsWord(s, i, "that") || d.IsWord(s, i, "of"):
			return true
		case t.Is(language.FormOfBe) && (t.Kind == language.KindWord || d.Text[t.End-1] != 's' || i+1 < s.Hi && (d.Tokens[i+1].Is(language.Preposition|language.Adverb|language.Negation) || d.Tokens[i+1].Word().Form&language.IngForm != 0)), t.Kind == language.KindWord && t.Word().Verb > 0 && t.Word().Form&(language.ThirdForm|language.PastForm) != 0 && t.Word().Form&(language.BaseForm|language.Participle) == 0:
			return false
		}
	}
	return true
}

// supposed reports whether the content at token i was only believed, by the speaker in the past or by the listener: "I thought I was
// allergic", "don't assume I drink".
func (d *doc) supposed(s *language.Sentence, i int) bool {
	for j := i - 1; j > s.Lo; j-- {
		t := &d.Tokens[j]
		if t.Kind == language.KindPunct {
			return false
		}
		if !t.Is(language.FirstPerson|language.FirstPlural|language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural) && !d.IsWord(s, j, "that") {
			continue
		}
		v := j - 1
		if d.IsWord(s, v, "that") {
			v--
		}
		if v < s.Lo {
			return false
		}
		switch d.WordKey(v) {
		case "thought", "assumed", "figured":
			return d.ownVerb(s, v) && v > s.Lo
		case "assume", "think", "suppose", "expect":
			return v > s.Lo && d.Tokens[v-1].Is(language.Negation) && (v-1 == s.Lo || !d.Tokens[v-2].Is(language.FirstPerson|language.FirstPlural))
		}
	}
	return false
}

// noVerb reports whether the word that was read as the verb of a statement is no verb, or what follows is not its object: "my aunt
// does wed", "I eat like 4,200", "so I don't forget", "left hand".
func (d *doc) noVerb(s *language.Sentence, g *segment, verb int) bool {
	t, next := &d.Tokens[verb], verb+1
	switch {
	case t.Word().Verb == 0 && (t.Is(language.DayWord|language.Weekday) || wordLists()["weekdays"][d.WordKey(verb)]):
		return true
	case next >= g.hi:
		return false
	case d.Tokens[next].Kind == language.KindClitic && d.Text[d.Tokens[next].End-1] == 's':
		return true // "Lent's over"
	case d.slang(next), d.IsWord(s, next, "like"), d.IsWord(s, next, "about") && (d.Tokens[next+1].Kind == language.KindNumber || d.Tokens[next+1].Is(language.NumberWord)):
		return true
	case d.verbName(verb) == "wish", d.verbName(verb) == "go" && !d.Tokens[next].Is(language.Preposition) && d.Tokens[next].Word().Form&language.IngForm == 0:
		return true // "I go bench only"
	case d.IsWord(s, verb, "forget") && g.negated:
		return true
	case g.bare && d.IsWord(s, verb, "left") && d.Tokens[next].Kind == language.KindWord && !d.Tokens[next].Is(language.Determiner|language.Possessive|language.Preposition) && d.Tokens[next].Shape == language.LowerCase:
		return true
	}
	return t.Word().Verb == 0 && d.Tokens[next].Word().Verb > 0 && d.Tokens[next].Word().Form&language.BaseForm != 0 && d.Tokens[next].Word().Flags == 0 && !d.Tokens[next].Is(language.Determiner)
}

// helped reports whether an auxiliary precedes the verb at token v.
func (d *doc) helped(v int) bool {
	if v == 0 {
		return false
	}
	w := d.WordKey(v - 1)
	return d.Tokens[v-1].Is(language.FormOfHave|language.FormOfBe|language.Modal|language.Future) || w == "did" || w == "didn't" || w == "didnt"
}

// since reports whether the clause of token i says since when or for how long.
func (d *doc) since(i int) bool {
	c := d.ClauseOf(i)
	if c == nil {
		return false
	}
	for j := c.Lo; j < c.Hi; j++ {
		if w := d.WordKey(j); w == "since" || w == "for" || w == "always" || w == "all" {
			return true
		}
	}
	return c.Hi < len(d.Tokens) && d.WordKey(c.Hi) == "since" // "I've lived in Cork since I was nineteen"
}

// wasLike reports whether the "like" at token i tells what somebody else said: "she was like i have three cats".
func (d *doc) wasLike(s *language.Sentence, i int) bool {
	n := &d.Tokens[i+1]
	return i-1 > s.Lo && d.Tokens[i-1].Is(language.FormOfBe) && n.Is(language.FirstPerson) && !n.Is(language.Possessive) && !d.Tokens[i-2].Is(language.FirstPerson|language.FirstPlural)
}

// hearsay reports whether the content at token i is somebody else's direct speech without quotation marks: "he said I can walk, I'm
// not a horse".
func (d *doc) hearsay(s *language.Sentence, i int) bool {
	own := false
	for j := s.Lo; j+1 < s.Hi && j < i; j++ {
		own = own && d.Tokens[j].Kind != language.KindPunct
		own = own || d.Tokens[j].Is(language.FirstPerson|language.FirstPlural) && !d.Tokens[j].Is(language.Possessive)
		if w := d.Tokens[j].Word(); w.Verb == 0 && w.Flags != 0 { // no verb, as of most words
			continue
		}
		if d.asksOf(s, j) {
			return true
		}
		switch d.WordKey(j) {
		case "like":
			if d.wasLike(s, j) {
				return true
			}
			continue
		case "said", "says", "say", "goes":
		case "think", "thinks", "thought", "reckon", "reckons":
		default:
			continue
		}
		if n := &d.Tokens[j+1]; !n.Is(language.FirstPerson) || n.Is(language.Possessive) || d.IsWord(s, j+1, "me") || own {
			continue
		}
		if j == s.Lo {
			if w := d.WordKey(j); w == "says" || w == "said" {
				return true
			}
			continue
		}
		if t := &d.Tokens[j-1]; t.Kind == language.KindPunct && t.Sign == ',' && j-2 >= s.Lo && d.Tokens[j-2].Capital() {
			return true
		}
		if t := &d.Tokens[j-1]; t.Kind == language.KindWord && (t.Is(language.Masculine|language.Feminine|language.ThirdPlural|language.KinNoun|language.Conjunction) || t.Capital() || wordLists()["everybody"][d.WordKey(j-1)]) {
			return true
		}
	}
	return false
}

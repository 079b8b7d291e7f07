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
	counts := true
	for i, w := range words {
		counts = counts && wordLists()["counts"][w]
		if wordLists()["pointing"][w] && i == len(words)-1 {
			return true
		}
	}
	first, last := words[0], words[len(words)-1]
	switch {
	case counts, pointsFirst(words), unfinished(predicate, words), wordLists()["hollow-first"][first], len(words) == 1 && (first == "no" || first == "god"), len(words) > 2 && first != "this" && (words[1] == "one" || words[1] == "ones") && !wordLists()["counts"][first], len(words) == 2 && first == "as" && words[1] == "well":
		return true
	case first == "one" && len(words) > 2 && words[1] == "of" && (words[2] == "those" || words[2] == "these" || words[2] == "them"):
		return true
	case len(words) > 1 && first == "one" && words[1] != "of" && language.Lookup(words[1]).Flags&language.Preposition != 0, len(words) == 2 && (last == "times" || first == "my" && last == "own"), first == "stuck", first == "told" && (predicate == "is" || predicate == "was"), predicate == "was_told" || predicate == "was_asked":
		return true
	case len(words) == 1 && wordLists()["bare-doings"][first], first == "nothing", len(words) > 1 && wordLists()["pointing-first"][first] && language.Lookup(words[1]).Flags&language.Preposition != 0:
		return true
	case len(words) == 1 && wordLists()["owning"][predicate] && wordLists()["outcomes"][first]:
		return true // "got that wrong"
	case wordLists()["owning"][predicate]:
		return len(words) == 1 && strings.Trim(first, "0123456789.,") == "" || wordLists()["body"][last]
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
		case t.Is(language.FormOfBe) && (t.Kind == language.KindWord || d.Text[t.End-1] != 's' || i+1 < s.Hi && (d.Tokens[i+1].Is(language.Preposition|language.Adverb|language.Negation) || d.Tokens[i+1].Word.Form&language.IngForm != 0)), t.Kind == language.KindWord && t.Word.Verb > 0 && t.Word.Form&(language.ThirdForm|language.PastForm) != 0 && t.Word.Form&(language.BaseForm|language.Participle) == 0:
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
	case t.Word.Verb == 0 && (t.Is(language.DayWord|language.Weekday) || wordLists()["weekdays"][d.WordKey(verb)]):
		return true
	case next >= g.hi:
		return false
	case d.slang(next), d.IsWord(s, next, "like"), d.IsWord(s, next, "about") && (d.Tokens[next+1].Kind == language.KindNumber || d.Tokens[next+1].Is(language.NumberWord)):
		return true
	case d.verbName(verb) == "wish", d.verbName(verb) == "go" && !d.Tokens[next].Is(language.Preposition) && d.Tokens[next].Word.Form&language.IngForm == 0:
		return true // "I go bench only"
	case d.IsWord(s, verb, "forget") && g.negated:
		return true
	case g.bare && d.IsWord(s, verb, "left") && d.Tokens[next].Kind == language.KindWord && !d.Tokens[next].Is(language.Determiner|language.Possessive|language.Preposition) && d.Tokens[next].Shape == language.LowerCase:
		return true
	}
	return t.Word.Verb == 0 && d.Tokens[next].Word.Verb > 0 && d.Tokens[next].Word.Form&language.BaseForm != 0 && d.Tokens[next].Word.Flags == 0 && !d.Tokens[next].Is(language.Determiner)
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
	return false
}

// hearsay reports whether the content at token i is somebody else's direct speech without quotation marks: "he said I can walk, I'm
// not a horse".
func (d *doc) hearsay(s *language.Sentence, i int) bool {
	own := false
	for j := s.Lo; j+1 < s.Hi && j < i; j++ {
		if d.asksOf(s, j) {
			return true
		}
		own = own && d.Tokens[j].Kind != language.KindPunct
		own = own || d.Tokens[j].Is(language.FirstPerson|language.FirstPlural) && !d.Tokens[j].Is(language.Possessive)
		switch d.WordKey(j) {
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

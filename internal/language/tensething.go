package language

// maxThing is how many words a thing between "since" and its date may have: "since the accident of my brother in May".
const maxThing = 6

// sinceWords say since when something is so, in languages in which they never say from when it will be. Behind the others, which also say from
// when, a thing with a date has to stand: "desde la boda del 3 de octubre", not "desde el 3 de octubre".
var sinceWords = map[string]bool{"since": true, "seit": true, "seitdem": true, "depuis": true, "sinds": true, "desde": false, "dal": false, "dalla": false, "dallo": false, "dall": false, "dai": false, "dalle": false}

// thingTense returns the tense that a thing with the date at token i gives to the date, whatever the tense of the clause is: "we're friends since
// the wedding in June", "I know Ana from a course in February", "I'm tired after the trip in March". It is -1 if the thing is over, and 0, with
// ok, if only the nearest date can be told.
func (d *Document) thingTense(s *Sentence, i int) (tense int, ok bool) {
	j := i - 1
	for j > s.Lo && j > i-3 && d.Tokens[j].Kind == KindWord && d.Tokens[j].Shape == LowerCase && (d.Tokens[j].Is(Preposition|Determiner) && !d.IsOneOf(s, j, "since", "from", "after", "about", "over") || d.foreignLead(j)) {
		j--
	}
	for words := 0; j >= s.Lo && words <= maxThing; words, j = words+1, j-1 {
		t := &d.Tokens[j]
		if t.Kind == KindClitic {
			continue // "since mum's fall in May"
		}
		if t.Kind != KindWord || t.Is(FormOfBe|FormOfHave|FormOfDo|Modal|WhWord) || d.nominative(s, j) || t.OnlyPast() {
			return 0, false
		}
		past, since := sinceWords[d.WordKey(j)]
		if since && (past || words > 0) {
			return -1, true
		}
		if words > 0 && d.IsOneOf(s, j, "from", "after", "about", "over") && d.Tokens[j+1].WordIs(Determiner|Possessive) {
			return d.leftBehind(s, j)
		}
	}
	return 0, false
}

// foreignLead reports whether the word at token i may stand between a thing and its date in another language: "la boda del 3 de octubre".
func (d *Document) foreignLead(i int) bool {
	switch d.WordKey(i) {
	case "am", "im", "vom", "von", "dem", "den", "der", "le", "du", "de", "del", "el", "il", "di", "do", "da", "dia", "no", "em", "en", "op", "van":
		return true
	}
	return false
}

// feelings are verbs of what is left of a thing that is over: "my wrist aches from the fall in May".
var feelings = map[string]bool{"know": true, "remember": true, "hurt": true, "ache": true, "limp": true, "itch": true, "sting": true, "suffer": true, "miss": true}

// leftBehind returns the tense of a thing behind the preposition at token i, if the clause before it tells how somebody is, whom he knows or what
// he has since then.
func (d *Document) leftBehind(s *Sentence, i int) (tense int, ok bool) {
	lo := i
	for lo > s.Lo && d.Tokens[lo-1].Kind != KindPunct && !d.IsOneOf(s, lo-1, "but", "because", "and", "so") {
		lo--
	}
	still := false
	for j := lo; j < i; j++ {
		t := &d.Tokens[j]
		switch {
		case t.Is(Modal), d.IsOneOf(s, j, "back", "home", "away", "off", "out", "free", "done", "due", "ready", "available", "was", "were", "to", "need", "needs", "want", "wants", "until", "gone", "leave"):
			return 0, false // "I'm back from the trip in October"
		case d.IsWord(s, j, "still"):
			still = true
		}
	}
	if still {
		return -1, true
	}
	if d.IsOneOf(s, i, "about", "over") {
		return 0, false
	}
	for j := lo; j < i; j++ {
		t := &d.Tokens[j]
		if t.Kind != KindWord && t.Kind != KindClitic || j == lo && !t.Is(FormOfBe|FormOfHave) && t.Word().Verb == 0 {
			continue
		}
		switch {
		case t.Is(FormOfBe) || d.IsOneOf(s, j, "im", "i'm"):
			if d.IsWord(s, i, "after") {
				return 0, true
			}
			return -1, !d.ingBehind(s, j)
		case t.Is(FormOfHave):
			return 0, true
		case t.Word().Verb > 0 && feelings[VerbAt(t.Word().Verb).Base], d.IsOneOf(s, j, "hurts", "aches", "limps", "knows", "remembers"):
			return -1, true
		case t.Word().Verb > 0 && t.Word().Form&(BaseForm|ThirdForm) != 0 && j > s.Lo && d.nominative(s, j-1):
			return 0, false
		}
	}
	return 0, false
}

// ingBehind reports whether a progressive follows the form of "be" at token i, which may tell of what is arranged: "I'm flying from a course".
func (d *Document) ingBehind(s *Sentence, i int) bool {
	for i++; i < s.Hi && d.Tokens[i].Is(Adverb|Negation); i++ {
	}
	return i < s.Hi && d.Tokens[i].Word().Form&IngForm != 0
}

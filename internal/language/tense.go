package language

// tense returns -1 if the words around the date at token i are about the past, 1 if they are about the future, and 0 if they leave it open.
func (d *Document) tense(s *Sentence, i int) int {
	lead := d.partLead(s, i)
	if tense, ok := d.thingTense(s, lead); ok {
		return tense
	}
	switch {
	case d.IsOneOf(s, lead-1, "until", "till", "til", "come"), d.due(s, i), d.bookedFor(s, i), d.hasOn(s, i):
		return 1
	}
	part := Sentence{Lo: i, Hi: i}
	for part.Lo > s.Lo && !d.cutsTense(s, part.Lo-1) {
		part.Lo--
		if d.opensClause(s, part.Lo) {
			break
		}
	}
	for part.Hi < s.Hi && !d.cutsTense(s, part.Hi) && !(d.opensClause(s, part.Hi) && d.verbIn(&part)) {
		part.Hi++
	}
	past, ahead := d.pastTense(&part), d.futureTense(&part) || d.underWay(&part) || d.scheduled(&part, part.Lo, part.Hi)
	if !past && !ahead {
		if d.presentTense(&part) {
			if d.IsOneOf(s, lead-1, "from", "after", "during", "of") || d.asks(s, &Clause{Lo: s.Lo, Hi: s.Hi}, nil) {
				return 0
			}
			return 1 // "I sit the exam in May"
		}
		past, ahead = d.pastTense(s), d.futureTense(s) || d.underWay(s)
	}
	switch {
	case past && !ahead && d.setFor(s, i):
		return 1
	case past && !ahead && d.signedUp(s, i):
		return 0
	case past && !ahead:
		return -1
	case ahead && !past:
		return 1
	case !past && d.IsWord(s, lead-1, "by"):
		return 1
	}
	return 0
}

// partLead returns where the words that name a part of the period at token i begin: "the end of March", "early May".
func (d *Document) partLead(s *Sentence, i int) int {
	if d.IsWord(s, i-1, "of") && i-2 >= s.Lo && d.Tokens[i-2].Is(DatePart) {
		i -= 2
	} else if i-1 >= s.Lo && d.Tokens[i-1].Is(DatePart) && d.IsOneOf(s, i-1, "early", "mid", "late") {
		i--
	}
	if d.IsWord(s, i-1, "the") {
		i--
	}
	return i
}

// cutsTense reports whether a clause that may have another tense ends before token i.
func (d *Document) cutsTense(s *Sentence, i int) bool {
	t := &d.Tokens[i]
	switch {
	case t.Kind == KindPunct:
		return t.Sign == ',' || t.Sign == ';' || t.Sign == ':'
	case t.Kind != KindWord:
		return false
	}
	return d.IsOneOf(s, i, "but", "because") || d.IsOneOf(s, i, "and", "so") && i+1 < s.Hi && (d.nominative(s, i+1) || d.verbAlone(i+1))
}

// verbAlone reports whether the word at token i can only be a finite verb of the tables.
func (d *Document) verbAlone(i int) bool {
	t := &d.Tokens[i]
	return t.Kind == KindWord && t.Shape == LowerCase && t.Word().Verb > 0 && t.Word().Form&(BaseForm|ThirdForm|PastForm) != 0 && !t.Is(Preposition|Adjective|Adverb|Determiner|Month|Season)
}

// opensClause reports whether the pronoun at token i is the subject of a clause that no word joins: "I write it in May i opened the book twice".
func (d *Document) opensClause(s *Sentence, i int) bool {
	return i > s.Lo && d.nominative(s, i) && d.Tokens[i-1].Kind == KindWord && !d.Tokens[i-1].Is(Conjunction|FormOfBe|FormOfDo|FormOfHave|Modal)
}

// verbIn reports whether a part of a sentence has a finite verb.
func (d *Document) verbIn(s *Sentence) bool {
	for i := s.Lo; i < s.Hi; i++ {
		if d.finiteVerb(s, i) {
			return true
		}
	}
	return false
}

// presentTense reports whether the first verb of a part of a sentence is in the present tense, and no perfect: "I sit the exam", "she is due".
func (d *Document) presentTense(s *Sentence) bool {
	for i := s.Lo; i < s.Hi; i++ {
		t := &d.Tokens[i]
		switch {
		case d.foreignAm(s, i):
		case t.Is(FormOfBe):
			return !d.IsOneOf(s, i, "was", "were", "been", "be", "wasn't", "weren't") && !d.participleBehind(s, i, "been", "had", "gone", "done")
		case t.Is(FormOfHave):
			return d.haveGot(s, i+1) || d.IsOneOf(s, i, "have", "has") && !d.participleBehind(s, i)
		case t.Is(Modal), t.Is(FormOfDo) && d.IsOneOf(s, i, "did", "didn't"):
			return false
		case t.Word() == (Word{}) && t.Shape == LowerCase && i > s.Lo && d.nominative(s, i-1):
			return d.Text[t.End-1] != 'd' && d.Text[t.End-1] != 't' // a verb that no table has, and no "split"
		case d.endsHere(s, i):
			return true
		case t.Kind != KindWord || t.Word().Verb == 0 || t.Shape != LowerCase:
		case i > s.Lo && d.nominative(s, i-1), i > s.Lo+1 && d.Tokens[i-1].Is(Adverb|Negation|FormOfDo) && d.nominative(s, i-2):
			return t.Word().Form&BaseForm != 0 && t.Word().Form&PastForm == 0 || t.Word().Form&ThirdForm != 0
		case t.Word().Form == ThirdForm && i > s.Lo && !d.Tokens[i-1].Is(Determiner|Possessive|Preposition|Adjective):
			return true
		}
	}
	return false
}

// foreignAm reports whether the word at token i is "am" in German: "am 2. August".
func (d *Document) foreignAm(s *Sentence, i int) bool {
	return d.IsWord(s, i, "am") && !d.IsWord(s, i-1, "i") && !d.IsWord(s, i+1, "i")
}

// endsHere reports whether the word at token i is a verb of an end that the tables have as a noun alone: "my contract ends in February".
func (d *Document) endsHere(s *Sentence, i int) bool {
	return i > s.Lo && d.IsOneOf(s, i, "ends", "expires") && !d.Tokens[i-1].Is(Determiner|Possessive|Preposition|Adjective)
}

// participleBehind reports whether a participle follows the auxiliary at token i, behind adverbs; where words are given, one of them.
func (d *Document) participleBehind(s *Sentence, i int, words ...string) bool {
	for i++; i < s.Hi && d.Tokens[i].Is(Adverb|Negation); i++ {
	}
	if i >= s.Hi {
		return false
	}
	if len(words) > 0 {
		return d.IsOneOf(s, i, words...)
	}
	return d.Tokens[i].Word().Form&Participle != 0
}

// arranging are verbs of setting something for a later time.
var arranging = map[string]bool{"book": true, "rebook": true, "reserve": true, "schedule": true, "reschedule": true, "postpone": true, "arrange": true, "enroll": true, "register": true, "sign": true, "move": true, "delay": true, "push": true}

// setFor reports whether the date at token i is the time for which something was arranged, not when: "booked a cruise from 9 May", "postponed
// to 2 June".
func (d *Document) setFor(s *Sentence, i int) bool {
	if d.IsWord(s, i-1, "the") {
		i-- // "for the August weekend"
	}
	if !d.IsWord(s, i-1, "from") && !d.IsWord(s, i-1, "for") && !d.IsWord(s, i-1, "to") {
		return false
	}
	for j := i - 1; j >= s.Lo; j-- {
		t := &d.Tokens[j]
		if t.Kind == KindWord && t.Word().Verb > 0 && t.Word().Form&(PastForm|Participle) != 0 && t.Word().Form&BaseForm == 0 {
			base := VerbAt(t.Word().Verb).Base
			return arranging[base] && (base != "move" || d.IsWord(s, i-1, "to"))
		}
	}
	return false
}

// signedUp reports whether the month or day at token i may be that of a thing for which somebody put down his name before: "I signed up for a
// course in May".
func (d *Document) signedUp(s *Sentence, i int) bool {
	if !d.IsOneOf(s, i-1, "in", "on") {
		return false
	}
	to := false
	for j := i - 2; j >= s.Lo && d.Tokens[j].Kind != KindPunct; j-- {
		t := &d.Tokens[j]
		to = to || d.IsOneOf(s, j, "for", "on", "onto", "to")
		if t.Kind == KindWord && t.Word().Verb > 0 && t.Word().Form&(PastForm|Participle) != 0 && t.Word().Form&BaseForm == 0 {
			switch VerbAt(t.Word().Verb).Base {
			case "sign", "enroll", "register", "book", "enter":
				return to
			}
			return false
		}
	}
	return false
}

// due reports whether something is due on the date at token i: "my thesis is due on 28 May and I've got one chapter".
func (d *Document) due(s *Sentence, i int) bool {
	j := i - 1
	if j > s.Lo && d.Tokens[j].Is(Preposition) {
		j--
	}
	return d.IsWord(s, j, "due") && !d.IsOneOf(s, j-1, "was", "were", "wasn't", "weren't")
}

// hasOn reports whether the date at token i, behind "on", is that of something that somebody has before him: "we've got a gig on the 21st".
func (d *Document) hasOn(s *Sentence, i int) bool {
	if d.IsWord(s, i-1, "the") {
		i--
	}
	if !d.IsWord(s, i-1, "on") && !d.Tokens[i].Is(Weekday) {
		return false
	}
	for j := i - 2; j > s.Lo && j > i-8; j-- {
		t := &d.Tokens[j]
		switch {
		case t.Kind == KindPunct:
			return false
		case d.IsWord(s, j, "got"):
			return d.Tokens[j-1].Is(FormOfHave) && !d.IsWord(s, j-1, "had")
		case t.Is(FormOfHave):
			return d.IsOneOf(s, j, "have", "has") && !d.Tokens[j-1].Is(FormOfDo|Modal) && d.Tokens[j+1].WordIs(Determiner)
		case t.Word().Verb > 0 && t.Word().Form&(PastForm|Participle) != 0:
			return false
		}
	}
	return false
}

// bookedFor reports whether the date at token i, which no preposition precedes, is the time for which something was booked: "booked Kos with
// the girls 18-25 Aug".
func (d *Document) bookedFor(s *Sentence, i int) bool {
	if i <= s.Lo || d.Tokens[i-1].Kind != KindWord || d.Tokens[i-1].Is(Preposition) {
		return false
	}
	for j := i - 1; j >= s.Lo && j > i-8 && d.Tokens[j].Kind != KindPunct; j-- {
		if d.IsOneOf(s, j, "booked", "reserved") {
			return true
		}
	}
	return false
}

// underWay reports whether a part of a sentence has a present progressive, which may state an arrangement: "we're moving in December".
func (d *Document) underWay(s *Sentence) bool {
	for i := s.Lo + 1; i < s.Hi; i++ {
		if d.Tokens[i].Word().Form&IngForm == 0 {
			continue
		}
		j := i - 1
		for j > s.Lo && d.Tokens[j].Is(Adverb|Negation) && !d.Tokens[j].Is(FormOfBe) {
			j--
		}
		if d.Tokens[j].Is(FormOfBe) && !d.IsWord(s, j, "was") && !d.IsWord(s, j, "were") && !d.IsWord(s, j, "been") {
			return true
		}
	}
	return false
}

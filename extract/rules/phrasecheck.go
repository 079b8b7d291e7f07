package rules

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/internal/language"
)

// phraseSayable is the last check of what a phrase of another language states in a memory. The tables match words without their accents and
// know no grammar, so this reports whether the speaker states it, the verb is the one that the phrase means, nobody denies it, and the object can
// be one of the predicate. at is the phrase, object its object; own says that the phrase is in the first person.
func (d *doc) phraseSayable(s *language.Sentence, l *phrases, f *tableForm, at, object language.Span, own bool) bool {
	if d.unsaidPhrase(s, l, f, at.Lo, object.Hi) {
		return false
	}
	if f.predicate == "kin" {
		return true
	}
	if d.accentDiffers(at, own) || !f.negated && !f.retracts && d.deniedPhrase(s, at, object) {
		return false
	}
	if f.predicate == "wants" && (!own || object.Hi < s.Hi && wordLists()["phrase-denials"][d.WordKey(object.Hi)]) {
		return false // what others want is cut short too often
	}
	if f.predicate == "wants" && at.Lo > s.Lo && wordLists()["phrase-clitics"][d.WordKey(at.Lo-1)] {
		return false // "lo voglio pronto": what is wanted stands before the verb
	}
	return !d.phraseAhead(s, f) && d.phraseObject(s, l, f, at, object)
}

// phraseAhead reports whether a sentence tells of a time to come, so that what it says of a home, a job or studies is a plan.
func (d *doc) phraseAhead(s *language.Sentence, f *tableForm) bool {
	switch f.predicate {
	case "lives_in", "works_at", "has_role", "studies", "studies_at":
		return slices.ContainsFunc(d.datesOf(s), func(h language.Date) bool { return h.From.After(d.Reference) && !(f.moves && h.Yearless) })
	}
	return false
}

// phraseCodes are the codes of the languages that have tables of phrases.
var phraseCodes = map[string]string{"spanish": "es", "german": "de", "french": "fr", "portuguese": "pt", "italian": "it", "dutch": "nl", "polish": "pl", "russian": "ru"}

// writtenIn reports whether a sentence of a memory can be in a language that has a table of phrases: its words, or those of the text, are not
// those of another one. "Ama" is a verb in Italian and "but" in Turkish.
func (d *doc) writtenIn(s *language.Sentence, name string) bool {
	if !d.checked() {
		return true
	}
	tongue := language.Guess(d.Text[d.Tokens[s.Lo].Start:d.Tokens[s.Hi-1].End])
	return tongue == "" || tongue == phraseCodes[name] || d.textTongue() == phraseCodes[name]
}

// accentDiffers reports whether a word of a phrase has another accent than the verb that the phrase means: "habló" is not "hablo", nor "e" "é".
func (d *doc) accentDiffers(at language.Span, own bool) bool {
	for i := at.Lo; i < at.Hi; i++ {
		w := d.TokenText(i)
		if w == "e" || own && (strings.HasSuffix(w, "ó") || strings.HasSuffix(w, "ò")) {
			return true
		}
	}
	return false
}

// deniedPhrase reports whether a word before or behind a phrase denies it: "no quiero ir", "ich will nicht".
func (d *doc) deniedPhrase(s *language.Sentence, at, object language.Span) bool {
	for i := at.Lo - 1; i >= s.Lo && i >= at.Lo-2 && d.Tokens[i].Kind != language.KindPunct; i-- {
		if wordLists()["phrase-denials"][d.WordKey(i)] {
			return true
		}
	}
	return wordLists()["phrase-denials"][d.WordKey(object.Lo)]
}

// phraseObject reports whether words can be the object of a predicate.
func (d *doc) phraseObject(s *language.Sentence, l *phrases, f *tableForm, at, object language.Span) bool {
	lists := wordLists()
	first, t := d.WordKey(object.Lo), &d.Tokens[object.Lo]
	if lists["phrase-hollow"][first] && (object.Hi-object.Lo == 1 || f.predicate != "wants" && f.predicate != "prefers") || (l.cuts[first] || l.preps[first]) && object.Lo == at.Hi && !t.Used && !t.Capital() {
		return false
	}
	switch f.predicate {
	case "speaks":
		return lists["phrase-languages"][first] && !lists["phrase-only"][d.WordKey(min(object.Hi, s.Hi-1))]
	case "name":
		return !lists["phrase-no-name"][first] && (t.Capital() || object.Hi-object.Lo == 1)
	case "birthday":
		return t.Kind == language.KindNumber || t.Kind == language.KindDate || t.Is(language.Month)
	case "age":
		return d.phraseAge(s, l, f, object)
	case "wants":
		return d.phraseGoal(object)
	case "likes", "dislikes", "prefers":
		return t.Kind != language.KindPunct
	case "allergic_to":
		return !lists["phrase-no-allergen"][first]
	case "drives":
		return d.anyCapital(object)
	case "is_a":
		return l.occupation(first)
	case "works_at", "from", "has_role", "lives_in":
		number := t.Kind == language.KindNumber || at.Hi < object.Lo && d.Tokens[object.Lo-1].Kind == language.KindNumber
		return !number && d.phrasePlace(s, l, f, at, object)
	}
	return true
}

// phrasePlace reports whether words can be a home, an employer, an origin or an occupation.
func (d *doc) phrasePlace(s *language.Sentence, l *phrases, f *tableForm, at, object language.Span) bool {
	lists, first := wordLists(), d.WordKey(object.Lo)
	switch f.predicate {
	case "works_at":
		return !lists["phrase-no-work"][first] && !d.nounPhrase(s, at.Lo) && (d.Tokens[object.Lo].Shape != language.LowerCase || object.Lo > at.Hi || !infinitive(first))
	case "has_role":
		no := lists["phrase-no-role"]
		return !no[first] && !no[d.WordKey(at.Hi)] && !no[d.WordKey(object.Hi-1)]
	case "lives_in":
		return !lists["phrase-no-home"][first] && d.phraseHome(l, at, object)
	}
	return d.anyCapital(object)
}

// phraseHome reports whether somebody can live at an object: it has a capital, is a common noun of the table, or stands in a message without
// capitals and without an article: "vivo en cádiz", not "vivo en las nubes".
func (d *doc) phraseHome(l *phrases, at, object language.Span) bool {
	if d.anyCapital(object) {
		return true
	}
	for i := object.Lo; i < object.Hi; i++ {
		if l.homes[d.WordKey(i)] {
			return true
		}
	}
	return object.Lo == at.Hi && object.Hi-object.Lo <= 2 && !d.hasCapitals()
}

// hasCapitals reports whether a word of the text has a capital.
func (d *doc) hasCapitals() bool {
	if !d.capitalsRead {
		d.capitalsRead, d.capital = true, d.anyCapital(language.Span{Lo: 0, Hi: len(d.Tokens)})
	}
	return d.capital
}

// textTongue returns the code of the language that the text is in, as far as its beginning tells.
func (d *doc) textTongue() string {
	if !d.tongueRead {
		d.tongueRead, d.tongue = true, language.Guess(d.Text)
	}
	return d.tongue
}

// anyCapital reports whether a token has a capital.
func (d *doc) anyCapital(at language.Span) bool {
	for i := at.Lo; i < at.Hi; i++ {
		if d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Shape != language.LowerCase || d.Tokens[i].Kind == language.KindIdentifier {
			return true
		}
	}
	return false
}

// phraseAge reports whether an object is a number of years that somebody is old: nothing goes on behind "years", as in "ho 20 anni di servizio".
// A number without "years" stands alone: "ich bin 41", not "ich bin 14 Tage weg".
func (d *doc) phraseAge(s *language.Sentence, l *phrases, f *tableForm, object language.Span) bool {
	if f.bare {
		return object.Hi-object.Lo == 1 && len(d.TokenText(object.Lo)) == 2 && d.ageEnds(s, l, object.Hi)
	}
	if object.Hi-object.Lo > 3 || d.Tokens[object.Lo].Kind != language.KindNumber && !wordLists()["phrase-numbers"][d.WordKey(object.Lo)] {
		return false
	}
	switch d.WordKey(object.Hi) {
	case "jahre", "jaar":
		return object.Hi-object.Lo == 1 && (d.ageEnds(s, l, object.Hi+1) || d.IsOneOf(s, object.Hi+1, "alt", "jung", "oud", "jong"))
	}
	return !wordLists()["phrase-no-age"][d.WordKey(min(object.Hi+1, s.Hi-1))]
}

// ageEnds reports whether an age ends before token i: a sign or "and" follows, and no other number, as in "ich bin 10 und 11 Uhr da".
func (d *doc) ageEnds(s *language.Sentence, l *phrases, i int) bool {
	if i >= s.Hi {
		return true
	}
	if d.Tokens[i].Kind != language.KindPunct && !d.joinsAt(l, i) && !wordLists()["phrase-but"][d.WordKey(i)] || d.Tokens[i].Sign == '-' || d.Tokens[i].Sign == '%' {
		return false
	}
	return i+1 >= s.Hi || d.Tokens[i+1].Kind != language.KindNumber && !d.Tokens[i+1].Used
}

// phraseGoal reports whether an object is what somebody wants to do in life: "quisiera un presupuesto", "je voudrais savoir" and "ik wil rust" ask
// for something or last an hour.
func (d *doc) phraseGoal(object language.Span) bool {
	lists := wordLists()
	first := d.WordKey(object.Lo)
	if lists["phrase-asked"][first] || lists["phrase-asked"][d.WordKey(object.Hi-1)] {
		return false
	}
	for i := object.Lo; i < min(object.Lo+3, object.Hi); i++ {
		if lists["phrase-denials"][d.WordKey(i)] {
			return false
		}
	}
	last := d.WordKey(object.Hi - 1)
	return infinitive(first) || first == "ir" || strings.HasSuffix(first, "re") || strings.HasSuffix(first, "ć") || strings.HasSuffix(first, "ть") || strings.HasSuffix(first, "ться") ||
		strings.HasSuffix(last, "en") && d.Tokens[object.Hi-1].Shape == language.LowerCase
}

// nounPhrase reports whether the word at token i is the noun "work", not the verb: "le dieron trabajo en Cancún".
func (d *doc) nounPhrase(s *language.Sentence, i int) bool {
	switch d.WordKey(i) {
	case "trabajo", "trabalho", "lavoro":
	default:
		return false
	}
	if i == s.Lo || d.Tokens[i-1].Kind != language.KindWord {
		return false
	}
	return !wordLists()["phrase-before-verb"][d.WordKey(i-1)]
}

// infinitive reports whether a word in lower case ends as infinitives do in Romance languages: "travaille pour payer".
func infinitive(w string) bool {
	for _, end := range [...]string{"ar", "er", "ir", "are", "ere", "ire", "arse", "rre"} {
		if strings.HasSuffix(w, end) && len(w) > len(end)+1 {
			return true
		}
	}
	return false
}

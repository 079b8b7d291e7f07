package language

import (
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// dayPair reads two days with a hyphen: "3-7".
func dayPair(w string) (a, b int, ok bool) {
	from, to, ok := strings.Cut(w, "-")
	if !ok || len(from) > 2 || len(to) > 2 {
		return 0, 0, false
	}
	a, err := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	return a, b, err == nil && err2 == nil && a >= 1 && a < b && b <= 31
}

// dayRange reads days of one month from the first to the last: "3-7 June", "3 to 7 June 2023", "between 3 and 7 June", "June 3-7".
func (d *Document) dayRange(s *Sentence, i int) (Date, bool) {
	if d.Tokens[i].Is(Month) {
		first, last, j, ok := d.daysAt(s, i+1)
		if !ok || d.Tokens[i].Shape == LowerCase && d.Tokens[i].End-d.Tokens[i].Start <= 3 {
			return Date{}, false
		}
		return d.daysOf(s, i, d.ordinal(s, j), first, last, int(d.Tokens[i].Word.Num))
	}
	first, last, j, ok := d.daysAt(s, i)
	if !ok {
		return Date{}, false
	}
	j = d.ordinal(s, j)
	if d.IsWord(s, j, "of") {
		j++
	}
	month, ok := d.monthName(s, j, true)
	if !ok {
		return Date{}, false
	}
	return d.daysOf(s, i, j+1, first, last, month)
}

// daysAt reads two days from token i on and returns hi, the token after them.
func (d *Document) daysAt(s *Sentence, i int) (first, last, hi int, ok bool) {
	if i >= s.Hi {
		return 0, 0, 0, false
	}
	if d.Tokens[i].Kind == KindIdentifier {
		first, last, ok = dayPair(d.TokenText(i))
		return first, last, i + 1, ok
	}
	first, ok = d.Number(i)
	j := d.ordinal(s, i+1)
	if !ok || j+1 >= s.Hi {
		return 0, 0, 0, false
	}
	if !d.IsPunct(s, j, '-') && !d.IsWord(s, j, "to") && !d.IsWord(s, j, "until") && !d.IsWord(s, j, "till") && !d.IsWord(s, j, "through") && !(d.IsWord(s, j, "and") && d.IsWord(s, i-1, "between")) {
		return 0, 0, 0, false
	}
	last, ok = d.Number(j + 1)
	return first, last, j + 2, ok && first >= 1 && first < last && last <= 31
}

// daysOf resolves days of a month; a year may follow at token j.
func (d *Document) daysOf(s *Sentence, lo, j, first, last, month int) (Date, bool) {
	h := d.withYear(s, lo, j, last, month)
	if h.From.IsZero() {
		return h, d.Reference.IsZero() && h.Relative
	}
	from, ok := dayOf(h.From.Year(), month, first)
	h.From, h.Precision = from.From, extract.PrecisionDay
	return h, ok
}

// joinRange makes the two ends of a range consistent: in "from March to June 2021" both are in 2021, and the end is after the
// beginning.
func (d *Document) joinRange(s *Sentence, a, b *Date) {
	if a.Sentence != b.Sentence || a.Hi+1 != b.Lo || a.From.IsZero() || b.From.IsZero() || !a.Yearless {
		return
	}
	j := a.Hi
	if !d.IsWord(s, j, "to") && !d.IsWord(s, j, "until") && !d.IsWord(s, j, "till") && !d.IsWord(s, j, "through") && !d.IsPunct(s, j, '-') && !(d.IsWord(s, j, "and") && d.IsWord(s, a.Lo-1, "between")) {
		return
	}
	years := 0
	switch {
	case !b.Yearless && !b.Relative:
		years = b.From.Year() - a.From.Year()
		if a.From.AddDate(years, 0, 0).After(b.From) {
			years--
		}
		a.Yearless, a.Relative = false, false
	case b.Yearless && b.From.Before(a.From) && d.tense(s, a.Lo) > 0:
		b.From, b.To = inYear(b.From, 1), inYear(b.To, 1)
	case b.Yearless && b.From.Before(a.From):
		years = -1
	}
	a.From, a.To = inYear(a.From, years), inYear(a.To, years)
}

// inYear moves a day by a number of years.
func inYear(t time.Time, years int) time.Time { return t.AddDate(years, 0, 0) }

// tense returns -1 if the words around token i are about the past, 1 if they are about the future, and 0 if they leave it open.
func (d *Document) tense(s *Sentence, i int) int {
	switch {
	case d.IsWord(s, i-1, "since"):
		return -1
	case d.IsWord(s, i-1, "until") || d.IsWord(s, i-1, "till"), d.IsWord(s, i-1, "come"), d.due(s, i), d.bookedFor(s, i), d.hasOn(s, i):
		return 1
	}
	part := Sentence{Lo: i, Hi: i}
	for part.Lo > s.Lo && !d.cutsTense(part.Lo-1) {
		part.Lo--
	}
	for part.Hi < s.Hi && !d.cutsTense(part.Hi) {
		part.Hi++
	}
	past, ahead := d.pastTense(&part), d.futureTense(&part) || d.underWay(&part) || d.scheduled(&part, part.Lo, part.Hi)
	if !past && !ahead {
		past, ahead = d.pastTense(s), d.futureTense(s) || d.underWay(s)
	}
	switch {
	case past && !ahead && d.setFor(s, i):
		return 1
	case past && !ahead:
		return -1
	case ahead && !past:
		return 1
	}
	return 0
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
		if t.Kind == KindWord && t.Word.Verb > 0 && t.Word.Form&(PastForm|Participle) != 0 && t.Word.Form&BaseForm == 0 {
			base := VerbAt(t.Word.Verb).Base
			return arranging[base] && (base != "move" || d.IsWord(s, i-1, "to"))
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
		case t.Word.Verb > 0 && t.Word.Form&(PastForm|Participle) != 0:
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

func (d *Document) cutsTense(i int) bool {
	t := &d.Tokens[i]
	return t.Kind == KindPunct && (t.Sign == ',' || t.Sign == ';' || t.Sign == ':') || t.Kind == KindWord && (FoldEqual(d.TokenText(i), "but") || FoldEqual(d.TokenText(i), "because"))
}

// underWay reports whether a part of a sentence has a present progressive, which may state an arrangement: "we're moving in December".
func (d *Document) underWay(s *Sentence) bool {
	for i := s.Lo + 1; i < s.Hi; i++ {
		if d.Tokens[i].Word.Form&IngForm == 0 {
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

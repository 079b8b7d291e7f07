package rules

import (
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// otherDate reports whether a date in the sentence of clause c of a memory tells when something else was: it stands in a clause with another
// subject, opens the clause that follows, belongs to a thing, or is a day of the week on which something is always done.
func (d *doc) otherDate(s *language.Sentence, h *language.Date, c *clause) bool {
	if !d.in.Memory || c.verbTok < s.Lo || c.verbTok >= s.Hi {
		return false
	}
	before := h.Lo
	if before > s.Lo && d.Tokens[before-1].WordIs(language.Preposition) {
		before--
	}
	if d.modelYear(s, h) || d.everyWeek(s, h, c) || d.IsOneOf(s, h.Lo-1, "every", "each", "come") {
		return true
	}
	if h.Lo > c.verbTok {
		return !c.past && !c.perfect && !c.ended && d.verbBetween(s, c.verbTok+1, h.Lo) || d.opensNext(s, before, h.Hi) || d.apartFrom(s, h, c) || d.inRelative(s, h, c) || d.inNext(s, h, c) || d.ofThing(s, h, c, before)
	}
	return d.apartFrom(s, h, c) && !(c.past && !c.perfect && !d.Reference.IsZero() && h.From.Before(d.Reference))
}

// modelYear reports whether a year is that of a thing behind it: "I run a 2019 Peterbilt".
func (d *doc) modelYear(s *language.Sentence, h *language.Date) bool {
	return h.Precision == extract.PrecisionYear && h.Hi == h.Lo+1 && h.Lo > s.Lo && h.Hi < s.Hi && (d.Tokens[h.Hi].Kind == language.KindWord || d.Tokens[h.Hi].Kind == language.KindIdentifier) && d.Tokens[h.Hi].Gap == language.SpaceGap &&
		!d.Tokens[h.Hi].Is(language.FunctionWord) && (d.IsOneOf(s, h.Lo-1, "a", "an") || d.Tokens[h.Lo-1].Is(language.Possessive))
}

// opensNext reports whether the date [lo, hi), with its preposition, opens a clause: "and in 2015 we moved".
func (d *doc) opensNext(s *language.Sentence, lo, hi int) bool {
	if d.IsPunct(s, hi, ',') {
		hi++
	}
	if hi >= s.Hi || lo <= s.Lo || !d.subjectStart(s, hi) && !d.Tokens[hi].WordIs(language.Masculine|language.Feminine|language.ThirdPlural) {
		return false
	}
	p := &d.Tokens[lo-1]
	return p.Kind == language.KindPunct || d.coordinator(s, lo-1)
}

// apartFrom reports whether a date stands in another clause than the verb of c, which does not say since or until when: "I am a nurse, i
// qualified in 2010".
func (d *doc) apartFrom(s *language.Sentence, h *language.Date, c *clause) bool {
	own, other := d.ClauseOf(c.verbTok), d.ClauseOf(h.Lo)
	if own == nil || other == nil || own == other {
		return false
	}
	return h.Lo < c.verbTok || !d.IsOneOf(s, other.Lo, "since", "until", "till")
}

// inRelative reports whether a date behind the verb of c stands in a relative clause: "I have two rooms which are full until May".
func (d *doc) inRelative(s *language.Sentence, h *language.Date, c *clause) bool {
	for i := h.Lo - 1; i > c.verbTok && d.Tokens[i].Kind != language.KindPunct; i-- {
		if d.Tokens[i].Is(language.WhWord) && d.IsOneOf(s, i, "who", "which", "whose") {
			return true
		}
	}
	return false
}

// inNext reports whether a date behind the verb of c stands in a clause with a pronoun as its subject that follows: "we have vouchers and they
// expire in January", "I have a boat I bought in 2010".
func (d *doc) inNext(s *language.Sentence, h *language.Date, c *clause) bool {
	for i := c.verbTok + 2; i+1 < h.Lo; i++ {
		t := &d.Tokens[i]
		if t.Kind != language.KindWord || !t.WordIs(language.FirstPerson|language.FirstPlural|language.Masculine|language.Feminine|language.ThirdPlural) || t.Is(language.Possessive) || d.IsOneOf(s, i, "me", "us", "him", "her", "them") || !d.verbOrClitic(i+1) && d.Tokens[i+1].Word() != (language.Word{}) {
			continue
		}
		if p := &d.Tokens[i-1]; p.Kind == language.KindPunct || d.IsOneOf(s, i-1, "and", "but", "so", "because") || p.Kind == language.KindWord && p.Word().Verb == 0 && !p.Is(language.Conjunction|language.Preposition|language.WhWord|language.Temporal) {
			return true
		}
	}
	return false
}

// verbBetween reports whether a past verb or a form of "be" stands in [lo, hi) behind what can be its subject, in a text without signs: "I grow
// leeks my best was nine pound in 1983".
func (d *doc) verbBetween(s *language.Sentence, lo, hi int) bool {
	owner := false
	for i := lo; i < hi; i++ {
		t := &d.Tokens[i]
		switch {
		case t.Kind != language.KindWord:
		case t.Is(language.Possessive):
			owner = true
		case owner && (t.Is(language.FormOfBe) || t.Word().Verb > 0 && t.OnlyPast()):
			return true
		}
	}
	return false
}

// ofThing reports whether the date behind a verb belongs to a thing, or to what is said of it behind a comma: "we have a Junak from 1961", "we
// have goats, organic since 2012". The date begins at token lo, with its preposition.
func (d *doc) ofThing(s *language.Sentence, h *language.Date, c *clause, lo int) bool {
	if c.past || c.future || c.ended {
		return false
	}
	if lo > c.verbTok+1 && d.IsWord(s, lo, "from") && h.Precision == extract.PrecisionYear && h.To.Before(d.Reference) && !c.perfect {
		switch d.verbName(c.verbTok) {
		case "live", "work", "study", "teach", "be", "stay":
		default:
			return true // "she plays it on a drum kit from 2012"
		}
	}
	switch d.verbName(c.verbTok) {
	case "have", "own", "drive", "ride", "wear", "use", "play", "keep", "collect", "run", "grow":
	case "write", "read", "watch":
		i := h.Lo - 1
		for i > c.verbTok && (d.Tokens[i].Kind == language.KindNumber || d.IsWord(s, i, "to") || d.IsPunct(s, i, '-')) {
			i--
		}
		return d.IsPunct(s, i, ',') && h.To.Before(d.Reference) // "a history of the regiment, 1939 to 1945"
	default:
		return false
	}
	if lo > c.verbTok+1 && (d.IsWord(s, lo, "from") || d.IsWord(s, lo, "of")) && h.To.Before(d.Reference) {
		return true
	}
	words := 0
	for i := lo - 1; i > c.verbTok; i-- {
		t := &d.Tokens[i]
		if t.Kind == language.KindPunct {
			return t.Sign == ',' && words > 0 && words < 4
		}
		if t.Kind == language.KindWord && (t.Is(language.Conjunction) || d.coordinator(s, i)) {
			return false
		}
		words++
	}
	return false
}

// everyWeek reports whether a date is a day of the week on which something is always done: "I play football on Wednesday".
func (d *doc) everyWeek(s *language.Sentence, h *language.Date, c *clause) bool {
	if h.Hi > h.Lo+1 && d.Tokens[h.Lo].Is(language.Weekday) && d.Tokens[h.Hi-1].Is(language.Weekday) && !c.past && !c.future {
		return true // "Monday to Friday"
	}
	if h.Hi != h.Lo+1 || !d.Tokens[h.Lo].Is(language.Weekday) || c.past || c.perfect || c.future || c.ended || c.passive {
		return false
	}
	if t := &d.Tokens[c.verbTok]; t.Word().Verb == 0 || t.Word().Form&(language.BaseForm|language.ThirdForm) == 0 || t.Word().Form&language.PastForm != 0 || d.modeAt(c.verbTok) == extract.ModePlan {
		return false
	}
	for i := c.verbTok - 1; i >= s.Lo && i > c.verbTok-4; i-- {
		if d.Tokens[i].WordIs(language.FormOfDo) && d.IsOneOf(s, i, "did", "didn't", "didnt") {
			return false
		}
	}
	switch d.verbName(c.verbTok) {
	case "start", "begin", "leave", "arrive", "finish", "move", "fly", "open", "close", "need", "have", "be":
		return false
	}
	return true
}

// anniversary reports whether a number of years stands before a date, so that it is the day on which so many are complete: "twenty-two years in
// November".
func (d *doc) anniversary(s *language.Sentence, h *language.Date) bool {
	i := h.Lo - 1
	if !d.in.Memory || i-2 < s.Lo {
		return false
	}
	if d.IsOneOf(s, i, "in", "on", "come", "this", "next") {
		i--
	}
	if !d.IsOneOf(s, i, "years", "year", "yrs", "months") {
		return false
	}
	n := &d.Tokens[i-1]
	return n.Kind == language.KindNumber || n.Is(language.NumberWord) || d.IsOneOf(s, i-1, "a", "one")
}

// untilThing reports whether a date is that of a thing until which something was so: "until the flood in 2012".
func (d *doc) untilThing(s *language.Sentence, h *language.Date) bool {
	if !d.in.Memory || !d.IsOneOf(s, h.Lo-1, "in", "of", "on") {
		return false
	}
	for i := h.Lo - 2; i > s.Lo && i > h.Lo-6; i-- {
		t := &d.Tokens[i]
		switch {
		case t.Kind != language.KindWord || t.Is(language.FormOfBe|language.FormOfHave) || t.OnlyPast():
			return false
		case d.IsOneOf(s, i, "until", "till", "til"):
			return true
		}
	}
	return false
}

// goneOn returns since when something goes on that a clause says to have gone on for a length of time: "I've worked here for three years". It
// returns zero where the length may be that of something else: "I've booked it for two weeks".
func (d *doc) goneOn(s *language.Sentence, c *clause) (from time.Time, prec string) {
	if c.verbTok < s.Lo || c.verbTok >= s.Hi || c.future || c.hyp || c.ended || !d.in.Memory || c.past && !c.perfect {
		return from, ""
	}
	if t := &d.Tokens[c.verbTok]; t.Word().Form&language.IngForm == 0 {
		switch d.verbName(c.verbTok) {
		case "be", "been", "have", "live", "work", "know", "own", "teach", "run", "keep", "use", "wear", "drive", "study":
		default:
			return from, ""
		}
	}
	for i := c.verbTok + 1; i+1 < s.Hi && d.Tokens[i].Kind != language.KindPunct; i++ {
		if !(d.IsWord(s, i, "for") && c.perfect || d.IsWord(s, i, "since")) {
			if d.coordinator(s, i) || i > c.verbTok+1 && d.Tokens[i].Word().Verb > 0 && d.verbOrClitic(i) && d.Tokens[i].WordIs(language.FormOfBe|language.FormOfHave) {
				return from, ""
			}
			continue
		}
		if h, ok := d.BackBy(s, i+1); ok && !d.anyWord(s, h.Hi, s.Hi, "now") {
			return h.From, h.Precision
		}
	}
	return from, ""
}

// untilClause reports whether a date stands in a clause behind c that says until when: "I was a baker until my back gave out in 2019".
func (d *doc) untilClause(s *language.Sentence, h *language.Date, c *clause) bool {
	if !d.in.Memory || h.Lo < c.verbTok {
		return false
	}
	other := d.ClauseOf(h.Lo)
	return other != nil && other.Lo > c.verbTok && (d.IsOneOf(s, other.Lo, "until", "till") || d.IsOneOf(s, other.Lo-1, "until", "till"))
}

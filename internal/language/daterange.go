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
		return d.daysOf(s, i, d.ordinal(s, j), first, last, int(d.Tokens[i].Word().Num))
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
	first, j := d.dayNumber(s, i)
	if first == 0 || j+1 >= s.Hi {
		return 0, 0, 0, false
	}
	if !d.IsPunct(s, j, '-') && !d.IsWord(s, j, "to") && !d.IsWord(s, j, "until") && !d.IsWord(s, j, "till") && !d.IsWord(s, j, "through") && !(d.IsWord(s, j, "and") && d.IsWord(s, i-1, "between")) {
		return 0, 0, 0, false
	}
	if j++; d.IsWord(s, j, "the") {
		j++
	}
	last, hi = d.dayNumber(s, j)
	return first, last, hi, last > 0 && first < last && last <= 31
}

// dayNumber returns the number of a day at token i, in digits or in words ("24th", "third"), and the token behind it; 0 for none.
func (d *Document) dayNumber(s *Sentence, i int) (n, hi int) {
	if i >= s.Hi {
		return 0, i
	}
	if n, ok := d.Number(i); ok {
		return n, d.ordinal(s, i+1)
	}
	return d.ordinalAt(s, i)
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

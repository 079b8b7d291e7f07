package language

import "time"

// weekdayDate reads a day of the week that a date follows, which decides: "Thursday 12 March", "Friday, 3 May 2024", "Sunday the 1st".
func (d *Document) weekdayDate(s *Sentence, i int) (Date, bool) {
	j := i + 1
	if d.IsPunct(s, j, ',') {
		j++
	}
	if j >= s.Hi {
		return Date{}, false
	}
	if t := &d.Tokens[j]; t.Kind == KindNumber || t.Is(Month) {
		h, ok := d.simpleDate(s, j)
		if !ok || h.Hi <= j+1 || h.To.Sub(h.From) > 24*time.Hour {
			return Date{}, false
		}
		h.Lo = i
		return h, true
	}
	if !d.IsWord(s, j, "the") || j != i+1 || j+1 >= s.Hi || d.Reference.IsZero() {
		return Date{}, false
	}
	n, end := d.ordinalAt(s, j+1)
	if n == 0 {
		n, _ = d.Number(j + 1)
		if end = d.ordinal(s, j+2); end == j+2 {
			return Date{}, false
		}
	}
	if n < 1 || n > 31 || end < s.Hi && d.Tokens[end].Kind == KindWord && !d.Tokens[end].Is(Preposition|Conjunction) && !d.nominative(s, end) {
		return Date{}, false // "Sunday the second team plays"
	}
	return d.dayOnWeekday(i, end, n, time.Weekday(d.Tokens[i].Word().Num))
}

// dayOnWeekday makes the date at the tokens [lo, hi) of day n of the month in which it is nearest to the reference day and falls on a weekday.
func (d *Document) dayOnWeekday(lo, hi, n int, weekday time.Weekday) (Date, bool) {
	ref := Midnight(d.Reference)
	best, found := period{}, false
	for k := -6; k <= 6; k++ {
		first := time.Date(ref.Year(), ref.Month()+time.Month(k), 1, 0, 0, 0, 0, time.UTC)
		p, ok := dayOf(first.Year(), int(first.Month()), n)
		if ok && p.From.Weekday() == weekday && (!found || p.From.Sub(ref).Abs() < best.From.Sub(ref).Abs()) {
			best, found = p, true
		}
	}
	if !found {
		return Date{}, false
	}
	return d.hit(lo, hi, best)
}

// weekdayRow reports whether a day of the week stands right beside another, as where something is always on those days: "tues thurs sat".
func (d *Document) weekdayRow(s *Sentence, i int) bool {
	beside := func(j int) bool {
		return j >= s.Lo && j < s.Hi && d.Tokens[j].Kind == KindWord && d.Tokens[j].Is(Weekday)
	}
	return beside(i-1) || beside(i+1) || i > s.Lo && d.IsPunct(s, i-1, '/') && beside(i-2) || d.IsPunct(s, i+1, '/') && beside(i+2)
}

package language

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// Dates returns the dates and periods in a text, in the order of the text: spelled ones ("8 May 2023", "2023-05") and, unless ref is
// zero, those relative to ref ("yesterday", "last Friday", "two weeks ago", "the week before 9 June"). Each has the place of its
// words, its bounds at midnight UTC (From inclusive, To exclusive), and Relative if it was resolved against ref. The calendar day of
// ref is that in its own time zone. Text after the first 4 MiB is not read. Dates is deterministic and safe for concurrent use.
func Dates(text string, ref time.Time) []extract.DateRef {
	d := newDocument(text, ref)
	defer d.free()
	d.Read()
	return d.DateRefs()
}

// composed reads dates that are composed from another: "the week before 9 June 2023", "early June", "Tuesday of last week", "the first
// weekend of August", "summer 2021", "the week before last".
func (d *Document) composed(s *Sentence, i int) (Date, bool) {
	j := i
	if d.IsWord(s, j, "the") || d.IsWord(s, j, "on") {
		if j++; d.IsWord(s, j, "the") {
			j++
		}
	}
	if j >= s.Hi {
		return Date{}, false
	}
	t := &d.Tokens[j]
	switch {
	case t.Kind == KindNumber:
		return d.monthDay(s, i, j)
	case t.Kind != KindWord:
		return Date{}, false
	case t.Is(DatePart), d.spelledNumber(t), t.Is(NumberWord) && j+1 < s.Hi && d.Tokens[j+1].Is(DatePart):
		if h, ok := d.spelledDay(s, i, j); ok {
			return h, true
		}
		if !t.Is(DatePart) {
			return Date{}, false
		}
		if h, ok := d.nthOf(s, i, j); ok {
			return h, true
		}
		return d.partOf(s, i, j)
	case t.Is(TimeUnit | Weekday):
		if h, ok := d.beside(s, i, j); ok && d.Text[t.End-1] != 's' {
			return h, true
		}
		if t.Is(Weekday) {
			return d.weekdayOf(s, i, j)
		}
		return d.weekOf(s, i, j)
	case t.Is(Season):
		return d.seasonOf(s, i, j)
	}
	return Date{}, false
}

// from makes the date that begins at token lo and is composed from anchor.
func (d *Document) from(lo int, anchor *Date, p period) (Date, bool) {
	h := Date{Lo: lo, Hi: anchor.Hi, Relative: anchor.Relative, Yearless: anchor.Yearless}
	if !anchor.From.IsZero() && p.From.Year() > 0 && p.To.Year() <= 9999 {
		h.From, h.To, h.Precision = p.From, p.To, p.Precision
	}
	return h, true
}

// beside reads "the week before 9 June 2023", "the Friday after next Monday" and "the week before last".
func (d *Document) beside(s *Sentence, lo, i int) (Date, bool) {
	sign := 0
	switch {
	case d.IsWord(s, i+1, "before"):
		sign = -1
	case d.IsWord(s, i+1, "after"), d.IsWord(s, i+1, "following"):
		sign = 1
	default:
		return Date{}, false
	}
	unit := int(d.Tokens[i].Word().Num)
	if d.Tokens[i].Is(TimeUnit) && d.Tokens[i].Word().Num == 0 {
		if !d.IsWord(s, i, "night") {
			return Date{}, false
		}
		unit = 1
	}
	last := sign < 0 && d.IsWord(s, i+2, "last")
	if (last || sign > 0 && d.IsWord(s, i+2, "next")) && !d.followedByDate(s, i+3) {
		if d.Tokens[i].Is(Weekday) {
			return d.hit(lo, i+3, d.shiftDay(d.stepWeekday(unit, sign, false), 7*sign))
		}
		if unit == 2 || unit == 7 || unit == 30 || unit == 365 {
			p, ok := d.stepUnit(s, i, 2*sign, false)
			if !ok {
				return Date{}, false
			}
			return d.hit(lo, i+3, p)
		}
		return d.hit(lo, i+3, shiftFrom(Midnight(d.Reference), 2*sign, sign, amount{unit: unit}))
	}
	anchor, ok := d.anchor(s, i+2)
	if !ok {
		return Date{}, false
	}
	return d.from(lo, &anchor, besides(anchor, d.Tokens[i].Is(Weekday), unit, sign))
}

func (d *Document) shiftDay(p period, days int) period { return day(p.From.AddDate(0, 0, days)) }

// followedByDate reports whether "last" or "next" at i-1 belongs to the following date: "the week before last Friday".
func (d *Document) followedByDate(s *Sentence, i int) bool {
	return i < s.Hi && d.Tokens[i].Kind == KindWord && d.Tokens[i].Is(TimeUnit|Weekday|Season|Month)
}

// besides returns the weekday or the unit next to a date. A week is the seven days right before or after the date.
func besides(a Date, weekday bool, unit, sign int) period {
	edge := a.From // the first day beside the date
	if sign > 0 {
		edge = a.To
	} else {
		edge = edge.AddDate(0, 0, -1)
	}
	switch {
	case weekday:
		delta := (unit - int(edge.Weekday()) + 7) % 7
		if sign < 0 && delta > 0 {
			delta -= 7
		}
		return day(edge.AddDate(0, 0, delta))
	case unit == 1:
		return day(edge)
	case unit == 2:
		for edge.Weekday() != time.Sunday && sign < 0 || edge.Weekday() != time.Saturday && sign > 0 {
			edge = edge.AddDate(0, 0, sign)
		}
		if sign < 0 {
			edge = edge.AddDate(0, 0, -1)
		}
		return period{edge, edge.AddDate(0, 0, 2), extract.PrecisionDay}
	case unit == 30:
		first := time.Date(a.From.Year(), a.From.Month()+time.Month(sign), 1, 0, 0, 0, 0, time.UTC)
		return monthOf(first.Year(), first.Month())
	case unit == 365:
		return yearOf(a.From.Year() + sign)
	}
	days := 7
	if unit > 365 {
		days = unit
	}
	if sign < 0 {
		return period{a.From.AddDate(0, 0, -days), a.From, precisionOf(unit)}
	}
	return period{a.To, a.To.AddDate(0, 0, days), precisionOf(unit)}
}

// anchor reads the date that another date is relative to.
func (d *Document) anchor(s *Sentence, i int) (Date, bool) {
	if d.IsWord(s, i, "the") {
		i++
	}
	if i >= s.Hi {
		return Date{}, false
	}
	return d.simpleDate(s, i)
}

// weekdayOf reads "Monday last week" and "Tuesday of last week".
func (d *Document) weekdayOf(s *Sentence, lo, i int) (Date, bool) {
	j := i + 1
	if d.IsWord(s, j, "of") {
		j++
	}
	if d.IsWord(s, j, "the") {
		j++
	}
	if j+1 >= s.Hi || !d.IsWord(s, j+1, "week") || !d.IsWord(s, j, "last") && !d.IsWord(s, j, "this") && !d.IsWord(s, j, "next") && !d.IsWord(s, j, "previous") {
		return Date{}, false
	}
	a, ok := d.adjacent(s, j)
	if !ok {
		return Date{}, false
	}
	return d.from(lo, &a, day(a.From.AddDate(0, 0, (int(d.Tokens[i].Word().Num)+6)%7)))
}

// weekOf reads "the week of 23 August 2023" and "the weekend of 15 July": the calendar week, or its weekend.
func (d *Document) weekOf(s *Sentence, lo, i int) (Date, bool) {
	unit := d.Tokens[i].Word().Num
	if unit != 7 && unit != 2 || !d.IsWord(s, i+1, "of") {
		return Date{}, false
	}
	a, ok := d.anchor(s, i+2)
	if !ok || a.Precision != extract.PrecisionDay && !a.From.IsZero() {
		return Date{}, false
	}
	from := monday(a.From)
	if unit == 2 {
		from = from.AddDate(0, 0, 5)
		return d.from(lo, &a, period{from, from.AddDate(0, 0, 2), extract.PrecisionDay})
	}
	return d.from(lo, &a, period{from, from.AddDate(0, 0, 7), extract.PrecisionDay})
}

// seasonOf reads "summer 2021" and "the summer of 2021". Winter belongs to the year in which it begins.
func (d *Document) seasonOf(s *Sentence, lo, i int) (Date, bool) {
	j := i + 1
	if d.IsWord(s, j, "of") {
		j++
	}
	y, ok := d.year(s, j)
	if !ok || !d.plainYear(s, j) {
		return Date{}, false
	}
	from := time.Date(y, seasonStart(int(d.Tokens[i].Word().Num)), 1, 0, 0, 0, 0, time.UTC)
	return Date{Lo: lo, Hi: j + 1, From: from, To: from.AddDate(0, 3, 0), Precision: extract.PrecisionMonth}, true
}

// nthOf reads "the first week of June 2023", "the last weekend of May" and "the second Monday of August".
func (d *Document) nthOf(s *Sentence, lo, i int) (Date, bool) {
	n := ordinalWord(d.TokenText(i))
	if n == 0 || i+3 >= s.Hi || d.Tokens[i+1].Kind != KindWord || !d.IsWord(s, i+2, "of") && !d.IsWord(s, i+2, "in") {
		return Date{}, false
	}
	t := &d.Tokens[i+1]
	unit := int(t.Word().Num)
	if !t.Is(Weekday) && (!t.Is(TimeUnit) || unit != 7 && unit != 2 && unit != 1) {
		return Date{}, false
	}
	a, ok := d.anchor(s, i+3)
	if !ok || a.Precision != extract.PrecisionMonth && !a.From.IsZero() {
		return Date{}, false
	}
	return d.from(lo, &a, nthIn(a, n, unit, t.Is(Weekday)))
}

// nthIn returns the nth week, weekend, day or weekday of a month; n is -1 for the last.
func nthIn(a Date, n, unit int, weekday bool) period {
	switch {
	case weekday, unit == 2:
		wd := unit
		if !weekday {
			wd = int(time.Saturday)
		}
		at := a.From.AddDate(0, 0, (wd-int(a.From.Weekday())+7)%7+7*(n-1))
		if n < 0 {
			last := a.To.AddDate(0, 0, -1)
			at = last.AddDate(0, 0, -((int(last.Weekday()) - wd + 7) % 7))
		}
		if weekday {
			return day(at)
		}
		return period{at, at.AddDate(0, 0, 2), extract.PrecisionDay}
	case unit == 1 && n < 0:
		return day(a.To.AddDate(0, 0, -1))
	case unit == 1:
		return day(a.From.AddDate(0, 0, n-1))
	case n < 0:
		return period{a.To.AddDate(0, 0, -7), a.To, extract.PrecisionDay}
	}
	from := a.From.AddDate(0, 0, 7*(n-1))
	return period{from, from.AddDate(0, 0, 7), extract.PrecisionDay}
}

func ordinalWord(w string) int {
	switch strings.ToLower(w) {
	case "first":
		return 1
	case "second":
		return 2
	case "third":
		return 3
	case "fourth":
		return 4
	case "last":
		return -1
	}
	return 0
}

// partOf reads "early June", "late 2021", "the end of last month" and "the other day".
func (d *Document) partOf(s *Sentence, lo, i int) (Date, bool) {
	part, j, of := 0, i+1, true
	switch strings.ToLower(d.TokenText(i)) {
	case "beginning", "start":
	case "middle":
		part = 1
	case "end":
		part = 2
	case "early":
		of = false
	case "mid":
		part, of = 1, false
		if d.IsPunct(s, j, '-') {
			j++
		}
	case "late":
		part, of = 2, false
	case "other":
		if i > lo && d.IsWord(s, j, "day") && !d.IsWord(s, j+1, "before") && !d.IsWord(s, j+1, "after") {
			ref := Midnight(d.Reference)
			return d.hit(lo, j+1, period{ref.AddDate(0, 0, -7), ref, extract.PrecisionDay})
		}
		return Date{}, false
	default:
		return Date{}, false
	}
	if of {
		if !d.IsWord(s, j, "of") {
			return Date{}, false
		}
		j++
	}
	if h, ok := d.partOfThis(s, lo, j, part); ok {
		return h, true
	}
	a, ok := d.anchor(s, j)
	if !ok || d.Tokens[j].Gap > SpaceGap {
		return Date{}, false
	}
	if a.From.IsZero() {
		return d.from(lo, &a, period{})
	}
	return d.from(lo, &a, third(a, part))
}

// partOfThis reads "the year", "the month" and "the week" at token i behind "the end of", which begins at token lo: of the reference time. The end of
// the year is its last month.
func (d *Document) partOfThis(s *Sentence, lo, i, part int) (Date, bool) {
	if !d.IsWord(s, i, "the") || i+1 >= s.Hi || !d.IsOneOf(s, i+1, "year", "month", "week") || d.IsOneOf(s, i+2, "before", "after", "of") {
		return Date{}, false
	}
	unit := int(d.Tokens[i+1].Word().Num)
	p := d.calendar(unit, 0)
	switch {
	case d.Reference.IsZero():
	case unit == 365 && part != 1:
		p = monthOf(p.From.Year(), time.Month(1+11*part/2))
	default:
		p = third(Date{From: p.From, To: p.To, Precision: p.Precision}, part)
	}
	return d.hit(lo, i+2, p)
}

// third returns the first, second or last third of a period; for a day it returns the day.
func third(a Date, part int) period {
	switch days := int(a.To.Sub(a.From).Hours() / 24); {
	case days < 3:
		return period{a.From, a.To, a.Precision}
	case a.Precision == extract.PrecisionYear && a.To.Equal(a.From.AddDate(1, 0, 0)):
		from := a.From.AddDate(0, 4*part, 0)
		return period{from, from.AddDate(0, 4, 0), extract.PrecisionMonth}
	case a.Precision == extract.PrecisionYear:
		years := a.To.Year() - a.From.Year()
		from := a.From.AddDate(years*part/3, 0, 0)
		return period{from, a.From.AddDate(years*(part+1)/3, 0, 0), extract.PrecisionYear}
	default:
		return period{a.From.AddDate(0, 0, days*part/3), a.From.AddDate(0, 0, days*(part+1)/3), extract.PrecisionDay}
	}
}

// monthDay reads "on the 5th": the last such day, or the next one if the sentence is about the future.
func (d *Document) monthDay(s *Sentence, lo, i int) (Date, bool) {
	n, ok := d.Number(i)
	end := d.ordinal(s, i+1)
	if !ok || n < 1 || n > 31 || end == i+1 {
		return Date{}, false
	}
	return d.dayAlone(s, lo, i, end, n)
}

// dayAlone reads day n of a month, written at the tokens [i, end) behind "on the" at token lo.
func (d *Document) dayAlone(s *Sentence, lo, i, end, n int) (Date, bool) {
	if !d.IsWord(s, lo, "on") || !d.IsWord(s, i-1, "the") {
		return Date{}, false
	}
	if end < s.Hi && d.Tokens[end].Kind != KindPunct && !(d.Tokens[end].Kind == KindWord && (d.Tokens[end].Is(Preposition|Conjunction) || d.nominative(s, end) || d.Tokens[end].WordIs(Neuter)) && !d.IsWord(s, end, "of")) {
		return Date{}, false // "on the 5th floor"
	}
	if d.Reference.IsZero() {
		return Date{Lo: lo + 1, Hi: end, Relative: true}, true
	}
	ref, step := Midnight(d.Reference), -1
	if d.futureTense(s) || d.tense(s, i) > 0 {
		step = 1
	}
	for k := range 3 {
		first := time.Date(ref.Year(), ref.Month()+time.Month(k*step), 1, 0, 0, 0, 0, time.UTC)
		p, ok := dayOf(first.Year(), int(first.Month()), n)
		if ok && (step < 0 && !p.From.After(ref) || step > 0 && !p.From.Before(ref)) {
			return d.hit(lo+1, end, p)
		}
	}
	return Date{}, false
}

// holidays are holidays on a fixed day: month*100 + day.
var holidays = map[string]int{"christmas": 1225, "xmas": 1225, "christmas eve": 1224, "halloween": 1031, "valentine's day": 214, "new year's eve": 1231, "new year's day": 101}

// holiday reads a holiday at token i after "last", "next" or "this". The words can still be a name, too.
func (d *Document) holiday(s *Sentence, lo, i, step int) (Date, bool) {
	hi, at := 0, 0
	for j := min(s.Hi, i+3); j > i; j-- {
		if j > i+1 && d.Tokens[j-1].Gap > SpaceGap || d.Tokens[j-1].Kind != KindWord && d.Tokens[j-1].Kind != KindClitic {
			continue
		}
		if at = holidays[strings.ToLower(strings.ReplaceAll(d.SpanText(i, j), "’", "'"))]; at > 0 {
			hi = j
			break
		}
	}
	if hi == 0 {
		return Date{}, false
	}
	y := d.Reference.Year()
	today := int(d.Reference.Month())*100 + d.Reference.Day()
	switch {
	case step < 0 && at >= today:
		y--
	case step > 0 && at <= today:
		y++
	}
	p, _ := dayOf(y, at/100, at%100)
	h, ok := d.hit(lo, hi, p)
	h.name = true
	return h, ok
}

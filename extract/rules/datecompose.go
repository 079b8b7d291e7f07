package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// Dates returns the dates and periods that a text names, in the order of the text: spelled ones ("8 May 2023", "2023-05"),
// and, unless ref is zero, those that count from ref ("yesterday", "last Friday", "two weeks ago", "the week before 9 June").
// Each has its words' place, its bounds at midnight UTC (From inclusive, To exclusive) and says whether it was counted from
// ref. The calendar day of ref is that of its own time zone. Text beyond 4 MiB is not read. It is deterministic and safe
// for concurrent use.
func Dates(text string, ref time.Time) []extract.DateRef {
	d := newDoc(text)
	defer d.free()
	d.ask(ref)
	d.tokenize()
	d.split()
	d.languages()
	d.findDates()
	d.finishDates()
	return d.out.Dates
}

// composed reads dates that are made from another: "the week before 9 June 2023", "early June", "Tuesday of last week",
// "the first weekend of August", "summer 2021", "the week before last".
func (d *doc) composed(s *sentence, i int) (dateHit, bool) {
	j := i
	if d.isWord(s, j, "the") || d.isWord(s, j, "on") {
		if j++; d.isWord(s, j, "the") {
			j++
		}
	}
	if j >= s.hi {
		return dateHit{}, false
	}
	t := &d.toks[j]
	switch {
	case t.kind == kNumber:
		return d.monthDay(s, i, j)
	case t.kind != kWord:
		return dateHit{}, false
	case t.is(fDatePart):
		if h, ok := d.nthOf(s, i, j); ok {
			return h, true
		}
		return d.partOf(s, i, j)
	case t.is(fTimeUnit | fWeekday):
		if h, ok := d.beside(s, i, j); ok && d.text[t.end-1] != 's' {
			return h, true
		}
		if t.is(fWeekday) {
			return d.weekdayOf(s, i, j)
		}
		return d.weekOf(s, i, j)
	case t.is(fSeason):
		return d.seasonOf(s, i, j)
	}
	return dateHit{}, false
}

// from completes a date that begins at token lo and is made from anchor.
func (d *doc) from(lo int, anchor *dateHit, p period) (dateHit, bool) {
	h := dateHit{lo: lo, hi: anchor.hi, relative: anchor.relative, yearless: anchor.yearless}
	if !anchor.from.IsZero() && p.from.Year() > 0 && p.to.Year() <= 9999 {
		h.from, h.to, h.prec = p.from, p.to, p.prec
	}
	return h, true
}

// beside reads "the week before 9 June 2023", "the Friday after next Monday" and "the week before last".
func (d *doc) beside(s *sentence, lo, i int) (dateHit, bool) {
	sign := 0
	switch {
	case d.isWord(s, i+1, "before"):
		sign = -1
	case d.isWord(s, i+1, "after"), d.isWord(s, i+1, "following"):
		sign = 1
	default:
		return dateHit{}, false
	}
	unit := int(d.toks[i].w.num)
	if d.toks[i].is(fTimeUnit) && d.toks[i].w.num == 0 {
		if !d.isWord(s, i, "night") {
			return dateHit{}, false
		}
		unit = 1
	}
	last := sign < 0 && d.isWord(s, i+2, "last")
	if (last || sign > 0 && d.isWord(s, i+2, "next")) && !d.followedByDate(s, i+3) {
		if d.toks[i].is(fWeekday) {
			return d.hit(lo, i+3, d.shiftDay(d.stepWeekday(unit, sign, false), 7*sign))
		}
		if unit == 2 || unit == 7 || unit == 30 || unit == 365 {
			p, ok := d.stepUnit(s, i, 2*sign, false)
			if !ok {
				return dateHit{}, false
			}
			return d.hit(lo, i+3, p)
		}
		return d.hit(lo, i+3, shiftFrom(midnight(d.ref), 2*sign, sign, amount{unit: unit}))
	}
	anchor, ok := d.anchor(s, i+2)
	if !ok {
		return dateHit{}, false
	}
	return d.from(lo, &anchor, besides(anchor, d.toks[i].is(fWeekday), unit, sign))
}

func (d *doc) shiftDay(p period, days int) period { return day(p.from.AddDate(0, 0, days)) }

// followedByDate reports whether "last" or "next" at i-1 belongs to what follows: "the week before last Friday".
func (d *doc) followedByDate(s *sentence, i int) bool {
	return i < s.hi && d.toks[i].kind == kWord && d.toks[i].is(fTimeUnit|fWeekday|fSeason|fMonth)
}

// besides is the day of the week, or the unit, next to a date: weeks count seven days from it.
func besides(a dateHit, weekday bool, unit, sign int) period {
	edge := a.from // the first day beside the date
	if sign > 0 {
		edge = a.to
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
		first := time.Date(a.from.Year(), a.from.Month()+time.Month(sign), 1, 0, 0, 0, 0, time.UTC)
		return monthOf(first.Year(), first.Month())
	case unit == 365:
		return yearOf(a.from.Year() + sign)
	}
	days := 7
	if unit > 365 {
		days = unit
	}
	if sign < 0 {
		return period{a.from.AddDate(0, 0, -days), a.from, precisionOf(unit)}
	}
	return period{a.to, a.to.AddDate(0, 0, days), precisionOf(unit)}
}

// anchor reads the date from which another is counted.
func (d *doc) anchor(s *sentence, i int) (dateHit, bool) {
	if d.isWord(s, i, "the") {
		i++
	}
	if i >= s.hi {
		return dateHit{}, false
	}
	return d.simpleDate(s, i)
}

// weekdayOf reads "Monday last week" and "Tuesday of last week".
func (d *doc) weekdayOf(s *sentence, lo, i int) (dateHit, bool) {
	j := i + 1
	if d.isWord(s, j, "of") {
		j++
	}
	if d.isWord(s, j, "the") {
		j++
	}
	if j+1 >= s.hi || !d.isWord(s, j+1, "week") || !d.isWord(s, j, "last") && !d.isWord(s, j, "this") && !d.isWord(s, j, "next") && !d.isWord(s, j, "previous") {
		return dateHit{}, false
	}
	a, ok := d.adjacent(s, j)
	if !ok {
		return dateHit{}, false
	}
	return d.from(lo, &a, day(a.from.AddDate(0, 0, (int(d.toks[i].w.num)+6)%7)))
}

// weekOf reads "the week of 23 August 2023" and "the weekend of 15 July": the calendar week, or its end.
func (d *doc) weekOf(s *sentence, lo, i int) (dateHit, bool) {
	unit := d.toks[i].w.num
	if unit != 7 && unit != 2 || !d.isWord(s, i+1, "of") {
		return dateHit{}, false
	}
	a, ok := d.anchor(s, i+2)
	if !ok || a.prec != extract.PrecisionDay && !a.from.IsZero() {
		return dateHit{}, false
	}
	from := monday(a.from)
	if unit == 2 {
		from = from.AddDate(0, 0, 5)
		return d.from(lo, &a, period{from, from.AddDate(0, 0, 2), extract.PrecisionDay})
	}
	return d.from(lo, &a, period{from, from.AddDate(0, 0, 7), extract.PrecisionDay})
}

// seasonOf reads "summer 2021" and "the summer of 2021". Winter belongs to the year in which it begins.
func (d *doc) seasonOf(s *sentence, lo, i int) (dateHit, bool) {
	j := i + 1
	if d.isWord(s, j, "of") {
		j++
	}
	y, ok := d.year(s, j)
	if !ok || !d.plainYear(s, j) {
		return dateHit{}, false
	}
	from := time.Date(y, seasonStart(int(d.toks[i].w.num)), 1, 0, 0, 0, 0, time.UTC)
	return dateHit{lo: lo, hi: j + 1, from: from, to: from.AddDate(0, 3, 0), prec: extract.PrecisionMonth}, true
}

// nthOf reads "the first week of June 2023", "the last weekend of May" and "the second Monday of August".
func (d *doc) nthOf(s *sentence, lo, i int) (dateHit, bool) {
	n := ordinalWord(d.str(i))
	if n == 0 || i+3 >= s.hi || d.toks[i+1].kind != kWord || !d.isWord(s, i+2, "of") && !d.isWord(s, i+2, "in") {
		return dateHit{}, false
	}
	t := &d.toks[i+1]
	unit := int(t.w.num)
	if !t.is(fWeekday) && (!t.is(fTimeUnit) || unit != 7 && unit != 2 && unit != 1) {
		return dateHit{}, false
	}
	a, ok := d.anchor(s, i+3)
	if !ok || a.prec != extract.PrecisionMonth && !a.from.IsZero() {
		return dateHit{}, false
	}
	return d.from(lo, &a, nthIn(a, n, unit, t.is(fWeekday)))
}

// nthIn is the nth week, weekend, day or weekday of a month; n is -1 for the last.
func nthIn(a dateHit, n, unit int, weekday bool) period {
	switch {
	case weekday, unit == 2:
		wd := unit
		if !weekday {
			wd = int(time.Saturday)
		}
		at := a.from.AddDate(0, 0, (wd-int(a.from.Weekday())+7)%7+7*(n-1))
		if n < 0 {
			last := a.to.AddDate(0, 0, -1)
			at = last.AddDate(0, 0, -((int(last.Weekday()) - wd + 7) % 7))
		}
		if weekday {
			return day(at)
		}
		return period{at, at.AddDate(0, 0, 2), extract.PrecisionDay}
	case unit == 1 && n < 0:
		return day(a.to.AddDate(0, 0, -1))
	case unit == 1:
		return day(a.from.AddDate(0, 0, n-1))
	case n < 0:
		return period{a.to.AddDate(0, 0, -7), a.to, extract.PrecisionDay}
	}
	from := a.from.AddDate(0, 0, 7*(n-1))
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
func (d *doc) partOf(s *sentence, lo, i int) (dateHit, bool) {
	part, j, of := 0, i+1, true
	switch strings.ToLower(d.str(i)) {
	case "beginning", "start":
	case "middle":
		part = 1
	case "end":
		part = 2
	case "early":
		of = false
	case "mid":
		part, of = 1, false
		if d.isPunct(s, j, '-') {
			j++
		}
	case "late":
		part, of = 2, false
	case "other":
		if i > lo && d.isWord(s, j, "day") && !d.isWord(s, j+1, "before") && !d.isWord(s, j+1, "after") {
			ref := midnight(d.ref)
			return d.hit(lo, j+1, period{ref.AddDate(0, 0, -7), ref, extract.PrecisionDay})
		}
		return dateHit{}, false
	default:
		return dateHit{}, false
	}
	if of {
		if !d.isWord(s, j, "of") {
			return dateHit{}, false
		}
		j++
	}
	a, ok := d.anchor(s, j)
	if !ok || d.toks[j].gap > gapSpace {
		return dateHit{}, false
	}
	if a.from.IsZero() {
		return d.from(lo, &a, period{})
	}
	return d.from(lo, &a, third(a, part))
}

// third is the first, second or last third of a period; of a day it is the day.
func third(a dateHit, part int) period {
	switch days := int(a.to.Sub(a.from).Hours() / 24); {
	case days < 3:
		return period{a.from, a.to, a.prec}
	case a.prec == extract.PrecisionYear && a.to.Equal(a.from.AddDate(1, 0, 0)):
		from := a.from.AddDate(0, 4*part, 0)
		return period{from, from.AddDate(0, 4, 0), extract.PrecisionMonth}
	case a.prec == extract.PrecisionYear:
		years := a.to.Year() - a.from.Year()
		from := a.from.AddDate(years*part/3, 0, 0)
		return period{from, a.from.AddDate(years*(part+1)/3, 0, 0), extract.PrecisionYear}
	default:
		return period{a.from.AddDate(0, 0, days*part/3), a.from.AddDate(0, 0, days*(part+1)/3), extract.PrecisionDay}
	}
}

// monthDay reads "on the 5th": the last such day, or the next one where the sentence looks ahead.
func (d *doc) monthDay(s *sentence, lo, i int) (dateHit, bool) {
	n, ok := d.number(i)
	end := d.ordinal(s, i+1)
	if !ok || n < 1 || n > 31 || end == i+1 || !d.isWord(s, lo, "on") || !d.isWord(s, i-1, "the") {
		return dateHit{}, false
	}
	if end < s.hi && d.toks[end].kind != kPunct && !(d.toks[end].kind == kWord && d.toks[end].is(fPrep|fConj) && !d.isWord(s, end, "of")) {
		return dateHit{}, false // "on the 5th floor"
	}
	if d.ref.IsZero() {
		return dateHit{lo: lo + 1, hi: end, relative: true}, true
	}
	ref, step := midnight(d.ref), -1
	if d.futureTense(s) {
		step = 1
	}
	for k := range 3 {
		first := time.Date(ref.Year(), ref.Month()+time.Month(k*step), 1, 0, 0, 0, 0, time.UTC)
		p, ok := dayOf(first.Year(), int(first.Month()), n)
		if ok && (step < 0 && !p.from.After(ref) || step > 0 && !p.from.Before(ref)) {
			return d.hit(lo+1, end, p)
		}
	}
	return dateHit{}, false
}

// holidays are feasts with a fixed day: month*100 + day.
var holidays = map[string]int{"christmas": 1225, "xmas": 1225, "christmas eve": 1224, "halloween": 1031, "valentine's day": 214, "new year's eve": 1231, "new year's day": 101}

// holiday reads a feast at token i that "last", "next" or "this" leads to. Its words stay a name too.
func (d *doc) holiday(s *sentence, lo, i, step int) (dateHit, bool) {
	hi, at := 0, 0
	for j := min(s.hi, i+3); j > i; j-- {
		if j > i+1 && d.toks[j-1].gap > gapSpace || d.toks[j-1].kind != kWord && d.toks[j-1].kind != kClitic {
			continue
		}
		if at = holidays[strings.ToLower(strings.ReplaceAll(d.surface(i, j), "’", "'"))]; at > 0 {
			hi = j
			break
		}
	}
	if hi == 0 {
		return dateHit{}, false
	}
	y := d.ref.Year()
	today := int(d.ref.Month())*100 + d.ref.Day()
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

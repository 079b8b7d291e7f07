package rules

import (
	"strings"
	"time"
)

// Units that are no number of days.
const (
	unitHour    = -1
	unitMinute  = -2
	unitWeekday = -3 // "three Fridays ago"
	unitSeason  = -4 // "two summers ago"
)

// amount is a number of time units at the tokens [lo, hi): "two weeks", "a couple of days", "several months".
type amount struct {
	n     int
	half  bool // and a half
	slack int  // how much more or fewer there may be: "a few"
	unit  int  // days, or one of the unit constants
	name  int  // weekday or season
	hi    int
}

// readAmount reads an amount at token i.
func (d *doc) readAmount(s *sentence, i int) (a amount, ok bool) {
	if i >= s.hi {
		return a, false
	}
	if t := &d.toks[i]; t.kind == kWord && !t.is(fNum|fDet) && t.w != (word{}) && !d.isWord(s, i, "couple") && !d.isWord(s, i, "half") {
		return a, false
	}
	if d.isWord(s, i, "half") && (d.isWord(s, i+1, "a") || d.isWord(s, i+1, "an")) {
		a.half = true
		return a, d.unit(s, i+2, &a)
	}
	j := i + 1
	switch t := &d.toks[i]; {
	case t.kind == kNumber:
		if a.n, ok = d.number(i); !ok {
			return a, false
		}
	case t.is(fNum) && t.w.num > 0:
		a.n = int(t.w.num)
	case d.isWord(s, i, "a") && (d.isWord(s, j, "couple") || d.isWord(s, j, "few")), d.isWord(s, i, "couple"), d.isWord(s, i, "few"):
		if d.isWord(s, i, "a") {
			j++
		}
		a.n = 2
		if d.isWord(s, j-1, "few") {
			a.n, a.slack = 3, 1
		}
		if d.isWord(s, j, "of") {
			j++
		}
	case d.isWord(s, i, "several"), d.isWord(s, i, "some"):
		a.n, a.slack = 4, 2
	case d.isWord(s, i, "a"), d.isWord(s, i, "an"), d.isWord(s, i, "one"):
		a.n = 1
	default:
		if a.n = hyphenNumber(d.str(i)); a.n == 0 {
			return a, false
		}
	}
	if d.isWord(s, j, "and") && d.isWord(s, j+1, "a") && d.isWord(s, j+2, "half") {
		a.half, j = true, j+3
	}
	if a.n > 5000 || !d.unit(s, j, &a) {
		return a, false
	}
	if d.isWord(s, a.hi, "and") && d.isWord(s, a.hi+1, "a") && d.isWord(s, a.hi+2, "half") { // "a year and a half"
		a.half, a.hi = true, a.hi+3
	}
	return a, true
}

// unit reads the unit of an amount at token i.
func (d *doc) unit(s *sentence, i int, a *amount) bool {
	if i >= s.hi || d.toks[i].kind != kWord {
		return false
	}
	t := &d.toks[i]
	a.hi, a.unit = i+1, int(t.w.num)
	switch {
	case t.is(fAdv):
		return false
	case t.is(fTimeUnit) && a.unit == 0:
		switch w := strings.ToLower(strings.TrimSuffix(d.str(i), "s")); w {
		case "hour", "hr":
			a.unit = unitHour
		case "minute", "min", "second":
			a.unit = unitMinute
		case "night":
			a.unit = 1
		default:
			return false
		}
	case t.is(fTimeUnit):
	case t.is(fWeekday) && d.text[t.end-1] == 's':
		a.unit, a.name = unitWeekday, a.unit
	case t.is(fSeason) && (a.n == 1 || d.text[t.end-1] == 's'):
		a.unit, a.name = unitSeason, a.unit
	default:
		return false
	}
	return true
}

// hyphenNumber reads "twenty-five", 0 for no number.
func hyphenNumber(w string) int {
	tens, ones, ok := strings.Cut(w, "-")
	if !ok {
		return 0
	}
	a, b := lookup(tens), lookup(ones)
	if a.flags&b.flags&fNum == 0 || a.num < 20 || a.num > 90 || b.num < 1 || b.num > 9 {
		return 0
	}
	return int(a.num + b.num)
}

// shift moves the reference time by an amount, back for a negative sign, at the precision that the unit implies.
func (d *doc) shift(sign int, a amount) period {
	switch a.unit {
	case unitHour, unitMinute:
		step := time.Hour
		if a.unit == unitMinute {
			step = time.Minute
		}
		by := time.Duration(sign*a.n) * step
		if a.half {
			by += time.Duration(sign) * step / 2
		}
		return day(d.ref.Add(by))
	case unitWeekday:
		return d.shiftDay(d.stepWeekday(a.name, sign, true), 7*sign*(a.n-1))
	case unitSeason:
		p := d.stepSeason(a.name, sign)
		return period{p.from.AddDate(sign*(a.n-1), 0, 0), p.to.AddDate(sign*(a.n-1), 0, 0), p.prec}
	}
	if a.slack == 0 {
		return shiftFrom(midnight(d.ref), sign*a.n, sign, a)
	}
	far, near := shiftFrom(midnight(d.ref), sign*(a.n+a.slack), sign, a), shiftFrom(midnight(d.ref), sign*(a.n-a.slack), sign, a)
	if sign > 0 {
		far, near = near, far
	}
	return period{far.from, near.to, far.prec}
}

// shiftFrom is the day, month or year n units of a from a day.
func shiftFrom(ref time.Time, n, sign int, a amount) period {
	half := 0
	if a.half {
		half = sign
	}
	month := func(n int) period {
		first := time.Date(ref.Year(), ref.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, n, 0)
		return monthOf(first.Year(), first.Month())
	}
	switch a.unit {
	case 1:
		return day(ref.AddDate(0, 0, n))
	case 2, 7:
		return day(ref.AddDate(0, 0, 7*n+3*half))
	case 30:
		if a.half {
			return day(ref.AddDate(0, n, 15*half))
		}
		return month(n)
	case 365:
		if a.half {
			return month(12*n + 6*half)
		}
		return yearOf(ref.Year() + n)
	case 3650:
		return yearOf(ref.Year() + 10*n + 5*half)
	}
	return yearOf(ref.Year() + 100*n + 50*half)
}

// amountAgo reads "two weeks ago", "a year from now", "a week from Friday" and "two days before 9 June".
func (d *doc) amountAgo(s *sentence, i int) (dateHit, bool) {
	a, ok := d.readAmount(s, i)
	if !ok {
		return dateHit{}, false
	}
	j := a.hi
	switch {
	case d.isWord(s, j, "ago") && j+1 < s.hi && a.unit > 0 && d.toks[j+1].kind == kWord && d.toks[j+1].is(fDayWord|fWeekday): // "a week ago Friday"
		if b, ok := d.anchor(s, j+1); ok {
			return d.from(i, &b, shiftFrom(b.from, -a.n, -1, a))
		}
	case d.isWord(s, j, "ago"), d.isWord(s, j, "back"):
		return d.hit(i, j+1, d.shift(-1, a))
	case d.isWord(s, j, "from") && (d.isWord(s, j+1, "now") || d.isWord(s, j+1, "today")):
		return d.hit(i, j+2, d.shift(1, a))
	case d.isWord(s, j, "from") && j+1 < s.hi && a.unit > 0 && d.toks[j+1].kind == kWord && d.toks[j+1].is(fDayWord|fWeekday):
		if b, ok := d.anchor(s, j+1); ok {
			return d.from(i, &b, shiftFrom(b.from, a.n, 1, a))
		}
	case (d.isWord(s, j, "before") || d.isWord(s, j, "after")) && a.unit > 0:
		if b, ok := d.anchor(s, j+1); ok && b.hi > b.lo {
			sign, from := 1, b.to.AddDate(0, 0, -1)
			if d.isWord(s, j, "before") {
				sign, from = -1, b.from
			}
			return d.from(i, &b, shiftFrom(from, sign*a.n, sign, a))
		}
	}
	return dateHit{}, false
}

// inAmount reads "in two weeks", "in 2 weeks' time", "within a month", "for the past three years", "the last 2 months".
func (d *doc) inAmount(s *sentence, i int) (dateHit, bool) {
	if d.isWord(s, i, "in") {
		a, ok := d.readAmount(s, i+1)
		if !ok || d.pastTense(s) || d.isWord(s, a.hi, "of") {
			return dateHit{}, false
		}
		j := a.hi
		if d.isPunct(s, j, '\'') || j < s.hi && d.toks[j].kind == kClitic {
			if !d.isWord(s, j+1, "time") {
				return dateHit{}, false
			}
			j += 2
		}
		return d.hit(i, j, d.shift(1, a))
	}
	j := i
	within := d.isWord(s, j, "within")
	if d.isWord(s, j, "the") {
		j++
	}
	past := d.isWord(s, j, "last") || d.isWord(s, j, "past") || d.isWord(s, j, "previous")
	next := within || d.isWord(s, j, "next") || d.isWord(s, j, "coming")
	if !past && !next {
		return dateHit{}, false
	}
	a, ok := d.readAmount(s, j+1)
	if !ok || within && (d.pastTense(s) || d.isWord(s, a.hi, "of")) {
		return dateHit{}, false
	}
	ref := midnight(d.ref)
	span := func(sign int) time.Time {
		n := sign * a.n
		switch a.unit {
		case 30:
			return ref.AddDate(0, n, 0)
		case 365:
			return ref.AddDate(n, 0, 0)
		case 3650:
			return ref.AddDate(n*10, 0, 0)
		case 32000:
			return ref.AddDate(n*100, 0, 0)
		case unitHour, unitMinute, unitWeekday, unitSeason:
			return midnight(d.shift(sign, a).from)
		}
		return ref.AddDate(0, 0, n*a.unit)
	}
	p := period{prec: precisionOf(a.unit)}
	if past {
		p.from, p.to = span(-1), ref.AddDate(0, 0, 1)
	} else {
		p.from, p.to = ref, span(1).AddDate(0, 0, 1)
	}
	return d.hit(i, a.hi, p)
}

package language

import (
	"strings"
	"time"
)

// Units without a fixed number of days.
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
	slack int  // how much larger or smaller the number may be: "a few"
	unit  int  // days, or one of the unit constants
	name  int  // number of the weekday or season
	hi    int
}

// readAmount reads an amount at token i.
func (d *Document) readAmount(s *Sentence, i int) (a amount, ok bool) {
	if i >= s.Hi {
		return a, false
	}
	if d.IsWord(s, i, "half") && (d.IsWord(s, i+1, "a") || d.IsWord(s, i+1, "an")) {
		a.half = true
		return a, d.unit(s, i+2, &a)
	}
	j, ok := d.quantity(s, i, &a)
	if !ok {
		return a, false
	}
	if d.andAHalf(s, j) {
		a.half, j = true, j+3
	}
	if a.n > 5000 || !d.unit(s, j, &a) {
		return a, false
	}
	if d.andAHalf(s, a.hi) { // "a year and a half"
		a.half, a.hi = true, a.hi+3
	}
	return a, true
}

// quantity reads the number of an amount at token i, and how vague it is. It returns the token after it.
func (d *Document) quantity(s *Sentence, i int, a *amount) (next int, ok bool) {
	switch t := &d.Tokens[i]; {
	case t.Kind == KindNumber:
		a.n, ok = d.Number(i)
		return i + 1, ok
	case t.Is(NumberWord) && t.Word().Num > 0:
		a.n = int(t.Word().Num)
		return i + 1, true
	case t.Kind == KindWord && !t.Is(NumberWord|Determiner) && t.Word() != (Word{}) && !d.IsWord(s, i, "couple"):
		return i, false // a word that is known as something else
	}
	next = i
	if d.IsWord(s, i, "a") && (d.IsWord(s, i+1, "couple") || d.IsWord(s, i+1, "few")) {
		next++
	}
	switch {
	case d.IsWord(s, next, "couple"):
		a.n = 2
	case d.IsWord(s, next, "few"):
		a.n, a.slack = 3, 1
	case d.IsWord(s, i, "several"), d.IsWord(s, i, "some"):
		a.n, a.slack = 4, 2
		return i + 1, true
	case d.IsWord(s, i, "a"), d.IsWord(s, i, "an"), d.IsWord(s, i, "one"):
		a.n = 1
		return i + 1, true
	default:
		a.n = hyphenNumber(d.TokenText(i))
		return i + 1, a.n != 0
	}
	next++
	if d.IsWord(s, next, "of") {
		next++
	}
	return next, true
}

// BackBy reads a length of time at token i and returns the period that lies so far before the reference time: "three months".
func (d *Document) BackBy(s *Sentence, i int) (Date, bool) {
	if i >= s.Hi || d.Reference.IsZero() {
		return Date{}, false
	}
	if d.IsWord(s, i, "the") && d.IsOneOf(s, i+1, "last", "past") {
		i += 2
	} else if d.IsOneOf(s, i, "about", "nearly", "almost", "over") {
		i++
	}
	a, ok := d.readAmount(s, i)
	if !ok || a.slack > 0 || a.unit < 7 {
		return Date{}, false
	}
	return d.hit(i, a.hi, d.shift(-1, a))
}

// andAHalf reports whether "and a half" stands at token i.
func (d *Document) andAHalf(s *Sentence, i int) bool {
	return d.IsWord(s, i, "and") && d.IsWord(s, i+1, "a") && d.IsWord(s, i+2, "half")
}

// unit reads the unit of an amount at token i.
func (d *Document) unit(s *Sentence, i int, a *amount) bool {
	if i >= s.Hi || d.Tokens[i].Kind != KindWord {
		return false
	}
	t := &d.Tokens[i]
	a.hi, a.unit = i+1, int(t.Word().Num)
	switch {
	case t.Is(Adverb):
		return false
	case t.Is(TimeUnit) && a.unit == 0:
		switch w := strings.ToLower(strings.TrimSuffix(d.TokenText(i), "s")); w {
		case "hour", "hr":
			a.unit = unitHour
		case "minute", "min", "second":
			a.unit = unitMinute
		case "night":
			a.unit = 1
		default:
			return false
		}
	case t.Is(TimeUnit):
	case t.Is(Weekday) && d.Text[t.End-1] == 's':
		a.unit, a.name = unitWeekday, a.unit
	case t.Is(Season) && (a.n == 1 || d.Text[t.End-1] == 's'):
		a.unit, a.name = unitSeason, a.unit
	default:
		return false
	}
	return true
}

// hyphenNumber reads "twenty-five"; it returns 0 if the word is no number.
func hyphenNumber(w string) int {
	tens, ones, ok := strings.Cut(w, "-")
	if !ok {
		return 0
	}
	a, b := lookup(tens).word(), lookup(ones).word()
	if a.Flags&b.Flags&NumberWord == 0 || a.Num < 20 || a.Num > 90 || b.Num < 1 || b.Num > 9 {
		return 0
	}
	return int(a.Num + b.Num)
}

// shift moves the reference time by an amount, backwards for a negative sign, at the precision of the unit.
func (d *Document) shift(sign int, a amount) period {
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
		return day(d.Reference.Add(by))
	case unitWeekday:
		return d.shiftDay(d.stepWeekday(a.name, sign, true), 7*sign*(a.n-1))
	case unitSeason:
		p := d.stepSeason(a.name, sign)
		return period{p.From.AddDate(sign*(a.n-1), 0, 0), p.To.AddDate(sign*(a.n-1), 0, 0), p.Precision}
	}
	if a.slack == 0 {
		return shiftFrom(Midnight(d.Reference), sign*a.n, sign, a)
	}
	far, near := shiftFrom(Midnight(d.Reference), sign*(a.n+a.slack), sign, a), shiftFrom(Midnight(d.Reference), sign*(a.n-a.slack), sign, a)
	if sign > 0 {
		far, near = near, far
	}
	return period{far.From, near.To, far.Precision}
}

// shiftFrom returns the day, month or year that is n units of a away from ref.
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
func (d *Document) amountAgo(s *Sentence, i int) (Date, bool) {
	a, ok := d.readAmount(s, i)
	if !ok {
		return Date{}, false
	}
	j := a.hi
	switch {
	case d.IsWord(s, j, "ago") && j+1 < s.Hi && a.unit > 0 && d.Tokens[j+1].Kind == KindWord && d.Tokens[j+1].Is(DayWord|Weekday): // "a week ago Friday"
		if b, ok := d.anchor(s, j+1); ok {
			return d.from(i, &b, shiftFrom(b.From, -a.n, -1, a))
		}
	case d.IsWord(s, j, "ago"), d.IsWord(s, j, "back"):
		return d.hit(i, j+1, d.shift(-1, a))
	case d.IsWord(s, j, "from") && (d.IsWord(s, j+1, "now") || d.IsWord(s, j+1, "today")):
		return d.hit(i, j+2, d.shift(1, a))
	case d.IsWord(s, j, "from") && j+1 < s.Hi && a.unit > 0 && d.Tokens[j+1].Kind == KindWord && d.Tokens[j+1].Is(DayWord|Weekday):
		if b, ok := d.anchor(s, j+1); ok {
			return d.from(i, &b, shiftFrom(b.From, a.n, 1, a))
		}
	case (d.IsWord(s, j, "before") || d.IsWord(s, j, "after")) && a.unit > 0:
		if b, ok := d.anchor(s, j+1); ok && b.Hi > b.Lo {
			sign, from := 1, b.To.AddDate(0, 0, -1)
			if d.IsWord(s, j, "before") {
				sign, from = -1, b.From
			}
			return d.from(i, &b, shiftFrom(from, sign*a.n, sign, a))
		}
	}
	return Date{}, false
}

// inAmount reads "in two weeks", "in 2 weeks' time", "within a month", "for the past three years", "the last 2 months".
func (d *Document) inAmount(s *Sentence, i int) (Date, bool) {
	if d.IsWord(s, i-1, "time") {
		return Date{}, false // "for the first time in 16 years"
	}
	if d.IsWord(s, i, "in") {
		a, ok := d.readAmount(s, i+1)
		if !ok || d.pastTense(s) || d.IsWord(s, a.hi, "of") {
			return Date{}, false
		}
		j := a.hi
		if d.IsPunct(s, j, '\'') || j < s.Hi && d.Tokens[j].Kind == KindClitic {
			if !d.IsWord(s, j+1, "time") {
				return Date{}, false
			}
			j += 2
		}
		return d.hit(i, j, d.shift(1, a))
	}
	j := i
	within := d.IsWord(s, j, "within")
	if d.IsWord(s, j, "the") {
		j++
	}
	past := d.IsWord(s, j, "last") || d.IsWord(s, j, "past") || d.IsWord(s, j, "previous")
	next := within || d.IsWord(s, j, "next") || d.IsWord(s, j, "coming")
	if !past && !next {
		return Date{}, false
	}
	a, ok := d.readAmount(s, j+1)
	if !ok || within && (d.pastTense(s) || d.IsWord(s, a.hi, "of")) {
		return Date{}, false
	}
	ref := Midnight(d.Reference)
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
			return Midnight(d.shift(sign, a).From)
		}
		return ref.AddDate(0, 0, n*a.unit)
	}
	p := period{Precision: precisionOf(a.unit)}
	if past {
		p.From, p.To = span(-1), ref.AddDate(0, 0, 1)
	} else {
		p.From, p.To = ref, span(1).AddDate(0, 0, 1)
	}
	return d.hit(i, a.hi, p)
}

package rules

import (
	"time"

	"github.com/contextmem/contextmem/extract"
)

// relativeDate reads dates that need the reference time: "yesterday", "two weeks ago", "next Friday", "this summer".
func (d *doc) relativeDate(s *sentence, i int) (dateHit, bool) {
	t := &d.toks[i]
	switch {
	case t.is(fDayWord):
		return d.hit(i, i+1, day(d.ref.AddDate(0, 0, int(t.w.num))))
	case t.is(fWeekday) && (t.end-t.start > 3 || t.shape == sCap && i > s.lo && d.toks[i-1].is(fPrep)):
		return d.weekday(s, i)
	case t.kind == kNumber || t.is(fNum|fDateLead):
	case t.is(fDet) && i+1 < s.hi && d.toks[i+1].is(fDateLead|fTimeUnit) && d.isWord(s, i, "the"):
	case t.kind == kWord && d.spelledNumber(t):
	default:
		return dateHit{}, false
	}
	if h, ok := d.amountAgo(s, i); ok || t.kind == kNumber {
		return h, ok
	}
	if h, ok := d.inAmount(s, i); ok {
		return h, true
	}
	return d.adjacent(s, i)
}

// hit makes a resolved relative date; without a reference time it stays unresolved.
func (d *doc) hit(lo, hi int, p period) (dateHit, bool) {
	h := dateHit{lo: lo, hi: hi, relative: true}
	if !d.ref.IsZero() && p.from.Year() > 0 && p.to.Year() <= 9999 { // "5000 years ago" has no date of ours
		h.from, h.to, h.prec = p.from, p.to, p.prec
	}
	return h, true
}

func precisionOf(unit int) string {
	switch {
	case unit >= 365:
		return extract.PrecisionYear
	case unit >= 30:
		return extract.PrecisionMonth
	}
	return extract.PrecisionDay
}

// adjacent reads "last week", "this month", "next Friday", "last summer", "the day before yesterday", "this morning".
func (d *doc) adjacent(s *sentence, i int) (dateHit, bool) {
	j := i
	if d.isWord(s, j, "the") {
		j++
	}
	if d.isWord(s, j, "day") && j > i || d.isWord(s, i, "day") {
		if d.isWord(s, j+1, "before") && d.isWord(s, j+2, "yesterday") {
			return d.hit(i, j+3, day(d.ref.AddDate(0, 0, -2)))
		}
		if d.isWord(s, j+1, "after") && d.isWord(s, j+2, "tomorrow") {
			return d.hit(i, j+3, day(d.ref.AddDate(0, 0, 2)))
		}
	}
	step, fuzzy := 0, false
	switch {
	case d.isWord(s, j, "last"), d.isWord(s, j, "past"), d.isWord(s, j, "previous"):
		step = -1
	case d.isWord(s, j, "next"), d.isWord(s, j, "coming"), d.isWord(s, j, "upcoming"):
		step = 1
	case d.isWord(s, j, "this") || d.isWord(s, j, "earlier") && d.isWord(s, j+1, "this") || d.isWord(s, j, "later") && d.isWord(s, j+1, "this"):
		if !d.isWord(s, j, "this") {
			j++
		}
		fuzzy = d.isWord(s, j+1, "past")
		if fuzzy {
			j++
		}
	default:
		return dateHit{}, false
	}
	if j+1 >= s.hi {
		return dateHit{}, false
	}
	t := &d.toks[j+1]
	if fuzzy && !t.is(fTimeUnit|fWeekday|fSeason|fMonth) {
		return dateHit{}, false
	}
	switch {
	case t.is(fWeekday):
		return d.hit(i, j+2, d.stepWeekday(int(t.w.num), step, fuzzy))
	case t.is(fMonth) && (t.shape != sLower || !t.is(fModal)):
		return d.hit(i, j+2, d.stepMonth(int(t.w.num), step))
	case t.is(fSeason):
		return d.hit(i, j+2, d.stepSeason(int(t.w.num), step))
	case t.is(fTimeUnit):
		p, ok := d.stepUnit(s, j+1, step, fuzzy)
		if !ok {
			return dateHit{}, false
		}
		if t.w.num == 7 && !fuzzy && j+2 < s.hi && d.toks[j+2].is(fWeekday) && d.toks[j+2].gap == gapSpace && d.text[d.toks[j+2].end-1] == 'y' { // "last week Tuesday"
			return d.hit(i, j+3, day(p.from.AddDate(0, 0, (int(d.toks[j+2].w.num)+6)%7)))
		}
		return d.hit(i, j+2, p)
	}
	return d.holiday(s, i, j+1, step)
}

// stepUnit resolves "last week" and the like: calendar weeks begin on Monday.
func (d *doc) stepUnit(s *sentence, i, step int, fuzzy bool) (period, bool) {
	ref := midnight(d.ref)
	unit := int(d.toks[i].w.num)
	switch {
	case unit == 0:
		if d.isWord(s, i, "night") || d.isWord(s, i, "morning") || d.isWord(s, i, "afternoon") || d.isWord(s, i, "evening") {
			return day(ref.AddDate(0, 0, step)), true
		}
		return period{}, false
	case unit == 1:
		return d.calendar(1, step), step != 0 || d.isWord(s, i, "day")
	case unit == 7 && fuzzy:
		return period{ref.AddDate(0, 0, -7), ref.AddDate(0, 0, 1), extract.PrecisionDay}, true
	case unit == 2 && fuzzy:
		from := monday(ref).AddDate(0, 0, -2)
		return period{from, from.AddDate(0, 0, 2), extract.PrecisionDay}, true
	}
	p := d.calendar(unit, step)
	return p, !p.from.IsZero()
}

// calendar is the day, week, weekend, month, year or decade that lies step units from that of the reference time: calendar
// weeks begin on Monday. On a Monday "this weekend" is the one before, on a Sunday "last weekend" the one before that.
func (d *doc) calendar(unit, step int) period {
	ref := midnight(d.ref)
	switch unit {
	case 1:
		return day(ref.AddDate(0, 0, step))
	case 7:
		from := monday(ref).AddDate(0, 0, 7*step)
		return period{from, from.AddDate(0, 0, 7), extract.PrecisionDay}
	case 2:
		from := monday(ref).AddDate(0, 0, 5+7*step)
		if step == 0 && ref.Weekday() == time.Monday || step == -1 && ref.Weekday() == time.Sunday {
			from = monday(ref).AddDate(0, 0, -2)
		}
		return period{from, from.AddDate(0, 0, 2), extract.PrecisionDay}
	case 30:
		first := time.Date(ref.Year(), ref.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, step, 0)
		return monthOf(first.Year(), first.Month())
	case 365:
		return yearOf(ref.Year() + step)
	case 3650:
		p := yearOf(ref.Year()/10*10 + 10*step)
		p.to = p.from.AddDate(10, 0, 0)
		return p
	}
	return period{}
}

func monday(t time.Time) time.Time {
	return t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
}

// weekday reads a weekday alone: the coming one if the sentence looks ahead, else the last one.
func (d *doc) weekday(s *sentence, i int) (dateHit, bool) {
	t := &d.toks[i]
	if d.text[t.end-1] == 's' && t.end-t.start > 6 && !d.isWord(s, i, "wednesdays") && d.str(i)[len(d.str(i))-3:] == "ays" {
		return dateHit{}, false // "on Mondays" is a habit
	}
	step := -1
	if d.futureTense(s) || d.isWord(s, i-1, "by") || d.isWord(s, i-1, "until") || d.isWord(s, i-1, "from") && i-2 >= s.lo && d.toks[i-2].is(fTimeUnit) {
		step = 1
	}
	return d.hit(i, i+1, d.stepWeekday(int(t.w.num), step, true))
}

// stepWeekday finds a weekday before or after the reference day. near takes the closest one; otherwise "next Friday"
// is that of the next calendar week when the one of this week is still ahead by less than three days.
func (d *doc) stepWeekday(wd, step int, near bool) period {
	ref := midnight(d.ref)
	delta := (wd - int(ref.Weekday()) + 7) % 7
	switch {
	case step < 0 || near && step == 0:
		if delta == 0 && near && step < 0 {
			return day(ref) // "on Monday", said on a Monday
		}
		return day(ref.AddDate(0, 0, delta-7))
	case step > 0:
		if delta == 0 || !near && delta < 3 {
			delta += 7
		}
		return day(ref.AddDate(0, 0, delta))
	}
	return day(monday(ref).AddDate(0, 0, (wd+6)%7))
}

func (d *doc) stepMonth(m, step int) period {
	y, cur := d.ref.Year(), int(d.ref.Month())
	switch {
	case step < 0 && m >= cur:
		y--
	case step > 0 && m <= cur:
		y++
	}
	return monthOf(y, time.Month(m))
}

// stepSeason resolves a season by the northern calendar: spring is March to May; winter begins in December.
func (d *doc) stepSeason(num, step int) period {
	start := seasonStart(num)
	ref := midnight(d.ref)
	from := time.Date(ref.Year(), start, 1, 0, 0, 0, 0, time.UTC)
	if start == time.December && ref.Month() < time.March {
		from = from.AddDate(-1, 0, 0)
	}
	to := from.AddDate(0, 3, 0)
	switch {
	case step < 0 && to.After(ref):
		from = from.AddDate(-1, 0, 0)
	case step > 0 && !from.After(ref):
		from = from.AddDate(1, 0, 0)
	}
	return period{from, from.AddDate(0, 3, 0), extract.PrecisionMonth}
}

// seasonStart is the first month of a season.
func seasonStart(num int) time.Month {
	if num == 0 {
		return time.December
	}
	return time.Month(num)
}

// futureTense reports whether a sentence looks ahead.
func (d *doc) futureTense(s *sentence) bool {
	for i := s.lo; i < s.hi; i++ {
		t := &d.toks[i]
		if t.is(fFuture) || d.isWord(s, i, "upcoming") || d.isWord(s, i, "planning") || d.isWord(s, i, "plan") || d.isWord(s, i, "tomorrow") {
			return true
		}
		if d.isWord(s, i+1, "to") && (d.isWord(s, i, "going") || d.isWord(s, i, "have") || d.isWord(s, i, "need") || d.isWord(s, i, "want") || d.isWord(s, i, "hope")) {
			return true
		}
	}
	return false
}

// pastTense reports whether a sentence holds a verb in the past.
func (d *doc) pastTense(s *sentence) bool {
	for i := s.lo; i < s.hi; i++ {
		t := &d.toks[i]
		if t.kind == kWord && t.w.verb > 0 && t.w.form&(formPast) != 0 && t.w.form&formBase == 0 {
			return true
		}
		if d.isWord(s, i, "was") || d.isWord(s, i, "were") || d.isWord(s, i, "did") || d.isWord(s, i, "had") {
			return true
		}
	}
	return false
}

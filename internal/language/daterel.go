package language

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// relativeDate reads dates relative to the reference time: "yesterday", "two weeks ago", "next Friday", "this summer".
func (d *Document) relativeDate(s *Sentence, i int) (Date, bool) {
	t := &d.Tokens[i]
	switch {
	case t.Is(DayWord):
		return d.hit(i, i+1, day(d.Reference.AddDate(0, 0, int(t.Word().Num))))
	case t.Is(Weekday) && (t.End-t.Start > 3 || t.Shape == Capitalized && i > s.Lo && d.Tokens[i-1].Is(Preposition)):
		return d.weekday(s, i)
	case t.Kind == KindNumber || t.Is(NumberWord|DateLead):
	case t.Is(Determiner) && i+1 < s.Hi && d.Tokens[i+1].Is(DateLead|TimeUnit) && d.IsWord(s, i, "the"):
	case t.Kind == KindWord && d.spelledNumber(t):
	default:
		return Date{}, false
	}
	if h, ok := d.amountAgo(s, i); ok || t.Kind == KindNumber {
		return h, ok
	}
	if h, ok := d.inAmount(s, i); ok {
		return h, true
	}
	return d.adjacent(s, i)
}

// hit returns a resolved relative date. Without a reference time the date stays unresolved.
func (d *Document) hit(lo, hi int, p period) (Date, bool) {
	h := Date{Lo: lo, Hi: hi, Relative: true}
	if !d.Reference.IsZero() && p.From.Year() > 0 && p.To.Year() <= 9999 { // "5000 years ago" is outside the calendar
		h.From, h.To, h.Precision = p.From, p.To, p.Precision
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
func (d *Document) adjacent(s *Sentence, i int) (Date, bool) {
	if h, ok := d.dayBeyond(s, i); ok {
		return h, true
	}
	j := i
	if d.IsWord(s, j, "the") {
		j++
	}
	step, fuzzy, j, ok := d.direction(s, j)
	if !ok || j >= s.Hi {
		return Date{}, false
	}
	t := &d.Tokens[j]
	switch {
	case fuzzy && !t.Is(TimeUnit|Weekday|Season|Month):
		return Date{}, false
	case t.Is(Weekday):
		return d.hit(i, j+1, d.stepWeekday(int(t.Word().Num), step, fuzzy))
	case t.Is(Month) && (t.Shape != LowerCase || !t.Is(Modal)):
		return d.hit(i, j+1, d.stepMonth(int(t.Word().Num), step))
	case t.Is(Season):
		return d.hit(i, j+1, d.stepSeason(int(t.Word().Num), step))
	case t.Is(TimeUnit):
		p, ok := d.stepUnit(s, j, step, fuzzy)
		if !ok {
			return Date{}, false
		}
		if t.Word().Num == 7 && !fuzzy && d.namesDay(s, j+1) { // "last week Tuesday"
			return d.hit(i, j+2, day(p.From.AddDate(0, 0, (int(d.Tokens[j+1].Word().Num)+6)%7)))
		}
		return d.hit(i, j+1, p)
	}
	return d.holiday(s, i, j, step)
}

// dayBeyond reads "the day before yesterday" and "the day after tomorrow".
func (d *Document) dayBeyond(s *Sentence, i int) (Date, bool) {
	j := i
	if d.IsWord(s, j, "the") {
		j++
	}
	switch {
	case !d.IsWord(s, j, "day"):
	case d.IsWord(s, j+1, "before") && d.IsWord(s, j+2, "yesterday"):
		return d.hit(i, j+3, day(d.Reference.AddDate(0, 0, -2)))
	case d.IsWord(s, j+1, "after") && d.IsWord(s, j+2, "tomorrow"):
		return d.hit(i, j+3, day(d.Reference.AddDate(0, 0, 2)))
	}
	return Date{}, false
}

// direction reads the words at i which say the period before the present one, the present one, or the next one, as step -1, 0 or 1. next is the
// token after them; fuzzy is true for "this past", whose weekday may be one of this week or of the last.
func (d *Document) direction(s *Sentence, i int) (step int, fuzzy bool, next int, ok bool) {
	switch {
	case d.IsWord(s, i, "last"), d.IsWord(s, i, "past"), d.IsWord(s, i, "previous"):
		return -1, false, i + 1, true
	case d.IsWord(s, i, "next"), d.IsWord(s, i, "coming"), d.IsWord(s, i, "upcoming"):
		return 1, false, i + 1, true
	case d.IsWord(s, i, "earlier"), d.IsWord(s, i, "later"):
		i++
	}
	switch {
	case !d.IsWord(s, i, "this"):
		return 0, false, i, false
	case d.IsWord(s, i+1, "past"):
		return 0, true, i + 2, true
	}
	return 0, false, i + 1, true
}

// namesDay reports whether a weekday follows after a space at i, written in full and in the singular.
func (d *Document) namesDay(s *Sentence, i int) bool {
	if i >= s.Hi {
		return false
	}
	t := &d.Tokens[i]
	return t.Is(Weekday) && t.Gap == SpaceGap && d.Text[t.End-1] == 'y'
}

// stepUnit resolves "last week" and the like.
func (d *Document) stepUnit(s *Sentence, i, step int, fuzzy bool) (period, bool) {
	ref := Midnight(d.Reference)
	unit := int(d.Tokens[i].Word().Num)
	switch {
	case unit == 0:
		if d.IsWord(s, i, "night") || d.IsWord(s, i, "morning") || d.IsWord(s, i, "afternoon") || d.IsWord(s, i, "evening") {
			return day(ref.AddDate(0, 0, step)), true
		}
		return period{}, false
	case unit == 1:
		return d.calendar(1, step), step != 0 || d.IsWord(s, i, "day")
	case unit == 7 && fuzzy:
		return period{ref.AddDate(0, 0, -7), ref.AddDate(0, 0, 1), extract.PrecisionDay}, true
	case unit == 2 && fuzzy:
		from := monday(ref).AddDate(0, 0, -2)
		return period{from, from.AddDate(0, 0, 2), extract.PrecisionDay}, true
	}
	p := d.calendar(unit, step)
	return p, !p.From.IsZero()
}

// calendar returns the day, week, weekend, month, year or decade that is step units away from that of the reference time. Calendar
// weeks begin on Monday. On a Monday "this weekend" is the previous one, on a Sunday "last weekend" the one before.
func (d *Document) calendar(unit, step int) period {
	ref := Midnight(d.Reference)
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
		p.To = p.From.AddDate(10, 0, 0)
		return p
	}
	return period{}
}

func monday(t time.Time) time.Time {
	return t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
}

// habit reports whether a weekday is meant as recurring, or as any: "on Mondays", "every other Friday", "Tuesday evenings", "the first
// Wednesday of the month", "on a Tuesday".
func (d *Document) habit(s *Sentence, i int) bool {
	w := strings.ToLower(d.TokenText(i))
	if strings.HasSuffix(w, "days") || d.IsWord(s, i-1, "a") {
		return true
	}
	if d.IsWord(s, i+1, "of") && d.IsOneOf(s, i+2, "the", "each", "every") && d.IsWord(s, i+3, "month") {
		return true
	}
	if i+1 < s.Hi && i > s.Lo && d.Tokens[i-1].WordIs(Determiner|Possessive) && d.IsOneOf(s, i+1, "school", "lunch", "dinner", "dinners", "roast", "class", "league", "market", "paper", "papers", "shift", "shifts", "service", "group", "club", "choir") {
		return true // "the Sunday school"
	}
	for j := i - 1; j >= s.Lo && j >= i-5; j-- {
		switch strings.ToLower(d.TokenText(j)) {
		case "every", "each", "most", "any", "alternate", "weekly":
			return true
		case "other", "single", "and", "first", "second", "third", "fourth", "last":
			continue
		}
		if !d.Tokens[j].Is(Weekday) && !d.IsPunct(s, j, ',') {
			break
		}
	}
	if i+1 >= s.Hi || d.Tokens[i+1].Kind != KindWord {
		return false
	}
	switch strings.ToLower(d.TokenText(i + 1)) {
	case "mornings", "afternoons", "evenings", "nights", "lunchtimes":
		return true
	}
	return false
}

// weekday reads a weekday alone: the next one if the sentence is about the future, else the last one.
func (d *Document) weekday(s *Sentence, i int) (Date, bool) {
	t := &d.Tokens[i]
	if h, ok := d.weekdayDate(s, i); ok {
		return h, true
	}
	if d.habit(s, i) || d.weekdayRow(s, i) {
		return Date{}, false
	}
	step := -1
	if d.futureTense(s) || d.tense(s, i) > 0 || d.IsWord(s, i-1, "by") || d.IsWord(s, i-1, "until") || d.IsWord(s, i-1, "from") && i-2 >= s.Lo && d.Tokens[i-2].Is(TimeUnit) {
		step = 1
	}
	return d.hit(i, i+1, d.stepWeekday(int(t.Word().Num), step, true))
}

// stepWeekday returns a weekday before or after the reference day. near takes the closest one. Otherwise "next Friday" is in the next
// calendar week if this week's Friday is less than three days ahead.
func (d *Document) stepWeekday(wd, step int, near bool) period {
	ref := Midnight(d.Reference)
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

func (d *Document) stepMonth(m, step int) period {
	y, cur := d.Reference.Year(), int(d.Reference.Month())
	switch {
	case step < 0 && m >= cur:
		y--
	case step > 0 && m <= cur:
		y++
	}
	return monthOf(y, time.Month(m))
}

// stepSeason resolves a season of the northern hemisphere: spring is March to May; winter begins in December.
func (d *Document) stepSeason(num, step int) period {
	start := seasonStart(num)
	ref := Midnight(d.Reference)
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

// seasonStart returns the first month of a season.
func seasonStart(num int) time.Month {
	if num == 0 {
		return time.December
	}
	return time.Month(num)
}

// futureTense reports whether a sentence is about the future.
func (d *Document) futureTense(s *Sentence) bool {
	for i := s.Lo; i < s.Hi; i++ {
		t := &d.Tokens[i]
		if t.Is(Future) || d.IsWord(s, i, "upcoming") || d.IsWord(s, i, "planning") || d.IsWord(s, i, "plan") || d.IsWord(s, i, "tomorrow") {
			return true
		}
		if d.IsWord(s, i+1, "to") && (d.IsWord(s, i, "going") || d.IsWord(s, i, "have") || d.IsWord(s, i, "need") || d.IsWord(s, i, "want") || d.IsWord(s, i, "hope")) {
			return true
		}
	}
	return false
}

// afterPresentBe reports whether a form of "be" that is not past stands right before token i: "it's agreed".
func (d *Document) afterPresentBe(s *Sentence, i int) bool {
	return i > s.Lo && d.Tokens[i-1].Is(FormOfBe) && d.Tokens[i].Word().Form&Participle != 0 && !d.IsOneOf(s, i-1, "was", "were", "been")
}

// haveGot reports whether "got" at token i stands behind "have" or its short form: "I've got tickets".
func (d *Document) haveGot(s *Sentence, i int) bool {
	return d.IsWord(s, i, "got") && i > s.Lo && (d.Tokens[i-1].Is(FormOfHave) && !d.IsOneOf(s, i-1, "had") || d.Tokens[i-1].Kind == KindClitic && d.Text[d.Tokens[i-1].End-1]|0x20 != 'd')
}

// pastTense reports whether a sentence has a verb in the past tense.
func (d *Document) pastTense(s *Sentence) bool {
	for i := s.Lo; i < s.Hi; i++ {
		t := &d.Tokens[i]
		if t.Kind == KindWord && t.Word().Verb > 0 && t.Word().Form&(PastForm) != 0 && t.Word().Form&BaseForm == 0 && !d.afterPresentBe(s, i) && !d.haveGot(s, i) {
			return true
		}
		if d.IsWord(s, i, "was") || d.IsWord(s, i, "were") || d.IsWord(s, i, "did") || d.IsWord(s, i, "had") {
			return true
		}
	}
	return false
}

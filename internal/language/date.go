package language

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
)

// Years outside this range are treated as other numbers.
const (
	minYear = 1000
	maxYear = 2199
)

// Date is a date in the tokens [Lo, Hi). A zero From means that the date could not be resolved.
type Date struct {
	Lo, Hi    int
	Sentence  int       // its index
	From, To  time.Time // From inclusive, To exclusive, at midnight UTC
	Precision string    // extract.PrecisionDay, PrecisionMonth or PrecisionYear
	Relative  bool      // resolved against the reference time
	Yearless  bool      // a month or day without a year, in the nearest year
	name      bool      // the words may be a name too: "last Christmas"
}

// period is a resolved date before it becomes a Date.
type period struct {
	From, To  time.Time
	Precision string
}

func day(t time.Time) period {
	t = Midnight(t)
	return period{t, t.AddDate(0, 0, 1), extract.PrecisionDay}
}

func monthOf(y int, m time.Month) period {
	from := time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	return period{from, from.AddDate(0, 1, 0), extract.PrecisionMonth}
}

func yearOf(y int) period {
	return period{time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(y+1, 1, 1, 0, 0, 0, 0, time.UTC), extract.PrecisionYear}
}

// Midnight returns the start, in UTC, of the calendar day that t has in its own time zone.
func Midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// dayOf returns the period of a calendar day and whether the day exists.
func dayOf(y, m, d int) (period, bool) {
	if m < 1 || m > 12 || d < 1 || d > 31 || y < minYear || y > maxYear {
		return period{}, false
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return day(t), t.Day() == d
}

// findDates collects the dates of every sentence and marks their tokens.
func (d *Document) findDates() {
	reference := d.Reference
	defer func() { d.Reference = reference }()
	for k := range d.Sentences {
		s := &d.Sentences[k]
		if d.Reference = reference; !s.Said.IsZero() {
			d.Reference = s.Said
		}
		ls := d.LanguagesOf(s)
		for i := s.Lo; i < s.Hi; i++ {
			may := d.mayBeginDate(s, i)
			if !may && !d.Script && len(ls) == 0 {
				continue
			}
			var h Date
			ok := false
			if may {
				h, ok = d.dateAt(s, i)
			}
			if d.Script && !ok {
				h, ok = d.scriptRelative(s, i)
			}
			for _, l := range ls {
				if f, found := d.foreignDate(s, l, i); found && (!ok || f.Hi > h.Hi) {
					h, ok = f, true
				}
			}
			if !ok || h.Hi <= h.Lo {
				continue
			}
			h.Sentence = k
			for j := h.Lo; j < h.Hi && !h.name; j++ {
				d.Tokens[j].Used = true
			}
			d.Dates = append(d.Dates, h)
			if n := len(d.Dates); n > 1 {
				d.joinRange(s, &d.Dates[n-2], &d.Dates[n-1])
			}
			i = h.Hi - 1
		}
	}
}

// dateHead are the flags of words that can begin a composed date after an article or "on".
const dateHead = DatePart | TimeUnit | Weekday | Season

// mayBeginDate reports whether dateAt may find a date at token i. It quickly rules out most tokens.
func (d *Document) mayBeginDate(s *Sentence, i int) bool {
	t := &d.Tokens[i]
	switch {
	case t.Kind == KindDate || t.Kind == KindNumber:
		return true
	case t.Kind == KindIdentifier:
		_, _, ok := dayPair(d.TokenText(i))
		return ok
	case t.Kind != KindWord:
		return false
	case t.Is(dateHead | DateLead | Month | ForeignMonth | DayWord | NumberWord):
		return true
	case t.Is(Determiner | Preposition):
		return i+1 < s.Hi && (d.Tokens[i+1].Is(dateHead|DateLead|Determiner) || d.Tokens[i+1].Kind == KindNumber) && (d.IsWord(s, i, "the") || d.IsWord(s, i, "on"))
	}
	return d.spelledNumber(t)
}

// spelledNumber reports whether a word may be a number such as "twenty-five".
func (d *Document) spelledNumber(t *Token) bool {
	return t.entry == 0 && t.End-t.Start > 8 && t.Shape != UpperCase && strings.IndexByte(d.Text[t.Start:t.End], '-') > 0
}

// dateAt finds the longest date that begins at token i.
func (d *Document) dateAt(s *Sentence, i int) (Date, bool) {
	t := &d.Tokens[i]
	if t.Kind == KindNumber || t.Kind == KindIdentifier || t.Is(Month|DatePart) {
		if h, ok := d.dayRange(s, i); ok {
			return h, true
		}
	} else if d.IsWord(s, i, "the") && i+1 < s.Hi && (d.Tokens[i+1].Kind == KindNumber || d.Tokens[i+1].Is(DatePart)) {
		if h, ok := d.dayRange(s, i+1); ok {
			h.Lo = i
			return h, true
		}
	}
	if t.Kind == KindWord && (t.Is(dateHead) || t.Is(Determiner|Preposition) && i+1 < s.Hi && (d.Tokens[i+1].Is(dateHead|Determiner) || d.Tokens[i+1].Kind == KindNumber)) {
		if h, ok := d.composed(s, i); ok {
			return h, true
		}
	}
	return d.simpleDate(s, i)
}

// simpleDate finds a date that is not composed from another.
func (d *Document) simpleDate(s *Sentence, i int) (Date, bool) {
	t := &d.Tokens[i]
	switch {
	case t.Kind == KindDate:
		p, ok := parseNumericDate(d.TokenText(i))
		return Date{Lo: i, Hi: i + 1, From: p.From, To: p.To, Precision: p.Precision}, ok
	case t.Kind == KindNumber:
		return d.numberDate(s, i)
	case t.Kind != KindWord:
		return Date{}, false
	case t.Is(Month | ForeignMonth):
		if h, ok := d.monthDate(s, i); ok {
			return h, true
		}
	}
	if t.Is(NumberWord) {
		if h, ok := d.spelledYear(s, i); ok {
			return h, true
		}
	}
	return d.relativeDate(s, i)
}

// Number returns the value of a plain number token without separators.
func (d *Document) Number(i int) (int, bool) {
	t := &d.Tokens[i]
	if t.Kind != KindNumber || t.End-t.Start > 4 {
		return 0, false
	}
	n, err := strconv.Atoi(d.TokenText(i))
	return n, err == nil
}

// year returns the year at token i.
func (d *Document) year(s *Sentence, i int) (int, bool) {
	if i >= s.Hi || d.Tokens[i].End-d.Tokens[i].Start != 4 {
		return 0, false
	}
	n, ok := d.Number(i)
	return n, ok && n >= minYear && n <= maxYear
}

// ordinal skips "th" and the like after a day number.
func (d *Document) ordinal(s *Sentence, i int) int {
	if i < s.Hi && d.Tokens[i].Kind == KindWord && d.Tokens[i].Gap == NoGap && d.Tokens[i].Is(OrdinalEnding) && d.TokenText(i) != "s" {
		return i + 1
	}
	return i
}

// IsPunct reports whether token i of a sentence is the punctuation sign ch.
func (d *Document) IsPunct(s *Sentence, i int, ch byte) bool {
	return i < s.Hi && d.Tokens[i].Kind == KindPunct && d.Tokens[i].Sign == ch
}

// IsWord reports whether token i is the word w, given in lower case, in any case.
func (d *Document) IsWord(s *Sentence, i int, w string) bool {
	return i >= s.Lo && i < s.Hi && int(d.Tokens[i].End-d.Tokens[i].Start) == len(w) && d.sameWord(&d.Tokens[i], w)
}

// IsOneOf is IsWord for several words.
func (d *Document) IsOneOf(s *Sentence, i int, words ...string) bool {
	for _, w := range words {
		if d.IsWord(s, i, w) {
			return true
		}
	}
	return false
}

// sameWord is IsWord for a token that has the length of w.
func (d *Document) sameWord(t *Token, w string) bool {
	if t.Kind != KindWord {
		return false
	}
	// Texts of equal length that are equal but for case have ASCII at the same places.
	if w[0] < utf8.RuneSelf && d.Text[t.Start]|0x20 != w[0]|0x20 {
		return false
	}
	return strings.EqualFold(d.Text[t.Start:t.End], w)
}

// monthName returns the month at token i if the word must be one: it has a capital, or stands next to a number.
func (d *Document) monthName(s *Sentence, i int, nextToNumber bool) (int, bool) {
	if i >= s.Hi {
		return 0, false
	}
	t := &d.Tokens[i]
	if !t.Is(Month | ForeignMonth) {
		return 0, false
	}
	if nextToNumber || t.Is(Month) && t.Shape != LowerCase {
		return int(t.Word().Num), true
	}
	return int(t.Word().Num), t.Is(Month) && !t.Is(Modal) && t.Word().Verb == 0 && t.End-t.Start > 4
}

// numberDate reads "8 May 2023", "8th of May", "2023", "1990s", "19th century", "2023年5月8日", "3 weeks ago".
func (d *Document) numberDate(s *Sentence, i int) (Date, bool) {
	if h, ok := d.cjkDate(s, i); ok {
		return h, true
	}
	n, ok := d.Number(i)
	if !ok {
		return Date{}, false
	}
	if n >= 1 && n <= 31 {
		if h, ok := d.dayMonth(s, i, n); ok {
			return h, true
		}
	}
	if h, ok := d.century(s, i, n); ok {
		return h, true
	}
	if y, ok := d.year(s, i); ok && d.plainYear(s, i) {
		p := yearOf(y)
		hi := i + 1
		if hi < s.Hi && d.Tokens[hi].Gap == NoGap && d.Tokens[hi].Kind == KindWord && d.TokenText(hi) == "s" {
			if y%10 != 0 {
				return Date{}, false
			}
			hi++
			p.To = time.Date(y+10, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		return Date{Lo: i, Hi: hi, From: p.From, To: p.To, Precision: p.Precision}, true
	}
	return d.relativeDate(s, i)
}

// plainYear reports whether the four digits at i stand alone: not before a unit, and not after a currency or number sign.
func (d *Document) plainYear(s *Sentence, i int) bool {
	if i > s.Lo {
		prev := &d.Tokens[i-1]
		if prev.Kind == KindPunct && (prev.Sign == '$' || prev.Sign == '#' || prev.Sign == '+') && d.Tokens[i].Gap == NoGap {
			return false
		}
	}
	if i+1 < s.Hi {
		next := &d.Tokens[i+1]
		if next.Is(Unit|TimeUnit|Currency|Scale) && !next.Is(Preposition|FunctionWord) || next.Kind == KindPunct && next.Sign == '%' {
			return false
		}
	}
	return true
}

// century reads "19th century" and "the 90s".
func (d *Document) century(s *Sentence, i, n int) (Date, bool) {
	j := i + 1
	if j >= s.Hi || d.Tokens[j].Kind != KindWord || d.Tokens[j].Gap != NoGap || !d.Tokens[j].Is(OrdinalEnding) {
		return Date{}, false
	}
	if d.TokenText(j) == "s" {
		if n%10 != 0 || n < 20 || n > 90 || d.Tokens[i].End-d.Tokens[i].Start != 2 {
			return Date{}, false
		}
		from := time.Date(1900+n, 1, 1, 0, 0, 0, 0, time.UTC)
		return Date{Lo: i, Hi: j + 1, From: from, To: from.AddDate(10, 0, 0), Precision: extract.PrecisionYear}, true
	}
	if n < 11 || n > 21 || !d.IsWord(s, j+1, "century") {
		return Date{}, false
	}
	from := time.Date((n-1)*100+1, 1, 1, 0, 0, 0, 0, time.UTC)
	return Date{Lo: i, Hi: j + 2, From: from, To: from.AddDate(100, 0, 0), Precision: extract.PrecisionYear}, true
}

// cjkDate reads 2023年5月8日 and its prefixes (the year, the year and month).
func (d *Document) cjkDate(s *Sentence, i int) (Date, bool) {
	var v [3]int
	n, j := 0, i
	for _, mark := range [...]string{"年", "月", "日"} {
		if j+1 >= s.Hi || d.Tokens[j].Kind != KindNumber || d.Tokens[j+1].Kind != KindScript || d.Tokens[j+1].Gap != NoGap || !strings.HasPrefix(d.TokenText(j+1), mark) {
			break
		}
		num, ok := d.Number(j)
		if !ok {
			break
		}
		v[n] = num
		n++
		j += 2
		if d.Tokens[j-1].End-d.Tokens[j-1].Start > int32(len(mark)) {
			break
		}
	}
	if n == 0 || v[0] < minYear || v[0] > maxYear {
		return Date{}, false
	}
	p, ok := yearOf(v[0]), true
	if n > 1 {
		if v[1] < 1 || v[1] > 12 {
			return Date{}, false
		}
		p = monthOf(v[0], time.Month(v[1]))
	}
	if n > 2 {
		p, ok = dayOf(v[0], v[1], v[2])
	}
	return Date{Lo: i, Hi: j, From: p.From, To: p.To, Precision: p.Precision}, ok
}

// Key returns the ISO form of the period at its precision. For a period of several days it is the first and the last day.
func (h *Date) Key() string {
	var b [24]byte
	switch {
	case h.Precision == extract.PrecisionYear && h.To.Year()-h.From.Year() == 10 && h.From.Year()%10 == 0:
		return string(append(h.From.AppendFormat(b[:0], "2006"), 's'))
	case h.Precision == extract.PrecisionYear && h.To.Year()-h.From.Year() > 1:
		return string(h.To.AddDate(0, 0, -1).AppendFormat(append(h.From.AppendFormat(b[:0], "2006"), '/'), "2006"))
	case h.Precision == extract.PrecisionYear:
		return string(h.From.AppendFormat(b[:0], "2006"))
	case h.Precision == extract.PrecisionMonth && h.To.After(h.From.AddDate(0, 1, 0)):
		return string(h.To.AddDate(0, 0, -1).AppendFormat(append(h.From.AppendFormat(b[:0], "2006-01"), '/'), "2006-01"))
	case h.Precision == extract.PrecisionMonth:
		return string(h.From.AppendFormat(b[:0], "2006-01"))
	case h.To.Sub(h.From) > 24*time.Hour:
		out := append(h.From.AppendFormat(b[:0], time.DateOnly), '/')
		return string(h.To.AddDate(0, 0, -1).AppendFormat(out, time.DateOnly))
	}
	return string(h.From.AppendFormat(b[:0], time.DateOnly))
}

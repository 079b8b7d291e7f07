package rules

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
)

// Years outside this range are taken for other numbers.
const (
	minYear = 1000
	maxYear = 2199
)

// dateHit is a date in the token range [lo, hi). A zero from means that it could not be resolved.
type dateHit struct {
	lo, hi   int
	sent     int
	from, to time.Time
	prec     string
	relative bool
	yearless bool // a month or day of the nearest year
	name     bool // the words may be a name too: "last Christmas"
}

// period is a resolved date on its way into a hit.
type period struct {
	from, to time.Time
	prec     string
}

func day(t time.Time) period {
	t = midnight(t)
	return period{t, t.AddDate(0, 0, 1), extract.PrecisionDay}
}

func monthOf(y int, m time.Month) period {
	from := time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	return period{from, from.AddDate(0, 1, 0), extract.PrecisionMonth}
}

func yearOf(y int) period {
	return period{time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(y+1, 1, 1, 0, 0, 0, 0, time.UTC), extract.PrecisionYear}
}

// midnight is the start of t's calendar day as its own clock shows it, in UTC.
func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// dayOf checks a calendar day.
func dayOf(y, m, d int) (period, bool) {
	if m < 1 || m > 12 || d < 1 || d > 31 || y < minYear || y > maxYear {
		return period{}, false
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return day(t), t.Day() == d
}

// findDates collects the dates of every sentence and marks their tokens.
func (d *doc) findDates() {
	for k := range d.sents {
		s := &d.sents[k]
		ls := d.languagesOf(s)
		for i := s.lo; i < s.hi; i++ {
			may := d.mayBeginDate(s, i)
			if !may && !d.script && len(ls) == 0 {
				continue
			}
			var h dateHit
			ok := false
			if may {
				h, ok = d.dateAt(s, i)
			}
			if d.script && !ok {
				h, ok = d.scriptRelative(s, i)
			}
			for _, l := range ls {
				if f, found := d.foreignDate(s, l, i); found && (!ok || f.hi > h.hi) {
					h, ok = f, true
				}
			}
			if !ok || h.hi <= h.lo {
				continue
			}
			h.sent = k
			for j := h.lo; j < h.hi && !h.name; j++ {
				d.toks[j].used = true
			}
			d.dates = append(d.dates, h)
			i = h.hi - 1
		}
	}
}

// fDateHead are words with which a composed date begins, behind an article or "on".
const fDateHead = fDatePart | fTimeUnit | fWeekday | fSeason

// mayBeginDate is false where dateAt finds nothing for certain, as at most tokens.
func (d *doc) mayBeginDate(s *sentence, i int) bool {
	t := &d.toks[i]
	switch {
	case t.kind == kDate || t.kind == kNumber:
		return true
	case t.kind != kWord:
		return false
	case t.is(fDateHead | fDateLead | fMonth | fMonthX | fDayWord | fNum):
		return true
	case t.is(fDet | fPrep):
		return i+1 < s.hi && (d.toks[i+1].is(fDateHead|fDateLead|fDet) || d.toks[i+1].kind == kNumber) && (d.isWord(s, i, "the") || d.isWord(s, i, "on"))
	}
	return d.spelledNumber(t)
}

// spelledNumber reports whether a word may be one like "twenty-five".
func (d *doc) spelledNumber(t *token) bool {
	return t.w == word{} && t.end-t.start > 8 && t.shape != sUpper && strings.IndexByte(d.text[t.start:t.end], '-') > 0
}

// dateAt finds the longest date that begins at token i.
func (d *doc) dateAt(s *sentence, i int) (dateHit, bool) {
	t := &d.toks[i]
	if t.kind == kWord && (t.is(fDateHead) || t.is(fDet|fPrep) && i+1 < s.hi && (d.toks[i+1].is(fDateHead|fDet) || d.toks[i+1].kind == kNumber)) {
		if h, ok := d.composed(s, i); ok {
			return h, true
		}
	}
	return d.simpleDate(s, i)
}

// simpleDate finds a date that is not made from another.
func (d *doc) simpleDate(s *sentence, i int) (dateHit, bool) {
	t := &d.toks[i]
	switch {
	case t.kind == kDate:
		p, ok := parseNumericDate(d.str(i))
		return dateHit{lo: i, hi: i + 1, from: p.from, to: p.to, prec: p.prec}, ok
	case t.kind == kNumber:
		return d.numberDate(s, i)
	case t.kind != kWord:
		return dateHit{}, false
	case t.is(fMonth | fMonthX):
		if h, ok := d.monthDate(s, i); ok {
			return h, true
		}
	}
	return d.relativeDate(s, i)
}

// number returns the value of a plain number token without separators.
func (d *doc) number(i int) (int, bool) {
	t := &d.toks[i]
	if t.kind != kNumber || t.end-t.start > 4 {
		return 0, false
	}
	n, err := strconv.Atoi(d.str(i))
	return n, err == nil
}

// year returns the year at token i.
func (d *doc) year(s *sentence, i int) (int, bool) {
	if i >= s.hi || d.toks[i].end-d.toks[i].start != 4 {
		return 0, false
	}
	n, ok := d.number(i)
	return n, ok && n >= minYear && n <= maxYear
}

// ordinal skips "th" and the like behind a day number.
func (d *doc) ordinal(s *sentence, i int) int {
	if i < s.hi && d.toks[i].kind == kWord && d.toks[i].gap == gapNone && d.toks[i].is(fOrdinal) && d.str(i) != "s" {
		return i + 1
	}
	return i
}

func (d *doc) isPunct(s *sentence, i int, ch byte) bool {
	return i < s.hi && d.toks[i].kind == kPunct && d.toks[i].ch == ch
}

// isWord reports whether token i is the lower-case word w (in any case).
func (d *doc) isWord(s *sentence, i int, w string) bool {
	return i >= s.lo && i < s.hi && int(d.toks[i].end-d.toks[i].start) == len(w) && d.sameWord(&d.toks[i], w)
}

// sameWord is isWord for a token that is as long as w.
func (d *doc) sameWord(t *token, w string) bool {
	if t.kind != kWord {
		return false
	}
	// Texts of equal length that are equal but for case have ASCII at the same places.
	if w[0] < utf8.RuneSelf && d.text[t.start]|0x20 != w[0]|0x20 {
		return false
	}
	return strings.EqualFold(d.text[t.start:t.end], w)
}

// monthName returns the month at token i if the word is certainly one: spelled with a capital, or next to a number.
func (d *doc) monthName(s *sentence, i int, nextToNumber bool) (int, bool) {
	if i >= s.hi {
		return 0, false
	}
	t := &d.toks[i]
	if !t.is(fMonth | fMonthX) {
		return 0, false
	}
	if nextToNumber || t.is(fMonth) && t.shape != sLower {
		return int(t.w.num), true
	}
	return int(t.w.num), t.is(fMonth) && !t.is(fModal) && t.w.verb == 0 && t.end-t.start > 4
}

// numberDate reads "8 May 2023", "8th of May", "2023", "1990s", "19th century", "2023年5月8日", "3 weeks ago".
func (d *doc) numberDate(s *sentence, i int) (dateHit, bool) {
	if h, ok := d.cjkDate(s, i); ok {
		return h, true
	}
	n, ok := d.number(i)
	if !ok {
		return dateHit{}, false
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
		if hi < s.hi && d.toks[hi].gap == gapNone && d.toks[hi].kind == kWord && d.str(hi) == "s" {
			if y%10 != 0 {
				return dateHit{}, false
			}
			hi++
			p.to = time.Date(y+10, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		return dateHit{lo: i, hi: hi, from: p.from, to: p.to, prec: p.prec}, true
	}
	return d.relativeDate(s, i)
}

// plainYear reports whether the four digits at i stand alone, not before a unit nor behind a currency or number sign.
func (d *doc) plainYear(s *sentence, i int) bool {
	if i > s.lo {
		prev := &d.toks[i-1]
		if prev.kind == kPunct && (prev.ch == '$' || prev.ch == '#' || prev.ch == '+') && d.toks[i].gap == gapNone {
			return false
		}
	}
	if i+1 < s.hi {
		next := &d.toks[i+1]
		if next.is(fUnit|fTimeUnit|fCurrency|fScale) && !next.is(fPrep|fStop) || next.kind == kPunct && next.ch == '%' {
			return false
		}
	}
	return true
}

// dayMonth reads "8 May[, 2023]", "8th of May", "8. Mai 2023", "8 de mayo de 2023".
func (d *doc) dayMonth(s *sentence, i, n int) (dateHit, bool) {
	j := d.ordinal(s, i+1)
	if d.isPunct(s, j, '.') && d.toks[j].gap == gapNone {
		j++
	}
	if d.isWord(s, j, "of") || d.isWord(s, j, "de") {
		j++
	}
	m, ok := d.monthName(s, j, true)
	if !ok || d.toks[j].gap > gapSpace {
		return dateHit{}, false
	}
	return d.withYear(s, i, j+1, n, m), true
}

// withYear reads an optional year behind a day and month and resolves the date.
func (d *doc) withYear(s *sentence, lo, j, dayNum, month int) dateHit {
	k := j
	if d.isPunct(s, k, '.') && d.toks[k-1].is(fAbbrev) && d.toks[k].gap == gapNone {
		k++
	}
	if d.isPunct(s, k, ',') || d.isWord(s, k, "de") || d.isWord(s, k, "of") {
		k++
	}
	if y, ok := d.year(s, k); ok {
		if p, ok := dayOf(y, month, dayNum); ok {
			return dateHit{lo: lo, hi: k + 1, from: p.from, to: p.to, prec: p.prec}
		}
		return dateHit{lo: lo, hi: k + 1} // no such day
	}
	h := dateHit{lo: lo, hi: j, relative: true, yearless: true}
	if !d.ref.IsZero() {
		p := d.nearestDay(month, dayNum)
		h.from, h.to, h.prec = p.from, p.to, p.prec
	}
	return h
}

// nearestDay picks the year in which a day and month come closest to the reference time.
func (d *doc) nearestDay(month, dayNum int) period {
	var best period
	ref := midnight(d.ref)
	for y := ref.Year() - 1; y <= ref.Year()+1; y++ {
		p, ok := dayOf(y, month, dayNum)
		if ok && (best.from.IsZero() || p.from.Sub(ref).Abs() < best.from.Sub(ref).Abs()) {
			best = p
		}
	}
	return best
}

// monthDate reads "May 8[th][, 2023]", "May 2023", "May".
func (d *doc) monthDate(s *sentence, i int) (dateHit, bool) {
	j := i + 1
	if d.isPunct(s, j, '.') && d.toks[i].is(fAbbrev) && d.toks[j].gap == gapNone {
		j++
	}
	if d.isPunct(s, j, ',') || d.isWord(s, j, "of") || d.isWord(s, j, "de") {
		if y, ok := d.year(s, j+1); ok {
			if m, ok := d.monthName(s, i, true); ok {
				p := monthOf(y, time.Month(m))
				return dateHit{lo: i, hi: j + 2, from: p.from, to: p.to, prec: p.prec}, true
			}
		}
	}
	if j < s.hi && d.toks[j].gap <= gapSpace {
		if y, ok := d.year(s, j); ok && d.plainYear(s, j) {
			m, _ := d.monthName(s, i, true)
			p := monthOf(y, time.Month(m))
			return dateHit{lo: i, hi: j + 1, from: p.from, to: p.to, prec: p.prec}, true
		}
		k := j
		if d.isWord(s, k, "the") {
			k++
		}
		if k < s.hi && d.toks[i].is(fMonth) {
			if n, ok := d.number(k); ok && n >= 1 && n <= 31 && (d.toks[i].shape != sLower || d.toks[i].end-d.toks[i].start > 3) {
				return d.withYear(s, i, d.ordinal(s, k+1), n, int(d.toks[i].w.num)), true
			}
		}
	}
	return d.bareMonth(s, i)
}

// bareMonth reads a month alone: with a preposition before it, or where the word cannot be anything else.
func (d *doc) bareMonth(s *sentence, i int) (dateHit, bool) {
	m, ok := d.monthName(s, i, false)
	if !ok || d.toks[i].is(fMonthX) {
		return dateHit{}, false
	}
	t := &d.toks[i]
	doubtful := t.is(fGiven) || t.is(fModal) || t.w.verb > 0 || t.end-t.start <= 3
	before := i > s.lo && d.toks[i-1].kind == kWord && (d.toks[i-1].is(fPrep|fTemporal) || d.isWord(s, i-1, "early") || d.isWord(s, i-1, "late") || d.isWord(s, i-1, "mid"))
	if doubtful && (!before || i+1 < s.hi && d.toks[i+1].capital() && d.toks[i+1].gap == gapSpace) {
		return dateHit{}, false
	}
	if i > s.lo && d.isWord(s, i-1, "this") || d.isWord(s, i-1, "last") || d.isWord(s, i-1, "next") {
		return dateHit{}, false // read from the word before
	}
	h := dateHit{lo: i, hi: i + 1, relative: true, yearless: true}
	if !d.ref.IsZero() {
		y := d.ref.Year()
		if delta := m - int(d.ref.Month()); delta > 6 || delta > 0 && d.pastTense(s) {
			y--
		} else if delta < -6 && d.futureTense(s) {
			y++
		}
		p := monthOf(y, time.Month(m))
		h.from, h.to, h.prec = p.from, p.to, p.prec
	}
	return h, true
}

// century reads "19th century" and "the 90s".
func (d *doc) century(s *sentence, i, n int) (dateHit, bool) {
	j := i + 1
	if j >= s.hi || d.toks[j].kind != kWord || d.toks[j].gap != gapNone || !d.toks[j].is(fOrdinal) {
		return dateHit{}, false
	}
	if d.str(j) == "s" {
		if n%10 != 0 || n < 20 || n > 90 || d.toks[i].end-d.toks[i].start != 2 {
			return dateHit{}, false
		}
		from := time.Date(1900+n, 1, 1, 0, 0, 0, 0, time.UTC)
		return dateHit{lo: i, hi: j + 1, from: from, to: from.AddDate(10, 0, 0), prec: extract.PrecisionYear}, true
	}
	if n < 11 || n > 21 || !d.isWord(s, j+1, "century") {
		return dateHit{}, false
	}
	from := time.Date((n-1)*100+1, 1, 1, 0, 0, 0, 0, time.UTC)
	return dateHit{lo: i, hi: j + 2, from: from, to: from.AddDate(100, 0, 0), prec: extract.PrecisionYear}, true
}

// cjkDate reads 2023年5月8日 and its beginnings.
func (d *doc) cjkDate(s *sentence, i int) (dateHit, bool) {
	var v [3]int
	n, j := 0, i
	for _, mark := range [...]string{"年", "月", "日"} {
		if j+1 >= s.hi || d.toks[j].kind != kNumber || d.toks[j+1].kind != kOther || d.toks[j+1].gap != gapNone || !strings.HasPrefix(d.str(j+1), mark) {
			break
		}
		num, ok := d.number(j)
		if !ok {
			break
		}
		v[n] = num
		n++
		j += 2
		if d.toks[j-1].end-d.toks[j-1].start > int32(len(mark)) {
			break
		}
	}
	if n == 0 || v[0] < minYear || v[0] > maxYear {
		return dateHit{}, false
	}
	p, ok := yearOf(v[0]), true
	if n > 1 {
		if v[1] < 1 || v[1] > 12 {
			return dateHit{}, false
		}
		p = monthOf(v[0], time.Month(v[1]))
	}
	if n > 2 {
		p, ok = dayOf(v[0], v[1], v[2])
	}
	return dateHit{lo: i, hi: j, from: p.from, to: p.to, prec: p.prec}, ok
}

// parseNumericDate reads y-m-d, y/m/d, y-m, d.m.y and m/d/y. Of two readings of the last, the one that is a
// calendar day wins; when both are, the month comes first, as in the source of most such dates.
func parseNumericDate(s string) (period, bool) {
	if len(s) > 10 && (s[10] == 'T' || s[10] == ' ') {
		s = s[:10]
	}
	if len(s) < 6 || len(s) > 10 {
		return period{}, false
	}
	sep := byte(0)
	var v [3]int
	n, digits := 0, 0
	first := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isDigitByte(c):
			if digits++; digits > 4 {
				return period{}, false
			}
			v[n] = v[n]*10 + int(c-'0')
		case (c == '-' || c == '/' || c == '.') && (sep == 0 || sep == c) && digits > 0 && n < 2:
			if n == 0 {
				first = digits
			}
			sep, digits = c, 0
			n++
		default:
			return period{}, false
		}
	}
	switch {
	case digits == 0 || sep == 0:
		return period{}, false
	case n == 1:
		if first == 4 && sep == '-' && v[1] >= 1 && v[1] <= 12 && digits == 2 && v[0] >= minYear && v[0] <= maxYear {
			return monthOf(v[0], time.Month(v[1])), true
		}
		return period{}, false
	case first == 4:
		return dayOf(v[0], v[1], v[2])
	case digits != 4 && digits != 2 || sep == '-' && digits != 4:
		return period{}, false
	}
	if digits == 2 {
		v[2] += 2000
	}
	if sep == '.' {
		return dayOf(v[2], v[1], v[0])
	}
	if p, ok := dayOf(v[2], v[0], v[1]); ok {
		return p, true
	}
	return dayOf(v[2], v[1], v[0])
}

// key is the ISO form of the period at its precision; a period of several days is its first and last day.
func (h *dateHit) key() string {
	var b [24]byte
	switch {
	case h.prec == extract.PrecisionYear && h.to.Year()-h.from.Year() == 10 && h.from.Year()%10 == 0:
		return string(append(h.from.AppendFormat(b[:0], "2006"), 's'))
	case h.prec == extract.PrecisionYear && h.to.Year()-h.from.Year() > 1:
		return string(h.to.AddDate(0, 0, -1).AppendFormat(append(h.from.AppendFormat(b[:0], "2006"), '/'), "2006"))
	case h.prec == extract.PrecisionYear:
		return string(h.from.AppendFormat(b[:0], "2006"))
	case h.prec == extract.PrecisionMonth && h.to.After(h.from.AddDate(0, 1, 0)):
		return string(h.to.AddDate(0, 0, -1).AppendFormat(append(h.from.AppendFormat(b[:0], "2006-01"), '/'), "2006-01"))
	case h.prec == extract.PrecisionMonth:
		return string(h.from.AppendFormat(b[:0], "2006-01"))
	case h.to.Sub(h.from) > 24*time.Hour:
		out := append(h.from.AppendFormat(b[:0], time.DateOnly), '/')
		return string(h.to.AddDate(0, 0, -1).AppendFormat(out, time.DateOnly))
	}
	return string(h.from.AppendFormat(b[:0], time.DateOnly))
}

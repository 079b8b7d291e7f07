package language

import (
	"time"
)

// dayMonth reads "8 May[, 2023]", "8th of May", "8. Mai 2023", "8 de mayo de 2023".
func (d *Document) dayMonth(s *Sentence, i, n int) (Date, bool) {
	j := d.ordinal(s, i+1)
	if d.IsPunct(s, j, '.') && d.Tokens[j].Gap == NoGap {
		j++
	}
	if d.IsWord(s, j, "of") || d.IsWord(s, j, "de") {
		j++
	}
	m, ok := d.monthName(s, j, true)
	if !ok || d.Tokens[j].Gap > SpaceGap {
		return Date{}, false
	}
	return d.withYear(s, i, j+1, n, m), true
}

// withYear reads an optional year after a day and month and resolves the date.
func (d *Document) withYear(s *Sentence, lo, j, dayNum, month int) Date {
	k := j
	if d.IsPunct(s, k, '.') && d.Tokens[k-1].Is(Abbreviation) && d.Tokens[k].Gap == NoGap {
		k++
	}
	if d.IsPunct(s, k, ',') || d.IsWord(s, k, "de") || d.IsWord(s, k, "of") {
		k++
	}
	if y, ok := d.year(s, k); ok {
		if p, ok := dayOf(y, month, dayNum); ok {
			return Date{Lo: lo, Hi: k + 1, From: p.From, To: p.To, Precision: p.Precision}
		}
		return Date{Lo: lo, Hi: k + 1} // the month has no such day
	}
	if y, hi := d.besideYear(s, j); hi > 0 {
		if p, ok := dayOf(y, month, dayNum); ok {
			return Date{Lo: lo, Hi: hi, Relative: true, From: p.From, To: p.To, Precision: p.Precision}
		}
	}
	h := Date{Lo: lo, Hi: j, Relative: true, Yearless: true}
	if !d.Reference.IsZero() {
		p := d.nearestDay(month, dayNum, d.tense(s, lo))
		h.From, h.To, h.Precision = p.From, p.To, p.Precision
	}
	return h
}

// besideYear reads "next year", "this year" and "last year" behind a day or a month at token i: "in March next year". It returns no end for other words.
func (d *Document) besideYear(s *Sentence, i int) (year, hi int) {
	if d.Reference.IsZero() || !d.IsWord(s, i+1, "year") {
		return 0, 0
	}
	switch y := d.Reference.Year(); {
	case d.IsWord(s, i, "next"):
		return y + 1, i + 2
	case d.IsWord(s, i, "this"):
		return y, i + 2
	case d.IsWord(s, i, "last"):
		return y - 1, i + 2
	}
	return 0, 0
}

// nearestDay returns the given day and month in the year that brings it closest to the reference time. tense restricts it to the past
// (-1) or the future (1); 0 allows both.
func (d *Document) nearestDay(month, dayNum, tense int) period {
	var best period
	ref := Midnight(d.Reference)
	for y := ref.Year() - 1; y <= ref.Year()+1; y++ {
		p, ok := dayOf(y, month, dayNum)
		if ok && tense*p.From.Compare(ref) >= 0 && (best.From.IsZero() || p.From.Sub(ref).Abs() < best.From.Sub(ref).Abs()) {
			best = p
		}
	}
	return best
}

// monthDate reads "May 8[th][, 2023]", "May 2023", "May".
func (d *Document) monthDate(s *Sentence, i int) (Date, bool) {
	j := i + 1
	if d.IsPunct(s, j, '.') && d.Tokens[i].Is(Abbreviation) && d.Tokens[j].Gap == NoGap {
		j++
	}
	if d.IsPunct(s, j, ',') || d.IsWord(s, j, "of") || d.IsWord(s, j, "de") {
		if y, ok := d.year(s, j+1); ok {
			if m, ok := d.monthName(s, i, true); ok {
				p := monthOf(y, time.Month(m))
				return Date{Lo: i, Hi: j + 2, From: p.From, To: p.To, Precision: p.Precision}, true
			}
		}
	}
	if j < s.Hi && d.Tokens[j].Gap <= SpaceGap {
		if y, ok := d.year(s, j); ok && d.plainYear(s, j) {
			m, _ := d.monthName(s, i, true)
			p := monthOf(y, time.Month(m))
			return Date{Lo: i, Hi: j + 1, From: p.From, To: p.To, Precision: p.Precision}, true
		}
		k := j
		if d.IsWord(s, k, "the") {
			k++
		}
		if k < s.Hi && d.Tokens[i].Is(Month) {
			if n, ok := d.Number(k); ok && n >= 1 && n <= 31 && (d.Tokens[i].Shape != LowerCase || d.Tokens[i].End-d.Tokens[i].Start > 3) {
				return d.withYear(s, i, d.ordinal(s, k+1), n, int(d.Tokens[i].Word().Num)), true
			}
		}
	}
	return d.bareMonth(s, i)
}

// bareMonth reads a month alone: after a preposition, or where the word cannot mean anything else.
func (d *Document) bareMonth(s *Sentence, i int) (Date, bool) {
	m, ok := d.monthName(s, i, false)
	if !ok || d.Tokens[i].Is(ForeignMonth) {
		return Date{}, false
	}
	t := &d.Tokens[i]
	doubtful := t.Is(GivenName) || t.Is(Modal) || t.Word().Verb > 0 || t.End-t.Start <= 3
	before := i > s.Lo && d.Tokens[i-1].Kind == KindWord && (d.Tokens[i-1].Is(Preposition|Temporal) || d.IsWord(s, i-1, "early") || d.IsWord(s, i-1, "late") || d.IsWord(s, i-1, "mid"))
	if doubtful && (!before || i+1 < s.Hi && d.Tokens[i+1].Capital() && d.Tokens[i+1].Gap == SpaceGap) {
		return Date{}, false
	}
	if i > s.Lo && d.IsWord(s, i-1, "this") || d.IsWord(s, i-1, "last") || d.IsWord(s, i-1, "next") {
		return Date{}, false // the month was read at the word before
	}
	if y, hi := d.besideYear(s, i+1); hi > 0 {
		p := monthOf(y, time.Month(m))
		return Date{Lo: i, Hi: hi, Relative: true, From: p.From, To: p.To, Precision: p.Precision}, true
	}
	h := Date{Lo: i, Hi: i + 1, Relative: true, Yearless: true}
	if !d.Reference.IsZero() {
		y, delta := d.Reference.Year(), m-int(d.Reference.Month())
		switch tense := d.tense(s, i); {
		case tense < 0 && delta > 0, tense == 0 && delta > 6:
			y--
		case tense > 0 && delta < 0:
			y++
		}
		p := monthOf(y, time.Month(m))
		h.From, h.To, h.Precision = p.From, p.To, p.Precision
	}
	return h, true
}

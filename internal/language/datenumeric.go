package language

import (
	"time"
)

// parseNumericDate reads y-m-d, y/m/d, y-m, d.m.y and m/d/y. If only one of m/d/y and d/m/y is a calendar day, that one is taken; if
// both are, m/d/y is.
func parseNumericDate(s string) (period, bool) {
	if len(s) > 10 && (s[10] == 'T' || s[10] == ' ') {
		s = s[:10]
	}
	if len(s) < 6 || len(s) > 10 {
		return period{}, false
	}
	f, ok := numericFields(s)
	switch {
	case !ok:
		return period{}, false
	case f.n == 2:
		if f.digits[0] == 4 && f.sep == '-' && f.digits[1] == 2 && f.v[1] >= 1 && f.v[1] <= 12 && f.v[0] >= minYear && f.v[0] <= maxYear {
			return monthOf(f.v[0], time.Month(f.v[1])), true
		}
		return period{}, false
	case f.digits[0] == 4:
		return dayOf(f.v[0], f.v[1], f.v[2])
	}
	return yearLast(&f)
}

// numericDate is a date of two or three numbers with one separator.
type numericDate struct {
	v, digits [3]int // the numbers, and of how many digits each is
	n         int    // how many numbers there are
	sep       byte
}

// numericFields splits a date at its separator. It reports false for anything but two or three numbers of at most four digits.
func numericFields(s string) (f numericDate, ok bool) {
	k := 0
	for i := range len(s) {
		switch c := s[i]; {
		case isDigitByte(c) && f.digits[k] < 4:
			f.v[k] = f.v[k]*10 + int(c-'0')
			f.digits[k]++
		case (c == '-' || c == '/' || c == '.') && (f.sep == 0 || f.sep == c) && f.digits[k] > 0 && k < 2:
			f.sep = c
			k++
		default:
			return f, false
		}
	}
	f.n = k + 1
	return f, f.n > 1 && f.digits[k] > 0
}

// yearLast reads a date whose year is the last of three numbers, with two or four digits.
func yearLast(f *numericDate) (period, bool) {
	year := f.v[2]
	switch {
	case f.digits[2] == 2 && f.sep != '-':
		year += 2000
	case f.digits[2] != 4:
		return period{}, false
	}
	if f.sep != '.' {
		if p, ok := dayOf(year, f.v[0], f.v[1]); ok {
			return p, true
		}
	}
	return dayOf(year, f.v[1], f.v[0])
}

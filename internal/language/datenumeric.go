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

package fault

import (
	"strings"
	"time"
	"unicode/utf8"
)

// CheckText refuses text that can't be stored and shown: not UTF-8, holding NUL, or over maxBytes.
func CheckText(op, field, s string, maxBytes int) error {
	switch {
	case len(s) > maxBytes:
		return Fieldf(op, KindInvalid, "", field, "%d bytes are over the limit of %d", len(s), maxBytes)
	case !utf8.ValidString(s):
		return Fieldf(op, KindInvalid, "", field, "is not valid UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		return Fieldf(op, KindInvalid, "", field, "holds a NUL character")
	}
	return nil
}

// CheckTime refuses times that can't be written as RFC 3339, which has four digits for the year.
func CheckTime(op, field string, t time.Time) error {
	if y := t.UTC().Year(); !t.IsZero() && (y < 1 || y > 9999) {
		return Fieldf(op, KindInvalid, "", field, "the year must be between 1 and 9999")
	}
	return nil
}

package clean

import (
	"net/mail"
	"strings"
	"time"
)

// timeLayouts are the forms of dates in document metadata, the most precise first.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02",
	"2006-01", "2006", "January 2, 2006", "2 January 2006", time.RFC1123Z, time.RFC1123, time.ANSIC,
}

// Time parses a date of document metadata. It returns the zero time for unknown forms. Dates without a zone are UTC.
func Time(s string) time.Time {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 64 {
		return time.Time{}
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	if t, err := mail.ParseDate(s); err == nil {
		return t.UTC()
	}
	return time.Time{}
}

// FileTime converts a FILETIME, in units of 100 ns since 1601. It returns the zero time for implausible values.
func FileTime(v uint64) time.Time {
	const unix = 116444736000000000
	if v < unix || v > unix+1e18 {
		return time.Time{}
	}
	return time.Unix(0, int64(v-unix)*100).UTC()
}

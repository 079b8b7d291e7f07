package parse

import (
	"net/mail"
	"strings"
	"time"
)

// timeLayouts are the forms of dates in document metadata, most exact first.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02",
	"2006-01", "2006", "January 2, 2006", "2 January 2006", time.RFC1123Z, time.RFC1123, time.ANSIC,
}

// parseTime reads a date of document metadata; what it cannot read is the zero time. Dates without a zone are UTC.
func parseTime(s string) time.Time {
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

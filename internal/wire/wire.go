// Package wire holds the JSON forms that package httpapi writes and package client reads, with conversions from and to the
// library's types. A time is RFC 3339 in UTC, empty if unknown; a list is never null.
package wire

import "time"

// Time returns the JSON form of a time.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// ReadTime parses the result of [Time]. It returns the zero time for invalid texts.
func ReadTime(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t
}

// each converts a list to its JSON form, which is never nil.
func each[From, To any](list []From, f func(*From) To) []To {
	out := make([]To, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}

// read converts a list from its JSON form; an empty list becomes nil.
func read[From, To any](list []From, f func(*From) To) []To {
	if len(list) == 0 {
		return nil
	}
	return each(list, f)
}

// optional converts a value that may be nil.
func optional[From, To any](v *From, f func(*From) To) *To {
	if v == nil {
		return nil
	}
	out := f(v)
	return &out
}

// Null returns a pointer to s, or nil, for null, if s is empty.
func Null(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Text returns the text that s points to, empty if s is nil.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// object returns m, or an empty map if m is nil.
func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

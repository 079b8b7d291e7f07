// Package wire holds the shapes of JSON that package httpapi writes and package client reads, each with its way from and to the
// library's types. A time is RFC 3339 in UTC, empty where it is unknown; a list is never null.
package wire

import "time"

// Time is a time on the wire.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// ReadTime reads what [Time] wrote; the zero time is what is no time.
func ReadTime(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t
}

// each converts a list, which is not nil even where list is.
func each[From, To any](list []From, f func(*From) To) []To {
	out := make([]To, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}

// read converts a list as the library's types have it: nil where it is empty.
func read[From, To any](list []From, f func(*From) To) []To {
	if len(list) == 0 {
		return nil
	}
	return each(list, f)
}

// optional converts a value that may be absent.
func optional[From, To any](v *From, f func(*From) To) *To {
	if v == nil {
		return nil
	}
	out := f(v)
	return &out
}

// Null returns a text that is null when it is empty.
func Null(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Text returns a text that may be null.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// object returns a map that is not nil.
func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

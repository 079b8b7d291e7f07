package metadata

import (
	"strconv"
	"strings"
	"time"
)

// timeKeys are metadata keys that say when something was said or written, in
// order of preference. They are compared in lower case.
var timeKeys = []string{"timestamp", "time", "datetime", "date_time", "date", "observation_date", "observed_at", "created_at", "session_time", "session_date", "sent_at", "published_at", "updated_at"}

// sessionKeys are metadata keys that identify a conversation.
var sessionKeys = []string{"session_id", "session", "conversation_id", "conversation", "thread_id", "chat_id"}

// timeLayouts are the accepted time formats, in addition to epoch seconds.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 -0700 MST",
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02", "2006/01/02 15:04:05", "2006/01/02", "2006/01/02 (Mon) 15:04", "20060102",
	time.RFC1123Z, time.RFC1123, time.RFC850, time.RFC822Z, time.RFC822, time.ANSIC, time.UnixDate,
	"Mon, 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006", "2 January 2006", "2 January 2006 15:04",
	"January 2, 2006", "Jan 2, 2006", "January 2, 2006 3:04 PM", "Jan 2, 2006 3:04 PM", "January 2, 2006 15:04", "January-2-2006", "Jan-02-2006",
	"3:04 PM on 2 January, 2006", "3:04 PM on 2 January 2006", "3:04 PM on January 2, 2006", "3:04 PM, 2 January 2006",
	"1/2/2006", "1/2/2006 15:04", "1/2/2006 3:04 PM", "2.1.2006", "2.1.2006 15:04", "January 2006", "2006-01",
}

// ParseTime parses a time in a common format and returns it in UTC.
func ParseTime(s string) (time.Time, bool) {
	t, ok := parseTime(s)
	return t.UTC(), ok
}

// parseTime is like ParseTime, but keeps the time zone of the text. Without one the time is in UTC.
func parseTime(s string) (time.Time, bool) {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) < 6 || len(s) > 64 {
		return time.Time{}, false
	}
	for _, l := range timeLayouts {
		if t, err := time.Parse(l, s); err == nil {
			return t, true
		}
	}
	up := strings.NewReplacer(" am", " AM", " pm", " PM", "am ", " AM ", "pm ", " PM ", "Am ", " AM ", "Pm ", " PM ").Replace(s)
	if up = strings.Join(strings.Fields(up), " "); up != s {
		for _, l := range timeLayouts {
			if strings.Contains(l, "PM") {
				if t, err := time.Parse(l, up); err == nil {
					return t, true
				}
			}
		}
	}
	return time.Time{}, false
}

// Time returns the first time that maps name under one of timeKeys, in its own time zone; zero if there is none.
func Time(maps ...map[string]any) time.Time {
	for _, key := range timeKeys {
		for _, m := range maps {
			v, ok := lookupFold(m, key)
			if !ok {
				continue
			}
			if s, ok := v.(string); ok {
				if t, ok := parseTime(s); ok {
					return t
				}
				continue
			}
			// Epoch seconds or milliseconds between 1980 and 2100.
			if n, ok := AsFloat(v); ok {
				if n > 315532800e3 && n < 4102444800e3 {
					n /= 1e3
				}
				if n > 315532800 && n < 4102444800 {
					return time.UnixMicro(int64(n * 1e6)).UTC()
				}
			}
		}
	}
	return time.Time{}
}

// Session returns the first conversation that maps name under one of sessionKeys; empty if there is none.
func Session(maps ...map[string]any) string {
	for _, key := range sessionKeys {
		for _, m := range maps {
			if v, ok := lookupFold(m, key); ok {
				if s, ok := v.(string); ok && s != "" && len(s) <= 512 {
					return s
				}
				if n, ok := AsInteger(v); ok {
					return strconv.FormatInt(n, 10)
				}
			}
		}
	}
	return ""
}

func lookupFold(m map[string]any, key string) (any, bool) {
	if v, ok := m[key]; ok {
		return v, true
	}
	for k, v := range m {
		if strings.EqualFold(k, key) {
			return v, true
		}
	}
	return nil, false
}

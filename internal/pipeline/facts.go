package pipeline

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

// factsOf returns the properties of a memory's text that recall uses. at is the memory's time.
func factsOf(text, speaker string, at time.Time) backend.RowExtra {
	x := backend.RowExtra{Speaker: speaker, Question: endsWithQuestion(text), HasTime: hasTime(text, at), Asks: mostlyQuestions(text)}
	x.First, x.Second = grammaticalPersons(text)
	return x
}

// hasTime reports whether a text says when something happened. If the memory's time is known, the
// text must have an absolute date or one relative to that time. Otherwise any word for a time is enough.
func hasTime(text string, at time.Time) bool {
	if at.IsZero() {
		return hasTimeWord(text)
	}
	return len(language.Dates(text, at)) > 0
}

// grammaticalPersons reports whether an English text has words of the first and of the second
// person.
func grammaticalPersons(s string) (first, second bool) {
	for len(s) > 0 && !(first && second) {
		n := 0
		for n < len(s) && s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' {
			n++
		}
		if n == 0 {
			s = s[1:]
			continue
		}
		if n <= 5 {
			switch strings.ToLower(s[:n]) {
			case "i", "me", "my", "mine", "we", "us", "our", "ours":
				first = first || s[:n] != "US"
			case "you", "your", "yours":
				second = true
			}
		}
		s = s[n:]
	}
	return first, second
}

func endsWithQuestion(s string) bool {
	s = strings.TrimRight(s, " \t\r\n\"'”’)*_")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

var timeWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`yesterday today tonight tomorrow ago last next week weekend month year day morning afternoon evening night
		monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
		october november december since until before after recently soon earlier later when spring summer autumn fall winter o'clock`) {
		m[w] = true
	}
	return m
}()

// hasTimeWord reports whether a text has a year or a word for a time.
func hasTimeWord(s string) bool {
	start := -1
	for i := 0; i <= len(s); i++ {
		letter := i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] == '\'' || s[i] >= '0' && s[i] <= '9')
		if letter {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			w := s[start:i]
			if len(w) == 4 && (strings.HasPrefix(w, "19") || strings.HasPrefix(w, "20")) && w[2] <= '9' && w[3] <= '9' {
				return true
			}
			if len(w) <= 10 && timeWords[strings.ToLower(w)] {
				return true
			}
			start = -1
		}
	}
	return false
}

package pipeline

import (
	"strings"
	"unicode"
)

// mostlyQuestions reports whether at least half of the words of a text are in sentences that end
// with a question mark. The name of its speaker and notes in brackets do not count.
func mostlyQuestions(text string) bool {
	if s := SpeakerOf(text); s != "" {
		text = text[len(s)+1:]
	}
	if strings.IndexByte(text, '?') < 0 && !strings.Contains(text, "？") && !strings.Contains(text, "؟") {
		return false
	}
	words, asked, sentence, depth, inside := 0, 0, 0, 0, false
	for _, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth = max(0, depth-1)
		case depth > 0:
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '’':
			ideograph := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) // each character counts as a word, since there are no spaces
			if !inside || ideograph {
				words++
				sentence++
			}
			inside = true
			continue
		case r == '?' || r == '？' || r == '؟':
			asked += sentence
			sentence = 0
		case r == '.' || r == '!' || r == '\n' || r == '。' || r == '！':
			sentence = 0
		}
		inside = false
	}
	return words > 0 && 2*asked >= words
}

package language

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed tables/when.txt
var whenTable string

// whenPhrases are the phrases by which questions ask for a time, by language.
var whenPhrases = sync.OnceValue(func() map[string][]string {
	m := make(map[string][]string)
	for line := range TableLines(whenTable) {
		code, list, _ := strings.Cut(line, "|")
		m[code] = strings.Split(list, ",")
	}
	return m
})

// whenWords is among how many first words of a question a phrase may begin.
const whenWords = 3

// asksWhen reports whether a question in a language other than English asks for a time.
func asksWhen(q string) bool {
	code := Guess(q)
	phrases := whenPhrases()[code]
	if phrases == nil {
		return false
	}
	switch code {
	case "ja", "ko", "th", "zh":
		for _, p := range phrases {
			if strings.Contains(q, p) {
				return true
			}
		}
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(q), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	for start := range min(whenWords, len(words)) {
		rest := words[start:]
		for _, p := range phrases {
			if beginsWith(rest, p) {
				return true
			}
		}
	}
	return false
}

// beginsWith reports whether words begin with those of a phrase.
func beginsWith(words []string, phrase string) bool {
	for w := range strings.FieldsSeq(phrase) {
		if len(words) == 0 || words[0] != w {
			return false
		}
		words = words[1:]
	}
	return true
}

package language

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed tables/when.txt
var whenTable string

// whenPhrases are the phrases that ask for a time, by language.
var whenPhrases = sync.OnceValue(func() map[string][]string {
	m := make(map[string][]string)
	for line := range TableLines(whenTable) {
		code, list, _ := strings.Cut(line, "|")
		m[code] = strings.Split(list, ",")
	}
	return m
})

// whenFirst are the first words of these phrases.
var whenFirst = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for _, list := range whenPhrases() {
		for _, p := range list {
			for w := range strings.FieldsSeq(p) {
				m[w] = true
				break
			}
		}
	}
	return m
})

const (
	// whenWords is the number of words at the start of a question at which a phrase may begin.
	whenWords = 3
	// maxWhenWord is greater than the length of the first word of any phrase in ASCII.
	maxWhenWord = 16
)

// mayAskWhen returns false for a question in ASCII that certainly contains no phrase near its start; its language then need not be
// known.
func mayAskWhen(q string) bool {
	first := whenFirst()
	var word [maxWhenWord]byte
	n, words := 0, 0
	for i := 0; i <= len(q) && words < whenWords; i++ {
		c := byte(' ')
		if i < len(q) {
			c = q[i]
		}
		switch {
		case c >= utf8.RuneSelf:
			return true
		case IsUpperByte(c):
			c |= 0x20
			fallthrough
		case c >= 'a' && c <= 'z':
			if n < maxWhenWord {
				word[n] = c
			}
			n++
		case n > 0:
			if n <= maxWhenWord && first[string(word[:n])] {
				return true
			}
			n = 0
			words++
		}
	}
	return false
}

// asksWhen reports whether a question in a language other than English asks for a time.
func asksWhen(q string) bool {
	if !mayAskWhen(q) {
		return false
	}
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

// beginsWith reports whether words begin with the words of a phrase.
func beginsWith(words []string, phrase string) bool {
	for w := range strings.FieldsSeq(phrase) {
		if len(words) == 0 || words[0] != w {
			return false
		}
		words = words[1:]
	}
	return true
}

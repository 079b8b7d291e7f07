package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// pastWords are words and phrases that show, as whole words of a question in lower case, that it asks for a former state.
var pastWords = []string{
	"used to", "previous", "previously", "former", "formerly", "originally", "back then", "at first", "in the old",
	"früher", "vorher", "damals", "zuvor", "bevor",
	"auparavant", "autrefois", "avant que", "avant de", "avant le", "avant la", "avant mon", "avant ma",
	"antes de", "anteriormente", "antiguo", "anterior", "prima di", "precedente", "vroeger", "voorheen", "wcześniej",
	"eskiden", "önceden", "sebelumnya", "dulu", "trước đây",
}

// pastParts show the same wherever they stand: words of scripts without spaces, and stems.
var pastParts = []string{
	"以前", "之前", "原来", "从前", "前の", "昔", "раньше", "прежн", "poprzedni", "예전", "이전", "पहले", "سابق", "قبل", "เมื่อก่อน",
}

// pastBefore matches what makes "before" ask for a former state: "before we moved", not "before lunch".
var pastBefore = lazyregexp.New(`(?i)\b(before (i|we|you|he|she|they|it|the|my|our|his|her|their|that|this)|before \pL+ (and|came|went|moved|left|took|got|had)|had \pL+ before)\b` +
	`|\bhad \pL+ before \pL+`)

// asksOfPast reports whether a question asks for a former state. Superseded memories then answer it.
func asksOfPast(question string) bool {
	low := strings.ToLower(question)
	for _, w := range pastWords {
		if hasWord(low, w) {
			return true
		}
	}
	for _, p := range pastParts {
		if strings.Contains(low, p) {
			return true
		}
	}
	return strings.Contains(low, "before") && pastBefore.MatchString(low)
}

// hasWord reports whether text has word with neither a letter nor a digit beside it.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inWord(before) && !inWord(after) {
			return true
		}
		from = end
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

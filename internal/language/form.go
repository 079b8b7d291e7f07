package language

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed tables/form.txt
var formTable string

// loadForms loads the function words of questions by the code of their language.
var loadForms = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	var of map[string]bool
	for line := range TableLines(formTable) {
		if code, ok := strings.CutPrefix(line, "@ "); ok {
			of = map[string]bool{}
			all[code] = of
			continue
		}
		for w := range strings.FieldsSeq(line) {
			of[w] = true
		}
	}
	g := loadGuesses()
	for k, t := range g.languages {
		if t.code == "en" { // the keyword index already drops English ones
			continue
		}
		of := map[string]bool{}
		for w, set := range g.words.all() {
			if set&(1<<k) != 0 {
				of[strings.TrimSuffix(w, "'")] = true // j' is stored as the word j
			}
		}
		all[t.code] = of
	}
	return all
})

// IsForm reports whether a lower-case word of a language other than English is a function word: an article, a pronoun, a preposition.
// code is the code of the language.
func IsForm(code, word string) bool { return loadForms()[code][word] }

// Subject returns a question without its function words, and its language as reported by [Guess]. A space replaces each run of
// function words. Questions in English or an unknown language, with quotation marks, or of function words alone are returned
// unchanged.
func Subject(question string) (subject, code string) {
	if len(question) > maxQuery {
		return question, ""
	}
	code = Guess(question)
	forms := loadForms()[code]
	if forms == nil || strings.ContainsAny(question, "\"“”«»„「」『』") {
		return question, code
	}
	var b strings.Builder
	b.Grow(len(question))
	left := false
	switch code {
	case "zh", "ja", "th":
		left = withoutRuns(&b, question, forms)
	default:
		left = withoutWords(&b, question, forms)
	}
	if !left {
		return question, code
	}
	return b.String(), code
}

// withoutWords writes the words of a question that are not in forms, and reports whether there are any.
func withoutWords(b *strings.Builder, question string, forms map[string]bool) (left bool) {
	start := -1
	for i := 0; i <= len(question); {
		r, n := rune(' '), 1
		if i < len(question) {
			r, n = utf8.DecodeRuneInString(question[i:])
		}
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) {
			if start < 0 {
				start = i
			}
		} else {
			if start >= 0 {
				if w := question[start:i]; !forms[w] && !forms[strings.ToLower(w)] {
					b.WriteString(w)
					left = true
				}
				start = -1
			}
			if i < len(question) {
				b.WriteString(question[i : i+n])
			}
		}
		i += n
	}
	return left
}

// maxForm is the length in bytes of the longest function word in a script without spaces.
const maxForm = 30

// withoutRuns writes the characters of a question that are not part of a function word; at each place the longest function word
// counts. It reports whether any letters are left.
func withoutRuns(b *strings.Builder, question string, forms map[string]bool) (left bool) {
	for i := 0; i < len(question); {
		to := i
		for j := i; j < len(question) && j-i < maxForm; {
			_, n := utf8.DecodeRuneInString(question[j:])
			if j += n; forms[question[i:j]] {
				to = j
			}
		}
		if to > i {
			b.WriteByte(' ')
			i = to
			continue
		}
		r, n := utf8.DecodeRuneInString(question[i:])
		left = left || unicode.IsLetter(r)
		b.WriteString(question[i : i+n])
		i += n
	}
	return left
}

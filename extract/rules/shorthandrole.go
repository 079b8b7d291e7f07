package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/language"
)

// roleMod are words before occupations.
var roleMod = map[string]bool{"retired": true, "senior": true, "junior": true, "freelance": true, "lead": true, "trainee": true, "part-time": true, "full-time": true, "staff": true, "principal": true, "assistant": true, "self-employed": true, "qualified": true}

// occupation completes "Senior data engineer since March" and "Nurse at St Thomas". An occupation alone, or with a day, is somebody else: "Plumber
// at 9 on Friday".
func occupation(s string, words []string) (edit, bool) {
	k := occupationAt(s, words)
	if k < 0 || !endsOccupation(s, words, k) || slices.ContainsFunc(words, func(w string) bool { return hasVerb[w] }) {
		return edit{}, false
	}
	all := strings.Fields(s)
	first := all[0]
	if r, _ := utf8.DecodeRuneInString(first); unicode.IsUpper(r) && strings.ToUpper(first) != first {
		first = strings.ToLower(first[:1]) + first[1:]
	}
	return edit{0, len(all[0]), "I'm " + withArticle(first) + first}, true
}

// occupationAt returns the word at which the occupation with which a note begins ends, or -1.
func occupationAt(s string, words []string) int {
	is := func(k int) bool { return language.Lookup(words[k]).Flags&language.Occupation != 0 }
	k, all := 0, strings.Fields(s)
	for k < len(words) && k < 4 && !is(k) {
		if needsMore[words[k]] || strings.HasSuffix(all[k], ",") || strings.HasSuffix(all[k], ":") {
			return -1
		}
		k++
	}
	for k+1 < len(words) && k < 4 && is(k+1) {
		k++
	}
	switch words[0] {
	case "retired", "freelance", "trainee": // "retired postman": not all occupations are known
		if len(words) == 2 && !needsMore[words[1]] && !endsState[words[1]] && language.Lookup(words[1]).Flags&(language.Adverb|language.Weekday|language.Month) == 0 {
			return 1
		}
	}
	if k >= len(words) || k >= 4 || !is(k) {
		return -1
	}
	return k
}

// endsOccupation reports whether what follows word k, with which an occupation ends, leaves it one of the speaker.
func endsOccupation(s string, words []string, k int) bool {
	all := strings.Fields(s)
	if strings.HasSuffix(all[k], ":") {
		return false
	}
	if k+1 == len(words) || strings.HasSuffix(all[k], ",") {
		return k > 0 && roleMod[words[0]]
	}
	switch words[k+1] {
	case "since":
		return true
	case "at", "for", "with":
		if k+2 >= len(words) || words[k+1] == "with" && k == 0 {
			return false
		}
		where := words[k+2]
		return (nameAt(s, k+2) || where == "the" || where == "a") && language.Lookup(where).Flags&(language.Weekday|language.Month) == 0
	}
	return false
}

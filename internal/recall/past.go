package recall

import (
	"slices"
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

// formerly matches "before" where nothing follows it: "what did we run CI on before?".
var formerly = lazyregexp.New(`(?i)\bbefore\W*$`)

// whether matches a question, or the part of it behind a time, that asks whether something is so.
var whether = lazyregexp.New(`(?i)(^|, )(and |so |but )?(did|didn['’]t|was|were|wasn['’]t|weren['’]t|had|have|has)\b`)

// startWords are words and parts of words without which asksOfStart is false.
var startWords = []string{"first", "start", "begin", "outset", "initially", "back "}

// pastStart matches what asks for the first of several states, or for one long past: "who minded him in the beginning", "back in May".
var pastStart = lazyregexp.New(`(?i)\b(in|at) the (very )?(start|beginning|outset)\b|\binitially\b|\bto (start|begin) with\b|\bback (when|then)\b` +
	`|\bback in (the )?(early |mid |late )?(january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|(19|20)\d\d)\b`)

// firstAdverb matches "first" with the word before it.
var firstAdverb = lazyregexp.New(`(?i)(\pL+)[ ,]+first\b`)

// determiners are words behind which "first" belongs to a noun: "my first boss".
var determiners = []string{"the", "my", "our", "your", "his", "her", "their", "its", "a", "this", "that", "very", "s"}

// pastVerb matches words of a question in the past.
var pastVerb = lazyregexp.New(`(?i)\b(did|was|were|had|wasn['’]t|weren['’]t|didn['’]t|\pL{3,}ed|took|went|came|met|spoke|began|got|told|saw|paid|made|gave|felt|ran|wrote|hurt|cost|bought|sold|built|drove|rode|grew)\b`)

// laterVerb matches words of a question about what lies ahead, or about a return: "when do we fly back in May?"
var laterVerb = lazyregexp.New(`(?i)\b(will|shall|going to|must|should|do|does|is|are|am|can)\b|\b(get|got|come|came|be|been|was|were|go|went|fly|flew|flown|move|moved|drive|drove|travel|travelled|return|returned|bring|brought|send|sent|call|called|ring|rang|write|wrote|pay|paid|give|gave|take|took|put|let|buy|bought|step|stepped) back in\b`)

// asksOfStart reports whether a question asks for the first of several states, "when they first measured it", or for that at a time long past.
func asksOfStart(question string) bool {
	low := strings.ToLower(question)
	if !slices.ContainsFunc(startWords, func(w string) bool { return strings.Contains(low, w) }) || !pastVerb.MatchString(question) || laterVerb.MatchString(question) {
		return false
	}
	for _, m := range firstAdverb.Compiled().FindAllStringSubmatch(question, -1) {
		if !slices.Contains(determiners, strings.ToLower(m[1])) {
			return true
		}
	}
	return pastStart.MatchString(question)
}

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
	return strings.Contains(low, "before") && (pastBefore.MatchString(low) || formerly.MatchString(low) && pastVerb.MatchString(low) && !whether.MatchString(low))
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

package rules

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// Bounds of a note whose sentences are completed.
const (
	maxNote      = 400 // bytes of the text
	maxNoteWords = 14  // words of a sentence
	maxLabel     = 3   // words before a sign that name an attribute
)

// edit replaces the bytes [lo, hi) of a note by other words.
type edit struct {
	lo, hi int
	text   string
}

// attribute is the sentence that stands for the name of an attribute with its value.
type attribute struct {
	sentence, value string
	bare            bool
}

// shorthand holds tables/shorthand.txt.
type shorthand struct {
	openings map[string]string // words that begin a note -> the words of the sentence
	labels   map[string]attribute
	first    map[string]bool // first words of openings and labels
}

var shorthands = sync.OnceValue(func() *shorthand {
	t := readTable("shorthand")
	h := &shorthand{openings: map[string]string{}, labels: map[string]attribute{}, first: map[string]bool{"favourite": true, "favorite": true, "fave": true, "fav": true, "name's": true, "on": true}}
	known := func(words string) string {
		words = strings.TrimSpace(words)
		first, _, _ := strings.Cut(words, " ")
		h.first[first] = true
		return words
	}
	for section, before := range map[string]string{"i'm": "I'm ", "i was": "I was ", "i": "I ", "i have": "I have ", "i have a": "I have a ", "i'm a": "I'm a "} {
		for words := range strings.SplitSeq(strings.ReplaceAll(t[section], "\n", " "), ",") {
			if words = known(words); words != "" {
				h.openings[words] = before + words
			}
		}
	}
	for line := range strings.SplitSeq(t["instead"], "\n") {
		words, sentence, _ := strings.Cut(line, "=")
		h.openings[known(words)] = strings.TrimSpace(sentence)
	}
	for line := range strings.SplitSeq(t["labels"], "\n") {
		col := strings.Split(line, "|")
		for name := range strings.SplitSeq(col[0], ",") {
			name = known(name)
			h.labels[name] = attribute{strings.ReplaceAll(strings.TrimSpace(col[1]), "{label}", name), strings.TrimSpace(col[2]), len(col) > 3}
		}
	}
	return h
})

// notOwn are words of sentences that are not completed: they have a subject of their own, or do not state anything.
var notOwn = map[string]bool{"he": true, "she": true, "they": true, "you": true, "your": true, "who": true, "if": true, "would": true, "could": true, "should": true, "might": true, "may": true, "maybe": true, "perhaps": true,
	"imagine": true, "suppose": true, "pretend": true, "please": true, "said": true, "says": true, "he's": true, "she's": true, "you're": true, "they're": true, "let's": true, "lol": true, "unless": true, "whether": true, "i'd": true}

// hasVerb are forms of verbs that make the words before them a subject: "Living in Leith is expensive".
var hasVerb = map[string]bool{"is": true, "are": true, "was": true, "were": true, "isn't": true, "wasn't": true, "aren't": true, "will": true, "can": true, "costs": true, "makes": true, "means": true, "takes": true, "feels": true, "seems": true,
	"sounds": true, "sucks": true, "has": true, "did": true, "does": true, "made": true, "took": true, "cost": true, "i": true, "i'm": true, "it's": true, "that's": true}

// completed returns the text of a short note with its sentences completed, and what was replaced. It reports false if nothing was.
func completed(in *extract.Input) (text string, edits []edit, ok bool) {
	if !in.Memory || in.Pairs || len(in.Text) > maxNote || len(in.Turns) > 1 || len(in.Chunks) > 1 || strings.ContainsAny(in.Text, "?\"“”„«»") {
		return "", nil, false
	}
	h := shorthands()
	for lo, hi := range noteSentences(in.Text) {
		more, own := h.complete(in.Text, lo, hi)
		if !own {
			break
		}
		edits = append(edits, more...)
	}
	if len(edits) == 0 {
		return "", nil, false
	}
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(in.Text[at:e.lo])
		b.WriteString(e.text)
		at = e.hi
	}
	b.WriteString(in.Text[at:])
	return b.String(), edits, true
}

// noteSentences yields the bounds of the sentences of a note, without signs at their ends.
func noteSentences(text string) func(yield func(lo, hi int) bool) {
	return func(yield func(lo, hi int) bool) {
		emit := func(lo, hi int) bool {
			s := text[lo:hi]
			lo += len(s) - len(strings.TrimLeft(s, " \t\r-*•"))
			s = strings.TrimRight(text[min(lo, hi):hi], " \t\r.!;")
			return s == "" || yield(lo, lo+len(s))
		}
		lo := 0
		for i := 0; i < len(text); i++ {
			end := text[i] == '\n' || text[i] == ';' || (text[i] == '.' || text[i] == '!') && i+1 < len(text) && text[i+1] == ' ' && !abbreviated(text[lo:i])
			if end {
				if !emit(lo, i) {
					return
				}
				lo = i + 1
			}
		}
		emit(lo, len(text))
	}
}

// abbreviated reports whether the last word before a full stop is a short one that is written with it: "Dr".
func abbreviated(s string) bool {
	switch w := s[strings.LastIndexByte(s, ' ')+1:]; strings.ToLower(w) {
	case "dr", "mr", "mrs", "ms", "st", "no", "approx", "e.g", "i.e":
		return true
	}
	return false
}

// complete returns what to replace in the sentence [lo, hi) of a text. own reports whether the speaker is its subject, so that the next sentence
// without a subject is about the speaker too.
func (h *shorthand) complete(text string, lo, hi int) (edits []edit, own bool) {
	s := text[lo:hi]
	first, _, _ := strings.Cut(s, " ")
	first = plainWord(first)
	switch first {
	case "i", "i'm", "i've", "my", "we", "we're", "we've", "our", "im", "ive":
		if n := len("my name"); strings.HasPrefix(strings.ToLower(s), "my name's ") {
			return []edit{{lo + n, lo + n + len("'s"), " is"}}, true
		}
		return corrected(text, lo, hi), true
	}
	kin := language.Lookup(strings.TrimSuffix(first, "'s")).Flags&language.KinNoun != 0
	words := strings.Fields(s)
	if len(words) > maxNoteWords || !h.first[first] && !kin && !kinMod[first] && language.Lookup(first).Flags&language.Occupation == 0 && !roleMod[first] && !noteThing(s, words) {
		return nil, false
	}
	for i, w := range words {
		words[i] = plainWord(w)
		if notOwn[words[i]] {
			return nil, false
		}
	}
	e, ok := h.labelled(s, words)
	if !ok {
		e, ok = things(s, words)
	}
	if !ok {
		e, ok = relatives(s, words)
	}
	if !ok {
		e, ok = relative(s, words)
	}
	if !ok {
		e, ok = h.opened(s, words, len(strings.TrimRight(text, " .!\n")) == len(s))
	}
	if !ok {
		e, ok = occupation(s, words)
	}
	if !ok {
		return nil, false
	}
	e.lo, e.hi = e.lo+lo, e.hi+lo
	return []edit{e}, true
}

// digits reports whether a word is a number in digits.
func digits(w string) bool { return w != "" && strings.Trim(w, "0123456789") == "" }

// plainWord returns a word in lower case, without signs around it.
func plainWord(w string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Trim(w, ".,:;=!()")), "’", "'")
}

// opened completes a sentence that begins with words of the table.
func (h *shorthand) opened(s string, words []string, alone bool) (edit, bool) {
	for n := min(4, len(words)); n > 0; n-- {
		begin := strings.Join(words[:n], " ")
		to, ok := h.openings[begin]
		if !ok && n < len(words) && nameAt(s, n) {
			to, ok = h.openings[begin+" ^"]
			to = strings.TrimSuffix(to, " ^")
		}
		if !ok {
			continue
		}
		if n == 1 && len(words) > 1 && strings.HasSuffix(strings.Fields(s)[0], ":") || leavesOut(to) && hasItsOwnVerb(s, words, n) || !h.wholeNote(to, begin, words, n, alone) {
			return edit{}, false
		}
		return edit{0, spanOf(s, n), to}, true
	}
	return edit{}, false
}

// leavesOut reports whether the words of a sentence have a form of "be" or "have" that a note leaves out.
func leavesOut(to string) bool {
	return strings.HasPrefix(to, "I'm ") || strings.HasPrefix(to, "I have ") || strings.HasPrefix(to, "I was ")
}

// hasItsOwnVerb reports whether the first n words of a note are the subject of a verb, or part of a longer noun: "Living in Leith is expensive",
// "Vegan restaurants", "single bed".
func hasItsOwnVerb(s string, words []string, n int) bool {
	rest := words[n:]
	if slices.ContainsFunc(rest, func(w string) bool {
		return hasVerb[w] || strings.HasSuffix(w, "'s") && hasVerb[strings.TrimSuffix(w, "'s")]
	}) {
		return true
	}
	if n > 1 || len(rest) == 0 || endsState[rest[0]] || strings.HasSuffix(strings.Fields(s)[0], ",") {
		return false
	}
	return !strings.HasSuffix(words[0], "ing") && words[0] != "into" && words[0] != "migraines"
}

// wholeNote reports whether enough follows the first n words of a note, and nothing that makes another statement of it.
func (h *shorthand) wholeNote(to, begin string, words []string, n int, alone bool) bool {
	rest := words[n:]
	switch {
	case runsOn[words[0]] && slices.ContainsFunc(rest, func(w string) bool { return runsOn[w] }):
		return false // "hate cilantro hate olives love anchovies"
	case begin == "turned":
		return len(rest) > 0 && digits(rest[0])
	case len(rest) > 0:
		return true
	case n == 1 && !alone:
		return false // "Celiac. I'd made biscuits."
	}
	return !needsMore[words[n-1]] && (leavesOut(to) || !strings.HasPrefix(to, "I "))
}

// nameAt reports whether word n of s is written as a name.
func nameAt(s string, n int) bool {
	r, _ := utf8.DecodeRuneInString(strings.Fields(s)[n])
	return unicode.IsUpper(r)
}

// runsOn are verbs that people string together without signs.
var runsOn = map[string]bool{"love": true, "like": true, "hate": true, "prefer": true, "enjoy": true, "adore": true}

// endsState are words that may follow a state in one word.
var endsState = map[string]bool{"since": true, "again": true, "now": true, "for": true, "because": true, "and": true, "but": true, "from": true, "these": true, "usually": true, "last": true, "with": true, "so": true, "by": true}

// needsMore are words that cannot end a note.
var needsMore = map[string]bool{"to": true, "in": true, "with": true, "at": true, "as": true, "on": true, "for": true, "from": true, "of": true, "a": true, "an": true, "our": true, "about": true, "into": true, "studying": true, "learning": true, "dating": true}

// spanOf returns the length of the first n words of s.
func spanOf(s string, n int) int {
	i := 0
	for ; n > 0; n-- {
		for i < len(s) && s[i] == ' ' {
			i++
		}
		for i < len(s) && s[i] != ' ' {
			i++
		}
	}
	return i
}

// signAfter returns the length of the sign behind the first n words of s and the spaces around it; 0 if there is none.
func signAfter(s string, n int) (end, size int) {
	end = spanOf(s, n)
	if end > 0 && (s[end-1] == ':' || s[end-1] == '=') {
		end--
	}
	rest := s[end:]
	trimmed := strings.TrimLeft(rest, " ")
	for _, sign := range [...]string{":", "=", "- ", "– ", "-> ", "is ", "are "} {
		if after, ok := strings.CutPrefix(trimmed, sign); ok {
			after = strings.TrimLeft(after, " ")
			return end, len(rest) - len(after)
		}
	}
	return end, 0
}

// labelled completes "Home: Tromsø" and "Salary 42k".
func (h *shorthand) labelled(s string, words []string) (edit, bool) {
	for n := min(maxLabel, len(words)-1); n > 0; n-- {
		if e, ok := favourite(s, words, n); ok {
			return e, true
		}
		l, ok := h.labels[strings.Join(words[:n], " ")]
		if !ok {
			continue
		}
		end, sign := signAfter(s, n)
		if sign == 0 {
			if !l.bare || end >= len(s) || s[end] != ' ' || s[end-1] == ',' {
				continue
			}
			sign = 1
		}
		value := s[end+sign:]
		if strings.Contains(value, ": ") || !fitsLabel(value, l.value, sign > 1) {
			continue
		}
		before, after, _ := strings.Cut(l.sentence, "{}")
		if after != "" {
			return edit{0, len(s), before + value + after}, true
		}
		if l.value == "role" {
			before = strings.TrimSuffix(before, "a ") + withArticle(value)
		}
		return edit{0, end + sign, before}, true
	}
	return edit{}, false
}

// favourite completes "favourite colour green" and "Fave band: Fontaines DC".
func favourite(s string, words []string, n int) (edit, bool) {
	switch words[0] {
	case "favourite", "favorite", "fave", "fav":
	default:
		return edit{}, false
	}
	if n != 2 {
		return edit{}, false
	}
	end, sign := signAfter(s, n)
	if sign == 0 && len(words) == 3 {
		sign = 1
	}
	if sign == 0 || end+sign >= len(s) {
		return edit{}, false
	}
	return edit{0, end + sign, "My favourite " + words[1] + " is "}, true
}

// fitsLabel reports whether the value of an attribute can be one.
func fitsLabel(value, want string, signed bool) bool {
	first, _ := utf8.DecodeRuneInString(value)
	words := strings.Fields(value)
	if len(words) == 0 {
		return false
	}
	switch want {
	case "name":
		return unicode.IsUpper(first) || len(words) > 1 && words[1] != "I" && kindOf(words[1]) == 'N'
	case "number":
		return strings.ContainsAny(strings.Join(words[:min(2, len(words))], ""), "0123456789") && len(words) < 10
	case "role":
		for i, w := range words {
			if language.Lookup(plainWord(w)).Flags&language.Occupation != 0 {
				return i < 4
			}
			if needsMore[plainWord(w)] {
				return false
			}
		}
		return false
	}
	return len(words) < 8 && (signed || len(words) < 3 && (unicode.IsUpper(first) || unicode.IsDigit(first)))
}

func withArticle(noun string) string {
	if strings.ContainsRune("aeiouAEIOU", rune(noun[0])) {
		return "an "
	}
	return "a "
}

package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxKnownCompounds bounds the words with a hyphen that are remembered.
const maxKnownCompounds = 20_000

// hyphenation joins lines and removes the hyphens that were inserted at line ends. A word that was seen with its hyphen inside a line keeps
// it.
type hyphenation struct {
	compounds map[string]bool
}

func newHyphenation() *hyphenation { return &hyphenation{compounds: map[string]bool{}} }

// learn remembers the compounds of a line.
func (h *hyphenation) learn(text string) {
	if !strings.Contains(text, "-") || len(h.compounds) >= maxKnownCompounds {
		return
	}
	for word := range strings.FieldsSeq(text) {
		if i := strings.IndexByte(word, '-'); i > 0 && i < len(word)-1 {
			h.compounds[compoundKey(word)] = true
		}
	}
}

func compoundKey(word string) string {
	return strings.ToLower(strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }))
}

// join returns the lines of a paragraph as one text. hard, when not nil, marks the lines that begin after a line end set by the author,
// which is kept.
func (h *hyphenation) join(lines []string, hard []bool) string {
	for _, l := range lines {
		h.learn(l)
	}
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	var out strings.Builder
	out.Grow(size)
	for i, l := range lines {
		if i == len(lines)-1 {
			out.WriteString(strings.ReplaceAll(l, "\u00ad", ""))
			break
		}
		if hard != nil && hard[i+1] {
			out.WriteString(strings.ReplaceAll(l, "\u00ad", "") + "\n")
			continue
		}
		keep, space := h.lineEnd(l, lines[i+1])
		out.WriteString(strings.ReplaceAll(keep, "\u00ad", ""))
		if space {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// lineEnd returns what remains of line l before the line next, and whether a space goes between them.
func (h *hyphenation) lineEnd(l, next string) (string, bool) {
	if cut, ok := strings.CutSuffix(l, "\u00ad"); ok {
		return cut, false
	}
	if cut, ok := strings.CutSuffix(l, "-"); ok {
		before, _ := utf8.DecodeLastRuneInString(cut)
		after, _ := utf8.DecodeRuneInString(next)
		switch {
		case !unicode.IsLetter(before) || !unicode.IsLetter(after):
			return l, before == ' ' || before == utf8.RuneError || unicode.IsSpace(after)
		case unicode.IsUpper(after) && unicode.IsLower(before):
			return l, false
		}
		head := cut[strings.LastIndexByte(cut, ' ')+1:]
		tail, _, _ := strings.Cut(next, " ")
		if h.compounds[compoundKey(head+"-"+tail)] {
			return l, false
		}
		return cut, false
	}
	return l, !ideographs(l, next)
}

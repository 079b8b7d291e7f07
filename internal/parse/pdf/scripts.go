package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// A glyph of at most raisedSize ems of the line, at least raisedBy ems above the baseline, is a superscript.
	raisedSize, raisedBy = 0.88, 0.18
	// maxMark bounds the digits of a footnote's number.
	maxMark = 3
	// minMarkedWord is the least length of a word whose raised number is a footnote's number. Raised numbers after shorter words are
	// exponents of units and symbols.
	minMarkedWord = 3
)

// raised reports whether g is a superscript in the segment.
func (s *segment) raised(g *glyph) bool {
	return !g.vertical && g.size < raisedSize*s.size && g.v-s.v > raisedBy*s.size
}

// addRaised appends a run of superscripts: the number of a footnote as [^1], an exponent behind ^, others unchanged.
func addRaised(out []cluster, run []cluster) []cluster {
	var b strings.Builder
	for _, c := range run {
		b.WriteString(c.text)
	}
	text := b.String()
	if strings.Trim(text, "0123456789") != "" || len(text) > maxMark {
		return append(out, run...)
	}
	word, last := lastWord(out)
	switch {
	case last == 0: // the footnote's own text follows
		return append(out, cluster{text: "[^" + text + "]:"}, cluster{text: " ", space: true})
	case unicode.IsDigit(last):
		return append(out, cluster{text: "^" + text})
	case word >= minMarkedWord, strings.ContainsRune(".,;:!?)]}\"'”’»…", last):
		return append(out, cluster{text: "[^" + text + "]"})
	}
	return append(out, run...)
}

// lastWord returns the number of letters of the last word, and the last character before a space, which is 0 at the beginning and ' ' after
// a space.
func lastWord(out []cluster) (letters int, last rune) {
	if len(out) == 0 {
		return 0, 0
	}
	last, _ = utf8.DecodeLastRuneInString(out[len(out)-1].text)
	for i := len(out) - 1; i >= 0 && isLetter(out[i].text); i-- {
		letters += utf8.RuneCountInString(out[i].text)
	}
	return letters, last
}

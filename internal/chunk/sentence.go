package chunk

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/simd"
)

// span is a stretch of source without white space at its ends.
type span struct{ start, end int }

// sentences yields the sentences of src[start:end]. A sentence ends at a
// terminator of its script (with the quotes and brackets that close after it)
// or at a blank line. A full stop ends none after an abbreviation or an
// initial, inside a number or a name, or before a word in lower case.
func sentences(src string, start, end int) iter.Seq[span] {
	return func(yield func(span) bool) {
		from := start
		emit := func(to int) bool {
			if to <= from { // inside the white space that was left out
				return true
			}
			s, e := trim(src, from, to)
			from, _ = trim(src, to, end)
			return s == e || yield(span{s, e})
		}
		for i := start; i < end; {
			if c := src[i]; c < utf8.RuneSelf && c != '\n' && c != '.' && c != '!' && c != '?' { // most are
				i++
				continue
			}
			r, size := decode(src, i, end)
			switch {
			case r == '\n':
				i += size
				if j := skipBlank(src, i, end); j > i {
					if !emit(j) {
						return
					}
					i = j
				}
			case isWideTerminator(r):
				i = skipClosers(src, i+size, end)
				if !emit(i) {
					return
				}
			case isTerminator(r):
				stop := i
				i = skipClosers(src, i+size, end)
				if i < end && !spaceAt(src, i, end) {
					continue
				}
				if r == '.' && i == stop+1 && goesOn(src[from:stop]) {
					continue
				}
				// "what?" may be followed by a sentence in lower case; a full
				// stop, or a quotation, hardly.
				if (r == '.' || r == '\u2026' || i > stop+size) && lowerAhead(src, i, end) {
					continue
				}
				if !emit(i) {
					return
				}
			default:
				i += size
			}
		}
		emit(end)
	}
}

// decode is utf8.DecodeRuneInString with a short way for ASCII.
func decode(src string, i, end int) (rune, int) {
	if c := src[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(src[i:end])
}

// skipBlank returns the offset after a blank line at i, or i if the line at i is
// not blank.
func skipBlank(src string, i, end int) int {
	for j := i; j < end; j++ {
		switch src[j] {
		case ' ', '\t', '\r':
		case '\n':
			return j + 1
		default:
			return i
		}
	}
	return i
}

// isTerminator reports whether r ends a sentence if white space follows.
func isTerminator(r rune) bool {
	switch r {
	case '.', '!', '?', '\u2026', '\u203d', '\u203c', '\u2047', '\u2048', '\u2049', // Latin
		'\u0589',           // Armenian
		'\u061f', '\u06d4', // Arabic
		'\u0964', '\u0965', // Devanagari and its neighbours
		'\u104b',           // Myanmar
		'\u1362', '\u1367', // Ethiopic
		'\u17d4': // Khmer
		return true
	}
	return false
}

// isWideTerminator reports whether r ends a sentence in a script that puts no space after sentences.
func isWideTerminator(r rune) bool {
	return r == '\u3002' || r == '\uff01' || r == '\uff1f' || r == '\uff0e' || r == '\uff61'
}

// skipClosers skips further terminators and the closing quotes and brackets among them.
func skipClosers(src string, i, end int) int {
	for i < end {
		r, size := decode(src, i, end)
		if !isTerminator(r) && !isWideTerminator(r) && r != '"' && r != '\'' && !unicode.In(r, unicode.Pe, unicode.Pf) {
			break
		}
		i += size
	}
	return i
}

func spaceAt(src string, i, end int) bool {
	r, _ := decode(src, i, end)
	return unicode.IsSpace(r)
}

// goesOn reports whether a full stop after text does not end the sentence. text is the sentence so far.
// The sentence continues after an abbreviation, an initial, or the number of a list item.
func goesOn(text string) bool {
	word := len(text)
	for word > 0 && len(text)-word <= maxAbbreviation {
		r, size := utf8.DecodeLastRuneInString(text[:word])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' {
			break
		}
		word -= size
	}
	w := text[word:]
	return isAbbreviation(w) || isInitial(w) || word == 0 && isNumber(w)
}

// lowerAhead reports whether the next word, past at most a few spaces, begins
// with a small letter.
func lowerAhead(src string, i, end int) bool {
	for limit := min(end, i+64); i < limit; {
		r, size := decode(src, i, end)
		if !unicode.IsSpace(r) {
			return unicode.IsLower(r)
		}
		i += size
	}
	return false
}

// isInitial reports whether the text is one capital letter, as in "J. Smith". I does not count, because it is a word.
func isInitial(w string) bool {
	r, size := utf8.DecodeRuneInString(w)
	return size == len(w) && size > 0 && r != 'I' && unicode.IsUpper(r)
}

func isNumber(w string) bool { return w != "" && strings.Trim(w, "0123456789") == "" }

// maxAbbreviation is the length of the longest abbreviation, in bytes.
const maxAbbreviation = 6

// isAbbreviation reports whether w, without its last full stop, is usually
// followed by the rest of a sentence.
func isAbbreviation(w string) bool {
	if len(w) > maxAbbreviation {
		return false
	}
	switch strings.ToLower(w) {
	case "mr", "mrs", "ms", "mx", "dr", "prof", "rev", "hon", "gen", "col", "capt", "lt", "sgt", "st", "messrs", "mme", "mlle",
		"e.g", "i.e", "cf", "vs", "viz", "approx", "ca", "c", "al", "etc",
		"no", "nos", "fig", "figs", "eq", "sec", "ch", "vol", "vols", "pp", "p", "ed", "eds", "ref", "refs",
		"inc", "ltd", "co", "corp", "dept", "univ",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
		"bzw", "usw", "z.b", "d.h", "u.a", "nr", "str", "sog", "ggf", "vgl",
		"sr", "sra", "av", "p.ej", "m", "mm", "art":
		return true
	}
	return false
}

// cut appends src[start:end] as atoms with the properties of a. It appends one atom if the text fits into MaxBytes.
// Otherwise it appends pieces of about TargetBytes. Each cut is at the best place in the last third of the piece:
// after a line, a clause or a word, or at least between two characters.
func (d *document) cut(start, end int, a atom) {
	for end-start > d.o.MaxBytes {
		at := cutPoint(d.src, start+d.o.TargetBytes*2/3, start+d.o.TargetBytes)
		if s, e := trim(d.src, start, at); s < e {
			a.start, a.end = start, e
			d.atoms = append(d.atoms, a)
			a.partial = true
		}
		start, _ = trim(d.src, at, end)
	}
	if start < end {
		a.start, a.end = start, end
		d.atoms = append(d.atoms, a)
	}
}

// cutPoint returns the best offset in (low, high] at which to split src.
func cutPoint(src string, low, high int) int {
	clause, space, char := 0, 0, 0
	for i := high; i > low; i-- {
		c := src[i-1]
		switch {
		case c == '\n':
			return i
		case c == ' ' || c == '\t':
			if space == 0 {
				space = i
			}
			if clause == 0 && i-2 >= low && strings.IndexByte(",;:", src[i-2]) >= 0 {
				clause = i
			}
		case c >= utf8.RuneSelf && clause == 0 && utf8.RuneStart(src[i]) && endsWideClause(src[:i]):
			clause = i
		}
		if char == 0 && isBoundary(src, i) {
			char = i
		}
	}
	switch {
	case clause > 0:
		return clause
	case space > 0:
		return space
	case char > 0:
		return char
	}
	// One character fills a third of the target: a long run of combining marks, or bytes that are not text.
	// Keep runes whole if there are any.
	for i := high; i > max(low, high-utf8.UTFMax); i-- {
		if utf8.RuneStart(src[i]) {
			return i
		}
	}
	return high
}

// endsWideClause reports whether s ends with an ideographic comma or the like.
func endsWideClause(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r == '\u3001' || r == '\uff0c' || r == '\uff1b' || r == '\uff1a'
}

// isBoundary reports whether a character, with its combining marks, variation
// selectors, joiners and skin tones, may end at src[i-1] and another begin at
// src[i].
func isBoundary(src string, i int) bool {
	if src[i] < utf8.RuneSelf {
		if src[i-1] < utf8.RuneSelf {
			return true
		}
	} else if !utf8.RuneStart(src[i]) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(src[i:])
	prev, _ := utf8.DecodeLastRuneInString(src[:i])
	const joiner = '\u200d'
	return prev != joiner && next != joiner && !unicode.IsMark(next) && (next < 0x1f3fb || next > 0x1f3ff)
}

// Unbroken reports whether an ASCII text is certainly one sentence: it has no space at its ends,
// and no byte before the last one could end a sentence. Sentences gives the same answer at several times the cost.
func Unbroken(text string) bool {
	last := len(text) - 1
	if last < 0 || signs[text[0]] != otherSign || signs[text[last]] != otherSign && signs[text[last]] != stopSign {
		return false
	}
	return !simd.Breaks(text[:last])
}

// Kinds of bytes, for Unbroken.
const (
	otherSign uint8 = 0
	stopSign  uint8 = 1 << iota
	spaceSign
	breakSign // a new line, or a part of a letter beyond ASCII
)

var signs = func() (t [256]uint8) {
	for _, c := range ".!?" {
		t[c] = stopSign
	}
	for _, c := range " \t\r\v\f" {
		t[c] = spaceSign
	}
	t['\n'] = breakSign
	for c := utf8.RuneSelf; c < len(t); c++ {
		t[c] = breakSign
	}
	return t
}()

// Sentences yields the byte offsets of the start and end of each sentence of text, without white space at its ends. A
// line that starts a list item, a heading or a row of a table starts one too.
func Sentences(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for s := range sentences(text, 0, len(text)) {
			from := s.start
			for i := s.start; ; i++ {
				n := strings.IndexByte(text[i:s.end], '\n')
				if n < 0 {
					break
				}
				if i += n; !startsBlock(text[i+1 : s.end]) {
					continue
				}
				if a, b := trim(text, from, i); a < b && !yield(a, b) {
					return
				}
				from = i + 1
			}
			if a, b := trim(text, from, s.end); a < b && !yield(a, b) {
				return
			}
		}
	}
}

// startsBlock reports whether a line begins as a list item, a heading, a fence or a row of a table does.
func startsBlock(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if line == "" {
		return false
	}
	switch line[0] {
	case '|', '#', '`':
		return true
	case '-', '*', '+':
		return len(line) > 1 && line[1] == ' '
	}
	digits := strings.TrimLeft(line, "0123456789")
	return len(digits) < len(line) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") "))
}

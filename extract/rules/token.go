package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	kPunct  kind = iota
	kWord        // letters, with inner hyphens and apostrophes
	kClitic      // 's 'm 're 've 'll 'd, cut from the word before
	kNumber      // digits with separators
	kDate        // 2023-05-08, 8/5/2023, ISO timestamps
	kClock       // 10:30
	kIdent       // ERR-1042, v1.2.3, paths, hashes
	kError       // error codes
	kURL
	kEmail
	kHandle // @name, #tag
	kOther  // a run of a script without capitals (Chinese, Arabic, ...)
)

// shape is the case of a word.
type shape uint8

const (
	sLower shape = iota
	sCap         // Word
	sUpper       // WORD
	sMixed       // iPhone, McDonald
)

// gap is the white space before a token.
type gap uint8

const (
	gapNone gap = iota
	gapSpace
	gapLine
	gapBlank
)

// token is a piece of the text at [start, end).
type token struct {
	start, end int32
	kind       kind
	shape      shape
	gap        gap
	ch         byte // the sign of a one-byte kPunct
	used       bool // part of a date, quantity or address: not part of a name
	w          word // what the lexicon knows, zero if nothing
}

func (t *token) is(f flag) bool { return t.w.flags&f != 0 }

// common reports whether t is a function word, also with a capital. "MIT" and "US" are names.
func (d *doc) common(t *token) bool {
	if !t.is(fStop) || t.shape == sMixed {
		return false
	}
	if t.shape != sUpper {
		return true
	}
	w := d.text[t.start:t.end]
	return !t.is(fForeign) || t.is(fEnglish) && w != "US" && w != "WHO"
}

// capital reports whether t can be part of a name.
func (t *token) capital() bool {
	return (t.kind == kWord || t.kind == kIdent && t.shape == sUpper) && t.shape != sLower && !t.used
}

func (d *doc) surface(lo, hi int) string {
	return d.text[d.toks[lo].start:d.toks[hi-1].end]
}

func (d *doc) str(i int) string { return d.text[d.toks[i].start:d.toks[i].end] }

// tokenize fills d.toks from d.text.
func (d *doc) tokenize() {
	text := d.text
	g := gapBlank
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			g = max(g, gapSpace)
			i++
		case c == '\n':
			if g >= gapLine {
				g = gapBlank
			} else {
				g = gapLine
			}
			i++
		case isASCIIAlnum(c):
			i = d.blob(i, g)
			g = gapNone
		case c < utf8.RuneSelf:
			i = d.sign(i, g)
			g = gapNone
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			switch {
			case unicode.IsSpace(r):
				g = max(g, gapSpace)
				i += n
			case cased(r):
				i = d.blob(i, g)
				g = gapNone
			case unicode.IsLetter(r) || unicode.IsMark(r):
				i = d.otherRun(i, g)
				g = gapNone
			default:
				d.add(token{start: int32(i), end: int32(i + n), kind: kPunct, gap: g, ch: asciiSign(r)})
				i += n
				g = gapNone
			}
		}
	}
}

func (d *doc) add(t token) { d.toks = append(d.toks, t) }

// asciiSign maps typographic signs to the plain ones that the rules look for, 0 for others.
func asciiSign(r rune) byte {
	switch r {
	case '“', '”', '„', '«', '»', '「', '」', '『', '』':
		return '"'
	case '‘', '’':
		return '\''
	case '–', '—', '―':
		return '-'
	case '。':
		return '.'
	case '！':
		return '!'
	case '？', '؟':
		return '?'
	case '，', '、', '،':
		return ','
	case '：':
		return ':'
	case '；', '؛':
		return ';'
	case '•', '·', '‣', '●':
		return '*'
	case '€', '£', '¥', '₹', '₽':
		return '$'
	}
	return 0
}

// sign adds a punctuation token, or what begins with a sign: a handle, a tag or a path.
func (d *doc) sign(i int, g gap) int {
	c := d.text[i]
	if i+1 < len(d.text) && g != gapNone {
		next := d.text[i+1]
		switch {
		case (c == '@' || c == '#') && isASCIIAlnum(next):
			j := i + 1
			for j < len(d.text) && (isASCIIAlnum(d.text[j]) || d.text[j] == '_' || d.text[j] == '-') {
				j++
			}
			k := kHandle
			if c == '#' && next >= '0' && next <= '9' {
				k = kIdent
			}
			d.add(token{start: int32(i), end: int32(j), kind: k, gap: g})
			return j
		case c == '/' && isASCIIAlnum(next), (c == '~' || c == '.') && next == '/':
			j := i + 1
			for j < len(d.text) && isPathByte(d.text[j]) {
				j++
			}
			j = trimBlob(d.text, i, j)
			if j > i+2 {
				d.add(token{start: int32(i), end: int32(j), kind: kIdent, gap: g})
				return j
			}
		}
	}
	d.add(token{start: int32(i), end: int32(i + 1), kind: kPunct, gap: g, ch: c})
	return i + 1
}

// otherRun adds a run of letters without case as one token.
func (d *doc) otherRun(i int, g gap) int {
	j := i
	afterNumber := g == gapNone && len(d.toks) > 0 && d.toks[len(d.toks)-1].kind == kNumber
	if afterNumber {
		if n, _, _ := scriptSpan(d.text[i:]); n > 0 { // "天前"
			d.add(token{start: int32(i), end: int32(i + n), kind: kOther, gap: g})
			return i + n
		}
	}
	for j < len(d.text) {
		r, n := utf8.DecodeRuneInString(d.text[j:])
		if r < utf8.RuneSelf || cased(r) || !unicode.IsLetter(r) && !unicode.IsMark(r) {
			break
		}
		if date, _, _, _ := scriptDateAt(d.text[j:], r); date > 0 {
			if j == i {
				j += date
			}
			break // dates are tokens of their own
		}
		j += n
		if afterNumber && (r == '年' || r == '月' || r == '日') {
			break
		}
		afterNumber = false
	}
	d.add(token{start: int32(i), end: int32(j), kind: kOther, gap: g})
	return j
}

// cased reports whether r is a letter of a script that has capitals.
func cased(r rune) bool {
	switch {
	case r < 0xAA:
		return isASCIIAlnum(byte(r))
	case r < 0x590: // Latin, Greek, Cyrillic, Armenian and their marks
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r >= 0x1E00 && r < 0x2000:
		return unicode.IsLetter(r)
	}
	return false
}

// features says which signs a blob holds.
type features struct {
	upper, lower, digit                                       int
	dot, slash, colon, at, under, hyphen, comma, apos, scheme bool
	foreign, plus                                             bool
}

// blob adds the tokens of a run of letters, digits and the signs that may stand inside names, numbers and addresses.
func (d *doc) blob(i int, g gap) int {
	var f features
	j := d.blobEnd(i, &f)
	d.upper += f.upper
	d.lower += f.lower
	d.classify(i, j, g, &f)
	return j
}

func (d *doc) blobEnd(i int, f *features) int {
	text := d.text
	j := i
	for j < len(text) {
		c := text[j]
		switch {
		case c >= 'a' && c <= 'z':
			f.lower++
		case c >= 'A' && c <= 'Z':
			f.upper++
		case c >= '0' && c <= '9':
			f.digit++
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(text[j:])
			if r == '’' && alphaAt(text, j+n) && f.digit == 0 {
				f.apos = true
			} else if !cased(r) || r == utf8.RuneError {
				return trimBlob(text, i, j)
			} else if unicode.IsUpper(r) {
				f.upper++
			} else {
				f.lower++
			}
			f.foreign = true
			j += n
			continue
		case !d.joins(i, j, f):
			return trimBlob(text, i, j)
		}
		j++
	}
	return trimBlob(text, i, j)
}

// joins reports whether the sign at j is inside a blob that began at i, and notes it.
func (d *doc) joins(i, j int, f *features) bool {
	text := d.text
	c := text[j]
	var next byte
	if j+1 < len(text) {
		next = text[j+1]
	}
	if f.scheme {
		return c > ' ' && c != '"' && c != '<' && c != '>' && c != ')' && c != ']' && c != '`' && c != '|' && c != 0x7F
	}
	letterOrDigit := isASCIIAlnum(next) || next >= utf8.RuneSelf
	switch c {
	case '\'':
		f.apos = f.apos || letterOrDigit
		return letterOrDigit && !isDigitByte(text[j-1])
	case '-':
		f.hyphen = f.hyphen || letterOrDigit
		return isASCIIAlnum(next) || next >= utf8.RuneSelf && alphaAt(text, j+1)
	case '_':
		f.under = true
		return true
	case '.':
		ok := isASCIIAlnum(next)
		f.dot = f.dot || ok
		return ok
	case ',':
		ok := isDigitByte(text[j-1]) && j+3 < len(text) && isDigitByte(next) && isDigitByte(text[j+2]) && isDigitByte(text[j+3])
		f.comma = f.comma || ok
		return ok
	case ':':
		if strings.HasPrefix(text[j:], "://") {
			f.scheme = true
			return true
		}
		ok := isDigitByte(text[j-1]) && isDigitByte(next)
		f.colon = f.colon || ok
		return ok
	case '/':
		f.slash = f.slash || isASCIIAlnum(next)
		return isASCIIAlnum(next)
	case '@':
		f.at = f.at || isASCIIAlnum(next)
		return isASCIIAlnum(next)
	case '+', '#':
		ok := c == '+' && !letterOrDigit && isUpperByte(text[j-1]) && j-i > 1 || j-i == 1 && (next == '+' || c == '#') || f.plus && c == '+' && j-i == 2
		f.plus = f.plus || ok
		return ok
	case '&':
		return isUpperByte(next) && isUpperByte(text[j-1])
	}
	return false
}

// trimBlob cuts signs that only end a sentence or a bracket from text[i:j].
func trimBlob(text string, i, j int) int {
	for j > i+1 && strings.IndexByte(".,:;!?/-_'&*~@", text[j-1]) >= 0 {
		j--
	}
	return j
}

func isPathByte(c byte) bool {
	return isASCIIAlnum(c) || c == '/' || c == '.' || c == '_' || c == '-' || c == '~'
}

func isASCIIAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isDigitByte(c byte) bool { return c >= '0' && c <= '9' }

func isUpperByte(c byte) bool { return c >= 'A' && c <= 'Z' }

func alphaAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r != utf8.RuneError && unicode.IsLetter(r)
}

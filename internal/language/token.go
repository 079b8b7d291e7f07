package language

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

// Kinds of tokens.
const (
	KindPunct      Kind = iota // a punctuation sign
	KindWord                   // letters, with inner hyphens and apostrophes
	KindClitic                 // 's 'm 're 've 'll 'd, split from the previous word
	KindNumber                 // digits with separators
	KindDate                   // 2023-05-08, 8/5/2023, ISO timestamps
	KindClock                  // 10:30
	KindIdentifier             // ERR-1042, v1.2.3, paths, hashes
	KindErrorCode              // error codes
	KindURL
	KindEmail
	KindHandle // @name, #tag
	KindScript // a run of a script without capitals (Chinese, Arabic, ...)
)

// Shape is the capitalisation of a word.
type Shape uint8

// Shapes of words.
const (
	LowerCase   Shape = iota
	Capitalized       // Word
	UpperCase         // WORD
	MixedCase         // iPhone, McDonald
)

// Gap is the white space before a token.
type Gap uint8

// Gaps, in ascending order.
const (
	NoGap    Gap = iota
	SpaceGap     // spaces and tabs
	LineGap      // a new line
	BlankGap     // an empty line, or the start of the text
)

// Token is a piece of the text at the bytes [Start, End).
type Token struct {
	Start, End int32
	Kind       Kind
	Shape      Shape
	Gap        Gap
	Sign       byte // the ASCII sign that a KindPunct corresponds to, 0 for other signs
	Used       bool // part of a date, quantity or address, so not part of a name
	entry      entry
}

// Word returns what the lexicon says about t, the zero Word if it has nothing.
func (t *Token) Word() Word { return t.entry.word() }

// Is reports whether t has any of the flags f.
func (t *Token) Is(f Flag) bool { return entries[t.entry].Flags&f != 0 }

// WordIs reports whether t is a word, and no sign, number or clitic, that has any of the flags f.
func (t *Token) WordIs(f Flag) bool { return t.Kind == KindWord && t.Is(f) }

// OnlyPast reports whether t can be the past form of a verb but not its base form: "went", not "put".
func (t *Token) OnlyPast() bool { return t.Word().Form&PastForm != 0 && t.Word().Form&BaseForm == 0 }

// common reports whether t is a function word, which may have a capital. "MIT" and "US" are names.
func (d *Document) common(t *Token) bool {
	if !t.Is(FunctionWord) || t.Shape == MixedCase {
		return false
	}
	if t.Shape != UpperCase {
		return true
	}
	w := d.Text[t.Start:t.End]
	return !t.Is(ForeignWord) || t.Is(English) && w != "US" && w != "WHO"
}

// Capital reports whether t has a capital, so that it can be part of a name.
func (t *Token) Capital() bool {
	return (t.Kind == KindWord || t.Kind == KindIdentifier && t.Shape == UpperCase) && t.Shape != LowerCase && !t.Used
}

// SpanText returns the text of the tokens [lo, hi).
func (d *Document) SpanText(lo, hi int) string {
	return d.Text[d.Tokens[lo].Start:d.Tokens[hi-1].End]
}

// TokenText returns the text of token i.
func (d *Document) TokenText(i int) string { return d.Text[d.Tokens[i].Start:d.Tokens[i].End] }

// tokenize fills d.Tokens from d.Text.
func (d *Document) tokenize() {
	text := d.Text
	g := BlankGap
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			g = max(g, SpaceGap)
			i++
		case c == '\n':
			if g >= LineGap {
				g = BlankGap
			} else {
				g = LineGap
			}
			i++
		case isASCIIAlnum(c):
			i = d.blob(i, g)
			g = NoGap
		case c < utf8.RuneSelf:
			i = d.sign(i, g)
			g = NoGap
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			switch {
			case unicode.IsSpace(r):
				g = max(g, SpaceGap)
				i += n
			case cased(r):
				i = d.blob(i, g)
				g = NoGap
			case unicode.IsLetter(r) || unicode.IsMark(r):
				i = d.otherRun(i, g)
				g = NoGap
			default:
				d.add(Token{Start: int32(i), End: int32(i + n), Kind: KindPunct, Gap: g, Sign: asciiSign(r)})
				i += n
				g = NoGap
			}
		}
	}
}

func (d *Document) add(t Token) { d.Tokens = append(d.Tokens, t) }

// asciiSign maps typographic signs to the ASCII signs that the rules use; it returns 0 for others.
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

// sign adds a punctuation token, or a token that begins with a sign: a handle, a tag or a path.
func (d *Document) sign(i int, g Gap) int {
	c := d.Text[i]
	if i+1 < len(d.Text) && g != NoGap {
		next := d.Text[i+1]
		switch {
		case (c == '@' || c == '#') && isASCIIAlnum(next):
			j := i + 1
			for j < len(d.Text) && (isASCIIAlnum(d.Text[j]) || d.Text[j] == '_' || d.Text[j] == '-') {
				j++
			}
			k := KindHandle
			if c == '#' && next >= '0' && next <= '9' {
				k = KindIdentifier
			}
			d.add(Token{Start: int32(i), End: int32(j), Kind: k, Gap: g})
			return j
		case c == '/' && isASCIIAlnum(next), (c == '~' || c == '.') && next == '/':
			j := i + 1
			for j < len(d.Text) && isPathByte(d.Text[j]) {
				j++
			}
			j = trimBlob(d.Text, i, j)
			if j > i+2 {
				d.add(Token{Start: int32(i), End: int32(j), Kind: KindIdentifier, Gap: g})
				return j
			}
		}
	}
	d.add(Token{Start: int32(i), End: int32(i + 1), Kind: KindPunct, Gap: g, Sign: c})
	return i + 1
}

// otherRun adds a run of letters of a script without capitals as one token.
func (d *Document) otherRun(i int, g Gap) int {
	j := i
	afterNumber := g == NoGap && len(d.Tokens) > 0 && d.Tokens[len(d.Tokens)-1].Kind == KindNumber
	if afterNumber {
		if n, _, _ := scriptSpan(d.Text[i:]); n > 0 { // "天前"
			d.add(Token{Start: int32(i), End: int32(i + n), Kind: KindScript, Gap: g})
			return i + n
		}
	}
	for j < len(d.Text) {
		r, n := utf8.DecodeRuneInString(d.Text[j:])
		if r < utf8.RuneSelf || cased(r) || !unicode.IsLetter(r) && !unicode.IsMark(r) {
			break
		}
		if date, _, _, _ := scriptDateAt(d.Text[j:], r); date > 0 {
			if j == i {
				j += date
			}
			break // a date is a token of its own
		}
		j += n
		if afterNumber && (r == '年' || r == '月' || r == '日') {
			break
		}
		afterNumber = false
	}
	d.add(Token{Start: int32(i), End: int32(j), Kind: KindScript, Gap: g})
	return j
}

// cased reports whether r is a letter of a script with capitals.
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

// features says which signs occur in a blob.
type features struct {
	upper, lower, digit                                       int
	dot, slash, colon, at, under, hyphen, comma, apos, scheme bool
	foreign, plus                                             bool
}

// blob adds the tokens of a run of letters, digits and the signs that can be inside names, numbers and addresses.
func (d *Document) blob(i int, g Gap) int {
	var f features
	j := d.blobEnd(i, &f)
	d.upper += f.upper
	d.lower += f.lower
	d.classify(i, j, g, &f)
	return j
}

func (d *Document) blobEnd(i int, f *features) int {
	text := d.Text
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

// joins reports whether the sign at j is part of the blob that began at i, and records the sign in f.
func (d *Document) joins(i, j int, f *features) bool {
	text := d.Text
	c := text[j]
	if f.scheme {
		return c > ' ' && strings.IndexByte("\"<>)]`|\x7f", c) < 0
	}
	var next byte
	if j+1 < len(text) {
		next = text[j+1]
	}
	alnum := isASCIIAlnum(next)
	letterOrDigit := alnum || next >= utf8.RuneSelf
	switch c {
	case '\'':
		f.apos = f.apos || letterOrDigit
		return letterOrDigit && !isDigitByte(text[j-1])
	case '-':
		f.hyphen = f.hyphen || letterOrDigit
		return alnum || next >= utf8.RuneSelf && alphaAt(text, j+1)
	case '_':
		f.under = true
		return true
	case '.':
		f.dot = f.dot || alnum
		return alnum
	case ',':
		ok := thousands(text, j)
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
		f.slash = f.slash || alnum
		return alnum
	case '@':
		f.at = f.at || alnum
		return alnum
	case '+', '#':
		ok := f.languageSign(text, i, j, next, letterOrDigit)
		f.plus = f.plus || ok
		return ok
	case '&':
		return IsUpperByte(next) && IsUpperByte(text[j-1])
	}
	return false
}

// thousands reports whether the comma at j separates thousands: "12,000".
func thousands(text string, j int) bool {
	return isDigitByte(text[j-1]) && j+3 < len(text) && isDigitByte(text[j+1]) && isDigitByte(text[j+2]) && isDigitByte(text[j+3])
}

// languageSign reports whether the sign at j ends the name of a grade or a programming language: "A+", "AB+", "C#", "C++".
func (f *features) languageSign(text string, i, j int, next byte, letterOrDigit bool) bool {
	switch plus := text[j] == '+'; {
	case j-i == 1:
		return next == '+' || !plus
	case j-i == 2 && plus && f.plus:
		return true
	default:
		return plus && !letterOrDigit && IsUpperByte(text[j-1])
	}
}

// trimBlob removes signs at the end of text[i:j] that end a sentence or close a bracket.
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

// IsUpperByte reports whether c is an ASCII capital.
func IsUpperByte(c byte) bool { return c >= 'A' && c <= 'Z' }

func alphaAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r != utf8.RuneError && unicode.IsLetter(r)
}

// FoldEqual reports whether two words of equal byte length are equal except for case.
func FoldEqual(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

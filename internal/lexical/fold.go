package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold returns the form of a word under which it is indexed. It replaces compatibility
// forms (NFKD), removes accents, vowel points and invisible characters, converts to lower
// case, and writes digits of all scripts as 0 to 9. It keeps marks that distinguish words,
// as in Devanagari. The result is NFC.
func fold(word string) string {
	var b strings.Builder
	b.Grow(len(word))
	var last rune
	for _, r := range norm.NFKD.String(word) {
		if r == 0x0306 && (last == 'и' || last == 'И') { // й is a letter, not an accented и
			b.WriteRune(r)
			continue
		}
		if droppedMark(r) {
			continue
		}
		last = r
		if r < utf8.RuneSelf {
			if isAlnum[byte(r)] {
				b.WriteByte(lowerASCII(byte(r)))
			}
			continue
		}
		if s, ok := spelled(r); ok {
			b.WriteString(s)
			continue
		}
		if unicode.Is(unicode.Nd, r) {
			b.WriteByte('0' + digitValue(r))
			continue
		}
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return norm.NFC.String(b.String())
}

// droppedMark reports whether r is an accent, a vowel point or an invisible sign
// that does not distinguish words.
func droppedMark(r rune) bool {
	switch {
	case r < 0x00AD:
		return false
	case r >= 0x0300 && r <= 0x036F, // combining diacritical marks
		r >= 0x0591 && r <= 0x05C7,              // Hebrew points
		r == 0x0640,                             // Arabic tatweel
		r >= 0x064B && r <= 0x065F, r == 0x0670, // Arabic vowels, hamza and madda above and below
		r >= 0x1AB0 && r <= 0x1AFF,              // combining diacritical marks extended
		r >= 0x1DC0 && r <= 0x1DFF,              // combining diacritical marks supplement
		r >= 0x20D0 && r <= 0x20FF,              // combining marks for symbols
		r >= 0xFE00 && r <= 0xFE0F, isJoiner(r): // variation selectors
		return true
	}
	return false
}

// isJoiner reports whether r is an invisible character that stands inside words.
func isJoiner(r rune) bool {
	return r == 0x00AD || r >= 0x200B && r <= 0x200D || r == 0x2060 || r == 0xFEFF
}

// spelled returns the usual spelling of a letter that has no decomposition, and reports whether it has one.
func spelled(r rune) (string, bool) {
	switch r {
	case 'ß', 'ẞ':
		return "ss", true
	case 'æ', 'Æ':
		return "ae", true
	case 'œ', 'Œ':
		return "oe", true
	case 'ø', 'Ø':
		return "o", true
	case 'đ', 'Đ', 'ð', 'Ð':
		return "d", true
	case 'ł', 'Ł':
		return "l", true
	case 'ħ', 'Ħ':
		return "h", true
	case 'þ', 'Þ':
		return "th", true
	case 'ı':
		return "i", true
	case 'ς':
		return "σ", true
	case 'ى': // alef maksura, often written for yeh
		return "ي", true
	case 'ة': // teh marbuta
		return "ه", true
	}
	return "", false
}

// digitValue returns the value of a decimal digit: the ranges of the class Nd are
// whole runs from zero to nine.
func digitValue(r rune) byte {
	for _, t := range unicode.Nd.R16 {
		if r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	return 0
}

// clip shortens a term to maxTermBytes at a character boundary.
func clip(s string) string {
	if len(s) <= maxTermBytes {
		return s
	}
	n := maxTermBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// class is the role of a character in splitting text into words.
type class uint8

const (
	classNone  class = iota // separates words
	classWord               // letters, digits and the marks on them
	classGram               // scripts written without spaces: indexed as pairs of characters
	classHan                // like classGram; one character alone is a word too
	classExtra              // marks and invisible characters: continue a word, never start one
)

// classify returns the class of a character at or above U+0080.
func classify(r rune) class {
	switch {
	case r < 0x0E00:
	case r < 0x1000: // Thai and Lao; Tibetan has its own separators
		if r < 0x0F00 {
			return gramOrMark(r)
		}
	case r < 0x10A0, r >= 0x1780 && r < 0x1800: // Myanmar, Khmer
		return gramOrMark(r)
	case isHangul(r):
		return classGram
	case isKana(r):
		switch r {
		case 0x30FB, 0x30A0, 0x309B, 0x309C: // middle dot and spacing marks
			return classNone
		case 0x3099, 0x309A:
			return classExtra
		}
		return classGram
	case isHan(r):
		return classHan
	}
	switch {
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return classWord
	case r >= 0x0250 && unicode.IsMark(r), isJoiner(r): // there are no marks below
		return classExtra
	}
	return classNone
}

func isHangul(r rune) bool {
	return r >= 0x1100 && r < 0x1200 || r >= 0xAC00 && r < 0xD7FC || r >= 0xA960 && r < 0xA97D || r >= 0x3131 && r < 0x318F
}

// isKana reports whether a character is kana, or half-width kana or Hangul.
func isKana(r rune) bool {
	return r >= 0x3040 && r < 0x3100 || r >= 0x31F0 && r < 0x3200 || r >= 0xFF66 && r <= 0xFFDC
}

func isHan(r rune) bool {
	return r == 0x3005 || r == 0x3007 || r >= 0x4E00 && r < 0xA000 || r >= 0x3400 && r < 0x4DC0 || r >= 0xF900 && r < 0xFB00 || r >= 0x20000 && r < 0x32000
}

func gramOrMark(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return classGram
	case unicode.IsMark(r):
		return classExtra
	case unicode.IsNumber(r):
		return classWord
	}
	return classNone
}

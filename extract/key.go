package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxKey is the maximum length of a key in bytes; longer names are cut at a rune boundary. The API has the same limit for an entity's
// name.
const MaxKey = 256

// Key returns the normal form of a name; names with equal keys are the same entity. Key lower-cases, and removes Latin accents,
// possessive endings, quotes, leading articles and the dots of abbreviations. Words are separated by one space, and initials are
// joined ("J. K. Rowling" becomes "jk rowling"). Hyphens stay, and so do signs inside identifiers, addresses and paths. Key(Key(s)) ==
// Key(s).
func Key(name string) string {
	if isPlainKey(name) {
		return name
	}
	var folded, out [128]byte
	b := foldText(folded[:0], name)
	return string(joinWords(out[:0], b))
}

// isPlainKey reports whether name is obviously its own key: ASCII letters and digits, words of at least two letters that begin with no
// article, separated by one space.
func isPlainKey(name string) bool {
	if len(name) == 0 || len(name) > MaxKey || strings.HasPrefix(name, "the ") || strings.HasPrefix(name, "an ") {
		return false
	}
	word := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			word++
		case c == ' ' && word > 1:
			word = 0
		default:
			return false
		}
	}
	return word > 1
}

// foldText appends s in lower case without accents. Separators become spaces; quotes and dashes are unified.
func foldText(dst []byte, s string) []byte {
	for i, r := range s {
		if len(dst) > 4*MaxKey {
			break
		}
		switch {
		case r >= 0xFF01 && r <= 0xFF5E: // full-width forms
			r -= 0xFEE0
		case r == '’' || r == 'ʼ' || r == '`' || r == '´' || r == '‘':
			r = '\''
		case r >= '‐' && r <= '―' || r == '−':
			r = '-'
		}
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			dst = append(dst, byte(r))
		case r >= 'A' && r <= 'Z':
			dst = append(dst, byte(r)|0x20)
		case r == ',':
			if !(len(dst) > 0 && isDigit(dst[len(dst)-1]) && i+1 < len(s) && isDigit(s[i+1])) {
				dst = append(dst, ' ')
			}
		case r < utf8.RuneSelf:
			if strings.IndexByte(keptSigns, byte(r)) >= 0 {
				dst = append(dst, byte(r))
			} else {
				dst = append(dst, ' ')
			}
		default:
			dst = appendFolded(dst, r)
		}
	}
	return dst
}

// keptSigns are the signs that may stay inside a word of a key.
const keptSigns = "'-.&@_+#%$~=/:\\?*"

func appendFolded(dst []byte, r rune) []byte {
	switch r {
	case 'ß', 'ẞ':
		return append(dst, 's', 's')
	case 'æ', 'Æ':
		return append(dst, 'a', 'e')
	case 'œ', 'Œ':
		return append(dst, 'o', 'e')
	case 'þ', 'Þ':
		return append(dst, 't', 'h')
	}
	if c := foldLatin(r); c != 0 {
		return append(dst, c)
	}
	switch {
	case r >= 0x300 && r <= 0x36F, r == 0xAD, r >= 0x200B && r <= 0x200F, r == 0xFEFF:
		return dst // combining accents, soft hyphen, invisible marks
	case r == '€' || r == '£' || r == '¥':
		return utf8.AppendRune(dst, r)
	case r == utf8.RuneError:
		return append(dst, ' ')
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r):
		return utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return append(dst, ' ')
}

// joinWords cleans the space-separated words of b and appends them to dst. It applies the rules that concern several words.
func joinWords(dst, b []byte) []byte {
	glue, single := false, false
	for len(b) > 0 && len(dst) <= MaxKey {
		var w []byte
		w, b = nextWord(b)
		if isHyphens(w) {
			glue = len(dst) > 0
			continue
		}
		if len(w) == 1 && w[0] == '&' && len(dst) > 0 && len(b) > 0 {
			w = []byte("and")
		}
		if w = cleanWord(w); len(w) == 0 {
			continue
		}
		letter := len(w) == 1 && w[0] >= 'a' && w[0] <= 'z'
		switch {
		case glue:
			dst = append(dst, '-')
		case letter && single:
		case isArticle(dst):
			dst = dst[:0]
		case len(dst) > 0:
			dst = append(dst, ' ')
		}
		dst = append(dst, w...)
		glue, single = false, letter
	}
	if len(dst) > MaxKey {
		n := MaxKey
		for n > 0 && !utf8.RuneStart(dst[n]) {
			n--
		}
		dst = cleanEnd(dst[:n])
	}
	return dst
}

func nextWord(b []byte) (word, rest []byte) {
	i := 0
	for i < len(b) && b[i] == ' ' {
		i++
	}
	j := i
	for j < len(b) && b[j] != ' ' {
		j++
	}
	return b[i:j], b[j:]
}

func isArticle(b []byte) bool {
	return string(b) == "the" || string(b) == "a" || string(b) == "an"
}

func isHyphens(w []byte) bool {
	for _, c := range w {
		if c != '-' {
			return false
		}
	}
	return len(w) > 0
}

// cleanWord removes signs at both ends of a word, a possessive ending, and the dots of an abbreviation.
func cleanWord(w []byte) []byte {
	for len(w) > 0 && (strings.IndexByte("'-:?*\\=&", w[0]) >= 0 || w[0] == '.' && (len(w) < 2 || !isAlnum(w[1]))) {
		w = w[1:]
	}
	if w = cleanEnd(w); !dottedInitials(w) {
		return w
	}
	n := 0
	for _, c := range w {
		if c != '.' {
			w[n] = c
			n++
		}
	}
	return w[:n]
}

func cleanEnd(w []byte) []byte {
	for len(w) > 0 {
		c := w[len(w)-1]
		switch {
		case len(w) > 2 && c == 's' && w[len(w)-2] == '\'':
			w = w[:len(w)-2]
		case strings.IndexByte(" '-.:?*\\=&/~@", c) >= 0:
			w = w[:len(w)-1]
		default:
			return w
		}
	}
	return w
}

// dottedInitials reports whether w is single letters with dots between them, such as "u.s".
func dottedInitials(w []byte) bool {
	if len(w) < 3 || len(w)%2 == 0 {
		return false
	}
	for i, c := range w {
		if i%2 == 1 && c != '.' || i%2 == 0 && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlnum(c byte) bool { return c >= 'a' && c <= 'z' || isDigit(c) || c >= utf8.RuneSelf }

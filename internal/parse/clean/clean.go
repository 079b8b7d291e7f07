// Package clean has small text functions that the parsers share: single-line fields, numbers, dates, and removal of control characters.
package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// IsSpace reports whether b is ASCII white space.
func IsSpace(b byte) bool {
	return b == ' ' || b == '\n' || b == '\t' || b == '\r' || b == '\f'
}

// StripInvisible removes soft hyphens, byte order marks and control characters.
func StripInvisible(s string) string {
	clean := true
	for i := 0; i < len(s); i++ {
		if b := s[i]; b < ' ' && b != '\n' && b != '\t' || b == 0x7f || b == 0xC2 || b == 0xEF {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xA0 || r == 0xAD || r == 0xFEFF:
			return -1
		case r == 0xA0:
			return ' '
		}
		return r
	}, s)
}

// Text normalises line ends and removes control characters of plain text.
func Text(s string) string {
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	for i := 0; i < len(s); i++ {
		if b := s[i]; b < ' ' && b != '\n' && b != '\t' || b == 0x7f {
			return strings.Map(func(r rune) rune {
				switch {
				case r == '\f' || r == '\v':
					return '\n'
				case r < ' ' && r != '\n' && r != '\t' || r == 0x7f:
					return -1
				}
				return r
			}, s)
		}
	}
	return s
}

// controls marks the control characters except line feeds and tabs.
var controls = func() (t [256]bool) {
	for b := range t {
		t[b] = b < ' ' && b != '\n' && b != '\t' || b == 0x7f
	}
	return t
}()

// BlankControls replaces each control character except line feeds and tabs by a space, so that byte offsets stay valid.
func BlankControls(s string) string {
	i := NextMarked(s, 0, &controls)
	if i == len(s) {
		return s
	}
	b := []byte(s)
	for ; i < len(b); i = NextMarked(s, i+1, &controls) {
		b[i] = ' '
	}
	return string(b)
}

// HasControls reports whether s has a control character other than a line feed or a tab.
func HasControls(s string) bool { return NextMarked(s, 0, &controls) < len(s) }

// Cut cuts s to at most n bytes without splitting a character.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// OneLine converts s to a title or a field: one line of at most 1,000 bytes.
func OneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if unicode.IsControl(r) || r == 0xAD || r == 0xFEFF {
			return -1
		}
		return r
	}, Cut(s, 4000))
	return Cut(strings.Join(strings.Fields(s), " "), 1000)
}

// isOneLine reports whether s is a short line of ASCII without white space to collapse.
func isOneLine(s string) bool {
	space := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f || s[i] == ' ' && space {
			return false
		}
		space = s[i] == ' '
	}
	return len(s) <= 1000 && (s == "" || !space)
}

// FirstOf returns the first value that is not blank, or "" if there is none.
func FirstOf(values ...string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// Head returns the first n bytes of data, or all of it if it has fewer.
func Head(data []byte, n int) []byte {
	return data[:min(n, len(data))]
}

// Int parses a short decimal number in an attribute. It returns 0 for anything else.
func Int(s string) int {
	n, _ := ParseInt(strings.TrimSpace(s))
	return n
}

// ParseInt reads a decimal number of at most 18 digits.
func ParseInt[S string | []byte](s S) (int, bool) {
	i, n := 0, 0
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		i++
	}
	if len(s) == i || len(s)-i > 18 {
		return 0, false
	}
	for _, c := range []byte(s[i:]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if s[0] == '-' {
		n = -n
	}
	return n, true
}

// Lower returns c in lower case if it is an ASCII letter.
func Lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// HexByte parses the two hexadecimal digits at the start of b.
func HexByte(b []byte) (byte, bool) {
	if len(b) < 2 {
		return 0, false
	}
	high, ok1 := hexDigit(b[0])
	low, ok2 := hexDigit(b[1])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// IsLetter reports whether r is an ASCII letter.
func IsLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// String returns the bytes as a string without copying. The bytes must not change while the string is in use: never if the string is kept,
// or during the call if it is passed to the writer, which copies.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

package parse

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func asciiSpace(b byte) bool {
	return b == ' ' || b == '\n' || b == '\t' || b == '\r' || b == '\f'
}

// stripInvisible removes soft hyphens, byte order marks and control characters.
func stripInvisible(s string) string {
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

// cleanText normalises line ends and removes control characters of plain text.
func cleanText(s string) string {
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

// blankControls puts a space in the place of each control character but line feeds and
// tabs, so that offsets stay.
func blankControls(s string) string {
	control := func(b byte) bool { return b < ' ' && b != '\n' && b != '\t' || b == 0x7f }
	for i := 0; i < len(s); i++ {
		if !control(s[i]) {
			continue
		}
		b := []byte(s)
		for ; i < len(b); i++ {
			if control(b[i]) {
				b[i] = ' '
			}
		}
		return string(b)
	}
	return s
}

// cutRune cuts s to at most n bytes without splitting a character.
func cutRune(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// oneLine makes a title or a field of s: one line of at most 1,000 bytes.
func oneLine(s string) string {
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
	}, cutRune(s, 4000))
	return cutRune(strings.Join(strings.Fields(s), " "), 1000)
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

// titled takes the first heading for a title that the metadata does not give.
func titled(doc *Document) *Document {
	switch strings.ToLower(strings.Trim(doc.Title, "() \t\r\n")) {
	case "", "anonymous", "untitled", "unspecified": // what programs write that know none
		doc.Title = firstHeading(doc.Text)
	}
	return doc
}

// firstHeading returns the text of the first heading of Markdown within its first lines.
func firstHeading(text string) string {
	for line := range strings.Lines(text[:min(len(text), 1<<14)]) {
		if rest := strings.TrimLeft(line, "#"); len(rest) < len(line) && strings.HasPrefix(rest, " ") {
			return strings.TrimSpace(strings.TrimRight(rest, "# \n"))
		}
	}
	return ""
}

func itoa(n int) string { return strconv.Itoa(n) }

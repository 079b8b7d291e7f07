package item

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
)

// ShortTitle returns the start of a text, as a title for items without one.
func ShortTitle(text string) string {
	line, cut := TitleLine(text)
	if cut {
		line += CutSign
	}
	return line
}

// TitleLine returns the part of a text that ShortTitle shows, and reports whether ShortTitle appends CutSign.
func TitleLine(text string) (line string, cut bool) {
	line, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	for line != "" && (line[0] == ' ' || line[0] == '#' || line[0] == '>' || line[0] == '*' || line[0] == '-') {
		line = line[1:]
	}
	line = strings.TrimSpace(line)
	if len(line) <= maxTitle {
		return line, false // a text has at most as many characters as bytes
	}
	n := 0 // characters
	for n+8 <= maxTitle && ascii(line[n:n+8]) {
		n += 8
	}
	for n <= maxTitle && line[n] < utf8.RuneSelf {
		n++
	}
	for end := min(n, maxTitle); end < len(line); n++ {
		if n >= maxTitle {
			line = line[:end]
			if i := strings.LastIndexByte(line, ' '); i > 20 {
				line = line[:i]
			}
			return line, true
		}
		_, width := utf8.DecodeRuneInString(line[end:])
		end += width
	}
	return line, false
}

// ascii reports whether the first eight bytes are ASCII.
func ascii(s string) bool {
	return s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7] < utf8.RuneSelf
}

// CutSign marks the end of a shortened title.
const CutSign = "…"

// maxTitle is the maximum number of characters of a title made from a text.
const maxTitle = 60

// Expired reports whether a source has expired by now.
func Expired(src *backend.Source, now time.Time) bool {
	return !src.ExpiresAt.IsZero() && !src.ExpiresAt.After(now)
}

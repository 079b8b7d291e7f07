package text

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// IsBase64 reports whether a value is embedded binary data, such as a picture in a notebook or a file.
// It relies on length: no real text is a single word of a thousand letters.
func IsBase64(s []byte) bool {
	if len(s) < 1024 {
		return false
	}
	if _, rest, ok := bytes.Cut(clean.Head(s, 100), []byte(";base64,")); ok && bytes.HasPrefix(s, []byte("data:")) {
		s = s[100-len(rest):]
	}
	for _, c := range s {
		if !clean.IsLetter(rune(c)) && (c < '0' || c > '9') && c != '+' && c != '/' && c != '=' && c != '-' && c != '_' && c != '\n' {
			return false
		}
	}
	return true
}

// writeText writes a string and indents every line after the first.
func (j *jsonReader) writeText(s []byte, level int) {
	for i := 0; ; i++ {
		line, rest, more := bytes.Cut(s, []byte("\n"))
		s = rest
		if i > 0 {
			j.out = append(j.out, '\n')
			j.indent(level)
		}
		line = clean.Head(bytes.TrimSuffix(line, []byte("\r")), max(0, j.max-len(j.out))+utf8.UTFMax)
		j.out = append(j.out, clean.StripInvisible(clean.String(line))...)
		if len(j.out) > j.max || !more {
			return
		}
	}
}

// str reads a string literal. The result is valid until the next call.
func (j *jsonReader) str() ([]byte, error) {
	j.pos++
	start := j.pos
	for j.pos < len(j.data) && j.data[j.pos] != '"' && j.data[j.pos] != '\\' {
		j.pos++
	}
	if j.pos < len(j.data) && j.data[j.pos] == '"' {
		j.pos++
		return j.data[start : j.pos-1], nil
	}
	j.scratch = append(j.scratch[:0], j.data[start:j.pos]...)
	for j.pos < len(j.data) {
		c := j.data[j.pos]
		j.pos++
		switch c {
		case '"':
			return j.scratch, nil
		case '\\':
			if j.pos >= len(j.data) {
				return nil, errJSONSyntax
			}
			j.escape()
		default:
			j.scratch = append(j.scratch, c)
		}
	}
	return nil, errJSONSyntax
}

func (j *jsonReader) escape() {
	c := j.data[j.pos]
	j.pos++
	switch c {
	case 'n':
		j.scratch = append(j.scratch, '\n')
	case 't':
		j.scratch = append(j.scratch, '\t')
	case 'r', 'b', 'f':
		j.scratch = append(j.scratch, ' ')
	case 'u':
		r, ok := j.hex4()
		if !ok {
			r = utf8.RuneError
		}
		if utf16.IsSurrogate(r) {
			r = j.lowSurrogate(r)
		}
		j.scratch = utf8.AppendRune(j.scratch, r)
	default:
		j.scratch = append(j.scratch, c)
	}
}

// lowSurrogate combines a high surrogate with the low surrogate in the escape that follows.
func (j *jsonReader) lowSurrogate(high rune) rune {
	if !bytes.HasPrefix(j.data[j.pos:], []byte(`\u`)) {
		return utf8.RuneError
	}
	back := j.pos
	j.pos += 2
	low, ok := j.hex4()
	if r := utf16.DecodeRune(high, low); ok && r != utf8.RuneError {
		return r
	}
	j.pos = back
	return utf8.RuneError
}

func (j *jsonReader) hex4() (rune, bool) {
	if j.pos+4 > len(j.data) {
		return 0, false
	}
	r := rune(0)
	for _, c := range j.data[j.pos : j.pos+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	j.pos += 4
	return r, true
}

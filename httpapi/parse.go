package httpapi

import (
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxNesting  = 10_000  // whatever MaxJSONDepth says
	sharedBytes = 4 << 10 // strings of a longer text are copied, so that one of them does not keep it all
)

// jsonReader reads one JSON value as encoding/json does with UseNumber: objects are
// map[string]any, in which the last of equal names counts, arrays []any, numbers json.Number.
// The text is valid UTF-8.
type jsonReader struct {
	s     string
	i     int
	depth int
	share bool
}

// newJSONReader returns a reader of the value that s begins with.
func newJSONReader(s string) jsonReader {
	r := jsonReader{s: s, share: len(s) <= sharedBytes}
	r.space()
	return r
}

func (r *jsonReader) space() {
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case ' ', '\t', '\n', '\r':
			r.i++
		default:
			return
		}
	}
}

// take goes past c, when it is next.
func (r *jsonReader) take(c byte) bool {
	if r.i < len(r.s) && r.s[r.i] == c {
		r.i++
		return true
	}
	return false
}

func (r *jsonReader) value() (any, bool) {
	if r.i == len(r.s) {
		return nil, false
	}
	switch c := r.s[r.i]; c {
	case '{', '[':
		if r.depth++; r.depth > maxNesting {
			return nil, false
		}
		defer func() { r.depth-- }()
		r.i++
		if c == '{' {
			return r.object()
		}
		return r.array()
	case '"':
		r.i++
		return boxed(r.text())
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	}
	return boxed(r.number())
}

func boxed[T any](v T, ok bool) (any, bool) { return v, ok }

func (r *jsonReader) word(w string) bool {
	if len(r.s)-r.i < len(w) || r.s[r.i:r.i+len(w)] != w {
		return false
	}
	r.i += len(w)
	return true
}

// object reads what follows an opening brace.
func (r *jsonReader) object() (any, bool) {
	m := map[string]any{}
	return m, r.members(func(name string, v any) { m[name] = v })
}

// members hands over what follows an opening brace, member by member.
func (r *jsonReader) members(set func(name string, v any)) bool {
	if r.space(); r.take('}') {
		return true
	}
	for {
		r.space()
		if !r.take('"') {
			return false
		}
		name, ok := r.text()
		if r.space(); !ok || !r.take(':') {
			return false
		}
		r.space()
		v, ok := r.value()
		if !ok {
			return false
		}
		set(name, v)
		if r.space(); r.take('}') {
			return true
		}
		if !r.take(',') {
			return false
		}
	}
}

// array reads what follows an opening bracket.
func (r *jsonReader) array() (any, bool) {
	list := []any{}
	if r.space(); r.take(']') {
		return list, true
	}
	for {
		r.space()
		v, ok := r.value()
		if !ok {
			return nil, false
		}
		list = append(list, v)
		if r.space(); r.take(']') {
			return list, true
		}
		if !r.take(',') {
			return nil, false
		}
	}
}

// number reads a number as it is written.
func (r *jsonReader) number() (json.Number, bool) {
	start := r.i
	r.take('-')
	if !r.take('0') && !r.digits() {
		return "", false
	}
	if r.take('.') && !r.digits() {
		return "", false
	}
	if r.take('e') || r.take('E') {
		if !r.take('+') {
			r.take('-')
		}
		if !r.digits() {
			return "", false
		}
	}
	return json.Number(r.own(r.s[start:r.i])), true
}

// digits goes past digits, of which there must be one.
func (r *jsonReader) digits() bool {
	start := r.i
	for r.i < len(r.s) && r.s[r.i] >= '0' && r.s[r.i] <= '9' {
		r.i++
	}
	return r.i > start
}

// own returns a part of the text that does not keep a long text.
func (r *jsonReader) own(part string) string {
	if r.share {
		return part
	}
	return string([]byte(part))
}

// text reads what follows an opening quote, with the closing one.
func (r *jsonReader) text() (string, bool) {
	start := r.i
	for {
		r.i += plain(r.s[r.i:])
		if r.i == len(r.s) || r.s[r.i] < ' ' {
			return "", false
		}
		switch r.s[r.i] {
		case '"':
			r.i++
			return r.own(r.s[start : r.i-1]), true
		case '\\':
			return r.escaped(start)
		}
		r.i++ // a byte of a rune
	}
}

// escaped reads a string that begins at start and has its first escape here.
func (r *jsonReader) escaped(start int) (string, bool) {
	b := append(make([]byte, 0, r.i-start+64), r.s[start:r.i]...)
	for r.i < len(r.s) {
		c := r.s[r.i]
		r.i++
		switch {
		case c == '"':
			return string(b), true
		case c < ' ':
			return "", false
		case c != '\\':
			b = append(b, c)
			continue
		}
		if r.i == len(r.s) {
			return "", false
		}
		c = r.s[r.i]
		r.i++
		switch c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			u, ok := r.unit(r.i)
			if !ok {
				return "", false
			}
			r.i += 4
			if utf16.IsSurrogate(u) { // one without its other half is U+FFFD
				pair := rune(utf8.RuneError)
				if len(r.s)-r.i >= 6 && r.s[r.i] == '\\' && r.s[r.i+1] == 'u' {
					if low, ok := r.unit(r.i + 2); ok {
						pair = utf16.DecodeRune(u, low)
					}
				}
				if u = pair; pair != utf8.RuneError {
					r.i += 6
				}
			}
			b = utf8.AppendRune(b, u)
		default:
			return "", false
		}
	}
	return "", false
}

// unit reads the four digits of a code unit.
func (r *jsonReader) unit(at int) (rune, bool) {
	if len(r.s)-at < 4 {
		return 0, false
	}
	u := rune(0)
	for _, c := range []byte(r.s[at : at+4]) {
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
		u = u<<4 | rune(c)
	}
	return u, true
}

package xmlscan

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
)

func (x *Scanner) endTag(tag []byte) markResult {
	name := localName(bytes.TrimSpace(tag))
	for i := len(x.Stack) - 1; i >= 0; i-- {
		if x.Stack[i] == string(name) {
			x.closing = len(x.Stack) - 1 - i
			x.Mismatched = x.Mismatched || x.closing > 0
			x.pop()
			return markToken
		}
	}
	x.Mismatched = true
	return markSkip
}

func (x *Scanner) startTag(tag []byte) markResult {
	if tag[len(tag)-1] == '/' {
		x.pending = true
		tag = tag[:len(tag)-1]
	}
	n := 0
	for n < len(tag) && !clean.IsSpace(tag[n]) && tag[n] != '/' {
		n++
	}
	if len(x.Stack) >= x.maxDepth {
		x.pending = false
		x.eof = true
		x.pos = x.end
		x.Err = document.Errorf(document.LimitExceeded, "elements are nested deeper than %d levels", x.maxDepth)
		return markEnd
	}
	x.Started = true
	x.Kind, x.Name, x.Text = Start, x.intern(localName(tag[:n])), nil
	x.Stack = append(x.Stack, x.Name)
	x.readAttrs(tag[n:])
	return markToken
}

func (x *Scanner) readAttrs(b []byte) {
	x.Attrs = x.Attrs[:0]
	for len(x.Attrs) < xmlMaxAttrs {
		b = bytes.TrimLeft(b, " \t\r\n/")
		i := 0
		for i < len(b) && b[i] != '=' && !clean.IsSpace(b[i]) {
			i++
		}
		if i == 0 {
			if len(b) > 0 {
				b = b[1:]
				continue
			}
			return
		}
		key := b[:i]
		b = bytes.TrimLeft(b[i:], " \t\r\n")
		if len(b) == 0 || b[0] != '=' {
			continue
		}
		b = bytes.TrimLeft(b[1:], " \t\r\n")
		if len(b) == 0 {
			return
		}
		var value []byte
		if q := b[0]; q == '"' || q == '\'' {
			end := bytes.IndexByte(b[1:], q)
			if end < 0 {
				return
			}
			value, b = b[1:1+end], b[end+2:]
		} else {
			end := 0
			for end < len(b) && !clean.IsSpace(b[end]) {
				end++
			}
			value, b = b[:end], b[end:]
		}
		prefix := ""
		local := localName(key)
		if len(local) < len(key) {
			prefix = x.intern(key[:len(key)-len(local)-1])
		}
		x.Attrs = append(x.Attrs, Attr{Prefix: prefix, Name: x.intern(local), Value: x.attrValue(value)})
	}
}

// attrValue copies a value. Frequent short values share one copy.
func (x *Scanner) attrValue(v []byte) string {
	if bytes.IndexByte(v, '&') < 0 {
		if len(v) <= 16 {
			return x.intern(v)
		}
		return string(v)
	}
	return string(x.unescape(v))
}

// Attr returns the attribute of that name with any prefix, preferably the one without a prefix.
func (x *Scanner) Attr(name string) string {
	found := ""
	for i := range x.Attrs {
		if x.Attrs[i].Name == name {
			if x.Attrs[i].Prefix == "" {
				return x.Attrs[i].Value
			}
			if found == "" {
				found = x.Attrs[i].Value
			}
		}
	}
	return found
}

// AttrNS returns the attribute of that name that has a prefix, such as relationship ids.
func (x *Scanner) AttrNS(name string) string {
	for i := range x.Attrs {
		if x.Attrs[i].Name == name && x.Attrs[i].Prefix != "" {
			return x.Attrs[i].Value
		}
	}
	return ""
}

// intern returns b as a string. Equal bytes give the same string.
func (x *Scanner) intern(b []byte) string {
	if s, ok := x.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(x.names) < xmlMaxNames && len(s) <= 64 {
		x.names[s] = s
	}
	return s
}

// unescape decodes entities. Without any it returns raw. The result is valid UTF-8 if raw is.
func (x *Scanner) unescape(raw []byte) []byte {
	i := bytes.IndexByte(raw, '&')
	if i < 0 {
		return raw
	}
	out := x.scratch[:0]
	for i >= 0 {
		out = append(out, raw[:i]...)
		raw = raw[i:]
		end := bytes.IndexByte(clean.Head(raw, 16), ';')
		if end < 0 {
			out = append(out, '&')
			raw = raw[1:]
		} else if r, ok := xmlEntity(string(raw[1:end])); ok {
			out = utf8.AppendRune(out, r)
			raw = raw[end+1:]
		} else {
			// HTML's entities are expanded. Those that the document declares are left as they are.
			name := string(raw[:end+1])
			text := html.UnescapeString(name)
			x.Unexpanded = x.Unexpanded || text == name && end > 1 && nameByte(name[1])
			out = append(out, text...)
			raw = raw[end+1:]
		}
		i = bytes.IndexByte(raw, '&')
	}
	out = append(out, raw...)
	x.scratch = out
	return out
}

func xmlEntity(name string) (rune, bool) {
	switch name {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	case "nbsp":
		return ' ', true
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0, false
	}
	base := 10
	if hex := strings.TrimLeft(digits, "xX"); len(hex) < len(digits) {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune || n == 0 {
		return utf8.RuneError, err == nil
	}
	return rune(n), true
}

func localName(b []byte) []byte {
	if i := bytes.IndexByte(b, ':'); i >= 0 {
		return b[i+1:]
	}
	return b
}

func nameByte(b byte) bool {
	return clean.IsLetter(rune(b)) || b == '_' || b == ':' || b >= utf8.RuneSelf
}

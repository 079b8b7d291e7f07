package parse

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

func (x *xmlScanner) endTag(tag []byte) markResult {
	name := localName(bytes.TrimSpace(tag))
	for i := len(x.stack) - 1; i >= 0; i-- {
		if x.stack[i] == string(name) {
			x.closing = len(x.stack) - 1 - i
			x.pop()
			return markToken
		}
	}
	return markSkip
}

func (x *xmlScanner) startTag(tag []byte) markResult {
	if tag[len(tag)-1] == '/' {
		x.pending = true
		tag = tag[:len(tag)-1]
	}
	n := 0
	for n < len(tag) && !asciiSpace(tag[n]) && tag[n] != '/' {
		n++
	}
	if len(x.stack) >= x.maxDepth {
		x.pending = false
		x.eof = true
		x.pos = x.end
		x.err = limitExceeded("elements are nested deeper than %d levels", x.maxDepth)
		return markEnd
	}
	x.kind, x.name, x.text = xmlStart, x.intern(localName(tag[:n])), nil
	x.stack = append(x.stack, x.name)
	x.readAttrs(tag[n:])
	return markToken
}

func (x *xmlScanner) readAttrs(b []byte) {
	x.attrs = x.attrs[:0]
	for len(x.attrs) < xmlMaxAttrs {
		b = bytes.TrimLeft(b, " \t\r\n/")
		i := 0
		for i < len(b) && b[i] != '=' && !asciiSpace(b[i]) {
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
			for end < len(b) && !asciiSpace(b[end]) {
				end++
			}
			value, b = b[:end], b[end:]
		}
		prefix := ""
		local := localName(key)
		if len(local) < len(key) {
			prefix = x.intern(key[:len(key)-len(local)-1])
		}
		x.attrs = append(x.attrs, xmlAttr{prefix: prefix, name: x.intern(local), value: x.attrValue(value)})
	}
}

// attrValue copies a value; the frequent short ones are shared.
func (x *xmlScanner) attrValue(v []byte) string {
	if bytes.IndexByte(v, '&') < 0 {
		if len(v) <= 16 {
			return x.intern(v)
		}
		return string(v)
	}
	return string(x.unescape(v))
}

// attr returns the attribute of that name, whatever its prefix; one without prefix is preferred.
func (x *xmlScanner) attr(name string) string {
	found := ""
	for i := range x.attrs {
		if x.attrs[i].name == name {
			if x.attrs[i].prefix == "" {
				return x.attrs[i].value
			}
			if found == "" {
				found = x.attrs[i].value
			}
		}
	}
	return found
}

// attrNS returns the attribute of that name that has a prefix, as relationship ids do.
func (x *xmlScanner) attrNS(name string) string {
	for i := range x.attrs {
		if x.attrs[i].name == name && x.attrs[i].prefix != "" {
			return x.attrs[i].value
		}
	}
	return ""
}

// intern returns b as a string, the same one for the same bytes.
func (x *xmlScanner) intern(b []byte) string {
	if s, ok := x.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(x.names) < xmlMaxNames && len(s) <= 64 {
		x.names[s] = s
	}
	return s
}

// unescape decodes entities; without any it returns raw itself. The result is valid UTF-8 or as bad as raw.
func (x *xmlScanner) unescape(raw []byte) []byte {
	i := bytes.IndexByte(raw, '&')
	if i < 0 {
		return raw
	}
	out := x.scratch[:0]
	for i >= 0 {
		out = append(out, raw[:i]...)
		raw = raw[i:]
		end := bytes.IndexByte(head(raw, 16), ';')
		if end < 0 {
			out = append(out, '&')
			raw = raw[1:]
		} else if r, ok := xmlEntity(string(raw[1:end])); ok {
			out = utf8.AppendRune(out, r)
			raw = raw[end+1:]
		} else {
			// The names of HTML are known; those that the document declares stay as they are.
			name := string(raw[:end+1])
			text := html.UnescapeString(name)
			x.unexpanded = x.unexpanded || text == name && end > 1 && nameByte(name[1])
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
	return asciiLetter(rune(b)) || b == '_' || b == ':' || b >= utf8.RuneSelf
}

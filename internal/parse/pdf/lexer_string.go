package pdf

import "unsafe"

// unhex returns the value of a hexadecimal digit, or -1.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// hex reads a hexadecimal string. An odd last digit is read as if followed by 0.
func (l *lexer) hex() str {
	l.pos++
	var out []byte
	half := -1
	for l.pos < len(l.b) {
		c := l.b[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		d := unhex(c)
		switch {
		case d < 0:
		case half < 0:
			half = d
		default:
			out = append(out, byte(half<<4|d))
			half = -1
		}
	}
	if half >= 0 {
		out = append(out, byte(half<<4))
	}
	return str(out)
}

// literal reads a string in parentheses with its escapes.
func (l *lexer) literal() str {
	l.pos++
	start := l.pos
	for i := start; i < len(l.b); i++ { // the common case is one slice without escapes
		c := l.b[i]
		if c == ')' {
			l.pos = i + 1
			if l.content {
				return str(unsafe.String(unsafe.SliceData(l.b[start:i]), i-start))
			}
			return str(l.b[start:i])
		}
		if c == '\\' || c == '(' || c == '\r' {
			break
		}
	}
	var out []byte
	for open := 1; l.pos < len(l.b); {
		c := l.b[l.pos]
		l.pos++
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return str(out)
			}
		case '\r':
			if l.pos < len(l.b) && l.b[l.pos] == '\n' {
				l.pos++
			}
			c = '\n'
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, c)
	}
	return str(out)
}

// escape appends the bytes that the escape after a backslash encodes.
func (l *lexer) escape(out []byte) []byte {
	if l.pos >= len(l.b) {
		return out
	}
	c := l.b[l.pos]
	l.pos++
	switch c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case '\r':
		if l.pos < len(l.b) && l.b[l.pos] == '\n' {
			l.pos++
		}
		return out
	case '\n':
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	v := int(c - '0')
	for n := 1; n < 3 && l.pos < len(l.b) && '0' <= l.b[l.pos] && l.b[l.pos] <= '7'; n++ {
		v = v<<3 | int(l.b[l.pos]-'0')
		l.pos++
	}
	return append(out, byte(v))
}

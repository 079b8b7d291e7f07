package mail

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// transferReader undoes the transfer encoding of a body on the way. What is damaged comes out as far as it goes.
func transferReader(h mailHeader, body []byte) io.Reader {
	switch transferEncoding(h) {
	case "base64":
		return &base64Reader{src: body, footer: true}
	case "quoted-printable":
		return &quotedReader{src: body}
	}
	return bytes.NewReader(body)
}

func transferEncoding(h mailHeader) string {
	return strings.ToLower(strings.TrimSpace(h.raw("content-transfer-encoding")))
}

func isBase64(h mailHeader) bool { return transferEncoding(h) == "base64" }

// junkInBase64 reports whether more than one in 50 signs of a body before its padding are none of base64.
func junkInBase64(body []byte) bool {
	digits, junk := 0, 0
	for _, c := range body {
		switch {
		case base64Digits[c]:
			digits++
		case c == '=':
			return junk*50 > digits
		case c > ' ':
			junk++
		}
	}
	return junk*50 > digits
}

// decodeTransfer is the same for a whole body; one that is not encoded is returned as it is.
func decodeTransfer(h mailHeader, body []byte) []byte {
	r := transferReader(h, body)
	switch r := r.(type) {
	case *bytes.Reader:
		return body
	case *base64Reader:
		r.footer = false
	}
	out := make([]byte, len(body)) // no encoding makes a body longer
	n, _ := io.ReadFull(r, out)
	return out[:n:n]
}

// base64Reader decodes base64 (RFC 2045, 6.8), leaving out whatever is no digit. What follows the padding is another
// run of digits, as programs write that encode in pieces.
type base64Reader struct {
	src    []byte
	footer bool // lines behind the padding that are not base64 are text, which mailing lists add
	digits [1024]byte
	out    [768]byte
	have   []byte // decoded and not yet read
	text   []byte // text behind it
}

// isBase64Line reports whether the first line of b holds nothing but digits and padding.
func isBase64Line(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	for _, c := range bytes.TrimRight(line, "= \t\r") {
		if !base64Digits[c] {
			return false
		}
	}
	return true
}

// base64Digits tells the digits.
var base64Digits = func() (t [256]bool) {
	for i := range t {
		c := byte(i)
		t[i] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
	}
	return t
}()

func (r *base64Reader) Read(p []byte) (int, error) {
	for len(r.have) == 0 {
		if len(r.src) == 0 {
			if len(r.text) == 0 {
				return 0, io.EOF
			}
			if c := copy(p, "\n"); c > 0 {
				r.have, r.text = r.text, nil
				return c, nil
			}
			return 0, nil
		}
		n, i := 0, 0
		for ; i < len(r.src) && n < len(r.digits); i++ {
			c := r.src[i]
			if base64Digits[c] {
				r.digits[n] = c
				n++
			} else if c == '=' {
				break
			}
		}
		r.src = r.src[i:]
		if len(r.src) > 0 && r.src[0] == '=' {
			r.src = bytes.TrimLeft(r.src, "= \t\r\n")
			if r.footer && !isBase64Line(r.src) {
				r.footer, r.text = false, r.src
				r.src = nil
			}
		}
		if n%4 == 1 {
			n--
		}
		size, _ := base64.RawStdEncoding.Decode(r.out[:], r.digits[:n])
		r.have = r.out[:size]
	}
	n := copy(p, r.have)
	r.have = r.have[n:]
	return n, nil
}

// quotedReader decodes quoted-printable (RFC 2045, 6.7). What is no escape is text.
type quotedReader struct {
	src  []byte
	line []byte // what is left of the current line
	end  []byte // the end of the current line, to be written behind it
}

func (r *quotedReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		switch {
		case len(r.line) > 0:
			n += r.decode(p[n:])
		case len(r.end) > 0:
			c := copy(p[n:], r.end)
			n, r.end = n+c, r.end[c:]
		case len(r.src) == 0:
			if n == 0 {
				return 0, io.EOF
			}
			return n, nil
		default:
			r.nextLine()
		}
	}
	return n, nil
}

// nextLine takes a line: white space at its end was added on the way, "=" there joins it to the next one.
func (r *quotedReader) nextLine() {
	size := bytes.IndexByte(r.src, '\n') + 1
	if size == 0 {
		size = len(r.src)
	}
	line := r.src[:size]
	r.src = r.src[size:]
	text := bytes.TrimRight(line, "\r\n")
	r.end = line[len(text):]
	r.line = bytes.TrimRight(text, " \t")
	if bytes.HasSuffix(r.line, []byte("=")) {
		r.line, r.end = r.line[:len(r.line)-1], nil
	}
}

// decode writes some of the line to p and returns how many bytes that were.
func (r *quotedReader) decode(p []byte) int {
	if r.line[0] != '=' {
		i := bytes.IndexByte(r.line, '=')
		if i < 0 {
			i = len(r.line)
		}
		n := copy(p, r.line[:i])
		r.line = r.line[n:]
		return n
	}
	if b, ok := clean.HexByte(r.line[1:]); ok {
		p[0] = b
		r.line = r.line[3:]
	} else {
		p[0] = '='
		r.line = r.line[1:]
	}
	return 1
}

package mail

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// transferReader decodes the transfer encoding of a body as a stream. It decodes damaged data as far as possible.
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

// decodeTransfer decodes the transfer encoding of a whole body. It returns a body without encoding as it is.
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

// base64Reader decodes base64 (RFC 2045, 6.8) and skips every byte that is not a digit.
// After padding, a new run of digits may follow, because some programs encode in pieces.
type base64Reader struct {
	src    []byte
	footer bool // treat lines after the padding that are not base64 as text, such as a mailing list footer
	digits [1024]byte
	out    [768]byte
	have   []byte // decoded and not yet read
	text   []byte // plain text that follows the encoded data
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

// base64Digits maps each byte to whether it is a base64 digit.
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

// quotedReader decodes quoted-printable (RFC 2045, 6.7). It passes through bytes that are not a valid escape.
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

// nextLine reads a line. It drops trailing white space, which mail transport may add. A trailing "=" joins the next line.
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

// decode writes some of the line to p and returns the number of bytes written.
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

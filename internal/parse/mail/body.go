package mail

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/markup"
)

// mailSample is the number of bytes of a body that the charset detection examines.
const mailSample = 1 << 20

// bodyCharset returns the encoding of a body, nil for UTF-8, and the length of its byte order mark.
// For a long body it examines the first part that has bytes beyond ASCII.
func (m *mailReader) bodyCharset(h mailHeader, body []byte, declared string) (encoding.Encoding, int, error) {
	size := min(len(body)+1, mailSample)
	if cap(m.sample) < size {
		m.sample = make([]byte, size)
	}
	r := transferReader(h, body)
	for first := true; ; first = false {
		n, err := io.ReadFull(r, m.sample[:size])
		sample := m.sample[:n]
		if first && charset.LooksBinary(clean.Head(sample, 64<<10)) {
			return nil, 0, document.Errorf(document.Malformed, "the text is binary data")
		}
		if err == nil && isASCII(sample) && bytes.IndexByte(sample, 0x1b) < 0 {
			continue
		}
		enc, skip := charset.Detect(sample, declared)
		if !first {
			skip = 0
		}
		return enc, skip, nil
	}
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// bodyReader returns a body as UTF-8.
func (m *mailReader) bodyReader(h mailHeader, body []byte, declared string) (io.Reader, error) {
	enc, skip, err := m.bodyCharset(h, body, declared)
	if err != nil {
		return nil, err
	}
	r := transferReader(h, body)
	if skip > 0 {
		if _, err := io.CopyN(io.Discard, r, int64(skip)); err != nil {
			return nil, err
		}
	}
	if enc != nil {
		r = transform.NewReader(r, enc.NewDecoder())
	}
	return r, nil
}

// plain writes a body of plain text.
func (m *mailReader) plain(h mailHeader, body []byte, params mailParams) {
	r, err := m.bodyReader(h, body, params.get("charset"))
	if err != nil {
		m.fault(err, "a part of the mail could not be read")
		return
	}
	before := len(m.out.Buf)
	m.block()
	start := len(m.out.Buf)
	m.out.Restart()
	if err := m.out.ReadAll(r); err != nil {
		m.fault(err, "a part of the mail could not be read")
	}
	m.out.Finish()
	if len(m.out.Buf) > m.out.Max {
		m.out.Buf = m.out.Buf[:len(clean.Cut(clean.String(m.out.Buf), m.out.Max))]
		m.full = true
	}
	text := m.trimmed(start)
	if bytes.Contains(text, []byte("-----BEGIN PGP MESSAGE-----")) {
		m.note("a part of the mail is encrypted or sealed, and could not be read")
	}
	if isFlowed(params) {
		text = unflow(text, isYes(params.get("delsp")))
	}
	if len(text) == 0 {
		m.out.Buf = m.out.Buf[:before]
		return
	}
	m.out.Buf = append(m.out.Buf[:start], text...)
}

// page writes a body of HTML.
func (m *mailReader) page(h mailHeader, body []byte, charset string) {
	if charset == "" {
		beginning := make([]byte, min(len(body), 4096))
		n, _ := io.ReadFull(transferReader(h, body), beginning)
		charset = markup.DeclaredCharset(beginning[:n])
	}
	r, err := m.bodyReader(h, body, charset)
	if err == nil {
		var doc *document.Document
		if doc, err = markup.ReadHTML(m.ctx, r, m.rest(), min(len(body), 1<<20), false); err == nil {
			if text := strings.TrimSpace(doc.Text); text != "" {
				m.block()
				m.put(text)
			}
			m.full = m.full || doc.Partial != ""
			return
		}
	}
	m.fault(err, "a part of the mail could not be read")
}

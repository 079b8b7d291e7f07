// Package mail reads mails and mailboxes.
package mail

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/text"
)

// Reader reads attachments of any type. The parser registry implements it.
type Reader interface {
	document.Parser
	// Supported reports whether a parser may read a file of that name and type.
	Supported(name, contentType string) bool
}

// Parser reads mails (RFC 5322, MIME). Attachments go through Files.
type Parser struct{ Files Reader }

// Bounds on the structure of a mail.
const (
	maxMailDepth  = 8
	maxMailParts  = 500
	maxMailHeader = 1 << 20
	maxMails      = 100_000
	// maxLine is far longer than the first line of a header.
	maxLine = 16 << 10
	// maxEpilogue is the size of text behind the last part that is not told. Mailing lists add lines there that no reader shows.
	maxEpilogue = 1 << 10
)

// Parse reads one mail.
func (p Parser) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	m := p.reader(ctx, lim, len(in.Data))
	doc := &document.Document{Markdown: true}
	data := in.Data
	if !bytes.Contains(clean.Head(data, maxLine), []byte("\n")) {
		data = lineEnds(data)
	}
	head, body := splitHeader(bytes.TrimLeft(data, "\r\n\xef\xbb\xbf"))
	if len(head) == 0 {
		doc, err := text.Parse(ctx, in, lim)
		if err == nil {
			doc.AddPartial("not a mail: it has no header, and was kept as plain text")
		}
		return doc, err
	}
	m.mail(head, body, doc, 0)
	return m.finish(doc)
}

// mailReader writes mails as text. Its depth counts nested mails and attachments.
type mailReader struct {
	ctx     context.Context
	lim     document.Limits
	files   Reader
	out     output.Collector
	sample  []byte       // space for the beginning of a body
	headers []mailHeader // space for headers
	body    int          // where the body of the current mail begins in out
	parts   int
	depth   int
	pages   []document.Page
	full    bool
	partial []string
	err     error
}

func (p Parser) reader(ctx context.Context, lim document.Limits, size int) *mailReader {
	m := &mailReader{ctx: ctx, lim: lim, files: p.Files, depth: mailDepth(ctx)}
	m.out.Max = int(min(lim.MaxOutput, 1<<30))
	m.out.Buf = make([]byte, 0, min(size, m.out.Max+output.Piece))
	return m
}

func (m *mailReader) finish(doc *document.Document) (*document.Document, error) {
	if m.err != nil {
		return nil, m.err
	}
	doc.Text = clean.String(m.trimmed(0))
	doc.Pages = m.pages
	if m.full {
		doc.AddPartial(output.LimitReason(m.lim.MaxOutput))
	}
	for _, p := range m.partial {
		doc.AddPartial(p)
	}
	return doc, nil
}

// depthKey is the context key of the nesting depth of mails and attachments. The depth must survive a call of the registry.
type depthKey struct{}

func mailDepth(ctx context.Context) int {
	n, _ := ctx.Value(depthKey{}).(int)
	return n
}

// put writes s within the limit.
func (m *mailReader) put(s string) {
	if left := m.out.Max - len(m.out.Buf); len(s) > left {
		s = clean.Cut(s, max(0, left))
		m.full = true
	}
	m.out.Grow(len(s))
	m.out.Buf = append(m.out.Buf, s...)
}

// trimmed returns the text written since start, without white space around it.
func (m *mailReader) trimmed(start int) []byte { return bytes.TrimSpace(m.out.Buf[start:]) }

// block begins a new paragraph.
func (m *mailReader) block() {
	if len(m.out.Buf) > 0 {
		m.put("\n\n")
	}
}

// mailShown lists the header fields that the text shows, with their labels.
var mailShown = []mailField{{"from", "From"}, {"to", "To"}, {"cc", "Cc"}, {"date", "Date"}}

// mail writes one mail: subject, correspondents, text, attachments. It returns the subject, which may share the memory of head.
// It sets all fields of doc unless doc is nil.
func (m *mailReader) mail(head, body []byte, doc *document.Document, level int) (subject string) {
	start := len(m.out.Buf)
	h := m.header(head)
	defer m.free(h)
	subject = h.text("subject")
	if subject != "" {
		m.block()
		m.put("##"[:min(level, 1)+1])
		m.put(" ")
		m.put(subject)
	}
	first := true
	for _, f := range mailShown {
		v := h.text(f.name)
		if v == "" {
			continue
		}
		if first {
			m.block()
		} else {
			m.put("\n")
		}
		first = false
		m.put(f.value)
		m.put(": ")
		m.put(v)
		if doc != nil {
			output.SetMeta(doc, f.name, strings.Clone(v))
		}
	}
	if doc != nil {
		doc.Title, doc.Author = strings.Clone(subject), strings.Clone(h.text("from"))
		doc.Created = mailDate(h.text("date"))
		doc.Language = strings.Clone(h.text("content-language"))
		output.SetMeta(doc, "message-id", strings.Clone(h.raw("message-id")))
		output.SetMeta(doc, "in-reply-to", strings.Clone(h.raw("in-reply-to")))
	}
	before := len(m.out.Buf)
	m.body = before
	m.part(h, body, level)
	if len(m.out.Buf) == before && level == 0 && subject == "" {
		m.out.Buf = m.out.Buf[:start] // a header without a body gives no text
	}
	return subject
}

// part writes one MIME part.
func (m *mailReader) part(h mailHeader, body []byte, level int) {
	if m.full || m.err != nil {
		return
	}
	if m.err = m.ctx.Err(); m.err != nil {
		return
	}
	if m.parts++; m.parts > maxMailParts {
		m.note("the mail has more than " + strconv.Itoa(maxMailParts) + " parts")
		return
	}
	mediaType, params := h.contentType()
	name := h.fileName(params)
	m.missing(h, mediaType, body)
	if mediaType == "multipart/encrypted" || sealedTypes[mediaType] && !strings.Contains(params.get("smime-type"), "certs-only") {
		m.note("a part of the mail is encrypted or sealed, and could not be read")
	}
	disposition, _, _ := strings.Cut(strings.ToLower(h.raw("content-disposition")), ";")
	attached := strings.TrimSpace(disposition) == "attachment"
	switch {
	case strings.HasPrefix(mediaType, "multipart/"):
		m.multipart(mediaType, params.get("boundary"), body, level)
	case mediaType == media.EML || mediaType == "message/global":
		if m.depth+level >= maxMailDepth {
			m.note("mails are nested too deep")
			return
		}
		head, inner := splitHeader(decodeTransfer(h, body))
		if len(head) > 0 {
			m.mail(head, inner, nil, level+1)
		}
	case !attached && unreadTypes[mediaType]:
	case attached || name != "" && mediaType != media.Text && mediaType != media.HTML:
		m.attachment(name, mediaType, params.get("charset"), decodeTransfer(h, body))
	case mediaType == media.HTML:
		m.page(h, body, params.get("charset"))
	case mediaType == "text/calendar" && len(m.out.Buf) > m.body:
	case strings.HasPrefix(mediaType, "text/"), strings.HasPrefix(mediaType, "message/"):
		m.plain(h, body, params)
	case name != "":
		m.attachment(name, mediaType, params.get("charset"), decodeTransfer(h, body))
	}
}

// sealedTypes lists the media types in which S/MIME wraps a whole mail (RFC 8551).
var sealedTypes = map[string]bool{"application/pkcs7-mime": true, "application/x-pkcs7-mime": true}

// unreadTypes lists the types of parts that mail programs do not show: styles and scripts of a web archive, AMP pages and the like.
var unreadTypes = map[string]bool{
	"text/x-amp-html": true, "text/css": true, "text/javascript": true, "application/javascript": true,
	"application/x-javascript": true, "text/ecmascript": true,
}

func withCharset(mediaType, charset string) string {
	if charset == "" {
		return mediaType
	}
	return mime.FormatMediaType(mediaType, map[string]string{"charset": charset})
}

// rest returns the limits, with MaxOutput reduced to the remaining output.
func (m *mailReader) rest() document.Limits {
	lim := m.lim
	lim.MaxOutput = max(1, lim.MaxOutput-int64(len(m.out.Buf)))
	return lim
}

// fault records why a part is missing. Cancellation of the context ends the whole mail instead.
func (m *mailReader) fault(err error, reason string) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		m.err = err
		return
	}
	m.note(reason)
}

func (m *mailReader) note(reason string) {
	if len(m.partial) < 20 {
		m.partial = append(m.partial, reason)
	}
}

// attachment writes a heading with the name, and the text where the registry can read it.
func (m *mailReader) attachment(name, mediaType, charset string, data []byte) {
	m.block()
	name = clean.OneLine(name)
	m.put("## Attachment: " + clean.FirstOf(name, mediaType))
	if len(data) == 0 || m.depth >= maxMailDepth || !m.files.Supported(name, mediaType) {
		return
	}
	lim := m.rest()
	lim.Timeout = -1 // the timeout of the mail applies
	ctx := context.WithValue(m.ctx, depthKey{}, m.depth+1)
	if mediaType == media.Binary || charset == "" {
		charset = ""
	}
	doc, err := m.files.Parse(ctx, document.Input{Name: name, ContentType: withCharset(mediaType, charset), Data: data}, lim)
	if err != nil {
		var e *document.Error
		if errors.As(err, &e) && (e.Kind == document.Unsupported || e.Kind == document.NoText) {
			if media.Ext(name) == "pdf" || mediaType == media.PDF {
				m.note("an attachment could not be read: " + e.Message())
			}
			return // only its name is written
		}
		m.fault(err, "an attachment could not be read")
		return
	}
	m.put("\n\n")
	m.put(doc.Text)
	if doc.Partial != "" {
		m.note("an attachment is incomplete: " + doc.Partial)
	}
}

// multipart writes the parts. From alternatives it chooses the plain text, unless only another alternative has words.
func (m *mailReader) multipart(mediaType, boundary string, body []byte, level int) {
	if level >= maxMailDepth {
		m.note("parts are nested too deep")
		return
	}
	parts, complete, after := splitParts(body, boundary)
	if !complete {
		m.note("the mail ends too early")
	}
	if words := bytes.TrimSpace(after); len(words) >= maxEpilogue {
		m.note("text behind the last part of the mail was left out")
	}
	if len(parts) == 0 { // the body has no boundary line
		parts = []mailPart{append([]byte("\n"), body...)}
	}
	if mediaType != "multipart/alternative" {
		for _, p := range parts {
			h, inner := m.split(p)
			m.part(h, inner, level+1)
			m.free(h)
		}
		return
	}
	// The richest alternative comes last, the plainest first.
	for pass := range 2 {
		for i := range parts {
			h, inner := m.split(parts[i])
			mt, _ := h.contentType()
			before := len(m.out.Buf)
			if plain := mt == media.Text; plain == (pass == 0) {
				m.part(h, inner, level+1)
			}
			m.free(h)
			if len(m.out.Buf) > before {
				return
			}
		}
	}
}

// mailPart is the unparsed header and body of a part.
type mailPart []byte

func (m *mailReader) split(p mailPart) (mailHeader, []byte) {
	if len(p) > 0 && (p[0] == '\n' || p[0] == '\r') {
		return mailHeader{}, bytes.TrimPrefix(bytes.TrimPrefix(p, []byte("\r")), []byte("\n"))
	}
	head, body := splitHeader(p)
	return m.header(head), body
}

// header reads a header. free releases the memory of the header for reuse.
func (m *mailReader) header(head []byte) mailHeader {
	var space mailHeader
	if n := len(m.headers); n > 0 {
		space, m.headers = m.headers[n-1], m.headers[:n-1]
	}
	return parseMailHeader(head, space)
}

func (m *mailReader) free(h mailHeader) {
	clear(h)
	m.headers = append(m.headers, h)
}

// splitParts cuts a multipart body at its boundary lines. Without an end line the last part extends to the end.
// after is what follows the end line.
func splitParts(body []byte, boundary string) (parts []mailPart, complete bool, after []byte) {
	if boundary == "" {
		return []mailPart{append([]byte("\n"), body...)}, false, nil
	}
	mark := []byte("--" + boundary)
	start := -1
	for pos := 0; pos < len(body) && len(parts) < maxMailParts; {
		i := bytes.Index(body[pos:], mark)
		if i < 0 {
			break
		}
		at := pos + i
		pos = at + len(mark)
		if at > 0 && body[at-1] != '\n' {
			continue
		}
		rest := body[pos:]
		last := bytes.HasPrefix(rest, []byte("--"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if !last && len(bytes.TrimSpace(line)) > 0 {
			continue // a longer boundary with the same prefix
		}
		if start >= 0 {
			parts = append(parts, mailPart(trimLineEnd(body[start:at])))
		}
		pos = min(len(body), pos+len(line)+1)
		start = pos
		if last {
			return parts, true, body[start:]
		}
	}
	if start >= 0 && start < len(body) {
		parts = append(parts, mailPart(body[start:]))
	}
	return parts, false, nil
}

func trimLineEnd(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

func mailDate(s string) time.Time {
	if t, err := mail.ParseDate(s); err == nil {
		return t.UTC()
	}
	t := clean.Time(s)
	if t.IsZero() {
		// A comment in parentheses may follow.
		if i := strings.LastIndexByte(s, '('); i > 0 {
			t = clean.Time(s[:i])
		}
	}
	return t
}

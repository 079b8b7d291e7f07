package parse

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"
)

// mailParser reads mails (RFC 5322, MIME) and mailboxes (RFC 4155). Attachments go through the registry.
type mailParser struct{ registry *Registry }

// Bounds on the structure of a mail.
const (
	maxMailDepth  = 8
	maxMailParts  = 500
	maxMailHeader = 1 << 20
	maxMails      = 100_000
)

// Parse reads one mail.
func (p mailParser) Parse(ctx context.Context, in Input, lim Limits) (*Document, error) {
	m := p.reader(ctx, lim)
	doc := &Document{Markdown: true}
	head, body := splitHeader(bytes.TrimLeft(in.Data, "\r\n\xef\xbb\xbf"))
	if len(head) == 0 {
		return nil, malformed("not a mail: it has no header")
	}
	m.mail(head, body, doc, 0)
	return m.finish(doc)
}

// mailReader writes mails; the depth counts mails inside mails and attachments.
type mailReader struct {
	ctx      context.Context
	lim      Limits
	registry *Registry
	out      strings.Builder
	parts    int
	depth    int
	pages    []Page
	full     bool
	partial  []string
	err      error
}

func (p mailParser) reader(ctx context.Context, lim Limits) *mailReader {
	return &mailReader{ctx: ctx, lim: lim, registry: p.registry, depth: mailDepth(ctx)}
}

func (m *mailReader) finish(doc *Document) (*Document, error) {
	if m.err != nil {
		return nil, m.err
	}
	doc.Text = strings.TrimSpace(m.out.String())
	doc.Pages = m.pages
	if m.full {
		doc.addPartial(outputLimitReason(m.lim.MaxOutput))
	}
	for _, p := range m.partial {
		doc.addPartial(p)
	}
	return doc, nil
}

// depthKey carries how deep mails and attachments are nested, through the registry and back.
type depthKey struct{}

func mailDepth(ctx context.Context) int {
	n, _ := ctx.Value(depthKey{}).(int)
	return n
}

// put writes within the limit.
func (m *mailReader) put(s string) {
	if left := int(m.lim.MaxOutput) - m.out.Len(); len(s) > left {
		s = cutRune(s, max(0, left))
		m.full = true
	}
	if len(s) > 1<<20 {
		m.out.Grow(len(s)) // the builder's own growth would take more
	}
	m.out.WriteString(s)
}

// block begins a new paragraph.
func (m *mailReader) block() {
	if m.out.Len() > 0 {
		m.put("\n\n")
	}
}

// mail writes one mail: subject, correspondents, text, attachments. doc gets its fields; nested mails pass nil.
func (m *mailReader) mail(head, body []byte, doc *Document, level int) {
	h := parseMailHeader(head)
	subject := h.text("subject")
	if subject != "" {
		m.block()
		m.put(strings.Repeat("#", min(level, 1)+1) + " " + subject)
	}
	var fields []string
	for _, f := range []string{"from", "to", "cc", "date"} {
		if v := h.text(f); v != "" {
			fields = append(fields, strings.ToUpper(f[:1])+f[1:]+": "+v)
			if doc != nil {
				doc.setMeta(f, v)
			}
		}
	}
	if len(fields) > 0 {
		m.block()
		m.put(strings.Join(fields, "\n"))
	}
	if doc != nil {
		doc.Title, doc.Author = subject, h.text("from")
		doc.Created = mailDate(h.text("date"))
		doc.Language = h.text("content-language")
		doc.setMeta("message-id", h.raw("message-id"))
		doc.setMeta("in-reply-to", h.raw("in-reply-to"))
	}
	before := m.out.Len()
	m.part(h, body, level)
	if m.out.Len() == before && level == 0 && doc != nil && subject == "" {
		m.out.Reset() // a header alone is no text
	}
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
		m.note("the mail has more than " + itoa(maxMailParts) + " parts")
		return
	}
	mediaType, params := h.contentType()
	name := h.fileName(params)
	disposition, _, _ := strings.Cut(strings.ToLower(h.raw("content-disposition")), ";")
	attached := strings.TrimSpace(disposition) == "attachment"
	switch {
	case strings.HasPrefix(mediaType, "multipart/"):
		m.multipart(mediaType, params["boundary"], body, level)
	case mediaType == typeEML || mediaType == "message/global":
		if m.depth+level >= maxMailDepth {
			m.note("mails are nested too deep")
			return
		}
		head, inner := splitHeader(decodeTransfer(h, body))
		if len(head) > 0 {
			m.mail(head, inner, nil, level+1)
		}
	case attached || name != "" && mediaType != typeText && mediaType != typeHTML:
		m.attachment(name, mediaType, params["charset"], decodeTransfer(h, body))
	case mediaType == typeHTML:
		m.inline(Input{ContentType: withCharset(typeHTML, params["charset"]), Data: decodeTransfer(h, body)}, parseHTML)
	case strings.HasPrefix(mediaType, "text/"), strings.HasPrefix(mediaType, "message/"):
		data := decodeTransfer(h, body)
		if mediaType == "text/calendar" || mediaType == "text/x-amp-html" {
			return
		}
		m.inline(Input{ContentType: withCharset(typeText, params["charset"]), Data: data}, parseText)
	case name != "":
		m.attachment(name, mediaType, params["charset"], decodeTransfer(h, body))
	}
}

func withCharset(mediaType, charset string) string {
	if charset == "" {
		return mediaType
	}
	return mime.FormatMediaType(mediaType, map[string]string{"charset": charset})
}

// inline writes a body.
func (m *mailReader) inline(in Input, parse ParserFunc) {
	doc, err := parse(m.ctx, in, m.rest())
	if err != nil {
		m.fault(err, "a part of the mail could not be read")
		return
	}
	if text := strings.TrimSpace(doc.Text); text != "" {
		m.block()
		m.put(text)
	}
}

// rest returns the limits with what is left of the output.
func (m *mailReader) rest() Limits {
	lim := m.lim
	lim.MaxOutput = max(1, lim.MaxOutput-int64(m.out.Len()))
	return lim
}

// fault notes why a part is missing; cancellation ends the whole.
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
	name = oneLine(name)
	m.put("## Attachment: " + firstOf(name, mediaType))
	if len(data) == 0 || m.depth >= maxMailDepth || !m.registry.Supported(name, mediaType) {
		return
	}
	lim := m.rest()
	lim.Timeout = -1 // the mail's own runs
	ctx := context.WithValue(m.ctx, depthKey{}, m.depth+1)
	if mediaType == typeBinary || charset == "" {
		charset = ""
	}
	doc, err := m.registry.Parse(ctx, Input{Name: name, ContentType: withCharset(mediaType, charset), Data: data}, lim)
	if err != nil {
		var e *Error
		if errors.As(err, &e) && (e.Kind == Unsupported || e.Kind == NoText) {
			return // its name is all that there is
		}
		m.fault(err, "an attachment could not be read")
		return
	}
	m.put("\n\n" + doc.Text)
	if doc.Partial != "" {
		m.note("an attachment is incomplete: " + doc.Partial)
	}
}

// multipart writes the parts; of alternatives the plain text is taken, unless only another has words.
func (m *mailReader) multipart(mediaType, boundary string, body []byte, level int) {
	if level >= maxMailDepth {
		m.note("parts are nested too deep")
		return
	}
	parts, complete := splitParts(body, boundary)
	if !complete {
		m.note("the mail ends too early")
	}
	if mediaType != "multipart/alternative" {
		for _, p := range parts {
			h, inner := p.split()
			m.part(h, inner, level+1)
		}
		return
	}
	// The richest alternative stands last, the plainest first.
	for pass := range 2 {
		for i := range parts {
			h, inner := parts[i].split()
			mt, _ := h.contentType()
			if plain := mt == typeText; plain != (pass == 0) {
				continue
			}
			before := m.out.Len()
			m.part(h, inner, level+1)
			if m.out.Len() > before {
				return
			}
		}
	}
}

// mailPart is the header and body of a part, not yet taken apart.
type mailPart []byte

func (p mailPart) split() (mailHeader, []byte) {
	if len(p) > 0 && (p[0] == '\n' || p[0] == '\r') {
		return mailHeader{}, bytes.TrimPrefix(bytes.TrimPrefix(p, []byte("\r")), []byte("\n"))
	}
	head, body := splitHeader(p)
	return parseMailHeader(head), body
}

// splitParts cuts a multipart body at its boundary lines. Without an end line the last part goes to the end.
func splitParts(body []byte, boundary string) (parts []mailPart, complete bool) {
	if boundary == "" {
		return []mailPart{append([]byte("\n"), body...)}, false
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
			continue // a longer boundary that begins alike
		}
		if start >= 0 {
			parts = append(parts, mailPart(trimLineEnd(body[start:at])))
		}
		pos = min(len(body), pos+len(line)+1)
		start = pos
		if last {
			return parts, true
		}
	}
	if start >= 0 && start < len(body) {
		parts = append(parts, mailPart(body[start:]))
	}
	return parts, false
}

func trimLineEnd(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

// decodeTransfer undoes the transfer encoding; what is damaged is kept up to the damage.
func decodeTransfer(h mailHeader, body []byte) []byte {
	switch strings.ToLower(strings.TrimSpace(h.raw("content-transfer-encoding"))) {
	case "base64":
		return decodeBase64(body)
	case "quoted-printable":
		out, _ := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		if len(out) < len(body)/4 && len(body) > 64 {
			return body // not encoded after all
		}
		return out
	}
	return body
}

// decodeBase64 decodes in small steps, leaving out whatever is no digit.
func decodeBase64(body []byte) []byte {
	out := make([]byte, 0, len(body)/4*3+3)
	digits := make([]byte, 0, 4096)
	flush := func() {
		if len(digits)%4 == 1 {
			digits = digits[:len(digits)-1]
		}
		out, _ = base64.RawStdEncoding.AppendDecode(out, digits)
		digits = digits[:0]
	}
	for _, b := range body {
		if asciiLetter(rune(b)) || b >= '0' && b <= '9' || b == '+' || b == '/' {
			if digits = append(digits, b); len(digits) == cap(digits) {
				flush()
			}
		}
	}
	flush()
	return out
}

func mailDate(s string) time.Time {
	if t, err := mail.ParseDate(s); err == nil {
		return t.UTC()
	}
	t := parseTime(s)
	if t.IsZero() {
		// A remark in brackets may follow.
		if i := strings.LastIndexByte(s, '('); i > 0 {
			t = parseTime(s[:i])
		}
	}
	return t
}

package imap

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-message"
	"github.com/emersion/go-message/charset"
	gomail "github.com/emersion/go-message/mail"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/content"
)

type (
	goimapUID  = imapclient.FetchItemDataUID
	goimapBody = imapclient.FetchItemDataBodySection
)

// Limits of one item.
const (
	maxTextBytes   = 1 << 20 // of the body, and of each attachment
	maxAttachments = 50
	maxParts       = 500
	maxDepth       = 16
	maxAddresses   = 100
	maxIDBytes     = 512
	maxSubject     = 1000
)

var words = &mime.WordDecoder{CharsetReader: charset.Reader}

// body collects the parts of a mail.
type body struct {
	y        *syncing
	body     []string
	size     int // of body
	attached []map[string]any
	parts    int
	partial  bool
}

// item converts a mail to an app item. The only error is the context's.
func (y *syncing) item(m *mail) (*content.AppItem, error) {
	c := &body{y: y, partial: m.cut}
	e, err := message.Read(bytes.NewReader(m.body))
	if e == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		e = &message.Entity{Body: bytes.NewReader(m.body)} // without a readable header the whole mail is text
		err = nil
	}
	if err := c.part(e, err, 0); err != nil {
		return nil, err
	}
	h := gomail.Header{Header: e.Header}
	at := m.at
	if d, err := h.Date(); err == nil && !d.IsZero() {
		at = d
	}
	stamp := ""
	if !at.IsZero() {
		stamp = at.UTC().Format(time.RFC3339)
	}
	subject := clip(oneLine(decode(e.Header.Get("Subject"))), maxSubject)
	if subject == "" {
		subject = "(no subject)"
	}
	account, uid := y.account.user, y.external(m.uid)
	id := messageID(h, "Message-Id")
	if id == "" {
		id = y.r.ResourceID + "/" + uid
	}
	replyTo := messageID(h, "In-Reply-To")
	thread := firstOf(messageID(h, "References"), replyTo, id)
	if replyTo == "" {
		if refs := messageIDs(h, "References"); len(refs) > 0 {
			replyTo = refs[len(refs)-1]
		}
	}
	fields := map[string]any{"kind": string(content.AppEmail), "subject": subject, "body": strings.Join(c.body, "\n\n"), "thread_id": thread}
	extra := map[string]any{"account_email": account, "mailbox": y.r.ResourceID, "message_id": id, "uid": uid}
	if replyTo != "" && replyTo != id {
		fields["reply_to_id"] = replyTo
	}
	if stamp != "" {
		fields["created_at"] = stamp
	}
	if from := addresses(h, "From"); len(from) > 0 {
		fields["from"] = from[0]
		if l, err := h.AddressList("From"); err == nil && len(l) > 0 {
			extra["from"] = clip(strings.ToLower(l[0].Address), maxIDBytes)
		}
	}
	for _, f := range []string{"To", "Cc", "Bcc"} {
		if l := addresses(h, f); len(l) > 0 {
			fields[strings.ToLower(f)] = l
		}
	}
	if c.partial {
		extra["truncated"] = true
	}
	return &content.AppItem{Title: subject, Type: y.p.cfg.Name, Kind: content.AppEmail, Provider: y.p.cfg.Name, ExternalID: id, ThreadID: thread,
		Timestamp: stamp, Fields: fields, Attachments: c.attached, Additional: extra,
		Metadata: map[string]any{"container_type": TypeMailbox, "container_id": y.r.ResourceID, "container_name": y.r.ResourceID, "object_type": "email"},
	}, nil
}

// part reads one MIME part. reason says why its text could not be decoded.
func (c *body) part(e *message.Entity, reason error, depth int) error {
	if err := c.y.ctx.Err(); err != nil {
		return err
	}
	if c.parts++; c.parts > maxParts || depth > maxDepth {
		c.partial = true
		return nil
	}
	mediaType, params, err := e.Header.ContentType()
	if err != nil || mediaType == "" {
		mediaType = "text/plain"
	}
	disposition, dparams, _ := e.Header.ContentDisposition()
	name := oneLine(decode(firstOf(dparams["filename"], params["name"])))
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if mr := e.MultipartReader(); mr != nil {
		if mediaType == "multipart/alternative" {
			return c.alternatives(mr, depth)
		}
		return c.each(mr, func(p *message.Entity, reason error) (bool, error) { return true, c.part(p, reason, depth+1) })
	}
	if message.IsUnknownCharset(reason) {
		mediaType = mime.FormatMediaType(mediaType, params) // the parser may know the charset
	} else if params["charset"] != "" {
		mediaType = mime.FormatMediaType(mediaType, map[string]string{"charset": "utf-8"})
	}
	base, _, _ := strings.Cut(mediaType, ";")
	if disposition != "attachment" && (base == "text/plain" || base == "text/html" && name == "") {
		data, err := io.ReadAll(e.Body)
		c.partial = c.partial || err != nil
		return c.text(data, mediaType)
	}
	if base == "text/calendar" && disposition != "attachment" {
		return nil // another part of the mail has the same content as text
	}
	return c.attachment(e.Body, firstOf(name, base), mediaType)
}

// each calls f with each part until f reports that it is done. A damaged mail ends the listing, and each notes the damage.
func (c *body) each(mr message.MultipartReader, f func(p *message.Entity, reason error) (bool, error)) error {
	for {
		p, err := mr.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if p == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
			c.partial = true
			return nil
		}
		if more, err := f(p, err); err != nil || !more {
			return err
		}
	}
}

// alternatives takes the plain-text part, or else another part with text. It buffers the parts until it can decide.
func (c *body) alternatives(mr message.MultipartReader, depth int) error {
	var others []*body
	done := false
	err := c.each(mr, func(p *message.Entity, reason error) (bool, error) {
		own := &body{y: c.y, parts: c.parts}
		if err := own.part(p, reason, depth+1); err != nil {
			return false, err
		}
		c.parts = own.parts
		t, _, _ := p.Header.ContentType()
		if t == "" || t == "text/plain" {
			done = own.size > 0
		}
		if done {
			others = []*body{own}
			return false, nil
		}
		others = append(others, own)
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.size == 0 && len(o.attached) == 0 {
			continue
		}
		c.body, c.size, c.attached, c.partial = append(c.body, o.body...), c.size+o.size, append(c.attached, o.attached...), c.partial || o.partial
		return nil
	}
	return nil
}

// text appends to the body.
func (c *body) text(data []byte, mediaType string) error {
	text, _, err := c.parse("", mediaType, data)
	if err != nil {
		return err
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	if short := clip(text, maxTextBytes-c.size); short != text {
		text, c.partial = short, true
	}
	c.body, c.size = append(c.body, text), c.size+len(text)
	return nil
}

// attachment adds a file, with its text if the service can parse its type.
func (c *body) attachment(body io.Reader, name, mediaType string) error {
	if len(c.attached) >= maxAttachments {
		c.partial = true
		return nil
	}
	base, _, _ := strings.Cut(mediaType, ";")
	a := map[string]any{"title": clip(name, maxSubject), "content_type": base}
	c.attached = append(c.attached, a)
	data, err := io.ReadAll(body)
	c.partial = c.partial || err != nil
	a["size_bytes"] = len(data)
	if len(data) == 0 || c.y.r.Supported != nil && !c.y.r.Supported(name, base) {
		return nil
	}
	text, markdown, err := c.parse(name, mediaType, data)
	if err != nil {
		return err
	}
	if text = clip(strings.TrimSpace(text), maxTextBytes); text == "" {
		return nil
	}
	kind := "text"
	if markdown {
		kind = "markdown"
	}
	a["content"] = map[string]any{kind: text}
	return nil
}

// parse parses a part with the service's parsers. An unreadable part has no text. The only error is the context's.
func (c *body) parse(name, mediaType string, data []byte) (text string, markdown bool, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return "", false, nil
	}
	if c.y.r.Parse == nil {
		if strings.HasPrefix(mediaType, "text/") {
			return strings.ToValidUTF8(string(data), "\uFFFD"), false, nil
		}
		return "", false, nil
	}
	doc, err := c.y.r.Parse(c.y.ctx, connector.ParseInput{Name: name, ContentType: mediaType, Data: data})
	if err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return "", false, c.y.ctx.Err()
		}
		c.partial = c.partial || name == ""
		return "", false, nil
	}
	c.partial = c.partial || doc.Partial != ""
	return doc.Text, doc.Markdown, nil
}

// decode decodes RFC 2047 encoded words and replaces invalid UTF-8.
func decode(s string) string {
	if d, err := words.DecodeHeader(s); err == nil {
		s = d
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// messageIDs returns the well-formed Message-IDs of a header field, without brackets.
func messageIDs(h gomail.Header, field string) []string {
	var ids []string
	for rest := h.Get(field); ; {
		_, after, ok := strings.Cut(rest, "<")
		if !ok {
			return ids
		}
		id, next, ok := strings.Cut(after, ">")
		if !ok {
			return ids
		}
		if id = strings.Join(strings.Fields(id), ""); id != "" && len(id) <= maxIDBytes && utf8.ValidString(id) && !strings.ContainsRune(id, 0) {
			ids = append(ids, id)
		}
		rest = next
	}
}

// messageID returns the first Message-ID of a header field.
func messageID(h gomail.Header, field string) string {
	if ids := messageIDs(h, field); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// addresses returns the correspondents in a header field as "Name <address>".
func addresses(h gomail.Header, field string) []any {
	list, err := h.AddressList(field)
	if err != nil { // keep the readable text
		if s := clip(oneLine(decode(h.Get(field))), maxIDBytes); s != "" {
			return []any{s}
		}
		return nil
	}
	var out []any
	for _, a := range list[:min(len(list), maxAddresses)] {
		s := a.Address
		if n := oneLine(strings.ToValidUTF8(a.Name, "\uFFFD")); n != "" {
			s = n + " <" + s + ">"
		}
		out = append(out, clip(s, maxIDBytes))
	}
	return out
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\x00", "")), " ")
}

func firstOf(ss ...string) string {
	for _, s := range ss {
		if s != "" {
			return s
		}
	}
	return ""
}

// clip cuts a text at a rune boundary.
func clip(s string, n int) string {
	if len(s) <= max(n, 0) {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

package mail

import (
	"bytes"
	"context"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
)

// MboxParser reads mailboxes: mails one after another, each behind a line that begins with "From ".
type MboxParser struct{ Parser }

// Parse reads a mailbox; each mail is a page.
func (p MboxParser) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	m := p.reader(ctx, lim, len(in.Data))
	doc := &document.Document{Markdown: true}
	data := in.Data
	if bytes.Contains(data, []byte("\rFrom ")) || !bytes.Contains(clean.Head(data, maxLine), []byte("\n")) {
		data = lineEnds(data)
	}
	if !bytes.HasSuffix(data, []byte("\n")) {
		m.note("the mailbox ends within a line, and may be cut off")
	}
	first := true
	for n := 0; len(data) > 0 && n < maxMails && !m.full && m.err == nil; n++ {
		var mail []byte
		mail, data = nextMail(data)
		if len(bytes.TrimSpace(mail)) == 0 {
			continue
		}
		head, body := splitHeader(bytes.TrimLeft(mail, "\r\n"))
		if len(head) == 0 {
			continue
		}
		into := doc
		if !first {
			into = nil
		}
		start := len(m.out.Buf)
		m.parts = 0
		subject := m.mail(head, body, into, 0)
		if len(m.out.Buf) > start {
			m.pages = append(m.pages, document.Page{Number: len(m.pages) + 1, Label: strings.Clone(subject), Start: start})
			first = false
		}
	}
	if first && m.err == nil {
		return nil, document.Errorf(document.Malformed, "not a mailbox: it holds no mail")
	}
	if len(m.pages) > 1 {
		// The fields of one mail do not describe the mailbox.
		doc.Title, doc.Author, doc.Meta = "", "", nil
	}
	doc, err := m.finish(doc)
	if err != nil {
		return nil, err
	}
	for i := range doc.Pages {
		for doc.Pages[i].Start < len(doc.Text) && doc.Text[doc.Pages[i].Start] == '\n' {
			doc.Pages[i].Start++
		}
	}
	return doc, nil
}

// nextMail splits off the next mail. The mail lies between its "From " line and the next "From " line; quoted lines are restored.
func nextMail(data []byte) (mail, rest []byte) {
	if bytes.HasPrefix(data, []byte("From ")) {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	for pos := 0; ; {
		i := bytes.Index(data[pos:], []byte("\nFrom "))
		if i < 0 {
			return unquoteFrom(data), nil
		}
		at := pos + i
		line, _, _ := bytes.Cut(data[at+1:], []byte("\n"))
		// The line contains a date. A sentence that begins with "From" does not end in a year or a zone.
		if bytes.Count(line, []byte(":")) >= 1 && bytes.Count(line, []byte(" ")) >= 3 || bytes.HasPrefix(line, []byte("From MAILER-DAEMON")) {
			return unquoteFrom(data[:at+1]), data[at+1:]
		}
		pos = at + 6
	}
}

// unquoteFrom removes the ">" that mailboxes put before body lines that begin with "From ".
func unquoteFrom(mail []byte) []byte {
	if !bytes.Contains(mail, []byte("\n>From ")) {
		return mail
	}
	return bytes.ReplaceAll(mail, []byte("\n>From "), []byte("\nFrom "))
}

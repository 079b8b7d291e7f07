package markup

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// notebook is an Evernote export while it is read. A note is written when its end tag is read.
type notebook struct {
	r              *xmlReader
	about          document.Document
	count          int  // notes written
	sealed, broken bool // a note has an encrypted part, a tag without an end

	title, created string // of the note being read
	tags           []string
	page           strings.Builder
}

// notebook reads an Evernote export: each note with its title, tags and content. The caller has already read the start tag of the root.
func (r *xmlReader) notebook() (*document.Document, error) {
	b := &notebook{r: r}
	field := ""
	for n := 0; r.x.Next() && !r.w.Full; n++ {
		if n&1023 == 0 && r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		switch r.x.Kind {
		case xmlscan.Start:
			switch field = r.x.Name; field {
			case "resource", "note-attributes", "task":
				r.x.Skip()
				field = ""
			}
		case xmlscan.Text:
			b.text(field, string(r.x.Text))
		case xmlscan.End:
			field = ""
			if r.x.Name == "note" {
				if err := b.write(); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := b.write(); err != nil { // of a note that is cut off
		return nil, err
	}
	doc, err := r.close(&b.about, media.Evernote)
	if err == nil && b.sealed {
		doc.AddPartial("a part of a note is encrypted")
	}
	if err == nil && b.broken {
		doc.AddPartial("a tag of a note has no end")
	}
	return doc, err
}

// text keeps a text of a field of the note.
func (b *notebook) text(field, s string) {
	switch field {
	case "title":
		b.title = clean.OneLine(b.title + s)
	case "created":
		b.created += strings.TrimSpace(s)
	case "tag":
		if t := clean.OneLine(s); t != "" && len(b.tags) < 100 {
			b.tags = append(b.tags, t)
		}
	case "content":
		if b.page.Len()+len(s) <= b.r.w.Max {
			b.page.WriteString(s)
		} else {
			b.r.w.Full = true
		}
	}
}

// write writes the note that was read, and begins the next one.
func (b *notebook) write() error {
	if b.title == "" && b.page.Len() == 0 {
		return nil
	}
	w := b.r.w
	b.count++
	if b.title != "" {
		w.Heading(1)
		w.Text(b.title)
	}
	line := ""
	if t, err := time.Parse("20060102T150405Z", b.created); err == nil {
		line = "Created: " + t.Format("2006-01-02 15:04")
		if b.count == 1 {
			b.about.Created = t
		}
	}
	if len(b.tags) > 0 {
		line = strings.TrimPrefix(line+"\nTags: "+strings.Join(b.tags, ", "), "\n")
	}
	w.Block()
	for l := range strings.SplitSeq(line, "\n") {
		w.Text(l)
		w.Newline()
	}
	w.Block()
	page := b.page.String()
	b.sealed = b.sealed || strings.Contains(page, "<en-crypt")
	b.broken = b.broken || brokenTag(page)
	err := NewHTMLReader(w, true).Read(b.r.ctx, strings.NewReader(page))
	w.Block()
	b.title, b.created, b.tags = "", "", nil
	b.page.Reset()
	return err
}

// brokenTag reports whether a tag begins within another tag, outside its quoted attributes. XHTML does not allow it.
func brokenTag(page string) bool {
	for {
		i := strings.IndexByte(page, '<')
		if i < 0 {
			return false
		}
		page = page[i+1:]
		if strings.HasPrefix(page, "!") { // a declaration, a comment or character data
			continue
		}
		quote := byte(0)
		for j := 0; ; j++ {
			if j == len(page) {
				return true
			}
			c := page[j]
			if quote != 0 {
				if c == quote {
					quote = 0
				}
				continue
			}
			if c == '"' || c == '\'' {
				quote = c
			}
			if c == '<' {
				return true
			}
			if c == '>' {
				page = page[j+1:]
				break
			}
		}
	}
}

package markup

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// book reads FictionBook 2. The caller has already read the start tag of the root.
type book struct {
	*xmlReader
	doc   document.Document
	level int // nesting of sections
	title bool
	notes bool // within a body of notes
	note  string
	names []string
	named bool   // the title of the book was written
	label string // text at the start of the next paragraph
}

func (r *xmlReader) book() (*document.Document, error) {
	b := &book{xmlReader: r}
	for n := 0; r.x.Next() && !r.w.Full; n++ {
		if n&1023 == 0 && r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		switch r.x.Kind {
		case xmlscan.Start:
			b.start()
		case xmlscan.Text:
			if s := clean.String(r.x.Text); b.title {
				b.names = append(b.names, s)
			} else {
				r.w.Text(s)
			}
		case xmlscan.End:
			b.end()
		}
	}
	return r.close(&b.doc, media.FictionBook)
}

// close returns the document with its text and its metadata.
func (r *xmlReader) close(about *document.Document, mediaType string) (*document.Document, error) {
	if output.IsDocumentError(r.x.Err) {
		return nil, r.x.Err
	}
	doc := r.w.Document()
	doc.MediaType, doc.Title, doc.Author, doc.Language, doc.Created = mediaType, about.Title, about.Author, about.Language, about.Created
	if r.x.Unexpanded {
		doc.AddPartial(xmlscan.ReasonEntities)
	}
	if r.x.Err != nil {
		doc.AddPartial(r.x.Err.Error())
	}
	return output.Titled(doc), nil
}

func (b *book) start() {
	w := b.w
	switch name := b.x.Name; name {
	case "binary", "stylesheet", "document-info", "publish-info", "src-title-info", "custom-info":
		b.x.Skip()
	case "title-info":
		b.titleInfo()
	case "body":
		b.level, b.notes = 0, b.x.Attr("name") == "notes" || b.x.Attr("name") == "comments"
	case "section":
		if !b.named && b.doc.Title != "" {
			b.named = true
			w.Heading(1)
			w.Text(b.doc.Title)
			w.Block()
		}
		b.level++
		b.note = ""
		if b.notes {
			b.note = b.x.Attr("id")
		}
		w.Block()
	case "title":
		b.title, b.names = true, nil
	case "p", "v", "text-author", "subtitle", "cite", "epigraph", "poem", "stanza", "annotation":
		if b.title {
			b.names = append(b.names, " ")
			return
		}
		if name == "v" {
			w.Newline()
			return
		}
		w.Block()
		if b.label != "" {
			w.Label(b.label)
			b.label = ""
		}
		if name == "cite" || name == "epigraph" {
			w.Quote++
		}
	case "a":
		if b.x.Attr("type") == "note" {
			w.NoteStart()
		} else {
			w.LinkStart(b.x.Attr("href"))
		}
	case "table":
		w.BeginTable()
	case "tr":
		w.BeginRow()
	case "td", "th":
		w.BeginCell(1, 1)
	}
}

func (b *book) end() {
	w := b.w
	switch b.x.Name {
	case "section":
		b.level = max(0, b.level-1)
		w.Block()
	case "title":
		b.title = false
		name := strings.Join(strings.Fields(strings.Join(b.names, "")), " ")
		switch {
		case name == "":
		case b.note != "":
			b.label = "[" + name + "]: "
		default:
			b.named = true
			w.Heading(b.level + 1)
			w.Text(name)
			w.Block()
		}
	case "p", "text-author", "subtitle", "poem", "stanza", "annotation":
		if !b.title {
			w.Block()
		}
	case "cite", "epigraph":
		w.Block()
		w.Quote = max(0, w.Quote-1)
	case "a":
		w.LinkEnd()
	case "td", "th":
		w.EndCell()
	case "table":
		w.EndTable()
	}
}

// titleInfo reads the metadata of a book. The annotation becomes part of the text.
func (b *book) titleInfo() {
	var field string
	var author []string
	for depth := 1; depth > 0 && b.x.Next(); {
		switch b.x.Kind {
		case xmlscan.Start:
			depth++
			field = b.x.Name
			if field == "annotation" {
				b.w.Block()
			}
		case xmlscan.Text:
			s := clean.OneLine(string(b.x.Text))
			if s == "" {
				continue
			}
			switch field {
			case "book-title":
				b.doc.Title = s
			case "first-name", "middle-name", "last-name", "nickname":
				if len(author) < 30 {
					author = append(author, s)
				}
			case "lang":
				b.doc.Language = s
			case "date":
				b.doc.Created = clean.Time(s)
			case "p", "annotation":
				b.w.Text(s)
			}
		case xmlscan.End:
			depth--
			switch b.x.Name {
			case "author":
				if len(author) > 0 && b.doc.Author == "" {
					b.doc.Author = strings.Join(author, " ")
				}
				author = nil
			case "p":
				b.w.Block()
			}
		}
	}
	if b.doc.Author != "" {
		b.w.Block()
		b.w.Text("Author: " + b.doc.Author)
		b.w.Block()
	}
}

// notebook reads an Evernote export: each note with its title, tags and content. The caller has already read the start tag of the root.
func (r *xmlReader) notebook() (*document.Document, error) {
	var about document.Document
	var field, title, created string
	var tags []string
	var page strings.Builder
	count, sealed, broken := 0, false, false
	flush := func() error {
		if title == "" && page.Len() == 0 {
			return nil
		}
		count++
		if title != "" {
			r.w.Heading(1)
			r.w.Text(title)
		}
		line := ""
		if t, err := time.Parse("20060102T150405Z", created); err == nil {
			line = "Created: " + t.Format("2006-01-02 15:04")
			if count == 1 {
				about.Created = t
			}
		}
		if len(tags) > 0 {
			line = strings.TrimPrefix(line+"\nTags: "+strings.Join(tags, ", "), "\n")
		}
		r.w.Block()
		for l := range strings.SplitSeq(line, "\n") {
			r.w.Text(l)
			r.w.Newline()
		}
		r.w.Block()
		sealed = sealed || strings.Contains(page.String(), "<en-crypt")
		broken = broken || brokenTag(page.String())
		err := NewHTMLReader(r.w, true).Read(r.ctx, strings.NewReader(page.String()))
		r.w.Block()
		title, created, tags = "", "", nil
		page.Reset()
		return err
	}
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
			s := string(r.x.Text)
			switch field {
			case "title":
				title = clean.OneLine(title + s)
			case "created":
				created += strings.TrimSpace(s)
			case "tag":
				if t := clean.OneLine(s); t != "" && len(tags) < 100 {
					tags = append(tags, t)
				}
			case "content":
				if page.Len()+len(s) <= r.w.Max {
					page.WriteString(s)
				} else {
					r.w.Full = true
				}
			}
		case xmlscan.End:
			field = ""
			if r.x.Name == "note" {
				if err := flush(); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := flush(); err != nil { // of a note that is cut off
		return nil, err
	}
	doc, err := r.close(&about, media.Evernote)
	if err == nil && sealed {
		doc.AddPartial("a part of a note is encrypted")
	}
	if err == nil && broken {
		doc.AddPartial("a tag of a note has no end")
	}
	return doc, err
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

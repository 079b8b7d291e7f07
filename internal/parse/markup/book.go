package markup

import (
	"strings"

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

package markup

import (
	"bytes"
	"context"
	"io"
	"strings"

	"golang.org/x/net/html"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/text"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// XMLParser reads XML. FlatODF reads an OpenDocument file that is a single XML file.
// Its scanner is positioned after the start tag of the root.
type XMLParser struct {
	FlatODF func(ctx context.Context, x *xmlscan.Scanner, lim document.Limits) (*document.Document, error)
}

// Parse writes XML as "name: text" lines, indented by element depth. Attributes come before the content.
// The first element identifies formats that Parse handles specially, such as flat OpenDocument, XHTML and feeds.
func (p XMLParser) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	if charset.LooksBinary(clean.Head(in.Data, 64<<10)) {
		return nil, document.Errorf(document.Malformed, "the file holds binary data, not XML")
	}
	text := io.Reader(bytes.NewReader(in.Data))
	if _, declared := media.Of(in.ContentType); declared != "" || !xmlReadable(in.Data) {
		if enc, skip := xmlscan.Encoding(clean.Head(in.Data, 512)); enc == nil && skip == 0 {
			text = charset.Reader(in.Data, declared)
		}
	}
	x := xmlscan.New(text, lim.MaxDepth)
	r := &xmlReader{ctx: ctx, x: x, w: output.New(lim, len(in.Data))}
	return r.document(p, in, lim)
}

// xmlReadable reports whether data is UTF-8 or declares its encoding.
func xmlReadable(data []byte) bool {
	enc, skip := xmlscan.Encoding(clean.Head(data, 512))
	return enc != nil || skip > 0 || charset.MostlyUTF8(data)
}

// xmlReader writes elements as lines.
type xmlReader struct {
	ctx  context.Context
	x    *xmlscan.Scanner
	w    *output.Writer
	open []xmlOpen
	any  bool
	bare bool // leave out attributes; those of drawings are numbers
}

// xmlOpen is an open element. It records whether the line of the element is already written.
type xmlOpen struct {
	name    string
	attrs   string
	written bool
}

// xmlInline lists the elements that mark words within a sentence in common document formats. They do not begin a line.
var xmlInline = map[string]bool{
	"b": true, "i": true, "em": true, "strong": true, "emphasis": true, "span": true, "a": true, "sub": true, "sup": true,
	"code": true, "literal": true, "ulink": true, "link": true, "xref": true, "italic": true, "bold": true, "ref": true,
	"tspan": true, "u": true, "hi": true, "phrase": true, "citetitle": true, "command": true, "filename": true,
}

func (r *xmlReader) document(p XMLParser, in document.Input, lim document.Limits) (*document.Document, error) {
	for n := 0; r.x.Next() && !r.w.Full; n++ {
		if n&1023 == 0 && r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		switch r.x.Kind {
		case xmlscan.Start:
			if !r.any {
				r.any = true
				switch {
				case r.x.Name == "html":
					return ParseHTML(r.ctx, in, lim)
				case r.x.Name == "document" && strings.Contains(r.x.Attr("mimetype"), "opendocument"):
					return p.FlatODF(r.ctx, r.x, lim)
				case r.x.Name == "FictionBook":
					return r.book()
				case r.x.Name == "en-export":
					return r.notebook()
				}
				r.bare = r.x.Name == "svg"
			}
			r.start()
		case xmlscan.Text:
			r.text()
		case xmlscan.End:
			r.end()
		}
	}
	if output.IsDocumentError(r.x.Err) {
		return nil, r.x.Err
	}
	if !r.any {
		doc, err := text.Parse(r.ctx, in, lim)
		if err == nil {
			doc.AddPartial("not XML: it has no element, and was kept as plain text")
		}
		return doc, err
	}
	doc := r.w.Document()
	doc.Markdown = false
	if r.x.Unexpanded {
		doc.AddPartial(xmlscan.ReasonEntities)
	}
	if r.x.Err != nil {
		doc.AddPartial(r.x.Err.Error())
	}
	return doc, nil
}

func (r *xmlReader) start() {
	if r.x.Name == "script" || r.x.Name == "style" {
		r.x.Skip()
		return
	}
	if xmlInline[r.x.Name] && len(r.open) > 0 && r.open[len(r.open)-1].written {
		r.open = append(r.open, xmlOpen{written: true})
		return
	}
	var attrs []string
	for _, a := range r.x.Attrs {
		if r.bare || a.Prefix == "xmlns" || a.Name == "xmlns" || a.Prefix == "xml" || a.Prefix == "xsi" || strings.TrimSpace(a.Value) == "" || text.IsBase64([]byte(a.Value)) || len(attrs) >= 64 {
			continue
		}
		attrs = append(attrs, a.Name+"="+clean.OneLine(a.Value))
	}
	r.open = append(r.open, xmlOpen{name: r.x.Name, attrs: strings.Join(attrs, ", ")})
	if len(attrs) > 0 {
		r.lines()
	}
}

// lines writes the lines of the open elements that are not written yet.
func (r *xmlReader) lines() {
	for i := range r.open {
		o := &r.open[i]
		if o.written {
			continue
		}
		o.written = true
		r.w.Line()
		line := strings.Repeat("  ", min(i, output.MaxIndent)) + o.name + ":"
		if o.attrs != "" {
			line += " (" + o.attrs + ")"
		}
		r.w.Raw(line)
	}
	r.w.WordBreak()
}

func (r *xmlReader) text() {
	if len(r.open) == 0 || len(bytes.TrimSpace(r.x.Text)) == 0 {
		if len(r.open) > 0 && r.w.MidLine() {
			r.w.WordBreak()
		}
		return
	}
	if text.IsBase64(bytes.TrimSpace(r.x.Text)) {
		return // a picture or a file
	}
	o := &r.open[len(r.open)-1]
	if !o.written {
		r.lines()
	}
	if r.w.LineDue() { // text after a child element gets its own line
		r.w.Raw(strings.Repeat("  ", min(len(r.open), output.MaxIndent)))
	}
	words := clean.String(r.x.Text)
	if strings.Contains(words, "</") || strings.Contains(words, "<br") || strings.Contains(words, "<p>") {
		words = stripTags(words) // feeds carry pages as text
	}
	r.w.Text(words)
}

// stripTags returns the text of HTML without its tags.
func stripTags(s string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		default:
			b.WriteByte(' ')
		}
	}
}

func (r *xmlReader) end() {
	if len(r.open) == 0 {
		return
	}
	o := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	if o.written && o.name != "" {
		r.w.Line()
	}
}

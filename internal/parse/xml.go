package parse

import (
	"bytes"
	"context"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// parseXML writes XML as "name: text" lines, indented like the elements; attributes come before the content. Formats
// whose text has a form of its own are told by their first element: flat OpenDocument, XHTML, feeds.
func parseXML(ctx context.Context, in Input, lim Limits) (*Document, error) {
	if looksBinary(head(in.Data, 64<<10)) {
		return nil, malformed("the file holds binary data, not XML")
	}
	text := io.Reader(bytes.NewReader(in.Data))
	if _, charset := mediaTypeOf(in.ContentType); charset != "" || !xmlReadable(in.Data) {
		if enc, skip := xmlEncoding(head(in.Data, 512)); enc == nil && skip == 0 {
			text = textReader(in.Data, charset)
		}
	}
	x := newXMLScanner(text, lim.MaxDepth)
	r := &xmlReader{ctx: ctx, x: x, w: newWriter(lim, len(in.Data))}
	return r.document(in, lim)
}

// xmlReadable reports whether data is UTF-8 or declares what it is.
func xmlReadable(data []byte) bool {
	enc, skip := xmlEncoding(head(data, 512))
	return enc != nil || skip > 0 || mostlyUTF8(data)
}

// xmlReader writes elements as lines.
type xmlReader struct {
	ctx  context.Context
	x    *xmlScanner
	w    *writer
	open []xmlOpen
	any  bool
	bare bool // attributes are left out: those of drawings are numbers
}

// xmlOpen is an element whose line is not written yet, or is.
type xmlOpen struct {
	name    string
	attrs   string
	written bool
}

// xmlInline are elements that mark words of a sentence in the common document formats, and so begin no line.
var xmlInline = map[string]bool{
	"b": true, "i": true, "em": true, "strong": true, "emphasis": true, "span": true, "a": true, "sub": true, "sup": true,
	"code": true, "literal": true, "ulink": true, "link": true, "xref": true, "italic": true, "bold": true, "ref": true,
	"tspan": true, "u": true, "hi": true, "phrase": true, "citetitle": true, "command": true, "filename": true,
}

func (r *xmlReader) document(in Input, lim Limits) (*Document, error) {
	for n := 0; r.x.next() && !r.w.full; n++ {
		if n&1023 == 0 && r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		switch r.x.kind {
		case xmlStart:
			if !r.any {
				r.any = true
				switch {
				case r.x.name == "html":
					return parseHTML(r.ctx, in, lim)
				case r.x.name == "document" && strings.Contains(r.x.attr("mimetype"), "opendocument"):
					return r.flatODF(lim)
				}
				r.bare = r.x.name == "svg"
			}
			r.start()
		case xmlText:
			r.text()
		case xmlEnd:
			r.end()
		}
	}
	if isDocumentError(r.x.err) {
		return nil, r.x.err
	}
	if !r.any {
		return parseText(r.ctx, in, lim)
	}
	doc := r.w.document()
	doc.Markdown = false
	if r.x.unexpanded {
		doc.addPartial(reasonEntities)
	}
	if r.x.err != nil {
		doc.addPartial(r.x.err.Error())
	}
	return doc, nil
}

// flatODF reads an OpenDocument file in a single XML file.
func (r *xmlReader) flatODF(lim Limits) (*Document, error) {
	d := newODFReader(r.ctx, newWriter(lim, 4096))
	if err := d.read(r.x); err != nil {
		return nil, err
	}
	if isDocumentError(r.x.err) {
		return nil, r.x.err
	}
	doc := d.w.document()
	if r.x.err != nil {
		doc.addPartial(r.x.err.Error())
	}
	return titled(doc), nil
}

func (r *xmlReader) start() {
	if r.x.name == "script" || r.x.name == "style" {
		r.x.skip()
		return
	}
	if xmlInline[r.x.name] && len(r.open) > 0 && r.open[len(r.open)-1].written {
		r.open = append(r.open, xmlOpen{written: true})
		return
	}
	var attrs []string
	for _, a := range r.x.attrs {
		if r.bare || a.prefix == "xmlns" || a.name == "xmlns" || a.prefix == "xml" || a.prefix == "xsi" || strings.TrimSpace(a.value) == "" || len(attrs) >= 64 {
			continue
		}
		attrs = append(attrs, a.name+"="+oneLine(a.value))
	}
	r.open = append(r.open, xmlOpen{name: r.x.name, attrs: strings.Join(attrs, ", ")})
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
		r.w.line()
		r.w.pre = true
		if r.w.open("") {
			r.w.put(strings.Repeat("  ", min(i, maxJSONIndent)) + o.name + ":")
			if o.attrs != "" {
				r.w.put(" (" + o.attrs + ")")
			}
		}
		r.w.pre = false
	}
	r.w.space = true
}

func (r *xmlReader) text() {
	if len(r.open) == 0 || len(bytes.TrimSpace(r.x.text)) == 0 {
		if len(r.open) > 0 && r.w.gap == 0 && len(r.w.buf) > 0 {
			r.w.space = true
		}
		return
	}
	o := &r.open[len(r.open)-1]
	if !o.written {
		r.lines()
	}
	if r.w.gap > 0 {
		// Text behind a child goes on a line of its own.
		r.w.pre = true
		if r.w.open("") {
			r.w.put(strings.Repeat("  ", min(len(r.open), maxJSONIndent)))
		}
		r.w.pre = false
	}
	text := ownedString(r.x.text)
	if strings.Contains(text, "</") || strings.Contains(text, "<br") || strings.Contains(text, "<p>") {
		text = stripTags(text) // feeds carry pages as text
	}
	r.w.text(text)
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
		r.w.line()
	}
}

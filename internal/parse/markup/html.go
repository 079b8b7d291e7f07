// Package markup reads HTML and XML.
package markup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// ParseHTML reads HTML and XHTML as a stream of tags. It builds no tree, so nesting depth cannot exhaust memory or the stack.
func ParseHTML(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	if charset.LooksBinary(clean.Head(in.Data, 64<<10)) {
		return nil, document.Errorf(document.Malformed, "the file holds binary data, not a page")
	}
	_, declared := media.Of(in.ContentType)
	if declared == "" {
		declared = DeclaredCharset(in.Data)
	}
	xhtml := strings.HasPrefix(strings.TrimSpace(charset.ASCIIHead(in.Data, 256)), "<?xml")
	doc, cut, err := readHTML(ctx, charset.Reader(in.Data, declared), lim, len(in.Data), xhtml)
	if cut {
		doc.AddPartial("the page ends before its end tag, and may be cut off")
	}
	return doc, err
}

// ReadHTML reads a page of about size bytes in UTF-8.
func ReadHTML(ctx context.Context, r io.Reader, lim document.Limits, size int, xhtml bool) (*document.Document, error) {
	doc, _, err := readHTML(ctx, r, lim, size, xhtml)
	return doc, err
}

// readHTML also reports whether the page seems cut off.
func readHTML(ctx context.Context, r io.Reader, lim document.Limits, size int, xhtml bool) (doc *document.Document, cut bool, err error) {
	w := output.New(lim, size)
	h := NewHTMLReader(w, xhtml)
	if err := h.Read(ctx, r); err != nil {
		return nil, false, err
	}
	doc = w.Document()
	h.describe(doc)
	return output.Titled(doc), h.cut, nil
}

// HTMLReader turns tags into blocks of a writer.
type HTMLReader struct {
	w        *output.Writer
	xhtml    bool
	stack    []openTag
	count    map[atom.Atom]int // open elements by name
	skip     int               // open elements whose content is dropped
	lists    []htmlList
	pre      *strings.Builder  // the text of the open pre element
	lang     string            // the language of the open pre element's code
	math     *htmlMath         // nil: no formula is open
	Title    strings.Builder   // the text of the title element
	Meta     map[string]string // the meta elements of the head by name
	pageLang string
	midLine  bool // the last token was text that did not end with a line
	unclosed bool // the last token is a comment without an end
	cut      bool // the page ended inside a tag, or inside elements that must be closed
	ended    bool // the page had elements and closed all of them
	started  bool // the reader has seen a tag
}

type openTag struct {
	name  atom.Atom
	skip  bool
	link  bool
	block bool
}

type htmlList struct {
	ordered bool
	next    int
}

// maxOpenTags limits the open elements on the stack. Real pages nest a few dozen deep.
const maxOpenTags = 400

// NewHTMLReader returns a reader that writes to w. With xhtml set, a tag that closes itself has no content.
func NewHTMLReader(w *output.Writer, xhtml bool) *HTMLReader {
	return &HTMLReader{w: w, xhtml: xhtml, count: map[atom.Atom]int{}, Meta: map[string]string{}}
}

// maxToken bounds one tag, comment or run of text.
const maxToken = 16 << 20

// Read reads a page, or a part of one, in UTF-8. It may be called again for the next part.
func (h *HTMLReader) Read(ctx context.Context, r io.Reader) error {
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxToken)
	for n := 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		kind := z.Next()
		if kind != html.ErrorToken {
			h.midLine = kind == html.TextToken && !bytes.HasSuffix(z.Raw(), []byte("\n"))
			h.unclosed = kind == html.CommentToken && openComment(z.Raw())
		}
		switch kind {
		case html.ErrorToken:
			err := z.Err()
			h.cut = errors.Is(err, io.EOF) && (len(z.Raw()) > 0 || h.unclosed || h.mustGoOn())
			h.ended = !h.cut && h.started && h.count[atom.Html] == 0 && h.count[atom.Body] == 0
			h.close(0)
			if errors.Is(err, io.EOF) || h.w.Full {
				return nil
			}
			if errors.Is(err, html.ErrBufferExceeded) {
				return document.Errorf(document.LimitExceeded, "a part of the page is larger than %d bytes", maxToken)
			}
			return err
		case html.TextToken:
			h.text(z)
		case html.StartTagToken:
			h.start(z, false)
		case html.SelfClosingTagToken:
			h.start(z, true)
		case html.EndTagToken:
			name, _ := tagName(z.Raw())
			if h.math == nil || !h.mathEnd(z.Raw(), name) {
				h.end(name)
			}
		}
		if h.w.Full {
			h.close(0)
			return nil
		}
	}
}

// openComment reports whether a comment ends with the page, so that what stands in it may be text.
func openComment(raw []byte) bool {
	rest, ok := bytes.CutPrefix(raw, []byte("<!--"))
	return ok && len(rest) > 2 && !bytes.HasSuffix(rest, []byte("-->")) && !bytes.HasSuffix(rest, []byte("--!>")) && !bytes.HasPrefix(rest, []byte(">")) && !bytes.HasPrefix(rest, []byte("->"))
}

// Closed reports whether the page read last had elements and the end tags of its root and body, as XHTML requires.
func (h *HTMLReader) Closed() bool { return h.ended }

// mustGoOn reports whether the page ended too early: within elements whose end tag HTML requires
// (WHATWG HTML, 13.1.2.4), or in the middle of a line.
func (h *HTMLReader) mustGoOn() bool {
	switch {
	case h.count[atom.Html] == 0 && h.count[atom.Body] == 0:
		return false
	case h.count[atom.Html] > 0 && h.count[atom.Body] > 0 && h.midLine:
		return true
	}
	return slices.ContainsFunc(h.stack, func(t openTag) bool { return closedTags[t.name] })
}

func (h *HTMLReader) text(z *html.Tokenizer) {
	if h.count[atom.Title] > 0 {
		if h.Title.Len() < 4096 {
			h.Title.Write(clean.Head(z.Text(), 4096))
		}
		return
	}
	if h.skip > 0 {
		return
	}
	if h.math != nil {
		h.mathText(z)
		return
	}
	if h.pre != nil {
		if h.pre.Len() < h.w.Max {
			h.pre.Write(z.Text())
		}
		return
	}
	h.w.Text(clean.String(z.Text()))
}

func (h *HTMLReader) start(z *html.Tokenizer, selfClosing bool) {
	h.started = true
	name, rest := tagName(z.Raw())
	if h.math != nil && h.mathStart(z.Raw(), name, selfClosing) {
		return
	}
	a := readAttrs(rest)
	if selfClosing && h.xhtml {
		z.NextIsNotRawText()
	}
	h.closeImplied(name)
	switch name {
	case atom.Meta:
		h.metaTag(a)
		return
	case atom.Html, atom.Body:
		if a.lang != "" && h.pageLang == "" {
			h.pageLang = strings.Clone(a.lang)
		}
	}
	if voidTags[name] || selfClosing && (h.xhtml || name == 0) {
		if h.skip == 0 && !a.hidden {
			h.void(name, a)
		}
		return
	}
	if name == 0 && !a.hidden || len(h.stack) >= maxOpenTags {
		return
	}
	tag := openTag{name: name, skip: droppedTags[name] || a.hidden, block: blockTags[name]}
	if h.skip == 0 && !tag.skip {
		tag.link = h.open(name, a)
	}
	if tag.skip {
		h.skip++
	}
	h.stack = append(h.stack, tag)
	h.count[name]++
}

// void handles elements without content.
func (h *HTMLReader) void(name atom.Atom, a tagAttrs) {
	switch name {
	case atom.Br:
		if h.pre != nil {
			h.pre.WriteByte('\n')
		} else {
			h.w.Newline()
		}
	case atom.Hr:
		if h.pre == nil {
			h.endBlock()
			h.w.Rule()
		}
	case atom.Img, atom.Area:
		if alt := strings.TrimSpace(a.alt); alt != "" && h.pre == nil {
			h.w.Text("![" + alt + "](" + output.LinkTarget(a.src) + ")")
		}
	case atom.Wbr:
	case atom.P, atom.Div:
		h.endBlock()
	case atom.Td, atom.Th:
		h.beginCell(name, a)
		h.w.EndCell()
	}
}

// beginCell opens a cell of a table. Rows of a thead element, and rows of th elements alone, are of the header.
func (h *HTMLReader) beginCell(name atom.Atom, a tagAttrs) {
	h.w.BeginCell(max(1, a.colspan), max(1, a.rowspan))
	if name == atom.Th || h.count[atom.Thead] > 0 {
		h.w.MarkHead()
	} else {
		h.w.MarkBody()
	}
}

// open handles the start of an element whose content is kept. It reports whether a link was opened.
func (h *HTMLReader) open(name atom.Atom, a tagAttrs) (link bool) {
	w := h.w
	if h.pre != nil {
		if name == atom.Code && h.lang == "" {
			h.lang = codeLanguage(a.class)
		}
		return false
	}
	switch name {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if len(h.lists) == 0 {
			w.Heading(headingLevel(name))
		} else {
			w.ItemBreak()
		}
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		if len(h.lists) == 0 {
			w.Block()
		}
		h.lists = append(h.lists, htmlList{ordered: name == atom.Ol, next: max(1, a.start)})
	case atom.Li:
		if len(h.lists) == 0 {
			w.Item(0, "-")
			break
		}
		l := &h.lists[len(h.lists)-1]
		marker := "-"
		if l.ordered {
			marker = strconv.Itoa(l.next) + "."
			l.next++
		}
		w.Item(len(h.lists)-1, marker)
	case atom.Dt:
		w.Block()
	case atom.Dd:
		w.Line()
		w.Label(": ")
	case atom.Blockquote:
		h.endBlock()
		w.Quote++
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		h.pre = &strings.Builder{}
		h.lang = codeLanguage(a.class)
	case atom.Math:
		h.math = &htmlMath{}
	case atom.Table:
		h.endBlock()
		w.BeginTable()
	case atom.Tr:
		w.BeginRow()
	case atom.Td, atom.Th:
		h.beginCell(name, a)
	case atom.Caption, atom.Thead, atom.Tbody, atom.Tfoot, atom.Code, atom.Kbd, atom.Samp, atom.Tt:
	case atom.A:
		if strings.Contains(a.href, "#") && (h.count[atom.Sup] > 0 || strings.Contains(a.role, "noteref") || strings.Contains(a.class, "footnote-ref")) {
			w.NoteStart()
			return true
		}
		if a.href != "" {
			w.LinkStart(strings.Clone(a.href))
			return true
		}
	case atom.Sup:
		w.NoteLink()
	case atom.Q:
		w.Text("\u201c")
	case atom.Option:
		w.Line()
	default:
		if blockTags[name] {
			h.endBlock()
		}
	}
	return false
}

// endBlock ends a paragraph, within a list item if one is open.
func (h *HTMLReader) endBlock() {
	if h.pre != nil {
		return
	}
	if len(h.lists) > 0 && h.count[atom.Li] > 0 && !h.w.InCell() {
		h.w.ItemBreak()
		return
	}
	h.w.Block()
}

// end handles an end tag: it closes the innermost open element of that name and all inside it.
func (h *HTMLReader) end(name atom.Atom) {
	if name == atom.Br || name == atom.P && h.count[atom.P] == 0 {
		if h.skip == 0 {
			h.endBlock()
		}
		return
	}
	if h.count[name] == 0 {
		return
	}
	for i := len(h.stack) - 1; i >= 0; i-- {
		if h.stack[i].name == name {
			h.close(i)
			return
		}
		// An end tag inside a table does not close an element outside it.
		if h.stack[i].name == atom.Table && name != atom.Table && !h.stack[i].skip && h.skip == 0 && !outerTags[name] {
			return
		}
	}
}

// close closes the open elements from index i on, innermost first.
func (h *HTMLReader) close(i int) {
	for len(h.stack) > i {
		tag := h.stack[len(h.stack)-1]
		h.stack = h.stack[:len(h.stack)-1]
		h.count[tag.name]--
		if tag.skip {
			h.skip--
			continue
		}
		if h.skip == 0 {
			h.closed(tag)
		}
	}
}

// closed handles the end of an element whose content was kept.
func (h *HTMLReader) closed(tag openTag) {
	w := h.w
	switch tag.name {
	case atom.Math:
		if h.math != nil {
			h.endMath()
		}
		return
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		if h.pre != nil {
			code := h.pre.String()
			h.pre = nil
			w.Fenced(h.lang, code)
		}
		return
	}
	if h.pre != nil {
		return
	}
	switch tag.name {
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		if len(h.lists) > 0 {
			h.lists = h.lists[:len(h.lists)-1]
		}
		if len(h.lists) == 0 {
			w.Block()
		}
	case atom.Blockquote:
		w.Block()
		w.Quote--
	case atom.Table:
		w.EndTable()
	case atom.Td, atom.Th:
		w.EndCell()
	case atom.Tr, atom.Thead, atom.Tbody, atom.Tfoot, atom.Option:
	case atom.Li:
	case atom.Dt:
		w.Line()
	case atom.A:
		if tag.link {
			w.LinkEnd()
		}
	case atom.Q:
		w.Text("\u201d")
	default:
		if tag.block {
			h.endBlock()
		}
	}
}

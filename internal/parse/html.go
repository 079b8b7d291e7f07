package parse

import (
	"context"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// parseHTML reads HTML and XHTML as a stream of tags, which needs no memory for a tree and has no depth to exhaust.
func parseHTML(ctx context.Context, in Input, lim Limits) (*Document, error) {
	if looksBinary(head(in.Data, 64<<10)) {
		return nil, malformed("the file holds binary data, not a page")
	}
	_, charset := mediaTypeOf(in.ContentType)
	if charset == "" {
		charset = htmlCharset(in.Data)
	}
	return readHTML(ctx, textReader(in.Data, charset), lim, len(in.Data), strings.HasPrefix(strings.TrimSpace(asciiHead(in.Data, 256)), "<?xml"))
}

// readHTML reads a page of about size bytes in UTF-8.
func readHTML(ctx context.Context, r io.Reader, lim Limits, size int, xhtml bool) (*Document, error) {
	w := newWriter(lim, size)
	h := newHTMLReader(w, xhtml)
	if err := h.read(ctx, r); err != nil {
		return nil, err
	}
	doc := w.document()
	h.describe(doc)
	return titled(doc), nil
}

// htmlReader turns tags into blocks of a writer.
type htmlReader struct {
	w        *writer
	xhtml    bool
	stack    []openTag
	count    map[atom.Atom]int // open elements by name
	skip     int               // open elements whose content is dropped
	lists    []htmlList
	pre      *strings.Builder // the text of the open pre element
	lang     string           // its language
	title    strings.Builder
	meta     map[string]string
	pageLang string
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

// maxOpenTags bounds the open elements that are remembered; HTML of people nests a few dozen deep.
const maxOpenTags = 400

func newHTMLReader(w *writer, xhtml bool) *htmlReader {
	return &htmlReader{w: w, xhtml: xhtml, count: map[atom.Atom]int{}, meta: map[string]string{}}
}

// maxToken bounds one tag, comment or run of text.
const maxToken = 16 << 20

func (h *htmlReader) read(ctx context.Context, r io.Reader) error {
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxToken)
	for n := 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch z.Next() {
		case html.ErrorToken:
			err := z.Err()
			h.close(0)
			if errors.Is(err, io.EOF) || h.w.full {
				return nil
			}
			if errors.Is(err, html.ErrBufferExceeded) {
				return limitExceeded("a part of the page is larger than %d bytes", maxToken)
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
			h.end(name)
		}
		if h.w.full {
			h.close(0)
			return nil
		}
	}
}

func (h *htmlReader) text(z *html.Tokenizer) {
	if h.count[atom.Title] > 0 {
		if h.title.Len() < 4096 {
			h.title.Write(head(z.Text(), 4096))
		}
		return
	}
	if h.skip > 0 {
		return
	}
	if h.pre != nil {
		if h.pre.Len() < h.w.max {
			h.pre.Write(z.Text())
		}
		return
	}
	h.w.text(ownedString(z.Text()))
}

func (h *htmlReader) start(z *html.Tokenizer, selfClosing bool) {
	name, rest := tagName(z.Raw())
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
func (h *htmlReader) void(name atom.Atom, a tagAttrs) {
	switch name {
	case atom.Br:
		if h.pre != nil {
			h.pre.WriteByte('\n')
		} else {
			h.w.newline()
		}
	case atom.Hr:
		if h.pre == nil {
			h.endBlock()
			h.w.rule()
		}
	case atom.Img, atom.Area:
		if alt := strings.TrimSpace(a.alt); alt != "" && h.pre == nil {
			h.w.text("![" + alt + "](" + linkTarget(a.src) + ")")
		}
	case atom.Wbr:
	case atom.P, atom.Div:
		h.endBlock()
	case atom.Td, atom.Th:
		h.w.beginCell(a.colspan, a.rowspan)
		h.w.endCell()
	}
}

// open handles the start of an element whose content counts; it reports whether a link was opened.
func (h *htmlReader) open(name atom.Atom, a tagAttrs) (link bool) {
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
			w.heading(headingLevel(name))
		} else {
			w.itemBreak()
		}
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		if len(h.lists) == 0 {
			w.block()
		}
		h.lists = append(h.lists, htmlList{ordered: name == atom.Ol, next: max(1, a.start)})
	case atom.Li:
		if len(h.lists) == 0 {
			w.item(0, "-")
			break
		}
		l := &h.lists[len(h.lists)-1]
		marker := "-"
		if l.ordered {
			marker = itoa(l.next) + "."
			l.next++
		}
		w.item(len(h.lists)-1, marker)
	case atom.Dt:
		w.block()
	case atom.Dd:
		w.line()
		w.mark = ": "
	case atom.Blockquote:
		h.endBlock()
		w.quote++
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		h.pre = &strings.Builder{}
		h.lang = codeLanguage(a.class)
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
	case atom.Table:
		h.endBlock()
		w.beginTable()
	case atom.Tr:
		w.beginRow()
	case atom.Td, atom.Th:
		w.beginCell(max(1, a.colspan), max(1, a.rowspan))
	case atom.Caption, atom.Thead, atom.Tbody, atom.Tfoot:
	case atom.A:
		if strings.Contains(a.href, "#") && (h.count[atom.Sup] > 0 || strings.Contains(a.role, "noteref") || strings.Contains(a.class, "footnote-ref")) {
			w.noteStart()
			return true
		}
		if a.href != "" {
			w.linkStart(strings.Clone(a.href))
			return true
		}
	case atom.Sup:
		w.noteLink()
	case atom.Q:
		w.text("\u201c")
	case atom.Option:
		w.line()
	default:
		if blockTags[name] {
			h.endBlock()
		}
	}
	return false
}

// endBlock ends a paragraph, within a list item if one is open.
func (h *htmlReader) endBlock() {
	if h.pre != nil {
		return
	}
	if len(h.lists) > 0 && h.count[atom.Li] > 0 && !h.w.inCell() {
		h.w.itemBreak()
		return
	}
	h.w.block()
}

// end handles an end tag: it closes the innermost open element of that name and all inside it.
func (h *htmlReader) end(name atom.Atom) {
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
		// What is inside a table does not close what is outside.
		if h.stack[i].name == atom.Table && name != atom.Table && !h.stack[i].skip && h.skip == 0 && !outerTags[name] {
			return
		}
	}
}

// close closes the open elements from index i on, innermost first.
func (h *htmlReader) close(i int) {
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

// closed handles the end of an element whose content counted.
func (h *htmlReader) closed(tag openTag) {
	w := h.w
	switch tag.name {
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		if h.pre != nil {
			code := h.pre.String()
			h.pre = nil
			w.fenced(h.lang, code)
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
			w.block()
		}
	case atom.Blockquote:
		w.block()
		w.quote--
	case atom.Table:
		w.endTable()
	case atom.Td, atom.Th:
		w.endCell()
	case atom.Tr, atom.Thead, atom.Tbody, atom.Tfoot, atom.Option:
	case atom.Li:
	case atom.Dt:
		w.line()
	case atom.A:
		if tag.link {
			w.linkEnd()
		}
	case atom.Q:
		w.text("\u201d")
	default:
		if tag.block {
			h.endBlock()
		}
	}
}

func firstOf(values ...string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

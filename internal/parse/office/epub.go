package office

import (
	"context"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/archive"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/markup"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// ParseEPUB reads books (EPUB 2 and 3): the chapters in the order of the spine.
func ParseEPUB(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	z, err := archive.Open(ctx, in.Data, lim)
	if err != nil {
		return nil, err
	}
	book := readBook(z, lim)
	if len(book.spine) == 0 {
		return nil, document.Errorf(document.Malformed, "the book has no chapters")
	}
	if locked, err := book.locked(z, lim); err != nil {
		return nil, err
	} else if locked {
		return nil, document.NewError(document.Encrypted, "the book is protected", nil)
	}
	if book.lost {
		z.Note("a chapter of the book is missing")
	}
	w := output.New(lim, 64<<10)
	meta := map[string]string{}
	for _, item := range book.spine {
		if w.Full {
			break
		}
		s := z.Open(item)
		if s == nil {
			z.Note("a chapter of the book is missing")
			continue
		}
		whole, err := chapter(ctx, w, s, meta)
		if err != nil {
			return nil, err
		}
		if !whole {
			z.Note("a chapter of the book is cut off")
		}
	}
	doc := finishOffice(w, z, func(doc *document.Document) {
		if x := scanEntry(z, book.opf, lim.MaxDepth); x != nil {
			readProperties(x, doc)
		}
	})
	return output.Titled(doc), nil
}

// chapter writes one chapter as a page, labelled with its title or first heading. It reports whether the chapter is complete.
func chapter(ctx context.Context, w *output.Writer, s io.Reader, meta map[string]string) (whole bool, err error) {
	w.Page("")
	pages := len(w.Pages)
	start := w.Length()
	h := markup.NewHTMLReader(w, true)
	h.Meta = meta
	r, err := utf8Reader(s)
	if err != nil {
		return false, err
	}
	if err := h.Read(ctx, r); err != nil {
		return false, err
	}
	whole = h.Closed() || w.Full
	w.Block()
	if pages == 0 {
		return whole, nil
	}
	if w.Length() == start {
		w.Pages = w.Pages[:pages-1]
		return whole, nil
	}
	// In many books the title element names the whole book, so the heading of the chapter is preferred.
	label := output.FirstHeading(strings.TrimLeft(w.Peek(start, 4096), "\n"))
	w.Pages[pages-1].Label = clean.FirstOf(label, clean.OneLine(h.Title.String()))
	return whole, nil
}

// utf8Reader decodes a chapter by its byte order mark or declaration. Without either, the standard says UTF-8.
func utf8Reader(r io.Reader) (io.Reader, error) {
	first := make([]byte, 512)
	n, err := io.ReadFull(r, first)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return xmlscan.Reader(first[:n], r), nil
}

// book is the content of the package document.
type book struct {
	opf   string
	spine []string // files in reading order
	lost  bool     // the reading order names a chapter that the book does not list
}

const maxSpine = 20_000

// readBook finds the package document and reads the spine. Without a usable spine it lists all chapters in the order of the container.
func readBook(z *archive.File, lim document.Limits) book {
	b := book{}
	if x := scanEntry(z, "META-INF/container.xml", lim.MaxDepth); x != nil {
		for x.Next() {
			if x.Kind == xmlscan.Start && x.Name == "rootfile" && b.opf == "" {
				b.opf = strings.TrimPrefix(x.Attr("full-path"), "/")
			}
		}
	}
	if !z.Has(b.opf) {
		for _, e := range z.Order {
			if strings.HasSuffix(strings.ToLower(e.Name), ".opf") {
				b.opf = e.Name
				break
			}
		}
	}
	if x := scanEntry(z, b.opf, lim.MaxDepth); x != nil {
		b.readSpine(x)
	}
	if len(b.spine) > 0 {
		return b
	}
	for _, e := range z.Order {
		switch media.Ext(e.Name) {
		case "xhtml", "html", "htm":
			b.spine = append(b.spine, e.Name)
		}
	}
	return b
}

// readSpine reads the manifest and the spine. It leaves out the table of contents of EPUB 3, which repeats the headings.
func (b *book) readSpine(x *xmlscan.Scanner) {
	dir := path.Dir(b.opf)
	files := map[string]string{}
	nav := map[string]bool{}
	seen := map[string]bool{}
	for x.Next() && len(b.spine) < maxSpine && len(files) < maxSpine {
		if x.Kind != xmlscan.Start {
			continue
		}
		switch x.Name {
		case "item":
			id, href := x.Attr("id"), x.Attr("href")
			if plain, err := url.PathUnescape(href); err == nil {
				href = plain
			}
			files[id] = resolvePart(dir, href)
			nav[id] = strings.Contains(" "+x.Attr("properties")+" ", " nav ")
		case "itemref":
			id := x.Attr("idref")
			b.lost = b.lost || files[id] == ""
			if f := files[id]; f != "" && !nav[id] && !seen[f] {
				seen[f] = true
				b.spine = append(b.spine, f)
			}
		}
	}
}

// locked reports whether chapters are encrypted. Encrypted fonts, which are common, do not count.
func (b *book) locked(z *archive.File, lim document.Limits) (bool, error) {
	x := scanEntry(z, "META-INF/encryption.xml", lim.MaxDepth)
	if x == nil {
		return false, nil
	}
	chapters := map[string]bool{}
	for _, f := range b.spine {
		chapters[f] = true
	}
	for x.Next() {
		if x.Kind == xmlscan.Start && x.Name == "CipherReference" {
			uri := x.Attr("URI")
			if plain, err := url.PathUnescape(uri); err == nil {
				uri = plain
			}
			if chapters[strings.TrimPrefix(uri, "/")] {
				return true, nil
			}
		}
	}
	if output.IsDocumentError(x.Err) {
		return false, x.Err
	}
	return false, nil
}

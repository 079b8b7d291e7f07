package parse

import (
	"context"
	"io"
	"net/url"
	"path"
	"strings"
)

// parseEPUB reads books (EPUB 2 and 3): the chapters in the order of the spine.
func parseEPUB(ctx context.Context, in Input, lim Limits) (*Document, error) {
	z, err := openZip(ctx, in.Data, lim)
	if err != nil {
		return nil, err
	}
	book := readBook(z, lim)
	if len(book.spine) == 0 {
		return nil, malformed("the book has no chapters")
	}
	if locked, err := book.locked(z, lim); err != nil {
		return nil, err
	} else if locked {
		return nil, NewError(Encrypted, "the book is protected", nil)
	}
	w := newWriter(lim, 64<<10)
	meta := map[string]string{}
	for _, item := range book.spine {
		if w.full {
			break
		}
		s := z.open(item)
		if s == nil {
			z.note("a chapter of the book is missing")
			continue
		}
		if err := chapter(ctx, w, s, meta); err != nil {
			return nil, err
		}
	}
	doc := w.finishOffice(z, func(doc *Document) {
		if x := scanEntry(z, book.opf, lim.MaxDepth); x != nil {
			readProperties(x, doc)
		}
	})
	return titled(doc), nil
}

// chapter writes one chapter as a page whose label is its title or its first heading.
func chapter(ctx context.Context, w *writer, s io.Reader, meta map[string]string) error {
	w.page("")
	pages := len(w.pages)
	start := len(w.buf)
	h := newHTMLReader(w, true)
	h.meta = meta
	r, err := utf8Reader(s)
	if err != nil {
		return err
	}
	if err := h.read(ctx, r); err != nil {
		return err
	}
	w.block()
	if pages == 0 {
		return nil
	}
	if len(w.buf) == start {
		w.pages = w.pages[:pages-1]
		return nil
	}
	// The title element names the whole book in many; the chapter's own heading is better.
	label := firstHeading(strings.TrimLeft(string(w.buf[start:min(len(w.buf), start+4096)]), "\n"))
	w.pages[pages-1].Label = firstOf(label, oneLine(h.title.String()))
	return nil
}

// utf8Reader decodes a chapter by its mark or declaration; without any it is UTF-8 by the standard.
func utf8Reader(r io.Reader) (io.Reader, error) {
	first := make([]byte, 512)
	n, err := io.ReadFull(r, first)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return declaredReader(first[:n], r), nil
}

// book is what the package document says.
type book struct {
	opf   string
	spine []string // files in reading order
}

const maxSpine = 20_000

// readBook finds the package document and reads the spine. Without a usable one, all chapters count in the order of
// the container.
func readBook(z *zipFile, lim Limits) book {
	b := book{}
	if x := scanEntry(z, "META-INF/container.xml", lim.MaxDepth); x != nil {
		for x.next() {
			if x.kind == xmlStart && x.name == "rootfile" && b.opf == "" {
				b.opf = strings.TrimPrefix(x.attr("full-path"), "/")
			}
		}
	}
	if !z.has(b.opf) {
		for _, e := range z.order {
			if strings.HasSuffix(strings.ToLower(e.name), ".opf") {
				b.opf = e.name
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
	for _, e := range z.order {
		switch ext(e.name) {
		case "xhtml", "html", "htm":
			b.spine = append(b.spine, e.name)
		}
	}
	return b
}

// readSpine reads the manifest and the spine. The table of contents of EPUB 3 is left out: it repeats the headings.
func (b *book) readSpine(x *xmlScanner) {
	dir := path.Dir(b.opf)
	files := map[string]string{}
	nav := map[string]bool{}
	seen := map[string]bool{}
	for x.next() && len(b.spine) < maxSpine && len(files) < maxSpine {
		if x.kind != xmlStart {
			continue
		}
		switch x.name {
		case "item":
			id, href := x.attr("id"), x.attr("href")
			if plain, err := url.PathUnescape(href); err == nil {
				href = plain
			}
			files[id] = resolvePart(dir, href)
			nav[id] = strings.Contains(" "+x.attr("properties")+" ", " nav ")
		case "itemref":
			id := x.attr("idref")
			if f := files[id]; f != "" && !nav[id] && !seen[f] {
				seen[f] = true
				b.spine = append(b.spine, f)
			}
		}
	}
}

// locked reports whether chapters are encrypted; fonts often are, which harms nobody here.
func (b *book) locked(z *zipFile, lim Limits) (bool, error) {
	x := scanEntry(z, "META-INF/encryption.xml", lim.MaxDepth)
	if x == nil {
		return false, nil
	}
	chapters := map[string]bool{}
	for _, f := range b.spine {
		chapters[f] = true
	}
	for x.next() {
		if x.kind == xmlStart && x.name == "CipherReference" {
			uri := x.attr("URI")
			if plain, err := url.PathUnescape(uri); err == nil {
				uri = plain
			}
			if chapters[strings.TrimPrefix(uri, "/")] {
				return true, nil
			}
		}
	}
	if isDocumentError(x.err) {
		return false, x.err
	}
	return false, nil
}

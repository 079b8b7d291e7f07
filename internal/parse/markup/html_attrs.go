package markup

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

var metaCharset = lazyregexp.New(`(?i)<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:.\-]{2,40})`)

// DeclaredCharset returns the charset that the page declares in its first 4,096 bytes.
// A page whose declaration is readable as ASCII is not UTF-16, so a declared UTF-16 means UTF-8
// (WHATWG HTML, prescan a byte stream).
func DeclaredCharset(data []byte) string {
	prefix := clean.Head(data, 4096)
	for _, re := range []*lazyregexp.Regexp{xmlscan.Declaration, metaCharset} {
		if m := re.FindSubmatch(prefix); m != nil {
			name := strings.ToLower(string(m[1]))
			if strings.HasPrefix(name, "utf-16") {
				return "utf-8"
			}
			return name
		}
	}
	return ""
}

// tagName returns the name of a start or end tag as written in the source, and the bytes after the name.
func tagName(raw []byte) (atom.Atom, []byte) {
	raw = bytes.TrimPrefix(bytes.TrimPrefix(raw, []byte("<")), []byte("/"))
	var name [24]byte // longer than any element name that the parser handles
	n := 0
	for n < len(raw) && !endsName(raw[n]) {
		if n < len(name) {
			name[n] = clean.Lower(raw[n])
		}
		n++
	}
	if n > len(name) {
		return 0, raw[n:]
	}
	return atom.Lookup(name[:n]), raw[n:]
}

func endsName(c byte) bool { return clean.IsSpace(c) || c == '/' || c == '>' }

// nextAttr splits off the next attribute of a tag (WHATWG HTML, 13.2.5.32 and following).
// The key is nil when there is no further attribute.
func nextAttr(b []byte) (key, value, rest []byte) {
	i := 0
	for i < len(b) && endsName(b[i]) {
		i++
	}
	start := i
	for i < len(b) && !endsName(b[i]) && (b[i] != '=' || i == start) {
		i++
	}
	if i == start {
		return nil, nil, nil
	}
	key = b[start:i]
	for i < len(b) && clean.IsSpace(b[i]) {
		i++
	}
	if i >= len(b) || b[i] != '=' {
		return key, nil, b[i:]
	}
	for i++; i < len(b) && clean.IsSpace(b[i]); i++ {
	}
	if i < len(b) && (b[i] == '"' || b[i] == '\'') {
		if end := bytes.IndexByte(b[i+1:], b[i]); end >= 0 {
			return key, b[i+1 : i+1+end], b[i+end+2:]
		}
		return key, b[i+1:], nil
	}
	start = i
	for i < len(b) && !clean.IsSpace(b[i]) && b[i] != '>' {
		i++
	}
	return key, b[start:i], b[i:]
}

// tagAttrs holds the attributes that affect the text. They may share the memory of the tag, which the next token overwrites.
type tagAttrs struct {
	href, alt, src, class, lang, role, name, property, content string
	colspan, rowspan, start                                    int
	hidden                                                     bool
}

// readAttrs reads the attributes of a tag.
func readAttrs(b []byte) tagAttrs {
	var a tagAttrs
	for range 256 {
		var key, value []byte
		if key, value, b = nextAttr(b); key == nil {
			break
		}
		var name [16]byte // longer than any attribute name that the parser handles
		if len(key) > len(name) {
			continue
		}
		for i, c := range key {
			name[i] = clean.Lower(c)
		}
		a.set(name[:len(key)], value)
	}
	return a
}

func (a *tagAttrs) set(key, value []byte) {
	v := clean.String(value)
	if bytes.IndexByte(value, '&') >= 0 {
		v = html.UnescapeString(v)
	}
	number := func() int {
		n, _ := clean.ParseInt(strings.TrimSpace(v))
		return n
	}
	switch string(key) {
	case "href":
		a.href = v
	case "alt":
		a.alt = v
	case "src":
		a.src = v
	case "class":
		a.class = v
	case "lang", "xml:lang":
		a.lang = v
	case "role", "epub:type":
		a.role += " " + v
		a.hidden = a.hidden || v == "doc-backlink" || v == "backlink"
	case "name":
		a.name = strings.ToLower(v)
	case "property":
		a.property = strings.ToLower(v)
	case "content":
		a.content = v
	case "colspan":
		a.colspan = number()
	case "rowspan":
		a.rowspan = number()
	case "start":
		a.start = number()
	case "hidden":
		a.hidden = v != "until-found"
	case "style":
		s := strings.ToLower(strings.Join(strings.Fields(string(clean.Head(value, 1024))), ""))
		a.hidden = a.hidden || strings.Contains(s, "display:none") || strings.Contains(s, "visibility:hidden")
	}
}

// metaTag stores the metadata fields of a meta element.
func (h *HTMLReader) metaTag(a tagAttrs) {
	key := a.name
	if key == "" {
		key = a.property
	}
	if key != "" && a.content != "" && len(h.Meta) < 64 && h.Meta[key] == "" {
		h.Meta[strings.Clone(key)] = strings.Clone(a.content)
	}
}

// describe fills the document's metadata.
func (h *HTMLReader) describe(doc *document.Document) {
	doc.Title = clean.FirstOf(clean.OneLine(h.Title.String()), h.Meta["og:title"], h.Meta["dc.title"], h.Meta["title"])
	doc.Author = clean.FirstOf(h.Meta["author"], h.Meta["dc.creator"], h.Meta["article:author"])
	doc.Language = clean.FirstOf(h.pageLang, h.Meta["dc.language"])
	doc.Created = clean.Time(clean.FirstOf(h.Meta["article:published_time"], h.Meta["dc.date"], h.Meta["dcterms.created"], h.Meta["date"]))
	doc.Modified = clean.Time(clean.FirstOf(h.Meta["article:modified_time"], h.Meta["dcterms.modified"], h.Meta["last-modified"], h.Meta["og:updated_time"]))
	output.SetMeta(doc, "description", clean.FirstOf(h.Meta["description"], h.Meta["og:description"]))
	output.SetMeta(doc, "keywords", h.Meta["keywords"])
}

func headingLevel(name atom.Atom) int {
	return int(name.String()[1] - '0')
}

// codeLanguage returns the programming language from the class names of syntax highlighters.
func codeLanguage(class string) string {
	for _, c := range strings.Fields(class) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "brush:"} {
			if rest, ok := strings.CutPrefix(c, prefix); ok && len(rest) <= 20 && !strings.ContainsAny(rest, "`\n") {
				return strings.Clone(rest)
			}
		}
	}
	return ""
}

package parse

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var (
	metaCharset = regexp.MustCompile(`(?i)<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:.\-]{2,40})`)
	xmlCharset  = regexp.MustCompile(`^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_:.\-]{2,40})["']`)
)

// htmlCharset returns the charset that the page declares in its first 4,096 bytes. A page that could be read this
// far is not UTF-16, so that name there means UTF-8 (WHATWG HTML, prescan a byte stream).
func htmlCharset(data []byte) string {
	prefix := head(data, 4096)
	for _, re := range []*regexp.Regexp{xmlCharset, metaCharset} {
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

// tagAttrs are the attributes that matter for text.
type tagAttrs struct {
	href, alt, src, class, lang, role, name, property, content string
	colspan, rowspan, start                                    int
	hidden                                                     bool
}

func readAttrs(z *html.Tokenizer) tagAttrs {
	var a tagAttrs
	for range 256 {
		k, v, more := z.TagAttr()
		switch string(k) {
		case "href":
			a.href = string(v)
		case "alt":
			a.alt = string(v)
		case "src":
			a.src = string(v)
		case "class":
			a.class = string(v)
		case "lang", "xml:lang":
			a.lang = string(v)
		case "role", "epub:type":
			a.role += " " + string(v)
			a.hidden = a.hidden || string(v) == "doc-backlink" || string(v) == "backlink"
		case "name":
			a.name = strings.ToLower(string(v))
		case "property":
			a.property = strings.ToLower(string(v))
		case "content":
			a.content = string(v)
		case "colspan":
			a.colspan, _ = strconv.Atoi(strings.TrimSpace(string(v)))
		case "rowspan":
			a.rowspan, _ = strconv.Atoi(strings.TrimSpace(string(v)))
		case "start":
			a.start, _ = strconv.Atoi(strings.TrimSpace(string(v)))
		case "hidden":
			a.hidden = string(v) != "until-found"
		case "style":
			s := strings.ToLower(strings.Join(strings.Fields(string(head(v, 1024))), ""))
			a.hidden = a.hidden || strings.Contains(s, "display:none") || strings.Contains(s, "visibility:hidden")
		}
		if !more {
			break
		}
	}
	return a
}

// metaTag keeps the fields that describe the page.
func (h *htmlReader) metaTag(a tagAttrs) {
	key := a.name
	if key == "" {
		key = a.property
	}
	if key != "" && a.content != "" && len(h.meta) < 64 && h.meta[key] == "" {
		h.meta[key] = a.content
	}
}

// describe fills the document's metadata.
func (h *htmlReader) describe(doc *Document) {
	doc.Title = firstOf(oneLine(h.title.String()), h.meta["og:title"], h.meta["dc.title"], h.meta["title"])
	doc.Author = firstOf(h.meta["author"], h.meta["dc.creator"], h.meta["article:author"])
	doc.Language = firstOf(h.pageLang, h.meta["dc.language"])
	doc.Created = parseTime(firstOf(h.meta["article:published_time"], h.meta["dc.date"], h.meta["dcterms.created"], h.meta["date"]))
	doc.Modified = parseTime(firstOf(h.meta["article:modified_time"], h.meta["dcterms.modified"], h.meta["last-modified"], h.meta["og:updated_time"]))
	doc.setMeta("description", firstOf(h.meta["description"], h.meta["og:description"]))
	doc.setMeta("keywords", h.meta["keywords"])
}

func headingLevel(name atom.Atom) int {
	return int(name.String()[1] - '0')
}

// codeLanguage finds the language in the class names that highlighters use.
func codeLanguage(class string) string {
	for _, c := range strings.Fields(class) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "brush:"} {
			if rest, ok := strings.CutPrefix(c, prefix); ok && len(rest) <= 20 && !strings.ContainsAny(rest, "`\n") {
				return rest
			}
		}
	}
	return ""
}

// Package office reads the documents of word processors, spreadsheets, presentations and books: DOCX, PPTX, XLSX, RTF,
// OpenDocument and EPUB.
package office

import (
	"context"
	"io"
	"path"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/archive"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// ooxml is an Office Open XML package (ECMA-376 part 2): a ZIP container whose parts refer to one another.
type ooxml struct {
	*archive.File
	depth int
}

// relation is a reference from one part to another, or to an external target.
type relation struct {
	id, kind, target string
	external         bool
}

// maxRelations bounds the relations of one part.
const maxRelations = 100_000

func openOOXML(ctx context.Context, in document.Input, lim document.Limits) (*ooxml, error) {
	z, err := archive.Open(ctx, in.Data, lim)
	if err != nil {
		return nil, err
	}
	if z.Has("EncryptedPackage") || z.Has("EncryptionInfo") {
		return nil, document.NewError(document.Encrypted, "the office document needs a password", nil).WithHint("save it without one")
	}
	p := &ooxml{File: z, depth: lim.MaxDepth}
	return p, p.checkParts()
}

const reasonMissing = "a part of the file is missing"

// holdsText reports whether a content type or relation type belongs to parts that contain text.
func holdsText(kind string) bool {
	for _, suffix := range [...]string{"/worksheet", "/sharedStrings", "/slide", "/notesSlide", "/footnotes", "/endnotes", "/comments", "/styles", "/officeDocument",
		"/drawing", "/chart", "/table", ".drawing", ".chart", ".table",
		".main", ".styles", ".worksheet", ".sharedStrings", ".slide", ".notesSlide", ".footnotes", ".endnotes", ".comments"} {
		if strings.HasSuffix(kind, suffix) {
			return true
		}
	}
	return false
}

// checkParts records damage when a part with text is in the content types but not in the container.
func (p *ooxml) checkParts() error {
	x := p.scan("[Content_Types].xml")
	if x == nil {
		return nil
	}
	for n := 0; x.Next() && n < maxRelations; n++ {
		if x.Kind == xmlscan.Start && x.Name == "Override" && holdsText(strings.TrimSuffix(x.Attr("ContentType"), "+xml")) &&
			!p.Has(resolvePart("", x.Attr("PartName"))) {
			p.Note(reasonMissing)
		}
	}
	return scanFault(p.File, x)
}

// scan opens a part as XML; nil when there is none.
func (p *ooxml) scan(name string) *xmlscan.Scanner { return scanEntry(p.File, name, p.depth) }

func scanEntry(z *archive.File, name string, depth int) *xmlscan.Scanner {
	s := z.Open(name)
	if s == nil {
		return nil
	}
	return xmlscan.New(io.Reader(s), depth)
}

// relations returns the relations of a part in file order.
func (p *ooxml) relations(part string) []relation {
	dir, base := path.Split(part)
	x := p.scan(dir + "_rels/" + base + ".rels")
	if x == nil {
		return nil
	}
	var rels []relation
	for x.Next() && len(rels) < maxRelations {
		if x.Kind != xmlscan.Start || x.Name != "Relationship" {
			continue
		}
		r := relation{id: x.Attr("Id"), kind: path.Base(x.Attr("Type")), target: x.Attr("Target"), external: x.Attr("TargetMode") == "External"}
		if !r.external {
			r.target = resolvePart(dir, r.target)
			if holdsText(x.Attr("Type")) && !p.Has(r.target) {
				p.Note(reasonMissing)
			}
		}
		rels = append(rels, r)
	}
	if scanFault(p.File, x) != nil { // the limits end the part itself too
		p.Note(archive.ReasonDamaged)
	}
	return rels
}

// resolvePart returns the name of the part that target refers to, relative to dir.
func resolvePart(dir, target string) string {
	target = strings.ReplaceAll(target, "\\", "/")
	target, _, _ = strings.Cut(target, "#")
	if strings.HasPrefix(target, "/") {
		return strings.TrimPrefix(path.Clean(target), "/")
	}
	return strings.TrimPrefix(path.Join("/", dir, target), "/")
}

// mainPart returns the main document part named by the root relations, or else the given usual name.
func (p *ooxml) mainPart(usual string) string {
	for _, r := range p.relations("") {
		if r.kind == "officeDocument" && p.Has(r.target) {
			return r.target
		}
	}
	return usual
}

// relationMap indexes relations by id.
func relationMap(rels []relation) map[string]relation {
	m := make(map[string]relation, len(rels))
	for _, r := range rels {
		m[r.id] = r
	}
	return m
}

// properties fills title, author and dates from the core properties.
func (p *ooxml) properties(doc *document.Document) {
	name := "docProps/core.xml"
	for _, r := range p.relations("") {
		if r.kind == "core-properties" {
			name = r.target
		}
	}
	x := p.scan(name)
	if x == nil {
		return
	}
	readProperties(x, doc)
}

// readProperties reads the Dublin Core fields that office documents share.
func readProperties(x *xmlscan.Scanner, doc *document.Document) {
	field, value := "", ""
	for x.Next() {
		switch x.Kind {
		case xmlscan.Start:
			field, value = x.Name, ""
		case xmlscan.Text:
			if len(value) < 4096 {
				value += string(x.Text)
			}
		case xmlscan.End:
			if field != x.Name {
				continue
			}
			field = ""
			value = clean.OneLine(value)
			switch x.Name {
			case "title":
				doc.Title = clean.FirstOf(doc.Title, value)
			case "creator", "initial-creator":
				doc.Author = clean.FirstOf(doc.Author, value)
			case "language":
				doc.Language = clean.FirstOf(doc.Language, value)
			case "created", "creation-date":
				doc.Created = clean.Time(value)
			case "modified":
				doc.Modified = clean.Time(value)
			case "date":
				if doc.Modified.IsZero() {
					doc.Modified = clean.Time(value)
				}
			case "subject", "keywords", "keyword", "description":
				output.SetMeta(doc, metaKey(x.Name), value)
			}
		}
	}
}

// finishOffice completes the document of a container with its properties and its damage.
func finishOffice(w *output.Writer, z *archive.File, props func(*document.Document)) *document.Document {
	doc := w.Document()
	if props != nil {
		props(doc)
	}
	doc.AddPartial(z.Damage)
	return doc
}

// scanFault handles the reason why a scanner stopped. It returns limits and cancellation as errors and records damage.
func scanFault(z *archive.File, x *xmlscan.Scanner) error {
	if x.Unexpanded {
		z.Note(xmlscan.ReasonEntities)
	}
	if x.Err == nil {
		if x.Mismatched || !x.Started {
			z.Note(archive.ReasonDamaged)
		}
		return nil
	}
	if output.IsDocumentError(x.Err) {
		return x.Err
	}
	z.Note(archive.ReasonDamaged)
	return nil
}

func metaKey(name string) string {
	if name == "keyword" {
		return "keywords"
	}
	return name
}

// isSet reports whether the value of a boolean attribute is true (ECMA-376 part 1, 22.9.2.7).
func isSet(v string) bool { return v == "1" || v == "true" || v == "on" }

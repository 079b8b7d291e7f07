package parse

import (
	"context"
	"io"
	"path"
	"strings"
)

// ooxml is an Office Open XML package (ECMA-376 part 2): a ZIP container whose parts point at one another.
type ooxml struct {
	*zipFile
	depth int
}

// relation points from one part to another, or outside.
type relation struct {
	id, kind, target string
	external         bool
}

// maxRelations bounds the relations of one part.
const maxRelations = 100_000

func openOOXML(ctx context.Context, in Input, lim Limits) (*ooxml, error) {
	z, err := openZip(ctx, in.Data, lim)
	if err != nil {
		return nil, err
	}
	if z.has("EncryptedPackage") || z.has("EncryptionInfo") {
		return nil, NewError(Encrypted, "the office document needs a password", nil)
	}
	return &ooxml{zipFile: z, depth: lim.MaxDepth}, nil
}

// scan opens a part as XML; nil when there is none.
func (p *ooxml) scan(name string) *xmlScanner { return scanEntry(p.zipFile, name, p.depth) }

func scanEntry(z *zipFile, name string, depth int) *xmlScanner {
	s := z.open(name)
	if s == nil {
		return nil
	}
	return newXMLScanner(io.Reader(s), depth)
}

// relations returns the relations of a part in the order of the file.
func (p *ooxml) relations(part string) []relation {
	dir, base := path.Split(part)
	x := p.scan(dir + "_rels/" + base + ".rels")
	if x == nil {
		return nil
	}
	var rels []relation
	for x.next() && len(rels) < maxRelations {
		if x.kind != xmlStart || x.name != "Relationship" {
			continue
		}
		r := relation{id: x.attr("Id"), kind: path.Base(x.attr("Type")), target: x.attr("Target"), external: x.attr("TargetMode") == "External"}
		if !r.external {
			r.target = resolvePart(dir, r.target)
		}
		rels = append(rels, r)
	}
	return rels
}

// resolvePart returns the name of a part that a relation of a part in dir points at.
func resolvePart(dir, target string) string {
	target = strings.ReplaceAll(target, "\\", "/")
	target, _, _ = strings.Cut(target, "#")
	if strings.HasPrefix(target, "/") {
		return strings.TrimPrefix(path.Clean(target), "/")
	}
	return strings.TrimPrefix(path.Join("/", dir, target), "/")
}

// mainPart returns the part that the package's root points at as its document, else the given usual one.
func (p *ooxml) mainPart(usual string) string {
	for _, r := range p.relations("") {
		if r.kind == "officeDocument" && p.has(r.target) {
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
func (p *ooxml) properties(doc *Document) {
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
func readProperties(x *xmlScanner, doc *Document) {
	field, value := "", ""
	for x.next() {
		switch x.kind {
		case xmlStart:
			field, value = x.name, ""
		case xmlText:
			if len(value) < 4096 {
				value += string(x.text)
			}
		case xmlEnd:
			if field != x.name {
				continue
			}
			field = ""
			value = oneLine(value)
			switch x.name {
			case "title":
				doc.Title = firstOf(doc.Title, value)
			case "creator", "initial-creator":
				doc.Author = firstOf(doc.Author, value)
			case "language":
				doc.Language = firstOf(doc.Language, value)
			case "created", "creation-date":
				doc.Created = parseTime(value)
			case "modified":
				doc.Modified = parseTime(value)
			case "date":
				if doc.Modified.IsZero() {
					doc.Modified = parseTime(value)
				}
			case "subject", "keywords", "keyword", "description":
				doc.setMeta(metaKey(x.name), value)
			}
		}
	}
}

// finishOffice completes the document of a container with its properties and its damage.
func (w *writer) finishOffice(z *zipFile, props func(*Document)) *Document {
	doc := w.document()
	if props != nil {
		props(doc)
	}
	doc.addPartial(z.damage)
	return doc
}

const reasonEntities = "entities that the document declares were not expanded"

// scanFault sorts out why a scanner stopped: limits and cancellation are returned, damage is noted.
func scanFault(z *zipFile, x *xmlScanner) error {
	if x.unexpanded {
		z.note(reasonEntities)
	}
	if x.err == nil {
		return nil
	}
	if isDocumentError(x.err) {
		return x.err
	}
	z.note(reasonDamaged)
	return nil
}

func metaKey(name string) string {
	if name == "keyword" {
		return "keywords"
	}
	return name
}

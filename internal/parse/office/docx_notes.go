package office

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// notes writes the notes or comments of a part.
func (d *docxReader) notes(part, element, mark string) error {
	x := d.p.scan(part)
	if x == nil {
		return nil
	}
	d.rels = relationMap(d.p.relations(part))
	for x.Next() && !d.w.Full {
		if x.Kind != xmlscan.Start || x.Name != element {
			continue
		}
		if t := x.Attr("type"); t != "" && t != "normal" {
			x.Skip() // separators
			continue
		}
		label := "Comment: "
		if mark != "" {
			label = strings.ReplaceAll(mark, "%", d.noteNumber(element, x.Attr("id")))
		} else {
			if author := clean.OneLine(x.Attr("author")); author != "" {
				label = "Comment by " + author + ": "
			}
		}
		depth := len(x.Stack)
		d.w.Capture()
		for len(x.Stack) >= depth && x.Next() {
			if x.Kind == xmlscan.Start {
				if err := d.start(x); err != nil {
					return err
				}
			} else if x.Kind == xmlscan.End {
				d.end(x.Name)
			}
		}
		d.flushCode()
		if text := d.w.Release(); len(text) > 0 {
			d.w.Block()
			d.w.Label(label)
			d.w.InsertInline(text)
		}
	}
	return scanFault(d.p.File, x)
}

// noteNumber numbers the notes of a kind in the order in which the text refers to them, as word processors do.
func (d *docxReader) noteNumber(kind, id string) string {
	key := kind + " " + id
	if d.noteIDs[key] == 0 && len(d.noteIDs) < 1<<16 {
		d.noteLast[kind]++
		d.noteIDs[key] = d.noteLast[kind]
	}
	return strconv.Itoa(d.noteIDs[key])
}

// headers writes headers and footers after the body: each text once, and only if it has words.
func (d *docxReader) headers(rels []relation) error {
	seen := map[string]bool{}
	for _, r := range rels {
		if (r.kind != "header" && r.kind != "footer") || r.external || len(seen) > 64 {
			continue
		}
		x := d.p.scan(r.target)
		if x == nil {
			continue
		}
		d.w.Capture()
		err := d.read(x, relationMap(d.p.relations(r.target)))
		text := d.w.Release()
		if err != nil {
			return err
		}
		if seen[string(text)] || strings.IndexFunc(string(text), unicode.IsLetter) < 0 {
			continue
		}
		seen[string(text)] = true
		d.w.Insert(text)
	}
	return nil
}

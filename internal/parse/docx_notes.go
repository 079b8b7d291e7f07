package parse

import (
	"strings"
	"unicode"
)

// notes writes the notes or comments of a part.
func (d *docxReader) notes(part, element, mark string) error {
	x := d.p.scan(part)
	if x == nil {
		return nil
	}
	d.rels = relationMap(d.p.relations(part))
	for x.next() && !d.w.full {
		if x.kind != xmlStart || x.name != element {
			continue
		}
		if t := x.attr("type"); t != "" && t != "normal" {
			x.skip() // separators
			continue
		}
		label := "Comment: "
		if mark != "" {
			label = strings.ReplaceAll(mark, "%", d.noteNumber(element, x.attr("id")))
		} else {
			if author := oneLine(x.attr("author")); author != "" {
				label = "Comment by " + author + ": "
			}
		}
		depth := len(x.stack)
		d.w.capture()
		for len(x.stack) >= depth && x.next() {
			if x.kind == xmlStart {
				if err := d.start(x); err != nil {
					return err
				}
			} else if x.kind == xmlEnd {
				d.end(x.name)
			}
		}
		d.flushCode()
		if text := d.w.release(); len(text) > 0 {
			d.w.block()
			d.w.mark = label
			d.w.insertInline(text)
		}
	}
	return scanFault(d.p.zipFile, x)
}

// noteNumber numbers the notes of a kind in the order in which the text refers to them, as readers see them.
func (d *docxReader) noteNumber(kind, id string) string {
	key := kind + " " + id
	if d.noteIDs[key] == 0 && len(d.noteIDs) < 1<<16 {
		d.noteLast[kind]++
		d.noteIDs[key] = d.noteLast[kind]
	}
	return itoa(d.noteIDs[key])
}

// headers writes headers and footers behind the body, each text once, and only those with words.
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
		d.w.capture()
		err := d.read(x, relationMap(d.p.relations(r.target)))
		text := d.w.release()
		if err != nil {
			return err
		}
		if seen[string(text)] || strings.IndexFunc(string(text), unicode.IsLetter) < 0 {
			continue
		}
		seen[string(text)] = true
		d.w.insert(text)
	}
	return nil
}

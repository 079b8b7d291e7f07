package parse

import (
	"bytes"
	"strings"
)

// image writes the description of a drawing.
func (d *odfReader) image(x *xmlScanner) {
	var alt []byte
	for x.next() && x.kind != xmlEnd {
		if x.kind == xmlText && len(alt) < 4096 {
			alt = append(alt, x.text...)
		}
	}
	if alt = bytes.TrimSpace(alt); len(alt) > 0 && !d.inPre {
		d.w.text(" ![" + string(alt) + "]() ")
	}
}

// formula writes the text of an embedded formula.
func (d *odfReader) formula(href string) {
	if d.part == nil || d.inPre || href == "" {
		return
	}
	x := d.part(strings.TrimSuffix(strings.TrimPrefix(href, "./"), "/") + "/content.xml")
	for math := false; x != nil && x.next(); {
		switch {
		case x.kind == xmlStart && x.name == "math":
			math = true
		case x.kind == xmlStart && (!math || x.name == "annotation"):
			if x.name != "semantics" && !math {
				return // a chart or another document
			}
			x.skip()
		case x.kind == xmlText && math:
			d.w.text(strings.TrimSpace(string(x.text)))
		}
	}
}

// openNote begins a footnote, an endnote or a comment; its text goes behind the document.
func (d *odfReader) openNote(x *xmlScanner) {
	if d.note > 0 || len(d.notes) > 1<<16 {
		x.skip()
		return
	}
	d.note++
	if x.name == "note" {
		label := "[^" + itoa(len(d.notes)+1) + "]"
		d.w.text(label)
		d.notes = append(d.notes, lateNote{label: label + ": "})
	} else {
		d.notes = append(d.notes, lateNote{label: "Comment: "})
	}
	d.enter()
}

func (d *odfReader) closeNote() {
	if d.note == 0 {
		return
	}
	d.note--
	text := d.w.keep(d.leave())
	if n := len(d.notes); n > 0 {
		d.notes[n-1].text = text
	}
}

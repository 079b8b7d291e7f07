package office

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/archive"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// image writes the description of a drawing.
func (d *odfReader) image(x *xmlscan.Scanner) {
	var alt []byte
	for x.Next() && x.Kind != xmlscan.End {
		if x.Kind == xmlscan.Text && len(alt) < 4096 {
			alt = append(alt, x.Text...)
		}
	}
	if alt = bytes.TrimSpace(alt); len(alt) > 0 && !d.inPre {
		d.w.Text(" ![" + string(alt) + "]() ")
	}
}

// formula writes the text of an embedded formula.
func (d *odfReader) formula(href string) {
	if d.z == nil || d.inPre || href == "" || strings.Contains(href, ":") || strings.HasPrefix(href, "../") {
		return
	}
	x := scanEntry(d.z, strings.TrimSuffix(strings.TrimPrefix(href, "./"), "/")+"/content.xml", d.maxDepth)
	if x == nil {
		d.z.Note(reasonMissing)
		return
	}
	for x.Next() {
		switch {
		case x.Kind == xmlscan.Start && x.Name == "math":
			text, whole := mathML(x)
			d.w.Word(text)
			if !whole {
				d.z.Note("a formula is cut off")
			}
			return
		case x.Kind == xmlscan.Start && x.Name != "semantics":
			return // a chart or another document
		}
	}
	d.z.Note(archive.ReasonDamaged)
}

// openNote begins a footnote, an endnote or a comment. Its text is written after the document.
func (d *odfReader) openNote(x *xmlscan.Scanner) {
	if d.note > 0 || len(d.notes) > 1<<16 {
		x.Skip()
		return
	}
	d.note++
	if x.Name == "note" {
		label := "[^" + strconv.Itoa(len(d.notes)+1) + "]"
		d.w.Text(label)
		d.notes = append(d.notes, output.LateNote{Label: label + ": "})
	} else {
		label := "Comment: "
		if d.sheet.open {
			label = "Comment on " + d.sheet.cellName() + ": "
		}
		d.notes = append(d.notes, output.LateNote{Label: label})
	}
	d.enter()
}

func (d *odfReader) closeNote() {
	if d.note == 0 {
		return
	}
	d.note--
	text := d.w.Keep(d.leave())
	if n := len(d.notes); n > 0 {
		d.notes[n-1].Text = text
	}
}

package office

import (
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// tableStart handles the start of an element of a table, and reports whether x is at one.
func (d *docxReader) tableStart(x *xmlscan.Scanner) bool {
	w := d.w
	switch x.Name {
	case "tbl":
		d.flushCode()
		w.BeginTable()
	case "tr":
		w.BeginRow()
	case "tc":
		w.BeginCell(1, 1)
	case "tblCaption", "tblDescription":
		// Screen readers speak this description in place of the table. Many programs repeat the paragraph above in it.
		if alt := clean.OneLine(x.Attr("val")); alt != "" && !w.EndsWith(alt) {
			w.Caption(alt)
		}
	case "trPr":
		d.rowProperties(x)
	case "gridSpan":
		w.SpanCell(clean.Int(x.Attr("val")))
	case "vMerge":
		if x.Attr("val") != "restart" {
			w.Covered()
		}
	default:
		return false
	}
	return true
}

// rowProperties reads a trPr element: whether the row is of the header, and the columns that it leaves out on the left.
func (d *docxReader) rowProperties(x *xmlscan.Scanner) {
	depth := len(x.Stack)
	for len(x.Stack) >= depth && x.Next() {
		if x.Kind != xmlscan.Start {
			continue
		}
		switch x.Name {
		case "tblHeader":
			if v := x.Attr("val"); v != "0" && v != "false" && v != "off" {
				d.w.MarkHead()
			}
		case "gridBefore":
			for range max(0, min(clean.Int(x.Attr("val")), maxGridBefore)) {
				d.w.BeginCell(1, 1)
				d.w.EndCell()
			}
		case "trPrChange":
			x.Skip()
		}
	}
}

// maxGridBefore bounds the columns that a row may leave out on the left, like the columns of a table in Word.
const maxGridBefore = 63

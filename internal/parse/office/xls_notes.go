package office

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/contextmem/contextmem/internal/parse/output"
)

// xlsNotes collects the comments and text boxes of a sheet. The texts of objects come first, then the cells of the comments.
type xlsNotes struct {
	object uint16            // number of the last object
	texts  map[uint16]string // by the number of the object
	order  []uint16          // objects with a text
	cells  []xlsNoteCell
}

// xlsNoteCell is the cell of a comment, counted from 0.
type xlsNoteCell struct{ row, col, object uint16 }

// maxXLSNotes bounds the texts of objects of a sheet, and its comments.
const maxXLSNotes = 1 << 16

// read notes a record of an object, of its text, or of a comment ([MS-XLS] 2.4.181, 2.4.329, 2.4.179).
func (n *xlsNotes) read(r xlsRecord) {
	d := r.parts[0]
	switch r.kind {
	case xlsObject:
		if len(d) >= 8 && binary.LittleEndian.Uint16(d) == 0x15 { // the part that all objects have
			n.object = binary.LittleEndian.Uint16(d[6:])
		}
	case xlsTextObject:
		if len(d) < 12 || len(r.parts) < 2 || len(n.order) >= maxXLSNotes {
			return
		}
		c := xlsCursor{parts: r.parts[1:]}
		if text := c.text(int(binary.LittleEndian.Uint16(d[10:]))); text != "" {
			if _, again := n.texts[n.object]; !again {
				n.order = append(n.order, n.object)
			}
			n.texts[n.object] = text
		}
	case xlsNote:
		if len(d) >= 8 && len(n.cells) < maxXLSNotes {
			n.cells = append(n.cells, xlsNoteCell{binary.LittleEndian.Uint16(d), binary.LittleEndian.Uint16(d[2:]), binary.LittleEndian.Uint16(d[6:])})
		}
	}
}

// any reports whether there is something to write.
func (n *xlsNotes) any() bool { return len(n.order) > 0 }

// write writes the comments with the cells that they are attached to, and then the text boxes.
func (n *xlsNotes) write(w *output.Writer) {
	for _, c := range n.cells {
		if text := n.texts[c.object]; text != "" {
			w.Block()
			w.Label("Comment on " + cellNameOf(int(c.col), int(c.row)) + ": ")
			w.Text(text)
		}
	}
	for _, object := range n.order {
		if !slices.ContainsFunc(n.cells, func(c xlsNoteCell) bool { return c.object == object }) {
			w.Block()
			w.Text(n.texts[object])
		}
	}
	w.Block()
}

// hide tells g of the hidden rows or columns of a record ([MS-XLS] 2.4.53, 2.4.221).
func hide(r xlsRecord, g *output.Grid) {
	d := r.parts[0]
	switch {
	case r.kind == xlsColumn && len(d) >= 10 && d[8]&1 != 0:
		g.HideColumns(int(binary.LittleEndian.Uint16(d))+1, int(binary.LittleEndian.Uint16(d[2:]))+1)
	case r.kind == xlsRow && len(d) >= 16 && d[12]&0x20 != 0:
		row := int(binary.LittleEndian.Uint16(d)) + 1
		g.HideRows(row, row)
	}
}

// cellNameOf returns the name of a cell, such as "B12". It counts columns and rows from 0.
func cellNameOf(col, row int) string {
	var letters []byte
	for n := col + 1; n > 0; n = (n - 1) / 26 {
		letters = append([]byte{byte('A' + (n-1)%26)}, letters...)
	}
	return string(letters) + strconv.Itoa(row+1)
}

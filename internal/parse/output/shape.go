package output

import (
	"bytes"
	"slices"
)

// RowShape tells where the cells of a row stand, for formats that give positions and not spans.
type RowShape struct {
	Edges []int32 // the left edge of each cell and the right edge of the last one, in twips
	// Down and Across say of each cell whether it continues the one above or on the left. They may be shorter than the row.
	Down, Across []bool
}

const (
	// sameEdge is the greatest distance in twips of edges that are one: .7 mm.
	sameEdge = 40
	// maxShapeCols is the greatest number of columns of a table in Word.
	maxShapeCols = 63
)

// ShapeRow tells the shape of the row that was begun last.
func (w *Writer) ShapeRow(s RowShape) {
	if !w.inTable() {
		return
	}
	t := w.tables[len(w.tables)-1]
	if len(t.rows) == 0 || len(s.Edges) < 2 {
		return
	}
	for len(t.shapes) < len(t.rows)-1 {
		t.shapes = append(t.shapes, RowShape{})
	}
	t.shapes = append(t.shapes[:len(t.rows)-1], s)
}

// place gives the cells the columns that their edges tell. A table is left as it is if the shape of a row is missing, or does not fit its cells.
func (t *table) place() {
	if len(t.shapes) != len(t.rows) {
		return
	}
	differ := false
	for i, row := range t.rows {
		n := len(t.shapes[i].Edges) - 1
		if n < 1 || len(row) < n || !slices.IsSorted(t.shapes[i].Edges) {
			return
		}
		for _, c := range row[n:] {
			if len(bytes.TrimSpace(c.text)) > 0 {
				return
			}
		}
		t.rows[i] = row[:n]
		differ = differ || n != len(t.rows[0])
	}
	edges := t.edges()
	if differ && (edges == nil || len(edges) > maxShapeCols+1) {
		return
	}
	old := t.rows
	t.rows = make([][]tableCell, 0, len(old))
	for i, row := range old {
		t.rows = append(t.rows, make([]tableCell, 0, len(row)))
		to, s := &t.rows[i], t.shapes[i]
		column := func(k int) int { return k }
		if differ {
			column = func(k int) int { return nearest(edges, s.Edges[k]) }
		}
		var over []byte // the text of the last cell of its own
		for k, c := range row {
			for len(*to) < column(k) {
				*to = append(*to, tableCell{})
			}
			if at := len(*to); len(bytes.TrimSpace(c.text)) == 0 && k < len(s.Down) && s.Down[k] {
				c = t.above(at)
			} else if len(bytes.TrimSpace(c.text)) == 0 && k > 0 && k < len(s.Across) && s.Across[k] {
				c = tableCell{side: across, over: over}
			} else {
				over = c.text
			}
			*to = append(*to, c)
			for len(*to) < column(k+1) {
				fill := tableCell{side: across, over: c.text}
				if c.side != own {
					fill = t.above(len(*to))
				}
				*to = append(*to, fill)
			}
		}
	}
}

// edges returns the edges of all rows, those that are close together as one.
func (t *table) edges() []int32 {
	var all []int32
	for _, s := range t.shapes {
		all = append(all, s.Edges...)
		if len(all) > 1<<16 {
			slices.Sort(all)
			if all = slices.Compact(all); len(all) > 1<<12 {
				return nil
			}
		}
	}
	slices.Sort(all)
	edges := all[:0]
	for _, e := range all {
		if len(edges) == 0 || e-edges[len(edges)-1] > sameEdge {
			edges = append(edges, e)
		}
	}
	return edges
}

// nearest returns the index of the edge that e belongs to.
func nearest(edges []int32, e int32) int {
	i, ok := slices.BinarySearch(edges, e)
	if !ok && i > 0 {
		i--
	}
	return i
}

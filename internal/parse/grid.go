package parse

import (
	"bytes"
	"maps"
	"slices"
)

// grid collects the cells of a sheet and writes them as tables. Blank rows and columns are left out.
type grid struct {
	cells []gridCell
	text  []byte
	max   int
	full  bool
}

type gridCell struct {
	row, col   int32
	start, end int32
	number     bool
}

func newGrid(maxText int) *grid { return &grid{max: max(0, maxText)} }

// set puts a cell; rows must come in order, or nearly so.
func (g *grid) set(row, col int, text []byte, number bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || g.full {
		return
	}
	// A cell costs its text and the bars around it. No spreadsheet has more columns.
	if len(g.text)+len(text)+4*len(g.cells) > g.max || col > maxRowCells {
		g.full = true
		return
	}
	if len(g.text)+len(text) > cap(g.text) {
		// Doubling leaves less garbage behind than append's own growth of large slices.
		g.text = slices.Grow(g.text, max(len(text), min(cap(g.text), g.max-len(g.text))))
	}
	start := len(g.text)
	g.text = append(g.text, text...)
	g.cells = append(g.cells, gridCell{row: int32(min(row, 1<<30)), col: int32(min(col, 1<<30)),
		start: int32(start), end: int32(len(g.text)), number: number})
}

// rows returns the cells of each row in order.
func (g *grid) rows() [][]gridCell {
	var rows [][]gridCell
	for i := 0; i < len(g.cells); {
		j := i
		for j < len(g.cells) && g.cells[j].row == g.cells[i].row {
			j++
		}
		rows = append(rows, g.cells[i:j])
		i = j
	}
	return rows
}

// write splits the rows into regions and writes each.
func (g *grid) write(w *writer) {
	rows := g.rows()
	for i := 0; i < len(rows) && !w.full; {
		j := i + 1
		for j < len(rows) && !g.newRegion(rows[j-1], rows[j]) {
			j++
		}
		g.region(w, rows[i:j])
		i = j
	}
}

// newRegion reports whether a blank row separates row from last, and row begins something new: a line of its own, or
// a header, which holds no number.
func (g *grid) newRegion(last, row []gridCell) bool {
	if row[0].row-last[0].row < 2 {
		return false
	}
	for _, c := range row {
		if c.number {
			return false
		}
	}
	return true
}

// region writes leading rows of a single cell as paragraphs and the rest as a table.
func (g *grid) region(w *writer, rows [][]gridCell) {
	wide := false
	for _, row := range rows {
		wide = wide || len(row) > 1
	}
	for len(rows) > 0 && (!wide || len(rows[0]) == 1 && !rows[0][0].number) {
		for _, c := range rows[0] {
			if wide {
				w.block()
			} else {
				w.line()
			}
			w.text(string(g.text[c.start:c.end]))
		}
		rows = rows[1:]
	}
	w.block()
	// Remarks below the table.
	end := len(rows)
	for end > 1 && len(rows[end-1]) == 1 && !rows[end-1][0].number && rows[end-1][0].col == rows[0][0].col && len(rows[0]) > 2 {
		end--
	}
	rows, remarks := rows[:end], rows[end:]
	if len(rows) == 0 {
		return
	}
	// Only the columns that the region uses.
	used := map[int32]bool{}
	for _, row := range rows {
		for _, c := range row {
			used[c.col] = true
		}
	}
	index := columnIndex(used)
	cells := make([]tableCell, len(index))
	for i, row := range rows {
		clear(cells)
		for _, c := range row {
			cells[index[c.col]] = tableCell{text: g.text[c.start:c.end]}
		}
		last := len(cells)
		if i > 0 {
			last = index[row[len(row)-1].col] + 1
		}
		if !w.open("") {
			return
		}
		w.tableRow(cells[:last], last)
		if i == 0 {
			w.gap = 1
			w.open("")
			w.put(headerRule(len(cells)))
		}
		w.gap = 1
	}
	for _, row := range remarks {
		w.block()
		w.text(string(g.text[row[0].start:row[0].end]))
	}
	w.block()
}

// columnIndex numbers the used columns from left to right.
func columnIndex(used map[int32]bool) map[int32]int {
	index := make(map[int32]int, len(used))
	for i, col := range slices.Sorted(maps.Keys(used)) {
		index[col] = i
	}
	return index
}

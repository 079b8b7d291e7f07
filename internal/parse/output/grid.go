package output

import (
	"bytes"
	"maps"
	"slices"
)

// Grid turns the cells of a sheet into tables, row by row. It leaves out blank rows and columns.
// The first rows determine the columns of a table; Grid adds further columns where they appear.
type Grid struct {
	W     *Writer
	Begin func() // called before the first cell; may be nil
	Full  bool   // cells were dropped because of the limits
	any   bool   // there was a cell
	// rows holds the index in cells at which each buffered row begins. Rows stay buffered until Grid knows their table.
	rows  []int
	cells []gridCell
	text  []byte
	index map[int32]int // the columns of the open table, when rows of it were written
	used  []int32       // its columns in order
	row   []tableCell   // buffer for one row
	free  int           // bytes that repeated texts of merged ranges may still take

	hiddenRows, hiddenColumns []span
	names                     []gridName

	merges   []gridMerge
	unsorted bool  // merges are not in order
	next     int   // the first merged range below the rows so far
	active   []int // merged ranges that reach the current row
}

type gridCell struct {
	row, col   int32
	start, end int32
	number     bool
}

// Limits on the buffered cells and rows. The last rows stay buffered, because only the end of a table shows which are remarks below it.
const (
	maxHeldRows  = 1024
	maxHeldBytes = 1 << 20
	lastHeldRows = 16
)

// Set adds a cell. Rows must come in order, with few exceptions.
func (g *Grid) Set(row, col int, text []byte, number bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || g.Full {
		return
	}
	// A cell costs its text and the bars around it. No spreadsheet has more columns.
	if g.W.spent+len(g.text)+len(text)+4*len(g.cells) > g.W.Max || col > MaxRowCells {
		g.Full = true
		return
	}
	if !g.any && g.Begin != nil {
		g.Begin()
	}
	g.any = true
	row = min(row, 1<<30)
	if len(g.rows) == 0 || g.cells[len(g.cells)-1].row != int32(row) {
		g.endRow()
		g.rows = append(g.rows, len(g.cells))
	}
	start := len(g.text)
	g.text = append(g.text, text...)
	g.free += len(text)
	g.setMerged(int32(row), int32(min(col, 1<<30)), text)
	g.cells = append(g.cells, gridCell{row: int32(row), col: int32(min(col, 1<<30)),
		start: int32(start), end: int32(len(g.text)), number: number})
}

// bufferedRow returns the cells of the buffered row i.
func (g *Grid) bufferedRow(i int) []gridCell {
	if i+1 < len(g.rows) {
		return g.cells[g.rows[i]:g.rows[i+1]]
	}
	return g.cells[g.rows[i]:]
}

// endRow writes the buffered rows that the last row shows to be complete.
func (g *Grid) endRow() {
	n := len(g.rows)
	switch {
	case n >= 2 && g.newRegion(g.bufferedRow(n-2), g.bufferedRow(n-1)):
		g.write(n-1, true)
	case n >= maxHeldRows, n >= 2*lastHeldRows && len(g.text) >= maxHeldBytes:
		g.write(n-lastHeldRows, false)
	}
}

// End writes the rows that are still buffered.
func (g *Grid) End() {
	g.endRow()
	g.write(len(g.rows), true)
	g.W.Full = g.W.Full || g.Full
}

// write writes the first n buffered rows and drops them. last says that a region ends with them.
func (g *Grid) write(n int, last bool) {
	if n == 0 {
		return
	}
	rows := make([][]gridCell, n)
	for i := range rows {
		rows[i] = g.bufferedRow(i)
	}
	if !g.W.Full {
		g.region(rows, last)
	}
	cells, text := len(g.cells), int32(len(g.text))
	if n < len(g.rows) {
		cells = g.rows[n]
		text = g.cells[cells].start
	}
	g.text = append(g.text[:0], g.text[text:]...)
	g.cells = append(g.cells[:0], g.cells[cells:]...)
	for i := range g.cells {
		g.cells[i].start -= text
		g.cells[i].end -= text
	}
	g.rows = append(g.rows[:0], g.rows[n:]...)
	for i := range g.rows {
		g.rows[i] -= cells
	}
	if last {
		g.index = nil
	}
}

func (g *Grid) textOf(c gridCell) []byte { return g.text[c.start:c.end] }

// newRegion reports whether a blank row separates row from last and row begins a new region.
// A new region begins with a single cell, or with a header, which has no number.
func (g *Grid) newRegion(last, row []gridCell) bool {
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

// region writes leading rows of a single cell as paragraphs and the rest as a table. Unless last, more rows follow.
func (g *Grid) region(rows [][]gridCell, last bool) {
	w := g.W
	if g.index == nil {
		if rows = g.paragraphs(rows); len(rows) == 0 {
			if last {
				w.Block()
			}
			return
		}
		w.Block()
		if last {
			for _, table := range g.beside(rows) {
				g.index = nil
				g.next, g.active = 0, g.active[:0]
				g.table(table, true)
			}
			return
		}
	}
	g.table(rows, last)
}

// table writes rows of a table, the last ones as paragraphs if they are remarks below it. Unless last, more rows follow.
func (g *Grid) table(rows [][]gridCell, last bool) {
	w := g.W
	// Remarks below the table.
	end := len(rows)
	for last && g.index == nil && end > 1 && len(rows[end-1]) == 1 && !rows[end-1][0].number && rows[end-1][0].col == rows[0][0].col && len(rows[0]) > 2 {
		end--
	}
	rows, remarks := rows[:end], rows[end:]
	header := g.index == nil
	g.columns(rows)
	if header {
		rows = g.head(rows)
	}
	for _, row := range rows {
		g.fill(g.row, row)
		repeatLabels(g.row, &g.free)
		g.markRow(row[0].row, g.row)
		cells := g.row
		for len(cells) > 1 && len(cells[len(cells)-1].text) == 0 {
			cells = cells[:len(cells)-1]
		}
		if !w.open("") {
			return
		}
		w.tableRow(cells, len(cells))
		w.gap = 1
	}
	for _, row := range remarks {
		w.Block()
		g.paragraph(row[0])
	}
	if last {
		w.Block()
	}
}

// head writes the header of a table and returns the rows below it.
func (g *Grid) head(rows [][]gridCell) [][]gridCell {
	first := make([][]tableCell, min(len(rows), maxHeads+1))
	for i := range first {
		first[i] = make([]tableCell, len(g.row))
		g.fill(first[i], rows[i])
	}
	g.next, g.active = 0, g.active[:0] // the rows come again
	n := headRows(first, nil)
	g.free += freeLabels
	g.writeName(rows)
	if !g.W.open("") {
		return nil
	}
	g.W.tableRow(g.markColumns(joinHeads(first[:n], len(g.row))), len(g.row))
	g.W.gap = 1
	g.W.open("")
	g.W.put(headerRule(len(g.row)))
	g.W.gap = 1
	return rows[n:]
}

// paragraphs writes the leading single-cell rows and returns the other rows. Without a wider row, all rows become lines.
func (g *Grid) paragraphs(rows [][]gridCell) [][]gridCell {
	wide := slices.ContainsFunc(rows, func(row []gridCell) bool { return len(row) > 1 })
	for len(rows) > 0 && (!wide || len(rows[0]) == 1 && !rows[0][0].number && !g.group(rows)) {
		for _, c := range rows[0] {
			if wide {
				g.W.Block()
			} else {
				g.W.Line()
			}
			g.paragraph(c)
		}
		rows = rows[1:]
	}
	return rows
}

// group reports whether the only cell of the first row names a group of columns of the table below.
func (g *Grid) group(rows [][]gridCell) bool {
	c := rows[0][0]
	return len(rows) > 1 && len(rows[1]) > 1 && rows[1][0].col < c.col && g.lastColumn(c) > c.col
}

// columns numbers the columns that the table uses from left to right, those of rows included.
func (g *Grid) columns(rows [][]gridCell) {
	used := make(map[int32]bool, len(g.index))
	for col := range g.index {
		used[col] = true
	}
	for _, row := range rows {
		for _, c := range row {
			used[c.col] = true
		}
	}
	g.index = make(map[int32]int, len(used))
	g.used = slices.Sorted(maps.Keys(used))
	for i, col := range g.used {
		g.index[col] = i
	}
	g.row = slices.Grow(g.row[:0], len(used))[:len(used)]
}

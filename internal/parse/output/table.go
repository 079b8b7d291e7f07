package output

import (
	"bytes"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// table collects the rows of a table until its end, because only then the writer knows whether Markdown can represent the table.
type table struct {
	rows    [][]tableCell
	marked  []rowMark // one a row
	shapes  []RowShape
	spans   []int // per column, how many further rows a cell from above covers
	cell    bool  // a cell is open
	covered bool  // the open cell continues the one above
	span    int   // columns of the open cell
	rich    bool  // a cell has blocks that a table row cannot hold
	cols    int
	cells   int  // cells in rows
	begun   bool // some rows were already written
	drop    bool // nested too deep to be a table: its rows become lines
	// captured marks an entry that is a capture instead of a table, so that writes do not affect the cells of enclosing tables.
	captured bool
}

type tableCell struct {
	text []byte
	over []byte // the text of the cell that covers this place
	side cover
}

// Limits on the size that a table may declare, so that attributes of a few bytes cannot inflate the text.
const (
	maxSpan       = 256
	maxTableDepth = 8
	// maxKeptCells bounds the cells kept of a table. Beyond it, the rows so far are written.
	maxKeptCells = 50_000
	// MaxRowCells bounds the columns of a table, like the widest spreadsheets. Further cells go on another row.
	MaxRowCells = 16_384
)

// BeginTable opens a table, inside the open cell of another one if there is one.
func (w *Writer) BeginTable() {
	if len(w.tables) == 0 || !w.tables[len(w.tables)-1].drop {
		if w.InCell() {
			w.holdsTable()
		}
	}
	t := &table{drop: len(w.tables) >= maxTableDepth && w.tableDepth() >= maxTableDepth}
	w.tables = append(w.tables, t)
	if t.drop {
		w.Block()
	}
}

// maxNestedText is the greatest size in bytes of a cell with a table that stays in its row.
const maxNestedText = 800

// holdsTable records that the current flow contains a table.
func (w *Writer) holdsTable() {
	if w.NestTables && w.InCell() {
		w.nested = true
	} else {
		w.rich = true
	}
}

// tableDepth counts the open tables.
func (w *Writer) tableDepth() int {
	n := 0
	for _, t := range w.tables {
		if !t.captured {
			n++
		}
	}
	return n
}

// InCell reports whether a table cell is open.
func (w *Writer) InCell() bool {
	return len(w.tables) > 0 && w.tables[len(w.tables)-1].cell
}

// inTable reports whether the innermost open structure is a table.
func (w *Writer) inTable() bool {
	return len(w.tables) > 0 && !w.tables[len(w.tables)-1].captured
}

// BeginRow opens a row of the innermost table.
func (w *Writer) BeginRow() {
	if !w.inTable() {
		return
	}
	w.EndCell()
	t := w.tables[len(w.tables)-1]
	if t.drop {
		w.Line()
		return
	}
	if t.cells > maxKeptCells {
		w.Full = w.Full || w.tableDepth() > 1 // no page nests tables that large
		w.writeRows(t)
	}
	t.addRow()
	t.fillFromAbove()
}

// maxReserved bounds the cells for which a row reserves memory because the row before it has as many.
const maxReserved = 64

func (t *table) addRow() {
	var row []tableCell
	if n := len(t.rows); n > 0 {
		row = make([]tableCell, 0, min(len(t.rows[n-1]), maxReserved))
	}
	t.rows, t.marked = append(t.rows, row), append(t.marked, unmarked)
}

// fillFromAbove adds fill cells to the current row where cells of earlier rows span into it.
func (t *table) fillFromAbove() {
	row := &t.rows[len(t.rows)-1]
	for len(*row) < len(t.spans) && t.spans[len(*row)] > 0 {
		t.spans[len(*row)]--
		*row = append(*row, t.above(len(*row)))
		t.cells++
	}
}

// BeginCell opens a cell that spans cols columns and rows rows, each at least 1.
func (w *Writer) BeginCell(cols, rows int) {
	if !w.inTable() {
		return
	}
	w.EndCell()
	t := w.tables[len(w.tables)-1]
	if t.drop {
		w.space = true
		return
	}
	if len(t.rows) == 0 {
		t.addRow()
	}
	if len(t.rows[len(t.rows)-1]) >= MaxRowCells {
		w.BeginRow()
	}
	t.cell, t.covered, t.span = true, false, max(1, min(cols, maxSpan))
	at := len(t.rows[len(t.rows)-1])
	if rows = min(rows, 1<<16); rows > 1 && at < 1<<12 {
		for len(t.spans) < at+t.span {
			t.spans = append(t.spans, 0)
		}
		for i := range t.span {
			t.spans[at+i] = rows - 1
		}
	}
	w.stack = append(w.stack, w.flow)
	w.flow = flow{start: true}
}

// EndCell closes the open cell of the innermost table.
func (w *Writer) EndCell() {
	if !w.InCell() {
		return
	}
	t := w.tables[len(w.tables)-1]
	text, rich, nested := w.buf, w.rich, w.nested
	w.flow = w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	t.cell = false
	t.rich = t.rich || rich || len(text) > 4000 || nested && len(text) > maxNestedText
	row := &t.rows[len(t.rows)-1]
	at := len(*row)
	c := tableCell{text: text}
	if t.covered && len(bytes.TrimSpace(text)) == 0 {
		c = t.above(at)
	}
	*row = append(*row, c)
	t.cells += t.span
	for i := 1; i < t.span; i++ {
		fill := tableCell{side: across, over: text}
		if c.side != own {
			fill = t.above(at + i)
		}
		*row = append(*row, fill)
	}
	t.fillFromAbove()
}

// EndTable closes the innermost table and writes it.
func (w *Writer) EndTable() {
	if !w.inTable() {
		return
	}
	w.EndCell()
	t := w.tables[len(w.tables)-1]
	w.tables = w.tables[:len(w.tables)-1]
	if t.drop {
		w.Block()
		return
	}
	w.writeRows(t)
	w.Block()
}

// writeRows writes and drops the rows that a table keeps.
func (w *Writer) writeRows(t *table) {
	t.place()
	t.trim()
	if len(t.rows) == 0 {
		return
	}
	// The cells were counted when they were read, so their text must be written even if it filled the limit.
	cut := w.Full
	w.Full, w.spent = false, max(0, w.spent-t.size())
	if t.rich || t.cols == 1 && !t.begun {
		w.tableAsBlocks(t)
	} else {
		w.tableAsRows(t)
	}
	w.Full = w.Full || cut
	t.rows, t.marked, t.shapes, t.cells, t.begun = nil, nil, nil, 0, true
}

func (w *Writer) tableAsRows(t *table) {
	w.holdsTable()
	rows, marked := t.rows, t.marked
	free := freeLabels + t.size()
	if t.begun {
		w.gap = 1
	} else {
		w.Block()
		if title := t.title(); title != nil {
			w.Text(clean.String(title))
			w.Block()
			rows, marked = rows[1:], marked[1:]
		}
		n := headRows(rows, marked)
		if !w.open("") {
			return
		}
		w.tableRow(joinHeads(rows[:n], t.cols), t.cols)
		w.gap = 1
		w.open("")
		w.put(headerRule(t.cols))
		if rows = rows[n:]; len(rows) > 0 {
			w.gap = 1
		}
	}
	for i, row := range rows {
		repeatLabels(row, &free)
		if !w.open("") {
			return
		}
		w.tableRow(row, t.cols)
		if i+1 < len(rows) {
			w.gap = 1
		}
	}
}

// trim drops empty rows and counts the columns with text.
func (t *table) trim() {
	rows := t.rows[:0]
	for at, row := range t.rows {
		last := 0
		for i, c := range row {
			if len(bytes.TrimSpace(c.text)) > 0 {
				last = i + 1
			}
		}
		if last > 0 {
			t.marked[len(rows)] = t.marked[at]
			rows = append(rows, row)
			t.cols = max(t.cols, last)
		}
	}
	for i, row := range rows {
		rows[i] = row[:min(len(row), t.cols)]
	}
	t.rows, t.marked = rows, t.marked[:len(rows)]
}

func (t *table) size() int {
	n := 0
	for _, row := range t.rows {
		for _, c := range row {
			n += len(c.text)
		}
	}
	return n
}

// tableRow writes one row with at least cols cells.
func (w *Writer) tableRow(row []tableCell, cols int) {
	w.put("|")
	for i := range cols {
		w.put(" ")
		if i < len(row) {
			w.put(rowText(row[i].text))
		}
		w.put(" |")
	}
}

// Row writes one complete table row directly, without BeginTable and its limits on kept cells.
func (w *Writer) Row(cells [][]byte) {
	w.Line()
	w.Raw("|")
	for _, c := range cells {
		w.put(" ")
		w.put(rowText(c))
		w.put(" |")
	}
}

// HeaderRow writes the first complete row, and the delimiter row below it.
func (w *Writer) HeaderRow(cells [][]byte) {
	w.Row(cells)
	w.Line()
	w.Raw(headerRule(len(cells)))
}

// rowText converts a cell to one line, with column separators escaped. The result may share b's memory.
func rowText(b []byte) string {
	b = bytes.TrimSpace(b)
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '|') < 0 {
		return clean.String(b)
	}
	var out []byte
	isRow := false
	for line := range bytes.Lines(b) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || bytes.HasPrefix(line, []byte("| --- ")) {
			continue
		}
		inRow := isRow
		if isRow = len(line) > 3 && line[0] == '|' && line[len(line)-1] == '|'; isRow { // a row of a nested table
			line = bytes.ReplaceAll(bytes.TrimSpace(line[1:len(line)-1]), []byte(" | "), []byte(", "))
		}
		if isRow && inRow {
			out = append(out, ';')
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, bytes.ReplaceAll(line, []byte("|"), []byte(`\|`))...)
	}
	return clean.String(out)
}

// tableAsBlocks writes the cells of a layout table one after another as blocks.
func (w *Writer) tableAsBlocks(t *table) {
	for _, row := range t.rows {
		for _, c := range row {
			text := bytes.TrimRight(c.text, " \n")
			if len(text) == 0 {
				continue
			}
			w.Block()
			w.rich = true
			w.pre = true // its Markdown is kept
			if w.open("") {
				w.put(clean.String(text))
			}
			w.pre = false
		}
	}
	w.Block()
}

// headerRule returns the delimiter row below the header of a table.
func headerRule(cols int) string { return "|" + strings.Repeat(" --- |", cols) }

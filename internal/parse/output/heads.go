package output

import "bytes"

// cover says which other cell covers the place of a cell.
type cover uint8

const (
	own    cover = iota // none
	across              // one to the left
	down                // one above
)

// Limits on the text of a cell that the writer repeats where the cell covers other places.
const (
	maxLabel   = 100
	maxHeads   = 6    // header rows of a table
	freeLabels = 2000 // bytes of repeated text that a table may have besides as much as its own text
)

// rowMark says what the document tells about a row.
type rowMark uint8

const (
	unmarked rowMark = iota
	headRow
	bodyRow
)

// MarkHead records that the row that was begun last is a row of the header, unless MarkBody said otherwise.
func (w *Writer) MarkHead() { w.markRow(headRow) }

// MarkBody records that the row that was begun last is no row of the header.
func (w *Writer) MarkBody() { w.markRow(bodyRow) }

func (w *Writer) markRow(m rowMark) {
	if !w.inTable() {
		return
	}
	if t := w.tables[len(w.tables)-1]; len(t.rows) > 0 {
		t.marked[len(t.rows)-1] = max(t.marked[len(t.rows)-1], m)
	}
}

// RepeatCell adds n copies of the last cell.
func (w *Writer) RepeatCell(n int) {
	if !w.inTable() {
		return
	}
	t := w.tables[len(w.tables)-1]
	if len(t.rows) == 0 || len(t.rows[len(t.rows)-1]) == 0 {
		return
	}
	row := &t.rows[len(t.rows)-1]
	last := (*row)[len(*row)-1]
	for ; n > 0 && len(*row) < MaxRowCells && !w.Full; n-- {
		*row = append(*row, last)
		t.cells++
		w.spent += len(last.text)
		w.Full = w.spent > w.Max
	}
}

// Covered records that the open cell only continues the cell above it.
func (w *Writer) Covered() {
	if w.InCell() {
		w.tables[len(w.tables)-1].covered = true
	}
}

// above returns the cover and the text of a cell in the current row at column col that continues the cell above.
func (t *table) above(col int) tableCell {
	if n := len(t.rows); n > 1 && col < len(t.rows[n-2]) {
		c := t.rows[n-2][col]
		switch {
		case c.side == own:
			return tableCell{side: down, over: c.text}
		case c.side == down:
			return tableCell{side: down, over: c.over}
		}
		return tableCell{side: across, over: c.over}
	}
	return tableCell{side: down}
}

// title returns the text of a first row that is one cell over all columns. Such a row stands above the header.
func (t *table) title() []byte {
	if len(t.rows) < 3 || t.cols < 2 || len(t.rows[0]) < t.cols || len(t.rows[0][0].text) == 0 {
		return nil
	}
	if !single(t.rows[0]) {
		return nil
	}
	return t.rows[0][0].text
}

// single reports whether a row is one cell over several columns.
func single(row []tableCell) bool {
	for i, c := range row {
		if (i == 0) != (c.side == own) || i > 0 && c.side != across {
			return false
		}
	}
	return len(row) > 1
}

// headRows returns the number of rows that are the header: those that the document marks, else the first one and those that its
// groups of columns need.
func headRows(rows [][]tableCell, marked []rowMark) int {
	n := 0
	for n < len(marked) && n < len(rows) && marked[n] == headRow && (n == 0 || !single(rows[n])) {
		n++
	}
	if n > 0 && n < len(rows) && n <= maxHeads {
		return n
	}
	n = 1
	if len(rows) < 3 || !hasGroups(rows[0]) {
		return n
	}
	for n < min(len(rows)-1, maxHeads) && !single(rows[n]) && names(rows[n]) && reaches(rows, n) {
		n++
	}
	if n == 1 && names(rows[1]) && dividesGroups(rows[0], rows[1]) {
		n = 2
	}
	return n
}

// hasGroups reports whether a cell of a row spans columns.
func hasGroups(row []tableCell) bool {
	for _, c := range row {
		if c.side == across {
			return true
		}
	}
	return false
}

// reaches reports whether a cell of the first row spans down to row n.
func reaches(rows [][]tableCell, n int) bool {
	for col, c := range rows[n] {
		if c.side != down || len(c.over) == 0 {
			continue
		}
		at := n
		for at > 0 && col < len(rows[at]) && rows[at][col].side == down {
			at--
		}
		if at == 0 {
			return true
		}
	}
	return false
}

// names reports whether the cells of a row can be names of columns: there are some, and no numbers but years.
func names(row []tableCell) bool {
	any := false
	for _, c := range row {
		if text := bytes.TrimSpace(c.text); len(text) > 0 {
			any = true
			if len(text) > maxLabel || isNumber(text) && !isYear(text) {
				return false
			}
		}
	}
	return any
}

// dividesGroups reports whether below names the columns of the groups of a first row, and only what the first row leaves open.
func dividesGroups(first, below []tableCell) bool {
	for col, c := range first {
		grouped := c.side == across || col+1 < len(first) && first[col+1].side == across
		named := col < len(below) && below[col].side == own && len(bytes.TrimSpace(below[col].text)) > 0
		if grouped != named && (grouped || len(bytes.TrimSpace(c.text)) > 0) {
			return false
		}
	}
	return true
}

// isNumber reports whether a text has digits and no letters, or few.
func isNumber(text []byte) bool {
	digits, letters := 0, 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80:
			letters++
		}
	}
	return digits > 0 && letters == 0
}

func isYear(text []byte) bool {
	return len(text) == 4 && (text[0] == '1' && text[1] >= '8' || text[0] == '2' && text[1] <= '1')
}

// joinHeads makes one row of the header rows: each column has the names above each other, and those of the groups it belongs to.
func joinHeads(rows [][]tableCell, cols int) []tableCell {
	if len(rows) == 1 && (!hasGroups(rows[0]) || single(rows[0])) {
		return rows[0]
	}
	free := freeLabels
	for _, row := range rows {
		for _, c := range row {
			free += len(c.text)
		}
	}
	out := make([]tableCell, cols)
	for col := range out {
		var last []byte
		for _, row := range rows {
			if col >= len(row) {
				continue
			}
			text := bytes.TrimSpace(row[col].text)
			if row[col].side == across {
				text = row[col].label(&free)
			}
			if len(text) == 0 || bytes.Equal(text, last) {
				continue
			}
			if last = text; len(out[col].text) > 0 {
				text = append(append(bytes.Clone(out[col].text), ' '), text...)
			}
			out[col].text = text
		}
	}
	return out
}

// label returns the text of the cell that covers c, if it is short enough to be repeated. It takes from the free bytes.
func (c tableCell) label(free *int) []byte {
	text := bytes.TrimSpace(c.over)
	if len(text) > maxLabel || len(text) > *free || bytes.IndexByte(text, '\n') >= 0 {
		return nil
	}
	*free -= len(text)
	return text
}

// repeatLabels writes the text of a cell that spans rows into one of the other rows, so that it can be understood alone.
func repeatLabels(row []tableCell, free *int) {
	for i := range row {
		if row[i].side == down {
			row[i].text = row[i].label(free)
		}
	}
}

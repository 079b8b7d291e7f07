package output

import (
	"bytes"
	"slices"
	"sort"
)

// hiddenMark is what the text of a hidden row, column or sheet ends with.
const hiddenMark = " (hidden)"

// maxHidden bounds the hidden ranges of rows, and those of columns, that a Grid marks.
const maxHidden = 100_000

// HideRows says that the sheet does not show the rows from first to last. Callers name them in order, before the rows are set. The first cell
// of a hidden row is marked.
func (g *Grid) HideRows(first, last int) { g.hiddenRows = appendSpan(g.hiddenRows, first, last) }

// HideColumns says that the sheet does not show the columns from first to last. Callers name them in order, before the rows are set. The name
// of a hidden column in the header of a table is marked.
func (g *Grid) HideColumns(first, last int) {
	g.hiddenColumns = appendSpan(g.hiddenColumns, first, last)
}

func appendSpan(to []span, first, last int) []span {
	s := span{int32(min(first, 1<<30)), int32(min(last, 1<<30))}
	if n := len(to); n > 0 && s.first == to[n-1].last+1 {
		to[n-1].last = s.last
		return to
	}
	if len(to) < maxHidden {
		to = append(to, s)
	}
	return to
}

// hidden reports whether one of the spans, which are in order, has n.
func hidden(spans []span, n int32) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].last >= n })
	return i < len(spans) && spans[i].first <= n
}

// markColumns marks the names of hidden columns in a header.
func (g *Grid) markColumns(head []tableCell) []tableCell {
	if len(g.hiddenColumns) == 0 {
		return head
	}
	head = slices.Clone(head)
	for i, col := range g.used {
		if i < len(head) && hidden(g.hiddenColumns, col) {
			head[i].text = bytes.TrimSpace(append(bytes.Clone(head[i].text), hiddenMark...))
		}
	}
	return head
}

// markRow marks the first text of a row of a table if the row is hidden.
func (g *Grid) markRow(row int32, cells []tableCell) {
	if !hidden(g.hiddenRows, row) {
		return
	}
	for i := range cells {
		if len(cells[i].text) > 0 {
			cells[i].text = append(bytes.Clone(cells[i].text), hiddenMark...)
			return
		}
	}
}

// paragraph writes a cell as text outside of tables.
func (g *Grid) paragraph(c gridCell) {
	text := string(g.textOf(c))
	if hidden(g.hiddenRows, c.row) || hidden(g.hiddenColumns, c.col) {
		text += hiddenMark
	}
	g.W.Text(text)
}

package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// tableEdges has what joinRow needs of a table, by column, to recognise a row that continues on the next page.
type tableEdges struct {
	rows        [][]string
	left, right []float64    // the extent of the text
	wraps       []bool       // one of its cells has several lines
	end, size   []float64    // the right end of the last line of the last row, and its font size
	words       [2][]float64 // the widths of the first words of the first two rows; 0: none, or right to left
	row         int          // the row of the last call of add
}

func newTableEdges(columns int) *tableEdges {
	e := &tableEdges{left: make([]float64, columns), right: make([]float64, columns), wraps: make([]bool, columns), end: make([]float64, columns), size: make([]float64, columns)}
	for i := range e.words {
		e.words[i] = make([]float64, columns)
	}
	for k := range e.left {
		e.left[k], e.right[k] = math.Inf(1), math.Inf(-1)
	}
	return e
}

// add records the next line of a cell. Rows come in order, the lines of a cell from top to bottom.
func (e *tableEdges) add(row, column int, first *segment, end float64) {
	if row != e.row {
		e.row = row
		clear(e.size)
	}
	e.wraps[column] = e.wraps[column] || e.size[column] > 0
	if row < len(e.words) && e.size[column] == 0 {
		e.words[row][column], _ = first.firstWord()
	}
	e.left[column], e.right[column] = min(e.left[column], first.u0), max(e.right[column], end)
	e.end[column], e.size[column] = end, first.size
}

// keep drops the columns that are not used.
func (e *tableEdges) keep(used []bool) {
	unused := func(column int) bool { return !used[column] }
	e.left, e.right, e.wraps, e.end, e.size = without(e.left, unused), without(e.right, unused), without(e.wraps, unused), without(e.end, unused), without(e.size, unused)
	for i := range e.words {
		e.words[i] = without(e.words[i], unused)
	}
}

// without returns s without the elements for whose index del returns true.
func without[T any](s []T, del func(i int) bool) []T {
	i := 0
	return slices.DeleteFunc(s, func(T) bool { i++; return del(i - 1) })
}

// joinRow joins a row that begins at the foot of a page with its continuation at the head of the next page, and returns the blocks of the
// next page. A header that is repeated there stays.
func joinRow(page, next []block, hyphens *hyphenation) []block {
	if len(page) == 0 || len(next) == 0 {
		return next
	}
	a, b := page[len(page)-1].edges, next[0].edges
	if a == nil || b == nil || len(a.rows) < 2 || len(a.left) != len(b.left) {
		return next
	}
	at := 0
	if slices.Equal(a.rows[0], b.rows[0]) {
		at = 1
	}
	if at >= len(b.rows) || !a.goesOn(b, at) {
		return next
	}
	last := a.rows[len(a.rows)-1]
	for k, text := range b.rows[at] {
		if text != "" {
			last[k] = hyphens.join([]string{last[k], text}, nil)
		}
	}
	page[len(page)-1].text = markdownTable(a.rows)
	b.rows = slices.Delete(b.rows, at, at+1)
	if len(b.rows) == at {
		return next[1:]
	}
	next[0].text = markdownTable(b.rows)
	next[0].lines = len(b.rows)
	return next
}

// goesOn reports whether row at of b continues the last row of e: each of its texts is below a text whose last line had no room for its
// first word, in a table with a cell of several lines. Other cells of the row may be on the next page entirely.
func (e *tableEdges) goesOn(b *tableEdges, at int) bool {
	above, rest := e.rows[len(e.rows)-1], b.rows[at]
	wraps, lower, moved := false, false, false
	for k, text := range rest {
		if text == "" {
			continue
		}
		if above[k] == "" && rest[0] == "" {
			moved = true
			continue
		}
		word := b.words[at][k]
		if above[k] == "" || word == 0 || !strings.ContainsFunc(text, unicode.IsLetter) || !strings.ContainsFunc(above[k], unicode.IsLetter) {
			return false
		}
		if math.Abs(e.left[k]-b.left[k]) > e.size[k] || e.end[k]+0.2*e.size[k]+word <= e.right[k] {
			return false
		}
		wraps = wraps || e.wraps[k] || b.wraps[k]
		lower = lower || startsLower(text) && !endsSentence(above[k])
	}
	return wraps && (lower || !moved && rest[0] == "" && e.named() && b.named(at))
}

// named reports whether all rows, except those at the indexes but, have text in the first column.
func (e *tableEdges) named(but ...int) bool {
	for i, row := range e.rows {
		if row[0] == "" && !slices.Contains(but, i) {
			return false
		}
	}
	return true
}

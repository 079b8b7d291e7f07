package output

import (
	"bytes"
	"slices"
)

// beside divides the rows of a region into tables that stand beside each other, with a blank column between them. A blank column alone is no
// sign: it often sets off the columns of one table. So each table must have a header and full rows, and they must end, or begin, on different
// rows, or have a name of a column in common.
func (g *Grid) beside(rows [][]gridCell) [][][]gridCell {
	var used []span
	for _, row := range rows {
		for _, c := range row {
			used = append(used, span{c.col, g.lastColumn(c)})
		}
	}
	used = joined(used)
	if len(used) < 2 {
		return [][][]gridCell{rows}
	}
	var tables [][][]gridCell
	left := used[0]
	for _, next := range used[1:] {
		if l, r := within(rows, left), within(rows, next); g.apart(l, r) {
			tables = append(tables, l)
			left = next
		} else {
			left.last = next.last
		}
	}
	return append(tables, within(rows, left))
}

// span is a range of columns.
type span struct{ first, last int32 }

// joined returns the ranges of columns that have no blank column inside, in order.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return int(a.first - b.first) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.first <= out[n-1].last+1 {
			out[n-1].last = max(out[n-1].last, s.last)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// within returns the cells of a range of columns, without rows that have none.
func within(rows [][]gridCell, s span) [][]gridCell {
	out := make([][]gridCell, 0, len(rows))
	for _, row := range rows {
		from := 0
		for from < len(row) && row[from].col < s.first {
			from++
		}
		to := from
		for to < len(row) && row[to].col <= s.last {
			to++
		}
		if to > from {
			out = append(out, row[from:to])
		}
	}
	return out
}

// apart reports whether two groups of columns are tables of their own.
func (g *Grid) apart(left, right [][]gridCell) bool {
	if !g.isTable(left) || !g.isTable(right) {
		return false
	}
	if left[0][0].row != right[0][0].row || left[len(left)-1][0].row != right[len(right)-1][0].row {
		return true
	}
	for _, a := range left[0] {
		for _, b := range right[0] {
			if bytes.Equal(g.textOf(a), g.textOf(b)) {
				return true
			}
		}
	}
	return false
}

// isTable reports whether rows have a header, and a first cell each, without blank rows between them.
func (g *Grid) isTable(rows [][]gridCell) bool {
	if len(rows) < 3 || len(rows[0]) < 2 {
		return false
	}
	for _, c := range rows[0] {
		if c.number {
			return false
		}
	}
	for i, row := range rows {
		if row[0].col != rows[0][0].col || row[0].row != rows[0][0].row+int32(i) || row[len(row)-1].col > rows[0][len(rows[0])-1].col {
			return false
		}
	}
	return true
}

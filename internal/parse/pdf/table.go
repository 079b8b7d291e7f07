package pdf

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxColumns bounds the columns of a table. More columns are scattered text.
const maxColumns = 40

// wrapGap is the widest distance of baselines, in ems, within a cell of several lines.
const wrapGap = 1.35

// columnSlack is the distance, in ems, that a cell may extend into the next column. Spreadsheet cells often fill their column.
const columnSlack = 0.4

// tableColumn is the extent of a column.
type tableColumn struct{ u0, u1 float64 }

// tableRows returns how many of the first lines form one table: lines of several cells below one another in the same columns. Lines with
// one cell are included when more rows follow. 0 means that no table begins here.
func tableRows(lines []line) int {
	if len(lines[0].cells) < 2 {
		return 0
	}
	var columns []tableColumn
	rows, full, marks := 0, 0, 0
	before, numbered := 0, false // the number at the beginning of the row above
	last := &lines[0]
	for i := range lines {
		l := &lines[i]
		gap := last.v - l.v
		if i > 0 && gap > 4*max(l.size, last.size) {
			break
		}
		merged, ok := mergeColumns(columns, l.cells)
		if !ok && full >= 1 && l.rejoin(columns) {
			merged, ok = mergeColumns(columns, l.cells)
		}
		if !ok || l.hasLeaders() {
			break
		}
		if len(l.cells) == 1 {
			if i-rows > 2 || gap > 2*l.size || len(merged) != len(columns) {
				break
			}
			if rows == i && gap < wrapGap*l.size && columnOf(merged, l.cells[0]) > 0 {
				rows = i + 1 // a cell of the row above continues
			}
		} else {
			if columns != nil && len(merged) > len(columns)+2 {
				break
			}
			number, bare := cellNumber(l)
			if startsItem(l) && !(bare && numbered && number != before+1) {
				if marks++; 2*marks > full+1 {
					break
				}
			}
			before, numbered = number, bare
			rows = i + 1
			full++
		}
		columns = merged
		last = l
	}
	if full < 2 || full < 3 && len(columns) < 3 {
		return 0
	}
	return rows
}

// rejoinGap is the widest gap, in ems, at which two cells are rejoined: a word space of a badly justified line.
const rejoinGap = 1.0

// rejoin merges cells that were cut within one column, and reports whether there were any.
func (l *line) rejoin(columns []tableColumn) bool {
	within := func(a, b *segment) bool {
		k := columnOf(columns, a)
		return k == columnOf(columns, b) && (k+1 == len(columns) || b.u1 < columns[k+1].u0) && b.u0-a.u1 < rejoinGap*a.size
	}
	cells := l.cells[:0:0]
	for _, s := range l.cells {
		if n := len(cells); n > 0 && within(cells[n-1], s) {
			cells[n-1] = joinCells(cells[n-1], s)
			continue
		}
		cells = append(cells, s)
	}
	joined := len(cells) < len(l.cells)
	l.cells = cells
	return joined
}

// hasLeaders reports whether the line is an entry of a table of contents.
func (l *line) hasLeaders() bool {
	for _, s := range l.cells {
		if _, ok := dropLeaders(s.text()); ok {
			return true
		}
	}
	return false
}

// startsItem reports whether a line's first cell is the marker of a list item, or the number of a section or of a line before the only
// other cell.
func startsItem(l *line) bool {
	t := l.cells[0].text()
	if _, bullet := listMarker(t + " x"); bullet || isEnumerator(t) {
		return true
	}
	return len(l.cells) == 2 && len(t) <= 8 && !strings.ContainsFunc(t, unicode.IsLetter)
}

// cellNumber parses the first cell of a line as a number and reports whether it is one. The numbers of list items count up.
func cellNumber(l *line) (int, bool) {
	n, err := strconv.Atoi(l.cells[0].text())
	return n, err == nil
}

// mergeColumns adds the cells of a row to the columns. It fails when a cell spans two columns, or when one column has two cells.
func mergeColumns(columns []tableColumn, segs []*segment) ([]tableColumn, bool) {
	out := slices.Clone(columns)
	taken := 0
	for _, s := range segs {
		hit := -1
		for i, c := range out {
			slack := min(columnSlack*s.size, 0.4*(s.u1-s.u0), 0.4*(c.u1-c.u0))
			if s.u0 < c.u1-slack && s.u1 > c.u0+slack {
				if hit >= 0 {
					return nil, false
				}
				hit = i
			}
		}
		if hit < 0 {
			out = append(out, tableColumn{s.u0, s.u1})
		} else if hit < len(columns) && hit < taken {
			return nil, false
		} else {
			taken = hit + 1
			out[hit] = tableColumn{min(out[hit].u0, s.u0), max(out[hit].u1, s.u1)}
		}
	}
	if len(out) > maxColumns {
		return nil, false
	}
	slices.SortFunc(out, func(a, b tableColumn) int {
		if a.u0 < b.u0 {
			return -1
		}
		return 1
	})
	for i := 1; i < len(out); i++ {
		if out[i].u0 < out[i-1].u1-columnSlack*segs[0].size {
			return nil, false
		}
	}
	return out, true
}

// tableBlock writes rows as a Markdown table whose header is the first row.
func tableBlock(lines []line, rules []rule, hyphens *hyphenation) block {
	var columns []tableColumn
	for i := range lines {
		if merged, ok := mergeColumns(columns, lines[i].cells); ok {
			columns = merged
		}
	}
	var rows [][][]string
	begins, edges := rowStarts(lines, columns, rules), newTableEdges(len(columns))
	for i := range lines {
		l := &lines[i]
		cells := make([][]string, len(columns))
		for _, s := range l.cells {
			k := columnOf(columns, s)
			cells[k] = append(cells[k], s.text())
		}
		if len(rows) > 0 && !begins[i] {
			for k := range cells {
				rows[len(rows)-1][k] = append(rows[len(rows)-1][k], cells[k]...)
			}
		} else {
			rows = append(rows, cells)
		}
		for _, s := range l.cells {
			edges.add(len(rows)-1, columnOf(columns, s), s, s.u1)
		}
	}
	texts := make([][]string, len(rows))
	for i, cells := range rows {
		for _, c := range cells {
			texts[i] = append(texts[i], hyphens.join(c, nil))
		}
	}
	edges.rows = texts
	return block{kind: blockTable, text: markdownTable(texts), size: lines[0].size, lines: len(rows), edges: edges}
}

// rowStarts reports for each line whether it begins a row. If drawn lines separate rows, the lines below them do. If lines within a row are
// closer together than rows, the lines after a wider gap do. Else the lines with text in the first column do.
func rowStarts(lines []line, columns []tableColumn, rules []rule) []bool {
	out := make([]bool, len(lines))
	ruled, close, least := 0, 0, math.Inf(1)
	for i := 1; i < len(lines); i++ {
		least = min(least, lines[i-1].v-lines[i].v)
	}
	byRule, byGap := slices.Clone(out), slices.Clone(out)
	byRule[0], byGap[0], out[0] = true, true, true
	partial, groups := 0, 1
	for i := 1; i < len(lines); i++ {
		above, l := &lines[i-1], &lines[i]
		byRule[i] = slices.ContainsFunc(rules, func(r rule) bool {
			return !r.across && r.at < above.v && r.at > l.v+0.5*l.size && r.from < columns[0].u1 && r.to > columns[len(columns)-1].u0
		})
		if byRule[i] {
			ruled++
		}
		gap := above.v - l.v
		if byGap[i] = gap > 1.12*least+0.5; byGap[i] {
			groups++
		} else {
			close++
			if len(l.cells) < len(columns) {
				partial++
			} else if wrapped(above, l, columns) {
				partial++
			}
		}
		out[i] = len(l.cells) == len(columns) || columnOf(columns, l.cells[0]) == 0 || gap >= wrapGap*l.size
	}
	switch {
	case ruled >= 2 && 3*ruled >= len(lines)-1:
		return byRule
	case close > 0 && partial == close && groups >= 3:
		out = byGap
	}
	if len(lines) > 2 && headGoesOn(&lines[0], &lines[1]) && !headGoesOn(&lines[1], &lines[2]) {
		out[1] = false
	}
	// The cells of a header may be aligned to its bottom, so that its first line has no cell in the first column.
	if columnOf(columns, lines[0].cells[0]) > 0 && columnOf(columns, lines[1].cells[0]) == 0 && lines[0].v-lines[1].v < wrapGap*lines[1].size {
		out[1] = false
	}
	return out
}

// headGoesOn reports whether each cell of a header continues in the line below: it begins with a capital, and continues in lower case.
func headGoesOn(above, l *line) bool {
	if len(l.cells) < 2 || len(l.cells) != len(above.cells) || above.v-l.v >= wrapGap*l.size {
		return false
	}
	for i, s := range l.cells {
		first, _ := utf8.DecodeRuneInString(s.text())
		head, _ := utf8.DecodeRuneInString(above.cells[i].text())
		if !unicode.IsLower(first) || !unicode.IsUpper(head) {
			return false
		}
	}
	return true
}

// wrapped reports whether the cells of a line continue those of the line above: in each shared column, the first word did not fit in the
// line above.
func wrapped(above, l *line, columns []tableColumn) bool {
	both := 0
	for _, s := range l.cells {
		k := columnOf(columns, s)
		for _, a := range above.cells {
			if columnOf(columns, a) != k {
				continue
			}
			word, ok := s.firstWord()
			if both++; !ok || !strings.ContainsFunc(s.text(), unicode.IsLetter) || !strings.ContainsFunc(a.text(), unicode.IsLetter) || a.u1+0.2*a.size+word <= columns[k].u1 {
				return false
			}
		}
	}
	return both > 0
}

// columnOf returns the column that a cell overlaps most.
func columnOf(columns []tableColumn, s *segment) int {
	best, most := 0, math.Inf(-1)
	for i, c := range columns {
		if o := min(c.u1, s.u1) - max(c.u0, s.u0); o > most {
			best, most = i, o
		}
	}
	return best
}

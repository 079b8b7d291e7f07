package pdf

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
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
const rejoinGap = 1.5

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
	inColumns := rowLines(lines, columns)
	begins, _ := rowStarts(inColumns, columns, rules)
	rows, _ := joinHeads(gatherRows(inColumns, begins))
	return rowsBlock(rows, hyphens)
}

// rowsBlock writes cells as a Markdown table. Rows and columns without any text are left out.
func rowsBlock(rows [][][]*segment, hyphens *hyphenation) block {
	b := block{kind: blockTable, lines: len(rows)}
	var texts [][]string
	used := make([]bool, len(rows[0]))
	edges := newTableEdges(len(used))
	for _, row := range rows {
		var cells []string
		any := false
		for k, segs := range row {
			var lines []string
			for _, l := range makeLines(segs) {
				if text := l.text(); text != "" {
					lines = append(lines, text)
					edges.add(len(texts), k, l.segs[0], l.u1)
				}
				b.size = l.size
			}
			text := hyphens.join(lines, nil)
			cells = append(cells, text)
			if text != "" {
				any, used[k] = true, true
			}
		}
		if any {
			texts = append(texts, cells)
		}
	}
	for i := range texts {
		texts[i] = without(texts[i], func(k int) bool { return !used[k] })
	}
	edges.keep(used)
	edges.rows, b.edges = texts, edges
	b.text = markdownTable(texts)
	return b
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

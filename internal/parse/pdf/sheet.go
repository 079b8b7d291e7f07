package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// minSheetRows is the least number of rows of a table that no lines part, minLongRows of those of them that have cells of several lines, and
	// minShortRows the least number where none has.
	minSheetRows, minLongRows, minShortRows = 3, 2, 4
	// maxSheetGap is the widest distance, in ems, of two lines of such a table, beyond the distance of lines.
	maxSheetGap = 3.2
	// maxSheetColumns bounds the columns of such a table, and maxSheetLines the mean number of lines of its rows: more are columns of text.
	maxSheetColumns, maxSheetLines = 14, 9
	// sheetFill is the least share of its cells that have text, and pairFill of those of a table of two columns: notes stand in the margin of a few
	// paragraphs.
	sheetFill, pairFill = 0.5, 0.8
	// maxCut is the greatest share of cell lines that may have a gap as wide as the gaps between columns.
	maxCut = 0.1
	// riverGap is the least width, in ems, of the gap between columns.
	riverGap = 0.02
	// proseStarts is the greatest share of the rows at whose beginning the text of a column goes on, and minProse from how many rows and letters
	// a line on that is told.
	proseStarts, minProse, proseChars = 0.6, 3, 18
	// maxSheetWork limits the segments of a page on which the reader searches for such tables, and maxSheetVisits how often it looks at a line.
	maxSheetWork, maxSheetVisits = 4000, 40000
	// wholeShare is the greatest share of the width of a table that a text over several of its columns takes: more is a line of prose.
	wholeShare = 0.75
	// maxWholeGap is the widest distance, in ems, of such a text from the row below it.
	maxWholeGap = 2.2
)

// sheet is a search for tables that no lines part: lines whose pieces stand in columns.
type sheet struct {
	lines   []line // their cells are the pieces of segments
	rules   []rule
	visits  int
	columns []tableColumn // of the lines that grow has found
	whole   []bool        // by line behind the first, whether one text reaches over several columns
}

// takeSheets puts tables whose columns stand apart in place of their segments: cells that go on over several lines look like columns of text
// otherwise. segs are in descending order of v.
func takeSheets(segs []*segment, rules []rule) []*segment {
	if len(segs) < 2*minSheetRows || len(segs) > maxSheetWork {
		return segs
	}
	sh := &sheet{lines: makeLines(segs), rules: rules}
	lefts, edges := leftEdges(segs), findEdges(sh.lines)
	for i := range sh.lines {
		l := &sh.lines[i]
		for _, s := range l.segs {
			if s.table != nil {
				l.cells = nil
				break
			}
			l.cells = append(l.cells, s.pieces(lefts, s.cutsAt(edges, i))...)
		}
	}
	var out []*segment
	for i := 0; i < len(sh.lines); {
		to := sh.grow(i)
		mark := sh.table(i, to)
		if mark != nil {
			first := i
			for n := 0; n < 2 && first > 0 && sh.heads(first-1, mark.table); n++ {
				first--
			}
			for ; first < i; first++ { // heads over several columns
				out = out[:len(out)-len(sh.lines[first].segs)]
			}
			out = append(out, mark)
			i = to
			continue
		}
		out = append(out, sh.lines[i].segs...)
		i++
	}
	return out
}

// rivers returns the columns between the stretches that neither pieces nor columns reach into.
func rivers(pieces []*segment, columns []tableColumn) []tableColumn {
	all := slices.Clone(columns)
	size := 0.0
	for _, s := range pieces {
		all = append(all, tableColumn{s.u0, s.u1})
		size = max(size, s.size)
	}
	slices.SortFunc(all, func(a, b tableColumn) int { return sign(a.u0 - b.u0) })
	out := all[:0]
	for _, c := range all {
		if n := len(out); n > 0 && c.u0 < out[n-1].u1+riverGap*size {
			out[n-1].u1 = max(out[n-1].u1, c.u1)
			continue
		}
		out = append(out, c)
	}
	return out
}

// apart reports whether columns lie in different ones of merged.
func apart(columns, merged []tableColumn) bool {
	last := -1
	for _, c := range columns {
		k := slices.IndexFunc(merged, func(m tableColumn) bool { return m.u0 <= c.u0 && m.u1 >= c.u1 })
		if k == last {
			return false
		}
		last = k
	}
	return true
}

// join adds the pieces of a line to columns; not ok when a piece reaches into two of them, or two pieces stand in one.
func join(columns []tableColumn, pieces []*segment) (merged []tableColumn, ok bool) {
	merged = rivers(pieces, columns)
	own := make([]tableColumn, len(pieces))
	for i, s := range pieces {
		own[i] = tableColumn{s.u0, s.u1}
	}
	return merged, len(merged) <= maxSheetColumns && apart(columns, merged) && apart(own, merged)
}

// grow finds the lines from one on that may be of one table, and returns the first line behind them.
func (sh *sheet) grow(from int) (to int) {
	sh.columns, sh.whole = nil, sh.whole[:0]
	if len(sh.lines[from].cells) < 2 && !sh.between(from) || sh.lines[from].mono() {
		return from
	}
	for to = from; to < len(sh.lines) && sh.visits < maxSheetVisits; to++ {
		sh.visits++
		l := &sh.lines[to]
		if len(l.cells) == 0 || to > from && sh.lines[to-1].v-l.v > maxSheetGap*l.size || l.mono() {
			break
		}
		merged, ok := join(sh.columns, l.cells)
		if !ok && len(sh.columns) > 1 && to-from > 1 && len(sh.lines[from].cells) > 1 && l.rejoin(sh.columns) {
			merged, ok = join(sh.columns, l.cells)
		}
		if !ok {
			if !sh.wholeRow(to) {
				break
			}
			sh.whole = append(sh.whole, true)
			continue
		}
		sh.columns = merged
		sh.whole = append(sh.whole, false)
	}
	// What stands below the table in one column is not of it, unless it may go on from its last row.
	for ; to > from+1; to-- {
		l := &sh.lines[to-1]
		gap := sh.lines[to-2].v - l.v
		if len(l.cells) > 1 || !sh.whole[to-1-from] && gap < 0.8*l.size || !sh.whole[to-1-from] && gap < wrapGap*l.size && columnOf(sh.columns, l.cells[0]) > 0 {
			break
		}
		if !sh.whole[to-1-from] && gap < wrapGap*l.size && sh.goesOn(to-1, from) {
			break
		}
		sh.whole = sh.whole[:len(sh.whole)-1]
	}
	return to
}

// between reports whether a line of one cell is the first of a row whose cells stand in its middle: the lines of other cells stand between
// its lines.
func (sh *sheet) between(at int) bool {
	if len(sh.lines[at].cells) == 0 || at+1 >= len(sh.lines) {
		return false
	}
	l, next := &sh.lines[at], &sh.lines[at+1]
	_, ok := join([]tableColumn{{l.cells[0].u0, l.cells[0].u1}}, next.cells)
	return ok && len(next.cells) > 1 && l.v-next.v < 0.8*l.size && math.Abs(l.size-next.size) <= 0.05*l.size
}

// goesOn reports whether the only cell of a line goes on from the one above it.
func (sh *sheet) goesOn(at, from int) bool {
	l := &sh.lines[at]
	text := l.cells[0].text()
	if _, item := listMarker(text); item || startsUpper(text) {
		return false
	}
	k := columnOf(sh.columns, l.cells[0])
	for _, s := range sh.lines[at-1].cells {
		if columnOf(sh.columns, s) == k {
			begins, _ := cellBegins([]*segment{s}, l.cells, sh.columns[k], text)
			return !begins && l.cells[0].u1 <= sh.columns[k].u1
		}
	}
	return false
}

// wholeRow reports whether a line within a table is one text over several columns, as the name of a group of rows is.
func (sh *sheet) wholeRow(at int) bool {
	l := &sh.lines[at]
	if len(l.cells) != 1 || len(sh.columns) < 3 || at+1 >= len(sh.lines) || len(sh.whole) < 2 || sh.whole[len(sh.whole)-1] {
		return false
	}
	left, right := sh.columns[0].u0, sh.columns[len(sh.columns)-1].u1
	s, next := l.cells[0], &sh.lines[at+1]
	if math.Abs(s.u0-left) > s.size && math.Abs(s.u0+s.u1-left-right) > s.size || s.u1-s.u0 > wholeShare*(right-left) || len(next.cells) < 2 || l.v-next.v > maxWholeGap*l.size ||
		math.Abs(l.size-next.size) > 0.05*l.size {
		return false
	}
	_, ok := join(sh.columns, next.cells)
	return ok
}

// table makes a table of lines, and a segment that stands for it; nil if they are none.
func (sh *sheet) table(from, to int) *segment {
	columns := sh.columns
	if to-from < minSheetRows || len(columns) < 2 {
		return nil
	}
	lines := rowLines(sh.lines[from:to], columns)
	for i := range lines {
		if lines[i].whole = sh.whole[i]; lines[i].whole {
			lines[i].cells = make([][]*segment, len(columns))
			lines[i].cells[0] = sh.lines[from+i].cells
		}
	}
	begins, sure := rowStarts(lines, columns, sh.rules)
	rows := gatherRows(lines, begins)
	if len(sh.lines[from].cells) < 2 && (len(rows) < minShortRows || !byMiddle(lines, columns, numberColumns(lines, len(columns)), make([]bool, len(lines)))) {
		return nil
	}
	long, ok := sheetHolds(lines, rows, columns)
	if !ok || !sure && prose(lines, begins, columns) || long == 0 && sh.closeCells(to) {
		return nil
	}
	rows, at := joinHeads(rows)
	if at != nil {
		columns = joinColumns(columns, at)
		sh.columns = columns
	}
	t := &ruledTable{cells: rows}
	top := &sh.lines[from]
	mark := &segment{table: t, u0: columns[0].u0, u1: columns[len(columns)-1].u1, v: top.v, size: top.size}
	for _, c := range columns {
		t.us = append(t.us, c.u0)
	}
	t.us = append(t.us, mark.u1)
	t.vs = append(t.vs, top.v+top.size)
	for i := from; i < to; i++ {
		for _, s := range sh.lines[i].cells {
			mark.chars += s.chars
		}
		if begins[i-from] {
			t.vs = append(t.vs, sh.lines[i].v)
		}
	}
	return mark
}

// joinColumns puts columns together as joinHeads did.
func joinColumns(columns []tableColumn, at []int) []tableColumn {
	var out []tableColumn
	for k, c := range columns {
		if at[k] == len(out) {
			out = append(out, c)
			continue
		}
		out[at[k]].u1 = c.u1
	}
	return out
}

// closeCells reports whether a table goes on in a line whose cells reach into the columns of others: those of spreadsheets may.
func (sh *sheet) closeCells(to int) bool {
	return to < len(sh.lines) && len(sh.lines[to].cells) > 2 && sh.lines[to-1].v-sh.lines[to].v < 2.2*sh.lines[to].size
}

// sheetHolds reports whether rows are those of a table rather than columns of text, a list or a table of contents, and how many have cells of
// several lines.
func sheetHolds(lines []rowLine, rows [][][]*segment, columns []tableColumn) (long int, ok bool) {
	n := len(rows)
	if n < minSheetRows || n > maxGridRows || len(lines) > maxSheetLines*n {
		return 0, false
	}
	filled, items, texts, cut, single, mono := 0, 0, 0, 0, 0, 0
	for _, row := range rows {
		most, cells := 0, 0
		for k, cell := range row {
			if len(cell) == 0 {
				continue
			}
			in := makeLines(cell)
			cells++
			texts += len(in)
			for i := range in {
				if len(in[i].segs) > 1 {
					cut++
				}
			}
			most = max(most, len(in))
			text := in[0].text()
			if _, ok := dropLeaders(text); ok {
				return 0, false
			}
			if k > 0 && in[0].mono() {
				mono++
			}
			if k == 0 && marksItem(text, len(columns)) {
				items++
			}
		}
		filled += cells
		if cells == 1 {
			single++
		}
		if most > 1 {
			long++
		}
	}
	fill := sheetFill
	if len(columns) == 2 {
		fill = pairFill
	}
	switch {
	case long < minLongRows && (n < minShortRows || len(columns) < 3),
		float64(filled) < fill*float64(n*len(columns)), 2*items > n, float64(cut) > maxCut*float64(texts), 2*single > n, 2*mono > filled-n:
		return 0, false
	}
	return long, true
}

// prose reports whether the text of columns goes on where rows begin.
func prose(lines []rowLine, begins []bool, columns []tableColumn) bool {
	allBoth, allOn := 0, 0
	for k := range columns {
		both, on, chars, texts := 0, 0, 0, 0
		for i := range lines {
			cell := lines[i].cells[k]
			if len(cell) == 0 {
				continue
			}
			for _, s := range cell {
				chars += s.chars
			}
			texts++
			if i == 0 || !begins[i] || len(lines[i-1].cells[k]) == 0 {
				continue
			}
			both++
			if _, words := cellBegins(lines[i-1].cells[k], cell, columns[k], joinSegments(cell...)); words {
				on++
			}
		}
		if chars <= proseChars*texts {
			continue
		}
		allBoth, allOn = allBoth+both, allOn+on
		if both >= minProse && float64(on) > proseStarts*float64(both) {
			return true
		}
	}
	return allBoth >= 2 && float64(allOn) > proseStarts*float64(allBoth)
}

// heads reports whether the texts of a line above a table are heads of its columns, or over several of them, and adds them as a row.
func (sh *sheet) heads(at int, t *ruledTable) bool {
	l := &sh.lines[at]
	next := &sh.lines[at+1]
	n := len(sh.columns)
	if len(l.cells) == 0 || n < 3 || len(l.cells) > n || l.v-next.v > 2.2*l.size || l.mono() {
		return false
	}
	row := make([][]*segment, n)
	last, over := -1, len(l.cells) == n
	for i, s := range l.cells {
		if s.u0 < sh.columns[0].u0-s.size || s.u1 > sh.columns[n-1].u1+s.size {
			return false
		}
		first := slices.IndexFunc(sh.columns, func(c tableColumn) bool { return c.u1 > s.u0+0.1*s.size })
		end := first
		for end+1 < n && sh.columns[end+1].u0 < s.u1-0.1*s.size {
			end++
		}
		if len(l.cells) == n {
			first, end = i, i
			if i > 0 && s.u1 <= sh.columns[i-1].u1 || i+1 < n && s.u0 >= sh.columns[i+1].u0 {
				return false
			}
		}
		if first <= last {
			return false
		}
		over = over || end > first || len(t.cells[0][first]) == 0 || first == 0
		row[first] = append(row[first], s)
		last = end
	}
	if len(l.cells) == 1 && (len(row[0]) > 0 || len(row[last]) > 0 || !sh.ruled(l, next)) || !over {
		return false
	}
	t.cells = slices.Insert(t.cells, 0, row)
	t.vs = slices.Insert(t.vs, 0, l.v+l.size)
	return true
}

// ruled reports whether a line is drawn below a text of line l, above the next one.
func (sh *sheet) ruled(l, next *line) bool {
	return slices.ContainsFunc(sh.rules, func(r rule) bool {
		return !r.across && r.at < l.v && r.at > next.v && r.from < l.u1 && r.to > l.u0
	})
}

// marksItem reports whether the text of a first cell is the mark of a list item rather than a cell of a table with so many columns.
func marksItem(text string, columns int) bool {
	if _, bullet := listMarker(text + " x"); bullet || isEnumerator(text) {
		return true
	}
	return columns == 2 && len(text) <= 8 && !strings.ContainsFunc(text, unicode.IsLetter)
}

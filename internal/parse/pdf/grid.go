package pdf

import (
	"math"
	"slices"
	"strings"
)

const (
	// maxGridRules bounds the joined lines of a page that are searched for tables.
	maxGridRules = 600
	// maxGridRows bounds the rows of a table.
	maxGridRows = 400
	// maxCellLines is how many lines a cell of a table may have. A frame around text has more.
	maxCellLines = 40
	// gridFill is the least share of cells that have text. The grid of a chart has less.
	gridFill = 1.0 / 3
)

// ruledTable is a table of cells. Its columns and rows are separated by drawn lines, by gaps or by the structure tree.
type ruledTable struct {
	us, vs []float64 // the edges of columns from left to right, and of rows from top to bottom
	rules  []rule    // the lines between columns
	cells  [][][]*segment
}

// findGrids finds the tables that drawn lines form.
func findGrids(rules []rule) []*ruledTable {
	rows, columns := mergeRules(rules, false), mergeRules(rules, true)
	if len(rows) < 2 || len(columns) == 0 || len(rows)+len(columns) > maxGridRules {
		return nil
	}
	// Lines that meet belong to one table.
	all := append(slices.Clone(rows), columns...)
	group := make([]int, len(all))
	for i := range group {
		group[i] = i
	}
	root := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	for i, r := range rows {
		for k, c := range columns {
			if c.at >= r.from-ruleSlack && c.at <= r.to+ruleSlack && r.at >= c.from-ruleSlack && r.at <= c.to+ruleSlack {
				group[root(i)] = root(len(rows) + k)
			}
		}
	}
	members := map[int][]rule{}
	var order []int
	for i := range all {
		g := root(i)
		if members[g] == nil {
			order = append(order, g)
		}
		members[g] = append(members[g], all[i])
	}
	var out []*ruledTable
	for _, g := range order {
		if t := newRuledTable(members[g]); t != nil {
			out = append(out, t)
		}
	}
	return out
}

// newRuledTable makes a table of lines that meet. It returns nil if they form fewer than two rows and columns. An open side ends where the
// longest lines end.
func newRuledTable(rules []rule) *ruledTable {
	t := &ruledTable{}
	u0, u1, v0, v1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, r := range rules {
		if r.across {
			t.rules = append(t.rules, r)
			t.us = append(t.us, r.at)
			v0, v1 = min(v0, r.from), max(v1, r.to)
		} else {
			t.vs = append(t.vs, r.at)
			u0, u1 = min(u0, r.from), max(u1, r.to)
		}
	}
	if len(t.us) == 0 || len(t.vs) == 0 {
		return nil
	}
	t.us, t.vs = edgesOf(append(t.us, u0, u1)), edgesOf(append(t.vs, v0, v1))
	slices.Reverse(t.vs)
	if len(t.us) < 3 || len(t.vs) < 3 || len(t.us) > maxColumns+1 || len(t.vs) > maxGridRows+1 {
		return nil
	}
	t.cells = make([][][]*segment, len(t.vs)-1)
	for i := range t.cells {
		t.cells[i] = make([][]*segment, len(t.us)-1)
	}
	return t
}

// edgesOf sorts positions and joins those close to each other, such as the two sides of a thick line.
func edgesOf(at []float64) []float64 {
	slices.Sort(at)
	out := at[:0]
	for _, x := range at {
		if n := len(out); n > 0 && x-out[n-1] <= 2*ruleSlack {
			continue
		}
		out = append(out, x)
	}
	return out
}

// take moves the segments inside the table to its cells. It returns the others and one segment that represents the table. If the content is
// not a table, it returns segs unchanged.
func (t *ruledTable) take(segs []*segment) []*segment {
	var out []*segment
	mark := &segment{table: t, u0: t.us[0], u1: t.us[len(t.us)-1], v: t.vs[0]}
	at := -1
	rows := make([][]*segment, len(t.cells))
	for _, s := range segs {
		row := t.row(s)
		if row < 0 || s.table != nil || s.u1 <= t.us[0] || s.u0 >= t.us[len(t.us)-1] {
			out = append(out, s)
			continue
		}
		if at < 0 {
			at = len(out)
		}
		mark.size = max(mark.size, s.size)
		mark.chars += s.chars
		rows[row] = append(rows[row], t.split(s, row)...)
	}
	for i, parts := range rows {
		for _, part := range parts {
			k := t.column(part)
			if whole := t.merged(k, part); whole != k && !t.shared(whole, parts) {
				k = whole
			}
			t.cells[i][k] = append(t.cells[i][k], part)
		}
	}
	if at >= 0 {
		t.splitRows()
	}
	if at < 0 || !t.holds() {
		return segs
	}
	mark.v = t.vs[0] - 0.5*mark.size
	for at > 0 && out[at-1].v < mark.v {
		at--
	}
	return slices.Insert(out, at, mark)
}

const (
	// minSplitLines is the least number of lines in the cells of a row that is split into rows.
	minSplitLines = 3
	// maxBands bounds the rows of a table whose drawn lines do not separate rows: a header, a body, and totals.
	maxBands = 3
)

// splitRows parts rows between which no lines are drawn.
func (t *ruledTable) splitRows() {
	if len(t.cells) > maxBands {
		return
	}
	var out [][][]*segment
	for _, row := range t.cells {
		out = append(out, t.splitRow(row)...)
	}
	t.cells = out
}

func (t *ruledTable) splitRow(row [][]*segment) [][][]*segment {
	var columns []tableColumn
	var all []*segment
	at := make([]int, 0, len(row))
	for k, segs := range row {
		if len(segs) == 0 {
			continue
		}
		c := tableColumn{math.Inf(1), math.Inf(-1)}
		for _, s := range segs {
			c = tableColumn{min(c.u0, s.u0), max(c.u1, s.u1)}
		}
		columns, at = append(columns, c), append(at, k)
		all = append(all, segs...)
	}
	if len(columns) < 2 {
		return [][][]*segment{row}
	}
	lines := makeLines(all)
	for i := range lines {
		lines[i].cells = lines[i].segs
	}
	if len(lines) < minSplitLines {
		return [][][]*segment{row}
	}
	inColumns := rowLines(lines, columns)
	begins, sure := rowStarts(inColumns, columns, nil)
	parts := gatherRows(inColumns, begins)
	cells := 0
	for _, part := range parts {
		if len(part[0]) == 0 {
			return [][][]*segment{row}
		}
		for _, cell := range part {
			if len(cell) > 0 {
				cells++
			}
		}
	}
	if len(parts) < minSplitLines || 3*cells < 2*len(parts)*len(columns) || !sure && prose(inColumns, begins, columns) {
		return [][][]*segment{row}
	}
	out := make([][][]*segment, len(parts))
	for i, part := range parts {
		out[i] = make([][]*segment, len(row))
		for k, cell := range part {
			out[i][at[k]] = cell
		}
	}
	return out
}

// row returns the index of the row that contains a segment, or -1.
func (t *ruledTable) row(s *segment) int {
	v := s.v + 0.3*s.size
	if v > t.vs[0]+ruleSlack || v < t.vs[len(t.vs)-1] {
		return -1
	}
	for i := 1; i < len(t.vs); i++ {
		if v >= t.vs[i] {
			return i - 1
		}
	}
	return -1
}

// column returns the column of the middle of a segment.
func (t *ruledTable) column(s *segment) int {
	u := s.u0 + min(s.u1-s.u0, t.us[len(t.us)-1]-s.u0)/2
	k, _ := slices.BinarySearch(t.us, u)
	return max(0, min(k-1, len(t.us)-2))
}

// merged returns the leftmost column that no drawn line separates from column k at the height of s. A cell that spans several columns
// belongs to the first.
func (t *ruledTable) merged(k int, s *segment) int {
	for k > 0 && !t.parted(k, s.v+0.3*s.size) {
		k--
	}
	return k
}

// shared reports whether two parts of a row lie side by side, in different columns, within the merged cell that begins at column k. They
// are separate cells then, in a style that draws lines only in some rows.
func (t *ruledTable) shared(k int, parts []*segment) bool {
	for i, a := range parts {
		if t.merged(t.column(a), a) != k {
			continue
		}
		for _, b := range parts[i+1:] {
			if math.Abs(a.v-b.v) <= sameLine*a.size && t.column(a) != t.column(b) && t.merged(t.column(b), b) == k {
				return true
			}
		}
	}
	return false
}

// parted reports whether a drawn line separates column k from column k-1 at height v.
func (t *ruledTable) parted(k int, v float64) bool {
	return slices.ContainsFunc(t.rules, func(r rule) bool {
		return math.Abs(r.at-t.us[k]) <= 2*ruleSlack && v >= r.from && v <= r.to
	})
}

// split cuts a segment where a drawn line crosses it.
func (t *ruledTable) split(s *segment, row int) []*segment {
	var out []*segment
	rest := s
	for k := 1; k < len(t.us)-1; k++ {
		u := t.us[k]
		if rest.u0 >= u || rest.u1 <= u {
			continue
		}
		at := slices.IndexFunc(rest.glyphs, func(g glyph) bool { return (g.u0+g.u1)/2 > u })
		// Without a line, a text object that begins there is another cell, in a style that draws lines in some rows only.
		if !t.parted(k, s.v+0.3*s.size) && (at < 0 || !rest.glyphs[at].begins) {
			continue
		}
		if at > 0 {
			var head *segment
			head, rest = rest.cut(at)
			out = append(out, head)
		}
	}
	return append(out, rest)
}

// holds reports whether the cells have enough text for a table.
func (t *ruledTable) holds() bool {
	filled, rows := 0, 0
	columns := make([]bool, len(t.us)-1)
	for _, row := range t.cells {
		any := false
		for k, segs := range row {
			if len(segs) == 0 {
				continue
			}
			if len(makeLines(segs)) > maxCellLines {
				return false
			}
			filled++
			any, columns[k] = true, true
		}
		if any {
			rows++
		}
	}
	used := 0
	for _, c := range columns {
		if c {
			used++
		}
	}
	return rows >= 2 && used >= 2 && float64(filled) >= gridFill*float64(rows*used)
}

// markdownTable writes rows of cells as a Markdown table. The first row is the header.
func markdownTable(rows [][]string) string {
	var out strings.Builder
	for i, cells := range rows {
		out.WriteString("|")
		for _, c := range cells {
			out.WriteString(" " + strings.ReplaceAll(c, "|", "\\|") + " |")
		}
		out.WriteString("\n")
		if i == 0 {
			out.WriteString("|" + strings.Repeat(" --- |", len(cells)) + "\n")
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

package pdf

import (
	"slices"
)

const (
	// maxTagWork is the cost of one structure tree element in the work budget.
	maxTagWork = 64
	// maxTagSpan bounds the columns and rows that one cell may claim.
	maxTagSpan = 64
	// maxActualParts bounds the marked content sequences that one element's ActualText may replace.
	maxActualParts = 16
	// taggedShare is the share of a page's glyphs that must be in the tree for its order to be used.
	taggedShare = 0.9
)

// tagKey identifies a marked content sequence by its page's object number and its number on the page.
type tagKey struct{ page, mcid int }

// tag is what the structure tree says about a marked content sequence (ISO 32000-1, 14.7 and 14.8).
type tag struct {
	order  int32 // its position in reading order, from 1 on
	cell   int32 // its cell, counted from 1 in the list of cells; 0 for none
	actual string
	has    bool // actual replaces its text
}

// tagCell is a table cell of the structure tree.
type tagCell struct{ table, row, col int32 }

// structure holds the parts of the structure tree that the reader uses.
type structure struct {
	d     *document
	roles map[name]name
	tags  map[tagKey]tag
	cells []tagCell
	order int32
	seen  map[ref]bool
	// The table being read.
	table, row, col, tables int32
	cell                    int32
	above                   map[[2]int32]bool // positions covered by cells of rows above
	width                   int32             // columns of its first row
	ragged                  map[int32]bool    // tables with rows of other widths, because writers left empty cells out
}

// newStructure reads the structure tree of a document. It returns nil when there is none.
func (d *document) newStructure(catalog dict) *structure {
	root := d.dict(catalog["StructTreeRoot"])
	if root == nil {
		return nil
	}
	s := &structure{d: d, roles: map[name]name{}, tags: map[tagKey]tag{}, seen: map[ref]bool{}, ragged: map[int32]bool{}}
	for k, v := range d.dict(root["RoleMap"]) {
		s.roles[k] = d.name(v)
	}
	s.kids(root["K"], 0, 0)
	if len(s.tags) == 0 {
		return nil
	}
	return s
}

// kids reads the children of an element: elements, and marked content of a page.
func (s *structure) kids(o any, page, depth int) {
	if depth > s.d.lim.MaxDepth || !s.d.tick(maxTagWork) {
		return
	}
	if r, ok := o.(ref); ok {
		if s.seen[r] {
			return
		}
		if _, list := s.d.resolve(o).(array); !list {
			s.seen[r] = true
		}
	}
	switch v := s.d.resolve(o).(type) {
	case array:
		for _, k := range v {
			if s.d.stop != nil {
				return
			}
			s.kids(k, page, depth+1)
		}
	case int:
		s.content(page, v)
	case dict:
		if r, ok := v["Pg"].(ref); ok {
			page = r.num
		}
		switch s.d.name(v["Type"]) {
		case "MCR":
			if mcid, ok := s.d.integer(v["MCID"]); ok && v["Stm"] == nil {
				s.content(page, mcid)
			}
		case "OBJR":
		default:
			s.element(v, page, depth)
		}
	}
}

func (s *structure) content(page, mcid int) {
	s.order++
	s.tags[tagKey{page, mcid}] = tag{order: s.order, cell: s.cell}
}

// element reads an element of the tree. A table nested in a cell is part of that cell.
func (s *structure) element(e dict, page, depth int) {
	role := s.d.name(e["S"])
	for range 8 {
		to, ok := s.roles[role]
		if !ok || to == role {
			break
		}
		role = to
	}
	before, first := *s, s.order
	switch {
	case s.cell != 0:
	case role == "Table":
		s.tables++
		s.table, s.row, s.width, s.above = s.tables, -1, 0, map[[2]int32]bool{}
	case s.table != 0 && role == "TR":
		s.row++
		s.col = 0
	case s.table != 0 && (role == "TH" || role == "TD"):
		for s.above[[2]int32{s.row, s.col}] {
			s.col++
		}
		s.cells = append(s.cells, tagCell{s.table, s.row, s.col})
		s.cell = int32(len(s.cells))
	}
	s.kids(e["K"], page, depth+1)
	if text, ok := s.d.resolve(e["ActualText"]).(str); ok {
		s.replace(textString(text), first, page)
	}
	switch {
	case before.cell != 0:
	case s.table != 0 && role == "TR":
		for s.above[[2]int32{s.row, s.col}] {
			s.col++
		}
		if s.width == 0 {
			s.width = s.col
		}
		if s.col != s.width {
			s.ragged[s.table] = true
		}
	case role == "Table":
		s.table, s.row, s.col, s.width, s.above = before.table, before.row, before.col, before.width, before.above
	case s.cell != before.cell:
		cols, rows := s.span(e["A"], "ColSpan"), s.span(e["A"], "RowSpan")
		for r := int32(1); r < rows; r++ {
			for c := range cols {
				s.above[[2]int32{s.row + r, s.col + c}] = true
			}
		}
		s.col += cols
		s.cell = before.cell
	}
}

// replace sets the text of an element in place of the marked content that was read after order first.
func (s *structure) replace(text string, first int32, page int) {
	if n := s.order - first; n < 1 || n > maxActualParts {
		return
	}
	for mcid := range maxMarks { // numbers on a page are small where there are few
		key := tagKey{page, mcid}
		if t, ok := s.tags[key]; ok && t.order > first && !t.has {
			t.has, t.actual = true, text
			text = ""
			s.tags[key] = t
		}
	}
}

// span returns a span attribute of a cell, at least 1.
func (s *structure) span(o any, attribute name) int32 {
	attrs := s.d.array(o)
	if attrs == nil {
		attrs = array{o}
	}
	for _, a := range attrs {
		if n, ok := s.d.integer(s.d.dict(a)[attribute]); ok {
			return int32(max(1, min(n, maxTagSpan)))
		}
	}
	return 1
}

// tagOf returns the tag of a marked content sequence of a page.
func (s *structure) tagOf(page int, o any) tag {
	if s == nil || page == 0 {
		return tag{}
	}
	mcid, ok := s.d.integer(o)
	if !ok {
		return tag{}
	}
	return s.tags[tagKey{page, mcid}]
}

// taggedTables takes the tables of the structure tree out of the glyphs of one direction, and returns them and the remaining glyphs. Tables
// with fewer than two columns, or with rows of unequal width, are left as glyphs.
func (s *structure) taggedTables(glyphs []glyph) (tables []*segment, rest []glyph) {
	byTable := map[int32][]int{}
	var order []int32
	for i := range glyphs {
		if c := glyphs[i].cell; c != 0 && !s.ragged[s.cells[c-1].table] {
			t := s.cells[c-1].table
			if byTable[t] == nil {
				order = append(order, t)
			}
			byTable[t] = append(byTable[t], i)
		}
	}
	taken := map[int32]bool{}
	for _, t := range order {
		if mark := s.taggedTable(glyphs, byTable[t]); mark != nil {
			tables, taken[t] = append(tables, mark), true
		}
	}
	if tables == nil {
		return nil, glyphs
	}
	for i := range glyphs {
		if c := glyphs[i].cell; c == 0 || !taken[s.cells[c-1].table] {
			rest = append(rest, glyphs[i])
		}
	}
	return tables, rest
}

// taggedTable makes a table of the glyphs at the indexes. It returns nil if fewer than two columns have text.
func (s *structure) taggedTable(glyphs []glyph, at []int) *segment {
	byCell := map[int32][]glyph{}
	cols := map[int32]bool{}
	rows := map[int32]bool{}
	for _, i := range at {
		g := glyphs[i]
		if isBlank(g.text) && byCell[g.cell] == nil {
			continue
		}
		byCell[g.cell] = append(byCell[g.cell], g)
		c := s.cells[g.cell-1]
		cols[c.col], rows[c.row] = true, true
	}
	if len(cols) < 2 || len(cols) > maxColumns || len(rows) > maxGridRows {
		return nil
	}
	place := func(m map[int32]bool) map[int32]int {
		var all []int32
		for k := range m {
			all = append(all, k)
		}
		slices.Sort(all)
		out := map[int32]int{}
		for i, k := range all {
			out[k] = i
		}
		return out
	}
	colAt, rowAt := place(cols), place(rows)
	t := &ruledTable{us: make([]float64, len(cols)+1), vs: make([]float64, len(rows)+1), cells: make([][][]*segment, len(rows))}
	for i := range t.cells {
		t.cells[i] = make([][]*segment, len(cols))
	}
	mark := &segment{table: t}
	for cell, gs := range byCell {
		c := s.cells[cell-1]
		segs := makeSegments(gs)
		for _, sg := range segs {
			if mark.chars == 0 {
				mark.u0, mark.u1, mark.v = sg.u0, sg.u1, sg.v
			}
			mark.u0, mark.u1, mark.v, mark.size = min(mark.u0, sg.u0), max(mark.u1, sg.u1), max(mark.v, sg.v), max(mark.size, sg.size)
			mark.chars += sg.chars
		}
		t.cells[rowAt[c.row]][colAt[c.col]] = append(t.cells[rowAt[c.row]][colAt[c.col]], segs...)
	}
	if mark.chars == 0 || len(rows) > 1 && !t.holds() {
		return nil
	}
	return mark
}

// insertTables inserts tables among the segments, which are in descending order of v.
func insertTables(segs, tables []*segment) []*segment {
	for _, t := range tables {
		at := len(segs)
		for at > 0 && segs[at-1].v < t.v {
			at--
		}
		segs = slices.Insert(segs, at, t)
	}
	return segs
}

// inTreeOrder sorts the regions of a page by the structure tree, if nearly all of its glyphs are in the tree.
func inTreeOrder(regions [][]*segment) [][]*segment {
	if len(regions) < 2 {
		return regions
	}
	type placed struct {
		region []*segment
		middle int32
	}
	var all []placed
	for _, r := range regions {
		var orders []int32
		glyphs := 0
		count := func(s *segment) {
			for i := range s.glyphs {
				if isBlank(s.glyphs[i].text) {
					continue
				}
				glyphs++
				if o := s.glyphs[i].order; o > 0 {
					orders = append(orders, o)
				}
			}
		}
		for _, s := range r {
			count(s)
			if s.table != nil {
				for _, row := range s.table.cells {
					for _, cell := range row {
						for _, c := range cell {
							count(c)
						}
					}
				}
			}
		}
		if len(orders) == 0 || float64(len(orders)) < taggedShare*float64(glyphs) {
			return regions
		}
		slices.Sort(orders)
		all = append(all, placed{r, orders[len(orders)/2]})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return int(a.middle - b.middle) })
	out := make([][]*segment, len(all))
	for i, p := range all {
		out[i] = p.region
	}
	return out
}

package office

import "github.com/contextmem/contextmem/internal/parse/output"

// rtfTable is an open table.
type rtfTable struct {
	inRow bool
	row   rtfRow // the definition of the row around it
}

// rtfRow is the definition of a row.
type rtfRow struct {
	shape  output.RowShape
	down   bool // of the cell whose edge comes next
	across bool
	head   bool // the row is of the header
}

// maxNestedTables bounds the open tables of documents that give the depth of tables as a number. Deeper ones join.
const maxNestedTables = 8

// depth returns in how many tables the current paragraph is.
func (r *rtfReader) depth() int {
	if !r.state.intbl {
		return 0
	}
	return max(1, min(r.state.itap, maxNestedTables))
}

// nestTo ends and begins tables until depth of them are open.
func (r *rtfReader) nestTo(depth int) {
	for len(r.tables) > depth {
		n := len(r.tables) - 1
		r.row = r.tables[n].row
		r.tables = r.tables[:n]
		r.w.EndTable()
		r.pending = true
	}
	for len(r.tables) < depth {
		r.openCell()
		r.tables = append(r.tables, rtfTable{row: r.row})
		r.w.BeginTable()
	}
}

// openCell begins a row and its first cell in the innermost table if it has none open.
func (r *rtfReader) openCell() {
	if n := len(r.tables); n > 0 && !r.tables[n-1].inRow {
		r.tables[n-1].inRow = true
		r.w.BeginRow()
		r.w.BeginCell(1, 1)
	}
}

// endCell ends a cell of the table at a depth.
func (r *rtfReader) endCell(depth int) {
	if r.state.dest != destText || r.inNote() {
		return
	}
	r.nestTo(depth)
	r.openCell()
	r.w.BeginCell(1, 1)
	r.pending = false
}

// endRow ends a row of a table that is at least least deep.
func (r *rtfReader) endRow(least int) {
	if len(r.tables) < least || r.inNote() {
		return
	}
	if least == 1 {
		r.nestTo(1)
	}
	r.w.EndCell()
	r.w.ShapeRow(r.row.shape)
	if r.row.head {
		r.w.MarkHead()
	}
	r.tables[len(r.tables)-1].inRow = false
	r.pending = false
}

// maxRTFCells bounds the cells of a row's definition.
const maxRTFCells = 1024

// rowShape reads the definition of a row.
func (r *rtfReader) rowShape(word string, arg int) {
	s := &r.row.shape
	switch word {
	case "trowd":
		*s = output.RowShape{Edges: []int32{0}}
		r.row.down, r.row.across, r.row.head = false, false, false
	case "trleft":
		if len(s.Edges) == 1 {
			s.Edges[0] = int32(max(-1<<30, min(arg, 1<<30)))
		}
	case "clvmrg":
		r.row.down = true
	case "clmrg":
		r.row.across = true
	case "cellx":
		if len(s.Edges) > 0 && len(s.Edges) < maxRTFCells {
			s.Edges = append(s.Edges, int32(max(-1<<30, min(arg, 1<<30))))
			s.Down, s.Across = append(s.Down, r.row.down), append(s.Across, r.row.across)
		}
		r.row.down, r.row.across = false, false
	}
}

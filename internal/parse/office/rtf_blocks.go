package office

import (
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// begin opens the paragraph of the next text.
func (r *rtfReader) begin(s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	if r.state.note {
		r.pending = false
	}
	if r.state.intbl != r.inTable && r.state.dest == destText && !r.inNote() {
		if r.state.intbl {
			r.startTable()
		} else {
			r.endTable()
		}
	}
	if r.inTable && !r.inRow && !r.inNote() {
		r.inRow = true
		r.w.BeginRow()
		r.w.BeginCell(1, 1)
	}
	if !r.pending && r.w.Length() > 0 || r.inNote() {
		return
	}
	r.pending = false
	heading := r.state.outline
	if heading == 0 {
		heading = r.styles[r.state.style].heading
	}
	switch {
	case heading > 0 && !r.inTable:
		r.w.Heading(heading)
	case r.state.listMark != "":
		r.w.Item(r.state.level, r.state.listMark)
		r.state.listMark = ""
		for i := range r.stack {
			r.stack[i].listMark = ""
		}
	default:
		r.w.Block()
	}
}

func (r *rtfReader) inNote() bool {
	for i := len(r.stack) - 1; i >= 0; i-- {
		if r.stack[i].note {
			return true
		}
	}
	return r.state.note
}

// paragraph ends a paragraph.
func (r *rtfReader) paragraph() {
	if r.state.dest == destSkip || r.state.dest == destInfo {
		return
	}
	if r.inNote() {
		r.w.Newline()
		return
	}
	if !r.state.intbl && r.inTable {
		r.endTable()
	}
	r.w.Block()
	r.pending = true
	r.state.listMark = ""
}

func (r *rtfReader) startTable() {
	r.inTable, r.inRow = true, false
	r.w.BeginTable()
}

func (r *rtfReader) endTable() {
	if r.inTable {
		r.inTable, r.inRow = false, false
		r.w.EndTable()
		r.pending = true
	}
}

// cell ends a cell. row ends a row.
func (r *rtfReader) cell() {
	if r.state.dest != destText || r.inNote() {
		return
	}
	if !r.inTable {
		r.startTable()
	}
	if !r.inRow {
		r.inRow = true
		r.w.BeginRow()
		r.w.BeginCell(1, 1)
	}
	r.w.BeginCell(1, 1)
	r.pending = false
}

func (r *rtfReader) row() {
	if !r.inTable || r.inNote() {
		return
	}
	r.w.EndCell()
	r.w.ShapeRow(r.shape)
	if r.head {
		r.w.MarkHead()
	}
	r.inRow = false
	r.pending = false
}

// maxRTFCells bounds the cells of a row's definition.
const maxRTFCells = 1024

// rowShape reads the definition of a row.
func (r *rtfReader) rowShape(word string, arg int) {
	s := &r.shape
	switch word {
	case "trowd":
		*s = output.RowShape{Edges: []int32{0}}
		r.down, r.across, r.head = false, false, false
	case "trleft":
		if len(s.Edges) == 1 {
			s.Edges[0] = int32(max(-1<<30, min(arg, 1<<30)))
		}
	case "clvmrg":
		r.down = true
	case "clmrg":
		r.across = true
	case "cellx":
		if len(s.Edges) > 0 && len(s.Edges) < maxRTFCells {
			s.Edges = append(s.Edges, int32(max(-1<<30, min(arg, 1<<30))))
			s.Down, s.Across = append(s.Down, r.down), append(s.Across, r.across)
		}
		r.down, r.across = false, false
	}
}

// setListMark stores the marker that the writing program put before a list item.
func (r *rtfReader) setListMark(text string) {
	text = strings.TrimSpace(text)
	digits := strings.TrimRight(text, ".) ")
	if i := strings.LastIndexByte(digits, '.'); i >= 0 {
		digits = digits[i+1:]
	}
	r.state.listMark = "-"
	if n, err := strconv.Atoi(digits); err == nil && n >= 0 {
		r.state.listMark = strconv.Itoa(n) + "."
	}
}

func (r *rtfReader) endDate(name string) {
	d := r.date
	r.date = [5]int{}
	if d[0] < 1900 || d[0] > 9999 || d[1] < 1 || d[1] > 12 {
		return
	}
	t := time.Date(d[0], time.Month(d[1]), max(1, d[2]), d[3], d[4], 0, 0, time.UTC)
	if name == "creatim" {
		r.created = t
	} else {
		r.revised = t
	}
}

// endStyle handles the name of a style.
func (r *rtfReader) endStyle() {
	name := strings.ToLower(strings.TrimRight(strings.TrimSpace(string(r.styleTxt)), ";"))
	r.styleTxt = r.styleTxt[:0]
	st := r.styles[r.styleDef]
	if rest, ok := strings.CutPrefix(name, "heading "); ok {
		if n := clean.Int(rest); n >= 1 && n <= 9 {
			st.heading = n
		}
	} else if name == "title" {
		st.heading = 1
	}
	if name != "" && len(r.styles) < maxStyles {
		r.styles[r.styleDef] = st
	}
}

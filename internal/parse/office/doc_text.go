package office

import (
	"strings"
	"unicode/utf16"

	"github.com/contextmem/contextmem/internal/parse/output"
)

// docText collects the characters of paragraphs.
type docText struct {
	d      *binaryDoc
	w      *output.Writer
	bounds []int // the positions at which the parts end
	part   int
	units  []uint16
	fields []bool     // open fields; true once the result began
	tables []docTable // that are open, the innermost last
}

// docTable is an open table.
type docTable struct{ row, cell bool } // whether a row, and a cell, is open

func (t *docText) char(c uint16, cp int, fc uint32) {
	for t.part < len(t.bounds) && cp >= t.bounds[t.part] {
		t.paragraph(docParagraph{}, 0)
		t.nestTo(0)
		t.part++
	}
	if n := len(t.fields); c == 0x13 && n < 64 {
		t.fields = append(t.fields, false)
		return
	} else if n > 0 {
		switch c {
		case 0x14:
			t.fields[n-1] = true
			return
		case 0x15:
			t.fields = t.fields[:n-1]
			return
		}
		for _, result := range t.fields {
			if !result && c != 0x0D && c != 0x07 {
				return // the field's instruction
			}
		}
	}
	switch c {
	case 0x0D, 0x07, 0x0C:
		t.paragraph(t.d.paragraph(fc), c)
	case 0x0B:
		t.units = append(t.units, '\n')
	case 0x1E:
		t.units = append(t.units, '-')
	default:
		if t.d.omitted(fc) {
			return
		}
		if c >= ' ' || c == '\t' {
			t.units = append(t.units, c)
		} else {
			t.d.odd.control(c)
		}
	}
}

// paragraph writes the paragraph that the character mark ends.
func (t *docText) paragraph(p docParagraph, mark uint16) {
	t.d.odd.note(t.units)
	text := strings.TrimSpace(string(utf16.Decode(t.units)))
	t.units = t.units[:0]
	if t.part > 0 && t.part <= len(docParts) && docParts[t.part-1].skip {
		return
	}
	depth, rowEnd := t.place(&p, mark, text)
	if rowEnd {
		return
	}
	w := t.w
	switch {
	case text == "":
	case p.style >= 1 && p.style <= 9 && depth == 0 && t.part == 0:
		w.Heading(p.style)
	case p.list && depth == 0:
		w.Item(0, "-")
	default:
		w.Block()
		if t.part > 0 && t.part <= len(docParts) {
			w.Label(docParts[t.part-1].label)
		}
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			w.Newline()
		}
		w.Text(line)
	}
	if text != "" {
		w.Block()
	}
	if mark == 0x07 || p.innerCell && depth > 1 {
		w.EndCell()
		t.tables[depth-1].cell = false
	}
}

// place brings a paragraph to its table and cell, as deep as it is. rowEnd reports whether the paragraph ends a row.
func (t *docText) place(p *docParagraph, mark uint16, text string) (depth int, rowEnd bool) {
	if p.inTable || mark == 0x07 {
		depth = max(1, p.depth)
	}
	t.nestTo(depth)
	if depth == 0 {
		return 0, false
	}
	in := &t.tables[depth-1]
	if p.innerRow && depth > 1 && text == "" || mark == 0x07 && (p.rowEnd || !p.inTable && text == "" && !in.cell && !in.row) {
		t.w.ShapeRow(p.shape)
		if p.head {
			t.w.MarkHead()
		}
		*in = docTable{}
		return depth, true
	}
	t.openCell()
	return depth, false
}

// nestTo ends and begins tables until depth of them are open.
func (t *docText) nestTo(depth int) {
	for len(t.tables) > depth {
		t.tables = t.tables[:len(t.tables)-1]
		t.w.EndTable()
	}
	for len(t.tables) < depth {
		if len(t.tables) > 0 {
			t.openCell()
		}
		t.tables = append(t.tables, docTable{})
		t.w.BeginTable()
	}
}

// openCell begins a row and a cell in the innermost table where none is open.
func (t *docText) openCell() {
	in := &t.tables[len(t.tables)-1]
	if !in.row {
		t.w.BeginRow()
		in.row = true
	}
	if !in.cell {
		t.w.BeginCell(1, 1)
		in.cell = true
	}
}

package office

import (
	"bytes"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// odfSheet collects the cells of the current sheet.
type odfSheet struct {
	grid     *output.Grid
	row, col int
	columns  int  // that the sheet has declared
	repeat   int  // of the current row
	hidden   bool // the current row is
	cells    []odfCell
	open     bool // a cell is open
	current  odfCell
}

type odfCell struct {
	col, repeat int
	text        []byte
	number      bool
	cols, rows  int    // that it covers
	date        string // of a date
}

// Bounds on repetition: a few bytes may declare a million equal rows or cells.
const (
	maxRepeatRows  = 100
	maxRepeatCells = 256
)

// tableStart handles the elements of tables in texts, presentations and spreadsheets.
func (d *odfReader) tableStart(x *xmlscan.Scanner) {
	if d.sheets {
		d.sheetStart(x)
		return
	}
	w := d.w
	switch x.Name {
	case "table":
		d.flushCode()
		w.BeginTable()
	case "table-row":
		w.BeginRow()
		if d.inHead > 0 {
			w.MarkHead()
		}
	case "table-header-rows":
		d.inHead++
	case "table-cell":
		w.BeginCell(max(1, clean.Int(x.Attr("number-columns-spanned"))), max(1, clean.Int(x.Attr("number-rows-spanned"))))
		repeat := clean.Int(x.Attr("number-columns-repeated"))
		d.saved = append(d.saved, d.odfState)
		d.odfState = odfState{repeat: min(repeat, maxRepeatCells)}
	case "covered-table-cell":
		x.Skip() // the cell that covers it says how far it reaches
	}
}

func (d *odfReader) tableEnd(name string) {
	if d.sheets {
		d.sheetEnd(name)
		return
	}
	switch name {
	case "table":
		d.w.EndTable()
	case "table-cell":
		d.flushCode()
		d.flushBoxes()
		repeat := d.repeat
		if n := len(d.saved); n > 0 {
			d.odfState = d.saved[n-1]
			d.saved = d.saved[:n-1]
		}
		d.w.EndCell()
		d.w.RepeatCell(repeat - 1)
	case "table-header-rows":
		d.inHead--
	}
}

func (d *odfReader) sheetStart(x *xmlscan.Scanner) {
	s := &d.sheet
	switch x.Name {
	case "table":
		if s.grid != nil {
			return // a table inside a cell: its cells join
		}
		name := x.Attr("name")
		d.w.Page(name)
		d.w.Heading(2)
		d.w.Text(name)
		if d.hidden[x.Attr("style-name")] {
			d.w.Text(" (hidden)")
		}
		d.w.Block()
		*s = odfSheet{grid: &output.Grid{W: d.w}}
		for _, n := range d.names[name] {
			s.grid.Name(n.row, n.col, n.name)
		}
	case "table-column":
		n := min(max(1, clean.Int(x.Attr("number-columns-repeated"))), 1<<20)
		if s.grid != nil && odfHidden(x) {
			s.grid.HideColumns(s.columns+1, s.columns+n)
		}
		s.columns = min(s.columns+n, 1<<20)
	case "table-row":
		s.repeat = max(1, clean.Int(x.Attr("number-rows-repeated")))
		s.hidden = odfHidden(x)
		s.col, s.cells = 0, s.cells[:0]
	case "table-cell":
		if s.grid == nil || s.open {
			return
		}
		s.open = true
		kind := x.Attr("value-type")
		s.current = odfCell{col: s.col, repeat: max(1, clean.Int(x.Attr("number-columns-repeated"))),
			number: kind == "float" || kind == "percentage" || kind == "currency",
			cols:   clean.Int(x.Attr("number-columns-spanned")), rows: clean.Int(x.Attr("number-rows-spanned"))}
		if kind == "date" {
			s.current.date = x.Attr("date-value")
		}
		s.col += s.current.repeat
		d.enter()
	case "covered-table-cell":
		s.col += max(1, clean.Int(x.Attr("number-columns-repeated")))
		x.Skip()
	}
}

func (d *odfReader) sheetEnd(name string) {
	s := &d.sheet
	switch name {
	case "table-cell":
		if !s.open {
			return
		}
		s.open = false
		s.current.text = isoDate(d.leave(), s.current.date)
		if len(s.current.text) > 0 {
			s.cells = append(s.cells, s.current)
		}
	case "table-row":
		if s.grid == nil || s.open {
			return
		}
		for range min(s.repeat, maxRepeatRows) {
			if len(s.cells) == 0 {
				break
			}
			if s.row++; s.hidden {
				s.grid.HideRows(s.row, s.row)
			}
			for _, c := range s.cells {
				if c.repeat == 1 {
					s.grid.Merge(s.row, c.col+1, s.row+max(c.rows, 1)-1, c.col+max(c.cols, 1))
				}
				for i := range min(c.repeat, maxRepeatCells) {
					s.grid.Set(s.row, c.col+i+1, c.text, c.number)
				}
			}
		}
		if len(s.cells) == 0 {
			s.row += min(s.repeat, 1<<20)
		}
	case "table":
		if s.grid == nil || s.open {
			return
		}
		s.grid.End()
		s.grid = nil
		d.w.LateNotes(d.notes) // comments on cells
		d.notes = d.notes[:0]
	}
}

// odfHidden reports whether a sheet does not show a row or column, or shows it only without its filter.
func odfHidden(x *xmlscan.Scanner) bool {
	v := x.Attr("visibility")
	return v == "collapse" || v == "filter"
}

// isoDate returns the text of a cell with a date, such as 2024-03-07T14:05:00. A date in digits alone is written as ISO 8601, because it does
// not tell the day from the month.
func isoDate(text []byte, date string) []byte {
	if date == "" {
		return text
	}
	day, clock, _ := strings.Cut(date, "T")
	fields := bytes.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("./-: ", r) })
	if len(day) != len("2006-01-02") || len(fields) < 3 || len(fields[0]) > 2 || len(bytes.Trim(text, "0123456789./-: ")) > 0 || bytes.IndexByte(text, ':') == 2 {
		return text
	}
	if len(fields) > 3 && len(clock) >= len("15:04") {
		if clock = clock[:min(len(clock), len("15:04:05"))]; len(clock) == len("15:04:05") {
			clock = strings.TrimSuffix(clock, ":00")
		}
		day += " " + clock
	}
	return []byte(day)
}

// cellName returns the name of the open cell of a sheet, such as "B12".
func (s *odfSheet) cellName() string { return cellNameOf(s.current.col, s.row) }

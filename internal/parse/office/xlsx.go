package office

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// ParseXLSX reads workbooks (ECMA-376 part 1, SpreadsheetML). Each sheet is a page with its cells as tables. Numbers are rounded as the
// sheet shows them, with percent and currency signs, but without thousands separators and trailing zeros. Dates are ISO 8601. Hidden sheets
// are labelled as hidden.
func ParseXLSX(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	p, err := openOOXML(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	main := p.mainPart("xl/workbook.xml")
	if strings.HasSuffix(strings.ToLower(main), ".bin") || p.Has("xl/workbook.bin") {
		return nil, document.NewError(document.Unsupported, "the file is a binary spreadsheet (.xlsb): save it as .xlsx", nil)
	}
	rels := p.relations(main)
	r := &xlsxReader{p: p, w: output.New(lim, 4096)}
	sheets, err := r.sheets(main, relationMap(rels))
	if err != nil {
		return nil, err
	}
	if len(sheets) == 0 {
		return nil, document.Errorf(document.Malformed, "the workbook has no sheets")
	}
	if err := r.readStrings(partOf(rels, "sharedStrings", "xl/sharedStrings.xml")); err != nil {
		return nil, err
	}
	if err := r.readFormats(partOf(rels, "styles", "xl/styles.xml")); err != nil {
		return nil, err
	}
	for _, s := range sheets {
		if r.w.Full {
			break
		}
		if err := r.sheet(s); err != nil {
			return nil, err
		}
	}
	return finishOffice(r.w, p.File, p.properties), nil
}

type xlsxReader struct {
	p        *ooxml
	w        *output.Writer
	shared   sharedStrings
	formats  []cellFormat // by the number of a cell's style
	date1904 bool
}

type xlsxSheet struct {
	name, part string
	hidden     bool
}

const (
	maxSheets     = 10_000
	maxCellFormat = 100_000
	maxCellText   = 1 << 20
	maxFormula    = 8 << 10
)

// sheets returns the sheets in the order of the workbook part. Without that part, it returns all sheet parts of the file.
func (r *xlsxReader) sheets(main string, rels map[string]relation) ([]xlsxSheet, error) {
	var out []xlsxSheet
	x := r.p.scan(main)
	for x != nil && x.Next() && len(out) < maxSheets {
		if x.Kind != xmlscan.Start {
			continue
		}
		switch x.Name {
		case "workbookPr":
			r.date1904 = xmlTrue(x.Attr("date1904"))
		case "sheet":
			if rel, ok := rels[x.AttrNS("id")]; ok && r.p.Has(rel.target) && rel.kind == "worksheet" {
				state := strings.ToLower(x.Attr("state"))
				out = append(out, xlsxSheet{x.Attr("name"), rel.target, state == "hidden" || state == "veryhidden"})
			}
		}
	}
	if x != nil {
		if err := scanFault(r.p.File, x); err != nil {
			return nil, err
		}
	}
	for n := 1; len(out) == 0 && n < 1000; n++ {
		if part := "xl/worksheets/sheet" + strconv.Itoa(n) + ".xml"; r.p.Has(part) {
			for ; r.p.Has(part); n++ {
				out = append(out, xlsxSheet{name: "Sheet" + strconv.Itoa(n), part: part})
				part = "xl/worksheets/sheet" + strconv.Itoa(n+1) + ".xml"
			}
		}
	}
	return out, nil
}

// sheet writes one sheet.
func (r *xlsxReader) sheet(s xlsxSheet) error {
	t := r.tail(s.part)
	x := r.p.scan(s.part)
	if x == nil {
		return nil
	}
	begun := false
	begin := func() {
		begun = true
		r.w.Page(s.name)
		r.w.Heading(2)
		r.w.Text(s.name)
		if s.hidden {
			r.w.Text(" (hidden)")
		}
		r.w.Block()
	}
	g := &output.Grid{W: r.w, Begin: begin}
	for _, m := range t.merges {
		g.Merge(m[0], m[1], m[2], m[3])
	}
	if err := r.tableNames(s.part, g); err != nil {
		return err
	}
	if err := r.readCells(x, g, t.links); err != nil {
		return err
	}
	g.End()
	if g.Full {
		r.p.Note(output.LimitReason(int64(r.w.Max)))
	}
	r.w.Capture()
	err := r.attached(&drawReader{p: r.p, w: r.w, cells: true}, s.part)
	more := r.w.Release()
	if err != nil {
		return err
	}
	if len(more) > 0 && !begun {
		begin()
	}
	r.w.Insert(more)
	return nil
}

// readCells reads the rows of a sheet into g.
func (r *xlsxReader) readCells(x *xmlscan.Scanner, g *output.Grid, links map[[2]int]string) error {
	row, col := 0, 0
	kind, format := "", 0
	var value, formula []byte
	in := ""
	for n := 0; x.Next() && !g.Full && !g.W.Full; n++ {
		if n&4095 == 0 && r.p.Ctx.Err() != nil {
			return r.p.Ctx.Err()
		}
		switch x.Kind {
		case xmlscan.Start:
			switch x.Name {
			case "col":
				if xmlTrue(x.Attr("hidden")) {
					g.HideColumns(clean.Int(x.Attr("min")), clean.Int(x.Attr("max")))
				}
			case "row":
				row++
				if at := clean.Int(x.Attr("r")); at > 0 {
					row = at
				}
				if col = 0; xmlTrue(x.Attr("hidden")) {
					g.HideRows(row, row)
				}
			case "c":
				col++
				if c := columnOf(x.Attr("r")); c > 0 {
					col = c
				}
				kind, format, value, formula = x.Attr("t"), clean.Int(x.Attr("s")), value[:0], append(formula[:0], '=')
			case "v", "t", "f":
				in = x.Name
			case "rPh", "extLst", "dataValidations", "conditionalFormatting", "headerFooter":
				x.Skip()
			}
		case xmlscan.Text:
			switch {
			case in == "f" && len(formula) < maxFormula:
				formula = append(formula, x.Text...)
			case in != "" && in != "f" && len(value) < maxCellText:
				value = append(value, x.Text...)
			}
		case xmlscan.End:
			switch x.Name {
			case "v", "t", "f":
				in = ""
			case "c":
				text, number := r.cellText(kind, format, value), kind == "" || kind == "n"
				if number && len(value) == 0 && len(formula) > 1 { // the writing program stored no computed value
					text, number = formula, false
				}
				if url := links[[2]int{row, col}]; url != "" {
					text = linked(text, url)
				}
				g.Set(row, col, text, number)
			}
		}
	}
	return scanFault(r.p.File, x)
}

// cellText returns the text of a cell from its stored value.
func (r *xlsxReader) cellText(kind string, format int, value []byte) []byte {
	switch kind {
	case "s":
		n, ok := clean.ParseInt(bytes.TrimSpace(value))
		if !ok {
			return nil
		}
		return r.shared.at(n)
	case "b":
		if strings.TrimSpace(string(value)) == "1" {
			return []byte("TRUE")
		}
		return []byte("FALSE")
	case "", "n":
		value = bytes.TrimSpace(value)
		f := cellFormat{}
		if format >= 0 && format < len(r.formats) {
			f = r.formats[format]
		}
		if f.date == notDate && !f.shown && shortNumber(value) {
			return value
		}
		if f.date != notDate {
			if text := serialDate(string(value), f.date, r.date1904); text != "" {
				return []byte(text)
			}
			return []byte(plainNumber(string(value)))
		}
		return []byte(f.number(string(value)))
	}
	return value
}

// shortNumber reports whether the stored form of a number needs no rounding.
func shortNumber[S string | []byte](s S) bool {
	for i := range len(s) {
		if s[i]|0x20 == 'e' {
			return false
		}
	}
	return len(s) <= 15
}

// plainNumber removes binary floating point residue: 6.1699999999999998E-2 becomes 0.0617.
func plainNumber(s string) string {
	if shortNumber(s) {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return s
	}
	// Spreadsheets compute with 15 significant digits.
	if short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64); err == nil {
		f = short
	}
	if a := math.Abs(f); a != 0 && (a < 1e-9 || a >= 1e18) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// columnOf returns the column number of a cell reference such as "AB12", or 0 when it has none.
func columnOf(ref string) int {
	n := 0
	for i := 0; i < len(ref) && i < 4; i++ {
		c := ref[i] | 0x20
		if c < 'a' || c > 'z' {
			break
		}
		n = n*26 + int(c-'a') + 1
	}
	return n
}

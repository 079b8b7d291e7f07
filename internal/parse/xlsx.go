package parse

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"
)

// parseXLSX reads workbooks (ECMA-376 part 1, SpreadsheetML): each sheet is a page with its cells as tables. Numbers
// are written as they are stored, dates as ISO 8601.
func parseXLSX(ctx context.Context, in Input, lim Limits) (*Document, error) {
	p, err := openOOXML(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	main := p.mainPart("xl/workbook.xml")
	if strings.HasSuffix(strings.ToLower(main), ".bin") || p.has("xl/workbook.bin") {
		return nil, NewError(Unsupported, "the file is a binary spreadsheet (.xlsb): save it as .xlsx", nil)
	}
	rels := p.relations(main)
	r := &xlsxReader{p: p, w: newWriter(lim, 4096)}
	sheets, err := r.sheets(main, relationMap(rels))
	if err != nil {
		return nil, err
	}
	if len(sheets) == 0 {
		return nil, malformed("the workbook has no sheets")
	}
	if err := r.readStrings(partOf(rels, "sharedStrings", "xl/sharedStrings.xml")); err != nil {
		return nil, err
	}
	if err := r.readFormats(partOf(rels, "styles", "xl/styles.xml")); err != nil {
		return nil, err
	}
	for _, s := range sheets {
		if r.w.full {
			break
		}
		if err := r.sheet(s); err != nil {
			return nil, err
		}
	}
	return r.w.finishOffice(p.zipFile, p.properties), nil
}

type xlsxReader struct {
	p        *ooxml
	w        *writer
	shared   sharedStrings
	dates    []dateKind // by cell format
	date1904 bool
}

type xlsxSheet struct{ name, part string }

const (
	maxSheets     = 10_000
	maxCellFormat = 100_000
	maxCellText   = 1 << 20
	maxFormula    = 8 << 10
)

// sheets returns the sheets in the order of the workbook; without a workbook, those that are there.
func (r *xlsxReader) sheets(main string, rels map[string]relation) ([]xlsxSheet, error) {
	var out []xlsxSheet
	x := r.p.scan(main)
	for x != nil && x.next() && len(out) < maxSheets {
		if x.kind != xmlStart {
			continue
		}
		switch x.name {
		case "workbookPr":
			v := x.attr("date1904")
			r.date1904 = v == "1" || v == "true"
		case "sheet":
			if rel, ok := rels[x.attrNS("id")]; ok && r.p.has(rel.target) && rel.kind == "worksheet" {
				out = append(out, xlsxSheet{x.attr("name"), rel.target})
			}
		}
	}
	if x != nil {
		if err := scanFault(r.p.zipFile, x); err != nil {
			return nil, err
		}
	}
	for n := 1; len(out) == 0 && n < 1000; n++ {
		if part := "xl/worksheets/sheet" + itoa(n) + ".xml"; r.p.has(part) {
			for ; r.p.has(part); n++ {
				out = append(out, xlsxSheet{"Sheet" + itoa(n), part})
				part = "xl/worksheets/sheet" + itoa(n+1) + ".xml"
			}
		}
	}
	return out, nil
}

// sheet writes one sheet.
func (r *xlsxReader) sheet(s xlsxSheet) error {
	x := r.p.scan(s.part)
	if x == nil {
		return nil
	}
	begun := false
	begin := func() {
		begun = true
		r.w.page(s.name)
		r.w.heading(2)
		r.w.text(s.name)
		r.w.block()
	}
	g := &grid{w: r.w, begin: begin}
	if err := r.readCells(x, g); err != nil {
		return err
	}
	g.end()
	if g.full {
		r.p.note(outputLimitReason(int64(r.w.max)))
	}
	r.w.capture()
	err := r.attached(&drawReader{p: r.p, w: r.w}, s.part)
	more := r.w.release()
	if err != nil {
		return err
	}
	if len(more) > 0 && !begun {
		begin()
	}
	r.w.insert(more)
	return nil
}

// attached writes the comments and the drawings of a sheet.
func (r *xlsxReader) attached(d *drawReader, part string) error {
	for _, rel := range r.p.relations(part) {
		if rel.external {
			continue
		}
		switch rel.kind {
		case "comments":
			if err := r.comments(rel.target); err != nil {
				return err
			}
		case "drawing":
			if x := r.p.scan(rel.target); x != nil {
				d.rels = relationMap(r.p.relations(rel.target))
				if err := d.read(x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// comments writes the comments of a sheet with the cells that they belong to.
func (r *xlsxReader) comments(part string) error {
	x := r.p.scan(part)
	for x != nil && x.next() && !r.w.full {
		switch {
		case x.kind == xmlStart && x.name == "comment":
			r.w.block()
			r.w.mark = "Comment on " + oneLine(x.attr("ref")) + ": "
		case x.kind == xmlStart && x.name == "t":
			for x.next() && x.kind != xmlEnd {
				if x.kind == xmlText {
					r.w.text(ownedString(x.text))
				}
			}
		}
	}
	if x == nil {
		return nil
	}
	r.w.block()
	return scanFault(r.p.zipFile, x)
}

// readCells reads the rows of a sheet into g.
func (r *xlsxReader) readCells(x *xmlScanner, g *grid) error {
	row, col := 0, 0
	kind, format := "", 0
	var value, formula []byte
	in := ""
	for n := 0; x.next() && !g.full && !g.w.full; n++ {
		if n&4095 == 0 && r.p.ctx.Err() != nil {
			return r.p.ctx.Err()
		}
		switch x.kind {
		case xmlStart:
			switch x.name {
			case "row":
				row++
				if at := atoi(x.attr("r")); at > 0 {
					row = at
				}
				col = 0
			case "c":
				col++
				if c := columnOf(x.attr("r")); c > 0 {
					col = c
				}
				kind, format, value, formula = x.attr("t"), atoi(x.attr("s")), value[:0], append(formula[:0], '=')
			case "v", "t", "f":
				in = x.name
			case "rPh", "extLst", "dataValidations", "conditionalFormatting", "headerFooter":
				x.skip()
			}
		case xmlText:
			switch {
			case in == "f" && len(formula) < maxFormula:
				formula = append(formula, x.text...)
			case in != "" && in != "f" && len(value) < maxCellText:
				value = append(value, x.text...)
			}
		case xmlEnd:
			switch x.name {
			case "v", "t", "f":
				in = ""
			case "c":
				text, number := r.cellText(kind, format, value), kind == "" || kind == "n"
				if number && len(value) == 0 && len(formula) > 1 { // the program that wrote it did not compute
					text, number = formula, false
				}
				g.set(row, col, text, number)
			}
		}
	}
	return scanFault(r.p.zipFile, x)
}

// cellText returns the text of a cell from its stored value.
func (r *xlsxReader) cellText(kind string, format int, value []byte) []byte {
	switch kind {
	case "s":
		n, ok := parseInt(bytes.TrimSpace(value))
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
		if isDate := format >= 0 && format < len(r.dates) && r.dates[format] != notDate; !isDate && shortNumber(value) {
			return value
		}
		s := string(value)
		if format >= 0 && format < len(r.dates) && r.dates[format] != notDate {
			if text := serialDate(s, r.dates[format], r.date1904); text != "" {
				return []byte(text)
			}
		}
		return []byte(plainNumber(s))
	}
	return value
}

// shortNumber reports whether a number can stay as it is stored.
func shortNumber[S string | []byte](s S) bool {
	for i := range len(s) {
		if s[i]|0x20 == 'e' {
			return false
		}
	}
	return len(s) <= 15
}

// plainNumber shortens what binary floating point left behind: 6.1699999999999998E-2 is 0.0617.
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

// columnOf returns the number of the column in a cell reference such as "AB12"; 0 when there is none.
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

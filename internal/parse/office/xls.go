package office

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// Records of a workbook ([MS-XLS] 2.3).
const (
	xlsFormula, xlsEOF, xlsDateMode, xlsFilePass, xlsContinue = 0x06, 0x0A, 0x22, 0x2F, 0x3C
	xlsBoundSheet, xlsMulRK, xlsXF, xlsSST, xlsLabelSST       = 0x85, 0xBD, 0xE0, 0xFC, 0xFD
	xlsNumber, xlsLabel, xlsBoolErr, xlsString, xlsRK         = 0x203, 0x204, 0x205, 0x207, 0x27E
	xlsFormat, xlsBOF, xlsMergeCells                          = 0x41E, 0x809, 0xE5
	xlsNote, xlsObject, xlsColumn, xlsTextObject, xlsRow      = 0x1C, 0x5D, 0x7D, 0x1B6, 0x208
)

// maxSharedTexts limits the shared strings of a workbook.
const maxSharedTexts = 2 << 20

// binaryBook is a workbook of Excel 97 to 2003.
type binaryBook struct {
	data     []byte
	shared   []string
	formats  []cellFormat
	codes    map[int]cellFormat
	date1904 bool
	sheets   []binarySheet
	damaged  bool // a record or string that another record refers to is missing
}

type binarySheet struct {
	at     uint32
	name   string
	hidden bool
}

// xlsRecord is one record with its continuation records.
type xlsRecord struct {
	kind  uint16
	parts [][]byte
}

// ParseXLS reads workbooks of Excel 97 to 2003 as ParseXLSX reads newer ones.
func ParseXLS(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	f, err := openOLE(in)
	if err != nil {
		return nil, err
	}
	b := &binaryBook{data: f.Stream("Workbook"), codes: map[int]cellFormat{}}
	if len(b.data) < 8 || binary.LittleEndian.Uint16(b.data) != xlsBOF || binary.LittleEndian.Uint16(b.data[4:]) != 0x600 {
		return nil, document.NewError(document.Unsupported, "the file is no spreadsheet of the versions 97 to 2003", nil).WithHint("save it as .xlsx")
	}
	if err := b.globals(ctx); err != nil {
		return nil, err
	}
	w := output.New(lim, len(b.data))
	seen := map[uint32]bool{}
	for _, s := range b.sheets {
		if w.Full {
			break
		}
		if seen[s.at] {
			continue
		}
		seen[s.at] = true
		if err := b.sheet(ctx, s, w); err != nil {
			return nil, err
		}
	}
	doc := w.Document()
	oleProperties(f, doc)
	if f.Cut || b.damaged {
		doc.AddPartial("the file is cut off or damaged")
	}
	return doc, nil
}

// record returns the record at an offset and the offset after it and its continuation records. ok is false at the end.
func (b *binaryBook) record(at int) (r xlsRecord, next int, ok bool) {
	for {
		if at < 0 || at+4 > len(b.data) {
			return r, at, ok
		}
		kind, n := binary.LittleEndian.Uint16(b.data[at:]), int(binary.LittleEndian.Uint16(b.data[at+2:]))
		if ok && kind != xlsContinue {
			return r, at, true
		}
		if !ok {
			r.kind = kind
		}
		body := b.data[at+4 : min(at+4+n, len(b.data))]
		r.parts, ok = append(r.parts, body), true
		at += 4 + n
	}
}

// globals reads the records that apply to all sheets.
func (b *binaryBook) globals(ctx context.Context) error {
	for at, n := 0, 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r, next, ok := b.record(at)
		if !ok || r.kind == xlsEOF {
			return nil
		}
		at = next
		d := r.parts[0]
		switch {
		case r.kind == xlsFilePass:
			return document.NewError(document.Encrypted, "the office document needs a password", nil).WithHint("save it without one")
		case r.kind == xlsDateMode && len(d) >= 2:
			b.date1904 = d[0] == 1
		case r.kind == xlsFormat && len(d) > 5:
			c := xlsCursor{parts: r.parts}
			id := int(c.u16())
			b.codes[id] = newCellFormat(c.text(int(c.u16())))
		case r.kind == xlsXF && len(d) >= 4 && len(b.formats) < maxCellFormat:
			id := int(binary.LittleEndian.Uint16(d[2:]))
			f, ok := b.codes[id]
			if !ok {
				f = builtinFormat(id)
			}
			b.formats = append(b.formats, f)
		case r.kind == xlsBoundSheet && len(d) >= 8 && d[5] == 0 && len(b.sheets) < maxSheets:
			c := xlsCursor{parts: [][]byte{d[7:]}}
			b.sheets = append(b.sheets, binarySheet{binary.LittleEndian.Uint32(d), c.text(int(d[6])), d[4]&3 != 0})
		case r.kind == xlsSST && len(d) >= 8:
			c := xlsCursor{parts: r.parts, at: 8}
			for n := int(binary.LittleEndian.Uint32(d[4:])); n > 0 && !c.end() && len(b.shared) < maxSharedTexts; n-- {
				b.shared = append(b.shared, c.text(int(c.u16())))
				b.damaged = b.damaged || n > 1 && c.end()
			}
		}
	}
}

// sheet writes the cells of one sheet.
func (b *binaryBook) sheet(ctx context.Context, s binarySheet, w *output.Writer) error {
	begun := false
	begin := func() {
		begun = true
		w.Page(s.name)
		w.Heading(2)
		w.Text(s.name)
		if s.hidden {
			w.Text(" (hidden)")
		}
		w.Block()
	}
	g := &output.Grid{W: w, Begin: begin}
	notes := xlsNotes{texts: map[uint16]string{}}
	b.merges(ctx, s, g)
	var formula struct{ row, col int } // whose text is in the next record
	depth := 0
	for at, n := int(s.at), 0; !g.Full && !w.Full; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r, next, ok := b.record(at)
		b.damaged = b.damaged || !ok || n == 0 && r.kind != xlsBOF || r.kind == 0 // zeros are no record of these versions
		if !ok {
			break
		}
		at = next
		d := r.parts[0]
		if r.kind == xlsBOF {
			depth++ // a chart within the sheet
			continue
		}
		if r.kind == xlsEOF {
			if depth--; depth <= 0 {
				break
			}
			continue
		}
		if r.kind == xlsString && len(d) > 2 {
			c := xlsCursor{parts: r.parts}
			g.Set(formula.row, formula.col, []byte(c.text(int(c.u16()))), false)
			continue
		}
		if depth > 1 || len(d) < 6 {
			continue
		}
		notes.read(r)
		hide(r, g)
		row, col := b.cell(r, g)
		if r.kind == xlsFormula && len(d) >= 14 {
			formula.row, formula.col = row, col
		}
	}
	g.End()
	w.Block()
	if !begun && notes.any() {
		begin()
	}
	notes.write(w)
	return nil
}

// merges tells g of the merged ranges of a sheet, which stand after its cells ([MS-XLS] 2.4.168).
func (b *binaryBook) merges(ctx context.Context, s binarySheet, g *output.Grid) {
	depth := 0
	for at, n := int(s.at), 0; ; n++ {
		r, next, ok := b.record(at)
		if !ok || n&1023 == 0 && ctx.Err() != nil {
			return
		}
		at = next
		d := r.parts[0]
		switch r.kind {
		case xlsBOF:
			depth++
		case xlsEOF:
			if depth--; depth <= 0 {
				return
			}
		case xlsMergeCells:
			for i := 2; i+8 <= len(d) && depth == 1; i += 8 {
				at := func(k int) int { return int(binary.LittleEndian.Uint16(d[i+k:])) + 1 }
				g.Merge(at(0), at(4), at(2), at(6))
			}
		}
	}
}

// cell writes the cells of a record and returns the place of the first one.
func (b *binaryBook) cell(r xlsRecord, g *output.Grid) (row, col int) {
	d := r.parts[0]
	row, col = int(binary.LittleEndian.Uint16(d))+1, int(binary.LittleEndian.Uint16(d[2:]))+1
	xf := int(binary.LittleEndian.Uint16(d[4:]))
	switch {
	case r.kind == xlsLabelSST && len(d) >= 10:
		if i := int(binary.LittleEndian.Uint32(d[6:])); i < len(b.shared) {
			g.Set(row, col, []byte(b.shared[i]), false)
		} else {
			b.damaged = true
		}
	case r.kind == xlsLabel && len(d) > 8:
		c := xlsCursor{parts: r.parts, at: 6}
		g.Set(row, col, []byte(c.text(int(c.u16()))), false)
	case r.kind == xlsNumber && len(d) >= 14:
		g.Set(row, col, b.number(math.Float64frombits(binary.LittleEndian.Uint64(d[6:])), xf), true)
	case r.kind == xlsRK && len(d) >= 10:
		g.Set(row, col, b.number(rkNumber(binary.LittleEndian.Uint32(d[6:])), xf), true)
	case r.kind == xlsMulRK:
		for i, at := 4, col; i+8 <= len(d); i, at = i+6, at+1 {
			g.Set(row, at, b.number(rkNumber(binary.LittleEndian.Uint32(d[i+2:])), int(binary.LittleEndian.Uint16(d[i:]))), true)
		}
	case r.kind == xlsBoolErr && len(d) >= 8 && d[7] == 0:
		g.Set(row, col, xlsBool(d[6]), false)
	case r.kind == xlsFormula && len(d) >= 14:
		switch {
		case d[12] != 0xFF || d[13] != 0xFF:
			g.Set(row, col, b.number(math.Float64frombits(binary.LittleEndian.Uint64(d[6:])), xf), true)
		case d[6] == 1:
			g.Set(row, col, xlsBool(d[8]), false)
		}
	}
	return row, col
}

func xlsBool(b byte) []byte {
	if b != 0 {
		return []byte("TRUE")
	}
	return []byte("FALSE")
}

// number writes a number as its cell format shows it.
func (b *binaryBook) number(v float64, xf int) []byte {
	s := strconv.FormatFloat(v, 'g', 17, 64)
	if short := strconv.FormatFloat(v, 'f', -1, 64); len(short) <= 15 {
		s = short
	}
	f := cellFormat{}
	if xf < len(b.formats) {
		f = b.formats[xf]
	}
	if f.date != notDate {
		if text := serialDate(s, f.date, b.date1904); text != "" {
			return []byte(text)
		}
	}
	return []byte(f.number(s))
}

// rkNumber reads a number of 30 bits ([MS-XLS] 2.5.217).
func rkNumber(v uint32) float64 {
	var f float64
	if v&2 != 0 {
		f = float64(int32(v) >> 2)
	} else {
		f = math.Float64frombits(uint64(v&^3) << 32)
	}
	if v&1 != 0 {
		f /= 100
	}
	return f
}

// xlsCursor reads strings that span records. Each further record repeats the byte with the character width.
type xlsCursor struct {
	parts [][]byte
	at    int
}

func (c *xlsCursor) end() bool {
	return len(c.parts) == 0 || len(c.parts) == 1 && c.at >= len(c.parts[0])
}

// turn drops the current record when it is used up and reports whether a further record follows it.
func (c *xlsCursor) turn() bool {
	if len(c.parts) > 0 && c.at >= len(c.parts[0]) {
		c.at -= len(c.parts[0])
		c.parts = c.parts[1:]
		return len(c.parts) > 0
	}
	return false
}

func (c *xlsCursor) byte() byte {
	for c.turn() {
	}
	if c.end() {
		return 0
	}
	c.at++
	return c.parts[0][c.at-1]
}

func (c *xlsCursor) u16() uint16 { return uint16(c.byte()) | uint16(c.byte())<<8 }

// text reads a string of n characters ([MS-XLS] 2.5.293).
func (c *xlsCursor) text(n int) string {
	flags := c.byte()
	runs, extra := 0, 0
	if flags&8 != 0 {
		runs = int(c.u16())
	}
	if flags&4 != 0 {
		extra = int(c.u16()) | int(c.u16())<<16
	}
	wide := flags&1 != 0
	units := make([]uint16, 0, min(n, 4096))
	for ; n > 0 && !c.end(); n-- {
		if c.turn() {
			wide = c.byte()&1 != 0
		}
		if wide {
			units = append(units, c.u16())
		} else {
			units = append(units, uint16(charmap.ISO8859_1.DecodeByte(c.byte())))
		}
	}
	for skip := 4*runs + extra; skip > 0 && !c.end(); {
		c.turn()
		if c.end() {
			break
		}
		step := min(skip, len(c.parts[0])-c.at)
		c.at += step
		skip -= step
	}
	return string(utf16.Decode(units))
}

package office

import (
	"context"
	"encoding/binary"

	"golang.org/x/text/encoding/charmap"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/ole"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// Offsets in the file information block of a Word document ([MS-DOC] 2.5).
const (
	fibFlags     = 0x0A
	fibText      = 0x4C // characters of the main text; the other parts follow
	fibChpx      = 0xFA
	fibPapx      = 0x102
	fibClx       = 0x1A2
	fibEncrypted = 1 << 8
	fibTable1    = 1 << 9
)

// maxPieces bounds the number of pieces of a document's text.
const maxPieces = 1 << 20

// openOLE opens a compound file, or returns a document error that says why it cannot.
func openOLE(in document.Input) (*ole.File, error) {
	f, err := ole.Open(in.Data)
	if err != nil {
		return nil, document.NewError(document.Malformed, "the office document is damaged", err)
	}
	return f, nil
}

// binaryDoc is a document of Word 97 to 2003.
type binaryDoc struct {
	main, table []byte
	data        []byte // properties that are too large for a page
	pieces      []docPiece
	papx, chpx  docPages // of paragraph and of character properties
	run         docRun   // of the last character
	odd         oddUnits
}

// docPiece is a run of count characters stored from byte at on.
type docPiece struct {
	first, count int
	at           uint32
	compressed   bool // one byte each
}

// ParseDOC reads documents of Word 97 to 2003: text, headings, tables, notes and comments. It leaves out deleted and hidden text.
func ParseDOC(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	f, err := openOLE(in)
	if err != nil {
		return nil, err
	}
	d := &binaryDoc{main: f.Stream("WordDocument"), data: f.Stream("Data")}
	if len(d.main) < fibClx+8 || binary.LittleEndian.Uint16(d.main) != 0xA5EC {
		return nil, document.NewError(document.Unsupported, "the file is no word document of the versions 97 to 2003", nil).WithHint("save it as .docx")
	}
	flags := binary.LittleEndian.Uint16(d.main[fibFlags:])
	if flags&fibEncrypted != 0 {
		return nil, document.NewError(document.Encrypted, "the office document needs a password", nil).WithHint("save it without one")
	}
	if d.table = f.Stream("0Table"); flags&fibTable1 != 0 {
		d.table = f.Stream("1Table")
	}
	d.readPieces()
	if len(d.pieces) == 0 {
		return nil, document.Errorf(document.Malformed, "the text of the word document is missing")
	}
	d.papx, d.chpx = readPages(d.part(fibPapx)), readPages(d.part(fibChpx))
	w := output.New(lim, len(d.main))
	w.NestTables = true
	if err := d.write(ctx, w); err != nil {
		return nil, err
	}
	doc := w.Document()
	oleProperties(f, doc)
	if f.Cut || d.odd.damaged() {
		doc.AddPartial("the file is cut off or damaged")
	}
	return output.Titled(doc), nil
}

func (d *binaryDoc) number(at int) int {
	if at < 0 || at+4 > len(d.main) {
		return 0
	}
	return int(int32(binary.LittleEndian.Uint32(d.main[at:])))
}

// part returns the bytes of the table stream at an offset and length given in the file information block.
func (d *binaryDoc) part(at int) []byte {
	from, n := d.number(at), d.number(at+4)
	if from < 0 || n <= 0 || from >= len(d.table) {
		return nil
	}
	return d.table[from:min(from+n, len(d.table))]
}

// readPieces reads the piece table ([MS-DOC] 2.8.35).
func (d *binaryDoc) readPieces() {
	clx := d.part(fibClx)
	for len(clx) >= 3 && clx[0] == 1 {
		n := int(binary.LittleEndian.Uint16(clx[1:]))
		clx = clx[min(3+n, len(clx)):]
	}
	if len(clx) < 5 || clx[0] != 2 {
		return
	}
	plc := clx[5:]
	plc = plc[:min(len(plc), int(binary.LittleEndian.Uint32(clx[1:])))]
	n := (len(plc) - 4) / 12
	for i := 0; i < n && i < maxPieces; i++ {
		first, next := int(binary.LittleEndian.Uint32(plc[4*i:])), int(binary.LittleEndian.Uint32(plc[4*i+4:]))
		fc := binary.LittleEndian.Uint32(plc[4*(n+1)+8*i+2:])
		p := docPiece{first: first, count: next - first, at: fc & 0x3FFFFFFF, compressed: fc&0x40000000 != 0}
		if p.compressed {
			p.at /= 2
		}
		if p.count > 0 && int64(p.at) < int64(len(d.main)) {
			d.pieces = append(d.pieces, p)
		}
	}
}

// docParagraph has the paragraph properties that affect the text.
type docParagraph struct {
	style   int
	inTable bool
	rowEnd  bool
	depth   int // of the table that it is in; 0 if unknown
	// The paragraph ends a cell, or a row, of a table within a table.
	innerCell, innerRow bool

	list  bool
	head  bool // a row of the header
	shape output.RowShape
}

// paragraph returns the properties of the paragraph whose last character is at a file position ([MS-DOC] 2.9.175).
func (d *binaryDoc) paragraph(fc uint32) (p docParagraph) {
	page, runs, k := formattedPage(d.main, d.papx, 13, fc)
	if k < 0 {
		return p
	}
	at := 2 * int(page[4*(runs+1)+13*k])
	if at == 0 || at+4 > 511 {
		return p
	}
	size := 2*int(page[at]) - 1
	at++
	if size < 0 {
		size = 2 * int(page[at])
		at++
	}
	props := page[at:min(at+max(size, 0), 511)]
	if len(props) < 2 {
		return p
	}
	p.style = int(binary.LittleEndian.Uint16(props))
	d.properties(&p, props[2:], true)
	return p
}

// docParts lists the parts after the main text with the label of their paragraphs. Headers and footers are left out.
var docParts = []struct {
	at    int
	label string
	skip  bool
}{{0x50, "Note: ", false}, {0x54, "", true}, {0x58, "", true}, {0x5C, "Comment: ", false}, {0x60, "Note: ", false}, {0x64, "", false}}

// write writes the text, paragraph by paragraph.
func (d *binaryDoc) write(ctx context.Context, w *output.Writer) error {
	end := d.number(fibText)
	bounds := []int{end}
	for _, p := range docParts {
		end += max(0, d.number(p.at))
		bounds = append(bounds, end)
	}
	t := &docText{d: d, w: w, bounds: bounds}
	left := 2 * len(d.main) // more means that pieces overlap many times
	for _, p := range d.pieces {
		width := uint32(2)
		if p.compressed {
			width = 1
		}
		for i := range p.count {
			if i&4095 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			fc := p.at + uint32(i)*width
			if left--; left < 0 || int64(fc)+int64(width) > int64(len(d.main)) || w.Full {
				break
			}
			var c uint16
			if p.compressed {
				c = uint16(charmap.Windows1252.DecodeByte(d.main[fc]))
			} else {
				c = binary.LittleEndian.Uint16(d.main[fc:])
			}
			t.char(c, p.first+i, fc)
		}
	}
	t.paragraph(docParagraph{}, 0)
	t.nestTo(0)
	return nil
}

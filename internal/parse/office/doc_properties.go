package office

import (
	"encoding/binary"

	"github.com/contextmem/contextmem/internal/parse/output"
)

// properties reads the properties of a paragraph ([MS-DOC] 2.6). more allows one reference to properties in the Data stream.
func (d *binaryDoc) properties(p *docParagraph, props []byte, more bool) {
	for len(props) >= 3 {
		op := binary.LittleEndian.Uint16(props)
		arg := props[2:]
		n := sprmSize(op, arg)
		if n > len(arg) {
			break
		}
		switch op {
		case 0x2416:
			p.inTable = arg[0] != 0
		case 0x2417:
			p.rowEnd = arg[0] != 0
		case 0x6649:
			p.depth = int(min(binary.LittleEndian.Uint32(arg), maxNestedTables))
		case 0x244B:
			p.innerCell = arg[0] != 0
		case 0x244C:
			p.innerRow = arg[0] != 0
		case 0x460B:
			p.list = binary.LittleEndian.Uint16(arg) != 0
		case 0x3404:
			p.head = arg[0] != 0
		case 0x6645, 0x6646: // properties that are too large for a page
			if at := int64(binary.LittleEndian.Uint32(arg)); more && at+2 <= int64(len(d.data)) {
				large := d.data[at+2:]
				d.properties(p, large[:min(len(large), int(binary.LittleEndian.Uint16(d.data[at:])))], false)
			}
		case 0xD608:
			p.shape = tableShape(arg[min(2, n):n])
		case 0xD62B: // a cell that is merged with those above or below
			if n >= 3 && int(arg[1]) < len(p.shape.Down) {
				p.shape.Down[arg[1]] = arg[2] == 1
			}
		case 0x5624: // a range of cells that are merged
			for i := int(arg[0]) + 1; i < min(int(arg[1]), len(p.shape.Across)); i++ {
				p.shape.Across[i] = true
			}
		}
		props = arg[n:]
	}
}

// tableShape reads the definition of a row ([MS-DOC] 2.9.321): the number of its cells, their edges, and 20 bytes for each.
func tableShape(def []byte) output.RowShape {
	if len(def) < 1 || len(def) < 1+2*(int(def[0])+1) {
		return output.RowShape{}
	}
	n := int(def[0])
	s := output.RowShape{Down: make([]bool, n), Across: make([]bool, n)}
	for i := range n + 1 {
		s.Edges = append(s.Edges, int32(int16(binary.LittleEndian.Uint16(def[1+2*i:]))))
	}
	for i, cells := 0, def[1+2*(n+1):]; i < n && len(cells) >= 2; i++ {
		flags := binary.LittleEndian.Uint16(cells)
		s.Across[i], s.Down[i] = flags&3 == 1, flags>>5&3 == 1
		cells = cells[min(20, len(cells)):]
	}
	return s
}

// sprmSize returns the length of a property's argument ([MS-DOC] 2.6).
func sprmSize(op uint16, arg []byte) int {
	switch op >> 13 {
	case 0, 1:
		return 1
	case 2, 4, 5:
		return 2
	case 3:
		return 4
	case 7:
		return 3
	}
	if op == 0xD608 && len(arg) >= 2 {
		return int(binary.LittleEndian.Uint16(arg)) + 1
	}
	return int(arg[0]) + 1
}

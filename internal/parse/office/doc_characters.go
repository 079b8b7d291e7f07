package office

import (
	"encoding/binary"
	"sort"
)

// docRun is a run of characters from byte from on, up to byte to, that is left out if it is deleted or hidden.
type docRun struct {
	from, to uint32
	omitted  bool
}

// readChpx reads the locations of the pages of character properties ([MS-DOC] 2.8.5).
func (d *binaryDoc) readChpx() {
	plc := d.part(fibChpx)
	n := (len(plc) - 4) / 8
	for i := range max(n, 0) {
		d.chpxAt = append(d.chpxAt, binary.LittleEndian.Uint32(plc[4*i:]))
		d.chpxPage = append(d.chpxPage, binary.LittleEndian.Uint32(plc[4*(n+1)+4*i:])&0x3FFFFF)
	}
}

// omitted reports whether the character at a file position is deleted, with the change tracked, or hidden.
func (d *binaryDoc) omitted(fc uint32) bool {
	if fc < d.run.from || fc >= d.run.to {
		d.run = d.runAt(fc)
	}
	return d.run.omitted
}

// runAt returns the run of the character at a file position ([MS-DOC] 2.9.33).
func (d *binaryDoc) runAt(fc uint32) docRun {
	one := docRun{from: fc, to: fc + 1}
	i := sort.Search(len(d.chpxAt), func(i int) bool { return d.chpxAt[i] > fc }) - 1
	if i < 0 {
		return one
	}
	from := int64(d.chpxPage[i]) * 512
	if from+512 > int64(len(d.main)) {
		return one
	}
	page := d.main[from : from+512]
	runs := int(page[511])
	if 4*(runs+1)+runs > 511 {
		return one
	}
	bound := func(k int) uint32 { return binary.LittleEndian.Uint32(page[4*k:]) }
	k := sort.Search(runs, func(k int) bool { return bound(k+1) > fc })
	if k >= runs || bound(k) > fc {
		return one
	}
	r := docRun{from: bound(k), to: bound(k + 1)}
	at := 2 * int(page[4*(runs+1)+k])
	if at == 0 || at >= 511 {
		return r
	}
	props := page[at+1 : min(at+1+int(page[at]), 511)]
	for len(props) >= 3 {
		op, arg := binary.LittleEndian.Uint16(props), props[2:]
		if op == 0x0800 || op == 0x083C { // deleted, hidden
			r.omitted = r.omitted || arg[0] == 1
		}
		n := sprmSize(op, arg)
		if n > len(arg) {
			break
		}
		props = arg[n:]
	}
	return r
}

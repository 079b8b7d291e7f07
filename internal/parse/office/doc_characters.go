package office

import "encoding/binary"

// docRun is a run of characters from byte from on, up to byte to, that is left out if it is deleted or hidden.
type docRun struct {
	from, to uint32
	omitted  bool
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
	page, runs, k := formattedPage(d.main, d.chpx, 1, fc)
	if k < 0 || pageBound(page, k) > fc {
		return one
	}
	r := docRun{from: pageBound(page, k), to: pageBound(page, k+1)}
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

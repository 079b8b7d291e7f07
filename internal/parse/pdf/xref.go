package pdf

import "bytes"

// maxXrefSections bounds the chain of Prev links that incremental updates make.
const maxXrefSections = 4096

// readXref follows startxref and the chain of sections, newest first. It returns false if the file needs repair.
func (d *document) readXref() bool {
	tail := d.data[max(0, len(d.data)-2048):]
	i := bytes.LastIndex(tail, []byte("startxref"))
	if i < 0 {
		return false
	}
	l := d.lexer(tail[i+len("startxref"):], false)
	o, err := l.object()
	pos, ok := o.(int)
	if err != nil || !ok {
		return false
	}
	seen := map[int]bool{}
	type section struct {
		pos    int
		hybrid bool
	}
	queue := []section{{pos: pos}}
	for len(queue) > 0 && len(seen) < maxXrefSections {
		pos, d.hybrid, queue = queue[0].pos, queue[0].hybrid, queue[1:]
		if seen[pos] {
			continue
		}
		seen[pos] = true
		if pos < 0 || pos >= len(d.data) || !d.tick(1) {
			return false
		}
		trailer, ok := d.xrefSection(pos)
		if !ok {
			return false
		}
		for k, v := range trailer {
			if _, has := d.trailer[k]; !has {
				d.trailer[k] = v
			}
		}
		if p, ok := integer(trailer["XRefStm"]); ok { // hybrid file: its stream comes before Prev
			queue = append(queue, section{p, true})
		}
		if p, ok := integer(trailer["Prev"]); ok {
			queue = append(queue, section{pos: p})
		}
	}
	return d.trailer["Root"] != nil
}

// setEntry keeps an entry unless a newer section has one. The stream of a hybrid file also fills entries that its table calls free: that is
// how the table hides compressed objects from old readers.
func (d *document) setEntry(num int, e xrefEntry) bool {
	old, has := d.xref.get(num)
	if has && d.hybrid && old.kind == entryFree {
		d.xref.set(num, e)
		return true
	}
	if has || num < 0 {
		return true
	}
	if d.xref.count >= d.lim.MaxObjects {
		d.note(partialTooLarge)
		return false
	}
	d.xref.set(num, e)
	return true
}

// xrefSection reads the table or stream at pos and returns its trailer.
func (d *document) xrefSection(pos int) (dict, bool) {
	l := d.lexer(d.data[pos:], true)
	l.skipSpace()
	if bytes.HasPrefix(l.b[l.pos:], []byte("xref")) {
		l.pos += len("xref")
		return d.xrefTable(l)
	}
	n, ok := l.number().(int)
	if !ok {
		return nil, false
	}
	o, ok := d.parseAt(pos+0, n)
	if !ok {
		return nil, false
	}
	s, ok := o.(*stream)
	if !ok || s.dict["Type"] != name("XRef") {
		return nil, false
	}
	return s.dict, d.xrefStream(s)
}

// xrefTable reads the subsections of a classic table and the trailer after them.
func (d *document) xrefTable(l *lexer) (dict, bool) {
	defer func() { d.tick(l.pos) }()
	for {
		o, err := l.object()
		if err != nil {
			return nil, false
		}
		if o == keyword("trailer") {
			break
		}
		first, ok1 := o.(int)
		o, err = l.object()
		count, ok2 := o.(int)
		if err != nil || !ok1 || !ok2 || first < 0 || count < 0 {
			return nil, false
		}
		const entryBytes = 20
		d.xref.reserve(first, min(count, (len(l.b)-l.pos)/entryBytes, d.lim.MaxObjects))
		for i := range count {
			off, err1 := l.object()
			_, err2 := l.object()
			kind, err3 := l.object()
			if err1 != nil || err2 != nil || err3 != nil {
				return nil, false
			}
			p, ok := off.(int)
			if !ok || (kind != keyword("n") && kind != keyword("f")) {
				return nil, false
			}
			if i&0xfff == 0 && !d.tick(1) {
				return nil, false
			}
			if kind == keyword("n") {
				// Some writers begin at 1 with the entry of object 0. parseAt finds the wrong number there and starts the repair.
				if !d.setEntry(first+i, xrefEntry{entryOffset, p}) {
					break
				}
			} else {
				d.setEntry(first+i, xrefEntry{kind: entryFree})
			}
		}
	}
	o, err := l.object()
	t, ok := o.(dict)
	return t, err == nil && ok
}

// xrefStream reads the entries of a cross-reference stream (ISO 32000-1, 7.5.8).
func (d *document) xrefStream(s *stream) bool {
	data, err := d.decodePlain(nil, s)
	if err != nil {
		return false
	}
	var w [3]int
	widths, _ := s.dict["W"].(array)
	if len(widths) < 3 {
		return false
	}
	for i := range w {
		n, ok := integer(widths[i])
		if !ok || n < 0 || n > 8 {
			return false
		}
		w[i] = n
	}
	entry := w[0] + w[1] + w[2]
	if entry == 0 {
		return false
	}
	index, _ := s.dict["Index"].(array)
	if index == nil {
		size, _ := integer(s.dict["Size"])
		index = array{0, size}
	}
	for i := 0; i+1 < len(index); i += 2 {
		first, ok1 := integer(index[i])
		count, ok2 := integer(index[i+1])
		if !ok1 || !ok2 || first < 0 {
			return false
		}
		d.xref.reserve(first, max(0, min(count, len(data)/entry, d.lim.MaxObjects)))
		for n := 0; n < count && len(data) >= entry; n++ {
			if n&0xfff == 0 && !d.tick(1) {
				return false
			}
			kind := 1
			if w[0] > 0 {
				kind = bigEndian(data[:w[0]])
			}
			pos := bigEndian(data[w[0] : w[0]+w[1]])
			data = data[entry:]
			e := xrefEntry{kind: entryFree}
			switch kind {
			case 1:
				e = xrefEntry{entryOffset, pos}
			case 2:
				e = xrefEntry{entryCompressed, pos}
			}
			if !d.setEntry(first+n, e) {
				return true
			}
		}
	}
	return true
}

// bigEndian reads an unsigned number. A number that does not fit becomes negative and is refused as an offset.
func bigEndian(b []byte) int {
	v := 0
	for _, c := range b {
		v = v<<8 | int(c)
	}
	return v
}

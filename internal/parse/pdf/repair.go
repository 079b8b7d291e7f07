package pdf

import (
	"bytes"
	"fmt"
	"slices"
)

// repair rebuilds the cross-reference data by searching the whole file for "N G obj", as viewers do. Later definitions of an object win. It
// runs at most once.
func (d *document) repair() error {
	if d.repaired {
		return nil
	}
	d.repaired = true
	d.note(partialDamaged)
	old := d.xref
	d.xref = objectTable{}
	d.crypt = nil
	clear(d.cache)
	clear(d.objs)
	d.scanObjects()
	if d.xref.count == 0 {
		return fmt.Errorf("%w: no objects", ErrMalformed)
	}
	for num, e := range old.all() {
		if _, has := d.xref.get(num); !has && e.kind == entryCompressed {
			if c, _ := d.xref.get(e.pos); c.kind == entryOffset {
				d.xref.set(num, e)
			}
		}
	}
	nums := d.numbersInFile()
	special := d.special(nums)
	d.scanTrailers(special)
	if err := d.setCrypt(); err != nil {
		return err
	}
	clear(d.cache)
	for _, num := range special {
		d.adoptObjStream(num)
	}
	if d.stop != nil {
		return d.stop
	}
	if !d.hasPages() {
		d.findCatalog()
	}
	return nil
}

// scanObjects records every "N G obj".
func (d *document) scanObjects() {
	word := []byte("obj")
	for pos := 0; ; {
		i := bytes.Index(d.data[pos:], word)
		if i < 0 || !d.tick(1+i/16) {
			return
		}
		at := pos + i
		pos = at + len(word)
		num, off, ok := d.objectHead(at)
		if !ok {
			continue
		}
		if _, has := d.xref.get(num); !has && d.xref.count >= d.lim.MaxObjects {
			d.note(partialTooLarge)
			return
		}
		d.xref.set(num, xrefEntry{entryOffset, off})
	}
}

// objectHead reads the two numbers before an "obj" at position at, backwards.
func (d *document) objectHead(at int) (num, off int, ok bool) {
	back := func(p int) (value, start int, ok bool) {
		end := p
		for p > 0 && isDigit(d.data[p-1]) && end-p < 10 {
			p--
		}
		for _, c := range d.data[p:end] {
			value = value*10 + int(c-'0')
		}
		return value, p, p < end
	}
	spaces := func(p int) int {
		for n := 0; p > 0 && isSpace(d.data[p-1]) && n < 16; n++ {
			p--
		}
		return p
	}
	p := spaces(at)
	_, p, ok = back(p)
	if !ok {
		return 0, 0, false
	}
	q := spaces(p)
	if q == p {
		return 0, 0, false
	}
	num, off, ok = back(q)
	return num, off, ok
}

// numbersInFile lists the objects that are not in an object stream, in the order of their offsets.
func (d *document) numbersInFile() []int {
	nums := make([]int, 0, d.xref.count)
	for num, e := range d.xref.all() {
		if e.kind == entryOffset {
			nums = append(nums, num)
		}
	}
	slices.SortFunc(nums, func(a, b int) int { return d.xref.offset(a) - d.xref.offset(b) })
	return nums
}

// special lists the objects that look like object streams or cross-reference streams.
func (d *document) special(nums []int) []int {
	var out []int
	for _, num := range nums {
		pos := d.xref.offset(num)
		head := d.data[pos:min(len(d.data), pos+512)]
		if i := bytes.Index(head, []byte("stream")); i >= 0 {
			head = head[:i]
		}
		if bytes.Contains(head, []byte("/ObjStm")) || bytes.Contains(head, []byte("/XRef")) {
			out = append(out, num)
		}
		if !d.tick(32) {
			break
		}
	}
	return out
}

// scanTrailers merges all trailer dictionaries, including those of cross-reference streams. Later ones win.
func (d *document) scanTrailers(special []int) {
	d.trailer = dict{}
	merge := func(t dict) {
		for _, k := range []name{"Root", "Info", "Encrypt", "ID"} {
			if v, has := t[k]; has {
				d.trailer[k] = v
			}
		}
	}
	for _, num := range special {
		if t := d.dict(ref{num: num}); t != nil && t["Type"] == name("XRef") {
			merge(t)
		}
	}
	word := []byte("trailer")
	for pos := 0; ; {
		i := bytes.Index(d.data[pos:], word)
		if i < 0 || !d.tick(1+i/16) {
			return
		}
		pos += i + len(word)
		l := d.lexer(d.data[pos:min(len(d.data), pos+1<<16)], true)
		if o, err := l.object(); err == nil {
			if t, ok := o.(dict); ok {
				merge(t)
			}
		}
		if !d.tick(l.pos) {
			return
		}
	}
}

// adoptObjStream adds the objects of an object stream that were not found in the file or in a later stream.
func (d *document) adoptObjStream(num int) {
	st := d.stream(ref{num: num})
	if st == nil || st.dict["Type"] != name("ObjStm") {
		return
	}
	s := d.objStream(num)
	if s == nil {
		return
	}
	for id := range s.offsets {
		e, has := d.xref.get(id)
		if has && e.kind == entryOffset {
			continue
		}
		if !has && d.xref.count >= d.lim.MaxObjects {
			d.note(partialTooLarge)
			return
		}
		d.xref.set(id, xrefEntry{entryCompressed, num})
	}
}

// findCatalog searches all objects for a catalog when no trailer refers to one.
func (d *document) findCatalog() {
	nums := make([]int, 0, d.xref.count)
	for num := range d.xref.all() {
		nums = append(nums, num)
	}
	slices.Sort(nums)
	for _, num := range nums {
		if d.stop != nil {
			return
		}
		if c, ok := d.load(num).(dict); ok && c["Type"] == name("Catalog") && d.dict(c["Pages"]) != nil {
			d.trailer["Root"] = ref{num: num}
		}
	}
}

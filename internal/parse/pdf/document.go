package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// maxCachedObjects bounds the cache of parsed objects, which is cleared when it is full.
	maxCachedObjects = 512
	// maxObjStreamBytes bounds the cache of decoded object streams.
	maxObjStreamBytes = 2 << 20
	// maxObjectBytes bounds one object in the file, without the bytes of a stream.
	maxObjectBytes = 8 << 20
	// baseBudget and budgetPerByte make the budgets of decoded bytes and of work grow with the input, so that a small file cannot keep the
	// reader busy for long. Manuals of thousands of pages need about 20 units of work for each input byte.
	baseBudget    = 64 << 20
	budgetPerByte = 64
	// maxRefHops bounds a chain of references that lead to references.
	maxRefHops = 16
)

// Reasons of Result.Partial.
const (
	partialDamaged  = "the file is damaged; what could be read was kept"
	partialStream   = "some compressed data is damaged"
	partialTooLarge = "a size limit was reached"
	partialWork     = "the document asks for too much work"
	partialPages    = "the document has more pages than are read"
	partialGlyphs   = "some characters have no known meaning in their font"
	partialContent  = "the content of a page ends early, or a part of it is missing"
)

// document is an open file. Its methods do not return errors: an unreadable object is null, partial has the first reason why the text may
// be incomplete, and stop has the error that ends the whole reading, which is the end of the context or an exhausted budget.
type document struct {
	ctx  context.Context
	lim  Limits
	data []byte // from the header on

	xref     objectTable
	hybrid   bool // the stream of a hybrid file is being read
	trailer  dict
	crypt    *decrypter
	repaired bool

	cache     map[int]any
	loading   map[int]bool
	objs      map[int]*objStream
	objsBytes int64

	inflater    io.ReadCloser
	decoded     int64 // bytes left of Limits.MaxDecodedBytes
	work        int64 // units of syntax and operators left; ends files that loop
	ticks       int
	noEndstream int // "endstream" does not occur at or after this offset

	mono, shown int // glyphs so far in monospaced fonts, and in all fonts

	partial string
	stop    error
}

// openDocument reads the cross-reference data and the keys, so that objects can be loaded.
func openDocument(ctx context.Context, data []byte, lim Limits) (*document, error) {
	head := data[:min(len(data), 1024)]
	if i := bytes.Index(head, []byte("%PDF-")); i >= 0 {
		data = data[i:]
	} else if !bytes.Contains(head, []byte(" obj")) && !bytes.Contains(head, []byte("%FDF-")) {
		return nil, fmt.Errorf("%w: no header", ErrMalformed)
	}
	budget := baseBudget + budgetPerByte*int64(len(data))
	d := &document{
		ctx: ctx, lim: lim, data: data,
		trailer: dict{},
		cache:   map[int]any{}, loading: map[int]bool{}, objs: map[int]*objStream{},
		decoded:     min(lim.MaxDecodedBytes, budget),
		work:        budget,
		noEndstream: len(data) + 1,
	}
	ok := d.readXref()
	if ok {
		ok = d.setCrypt() == nil && d.hasPages()
	}
	if !ok && d.stop == nil {
		if err := d.repair(); err != nil {
			return nil, err
		}
	}
	if d.stop != nil {
		return nil, d.stop
	}
	return d, nil
}

// hasPages reports whether the trailer leads to a page tree.
func (d *document) hasPages() bool {
	if d.crypt != nil && d.crypt.locked {
		return true // the objects cannot be read yet
	}
	root := d.dict(d.trailer["Root"])
	return root != nil && d.dict(root["Pages"]) != nil
}

// note records the first reason why the text may be incomplete.
func (d *document) note(reason string) {
	if d.partial == "" {
		d.partial = reason
	}
}

// fail ends the reading; the first reason counts.
func (d *document) fail(err error) {
	if d.stop == nil {
		d.stop = err
	}
}

// tick counts n units of work (about a byte of syntax each) and reports whether to continue.
func (d *document) tick(n int) bool {
	if d.stop != nil {
		return false
	}
	if d.work -= int64(n); d.work < 0 {
		d.fail(fmt.Errorf("%w: too much work", ErrLimit))
		d.note(partialWork)
		return false
	}
	if d.ticks++; d.ticks&0xff == 0 {
		if err := d.ctx.Err(); err != nil {
			d.fail(err)
			return false
		}
	}
	return true
}

// resolve follows references.
func (d *document) resolve(o any) any {
	for range maxRefHops {
		r, ok := o.(ref)
		if !ok {
			return o
		}
		o = d.load(r.num)
	}
	return nil
}

// dict resolves o to a dictionary, which may be that of a stream, or nil.
func (d *document) dict(o any) dict {
	switch v := d.resolve(o).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

func (d *document) array(o any) array {
	a, _ := d.resolve(o).(array)
	return a
}

func (d *document) stream(o any) *stream {
	s, _ := d.resolve(o).(*stream)
	return s
}

func (d *document) name(o any) name {
	n, _ := d.resolve(o).(name)
	return n
}

func (d *document) str(o any) str {
	s, _ := d.resolve(o).(str)
	return s
}

func (d *document) number(o any) (float64, bool) { return number(d.resolve(o)) }

func (d *document) integer(o any) (int, bool) { return integer(d.resolve(o)) }

// numbers resolves o to an array of exactly n numbers, or nil.
func (d *document) numbers(o any, n int) []float64 {
	a := d.array(o)
	if len(a) != n {
		return nil
	}
	out := make([]float64, n)
	for i := range a {
		v, ok := d.number(a[i])
		if !ok {
			return nil
		}
		out[i] = v
	}
	return out
}

// load returns object num, or nil when it is missing, damaged or already being loaded by a caller.
func (d *document) load(num int) any {
	if o, ok := d.cache[num]; ok {
		return o
	}
	e, ok := d.xref.get(num)
	if !ok || d.loading[num] || d.stop != nil {
		return nil
	}
	d.loading[num] = true
	defer delete(d.loading, num)
	var o any
	switch e.kind {
	case entryOffset:
		o, ok = d.parseAt(e.pos, num)
		if !ok && !d.repaired && d.stop == nil {
			if err := d.repair(); err != nil {
				d.fail(err)
				return nil
			}
			if e, _ = d.xref.get(num); e.kind == entryOffset {
				o, _ = d.parseAt(e.pos, num)
			}
		}
	case entryCompressed:
		o = d.compressed(e.pos, num)
	}
	if len(d.cache) >= maxCachedObjects {
		clear(d.cache)
	}
	d.cache[num] = o
	return o
}

// parseAt reads the indirect object num at off. It returns false when another object is there.
func (d *document) parseAt(off, num int) (any, bool) {
	if off < 0 || off >= len(d.data) {
		return nil, false
	}
	l := d.lexer(d.data[off:min(len(d.data), off+maxObjectBytes)], true)
	n, err1 := l.object()
	_, err2 := l.object()
	word, err3 := l.object()
	if err1 != nil || err2 != nil || err3 != nil || n != num {
		return nil, false
	}
	kw, _ := word.(keyword)
	if kw != "obj" {
		if len(kw) < 4 || kw[:3] != "obj" {
			return nil, false
		}
		l.pos -= len(kw) - 3 // "objnull" and the like: no space behind
	}
	o, err := l.object()
	if !d.tick(l.pos) || err != nil {
		return nil, errors.Is(err, errEnd)
	}
	switch v := o.(type) {
	case dict:
		if word, err := l.object(); err == nil && word == keyword("stream") {
			return &stream{dict: v, raw: d.streamBytes(v, off+l.pos), id: d.refAt(off, num)}, true
		}
	case keyword:
		return nil, v == "endobj"
	}
	if d.crypt != nil {
		o = d.crypt.strings(o, d.refAt(off, num), 0)
	}
	return o, true
}

// refAt returns the object's id with the generation written in the file, which the decryption key of the object depends on.
func (d *document) refAt(off, num int) ref {
	l := d.lexer(d.data[off:min(len(d.data), off+64)], false)
	_, _ = l.object()
	gen, _ := l.object()
	g, _ := integer(gen)
	return ref{num, g}
}

func (d *document) lexer(b []byte, refs bool) *lexer {
	return &lexer{b: b, refs: refs, maxDepth: d.lim.MaxDepth}
}

// streamBytes returns the bytes of a stream whose keyword "stream" ends at pos. It trusts Length if "endstream" follows.
func (d *document) streamBytes(dic dict, pos int) []byte {
	if pos < len(d.data) && d.data[pos] == '\r' {
		pos++
	}
	if pos < len(d.data) && d.data[pos] == '\n' {
		pos++
	}
	rest := d.data[min(pos, len(d.data)):]
	if n, ok := d.integer(dic["Length"]); ok && n >= 0 && n <= len(rest) {
		tail := bytes.TrimLeft(rest[n:min(len(rest), n+32)], "\x00\t\n\f\r ")
		if bytes.HasPrefix(tail, []byte("endstream")) || bytes.HasPrefix(tail, []byte("endobj")) {
			return rest[:n]
		}
	}
	end := -1
	if pos < d.noEndstream {
		if end = bytes.Index(rest, []byte("endstream")); end < 0 {
			d.noEndstream = pos
		} else {
			d.tick(end / 16)
		}
	}
	if end < 0 {
		d.note(partialDamaged)
		return rest
	}
	if end > 0 && rest[end-1] == '\n' {
		end--
	}
	if end > 0 && rest[end-1] == '\r' {
		end--
	}
	return rest[:end]
}

// objStream is a decoded object stream (ISO 32000-1, 7.5.7).
type objStream struct {
	data    []byte
	offsets map[int]int
}

// compressed reads object num from object stream container.
func (d *document) compressed(container, num int) any {
	s := d.objStream(container)
	if s == nil {
		return nil
	}
	off, ok := s.offsets[num]
	if !ok {
		return nil
	}
	l := d.lexer(s.data[off:], true)
	o, err := l.object()
	if !d.tick(l.pos) || err != nil {
		return nil
	}
	if _, ok := o.(keyword); ok {
		return nil
	}
	return o
}

// objStream returns the object stream num from the cache, or decodes it.
func (d *document) objStream(num int) *objStream {
	if s, ok := d.objs[num]; ok {
		return s
	}
	if e, _ := d.xref.get(num); e.kind != entryOffset {
		return nil // an object stream must not be inside another one
	}
	st := d.stream(ref{num: num})
	if st == nil {
		return nil
	}
	data, err := d.decode(st)
	if err != nil {
		return nil
	}
	first, _ := d.integer(st.dict["First"])
	count, _ := d.integer(st.dict["N"])
	if first < 0 || first > len(data) {
		return nil
	}
	s := &objStream{data: data, offsets: map[int]int{}}
	l := d.lexer(data[:first], false)
	for range min(max(count, 0), first/2+1, d.lim.MaxObjects) {
		n, err1 := l.object()
		o, err2 := l.object()
		id, ok1 := n.(int)
		off, ok2 := o.(int)
		if err1 != nil || err2 != nil || !ok1 || !ok2 || !d.tick(4) {
			break
		}
		if off >= 0 && off <= len(data)-first {
			s.offsets[id] = first + off
		}
	}
	size := int64(len(data)) + int64(len(s.offsets))*32
	if d.objsBytes += size; d.objsBytes > maxObjStreamBytes {
		clear(d.objs)
		d.objsBytes = size
	}
	d.objs[num] = s
	return s
}

package pdf

import "math"

// cffFont has what a CFF font program (Adobe Technical Note 5176) says about the meaning of its glyphs.
type cffFont struct {
	cid      bool      // the charset contains CIDs
	names    []string  // by glyph, when not cid
	cids     []int     // by glyph, when cid
	encoding codeTable // the built-in encoding, when not cid
}

// Operators of a Top DICT. Two-byte operators have 12<<8 added.
const (
	cffCharset     = 15
	cffEncoding    = 16
	cffCharStrings = 17
	cffROS         = 12<<8 | 30
)

// parseCFF reads the charset and the encoding of the first font. It returns nil when data is not CFF.
func parseCFF(data []byte) *cffFont {
	b := be(data)
	if len(b) < 4 || b.u8(0) != 1 {
		return nil
	}
	_, at := cffIndex(b, b.u8(2)) // names
	tops, at := cffIndex(b, at)
	strings, _ := cffIndex(b, at)
	if len(tops) == 0 {
		return nil
	}
	top := cffDict(tops[0])
	glyphs, _ := cffIndex(b, top[cffCharStrings])
	count := len(glyphs)
	if count == 0 {
		return nil
	}
	f := &cffFont{}
	_, f.cid = top[cffROS]
	sids := cffCharsetOf(b, top[cffCharset], count)
	if f.cid {
		f.cids = sids
		return f
	}
	f.names = make([]string, count)
	for i, sid := range sids {
		f.names[i] = cffString(sid, strings)
	}
	f.readEncoding(b, top[cffEncoding], strings)
	return f
}

// cffIndex reads an INDEX at off and returns its items and the offset after it.
func cffIndex(b be, off int) ([]be, int) {
	count := b.u16(off)
	size := b.u8(off + 2)
	if count == 0 || size < 1 || size > 4 || off < 0 || off >= len(b) {
		return nil, off + 2
	}
	base := off + 3 + (count+1)*size - 1
	at := func(i int) int {
		v := 0
		for k := range size {
			v = v<<8 | b.u8(off+3+i*size+k)
		}
		return base + v
	}
	items := make([]be, 0, min(count, len(b)))
	for i := range count {
		lo, hi := at(i), at(i+1)
		if lo < 0 || hi < lo || hi > len(b) {
			return items, len(b)
		}
		items = append(items, b[lo:hi])
	}
	return items, at(count)
}

// cffDict returns the last operand of each operator.
func cffDict(b be) map[int]int {
	out := map[int]int{}
	operand := 0
	for i := 0; i < len(b); {
		v := b.u8(i)
		i++
		switch {
		case v <= 21:
			if v == 12 {
				v = 12<<8 | b.u8(i)
				i++
			}
			out[v] = operand
			operand = 0
		case v == 28:
			operand = int(int16(b.u16(i)))
			i += 2
		case v == 29:
			operand = int(int32(b.u32(i)))
			i += 4
		case v == 30:
			for i < len(b) && b[i]&0x0f != 0x0f && b[i]>>4 != 0x0f {
				i++
			}
			i++
			operand = math.MaxInt32 // a real number; no operator read here has one
		case v >= 32 && v <= 246:
			operand = v - 139
		case v >= 247 && v <= 250:
			operand = (v-247)*256 + b.u8(i) + 108
			i++
		case v >= 251 && v <= 254:
			operand = -(v-251)*256 - b.u8(i) - 108
			i++
		}
	}
	return out
}

// cffCharsetOf returns the string id (or CID) of each glyph. The expert charsets are read as the standard one.
func cffCharsetOf(b be, off, count int) []int {
	out := make([]int, 1, count)
	if off <= 2 {
		for i := 1; i < count; i++ {
			out = append(out, i)
		}
		return out
	}
	format := b.u8(off)
	off++
	for len(out) < count && off < len(b) {
		sid := b.u16(off)
		off += 2
		left := 0
		switch format {
		case 1:
			left = b.u8(off)
			off++
		case 2:
			left = b.u16(off)
			off += 2
		}
		for k := 0; k <= left && len(out) < count; k++ {
			out = append(out, sid+k)
		}
	}
	return out
}

// cffString returns the string of a string id.
func cffString(sid int, strings []be) string {
	standard := glyphOrders()["cff"]
	if sid < len(standard) {
		return standard[sid]
	}
	if sid -= len(standard); sid < len(strings) {
		return string(strings[sid])
	}
	return ""
}

// readEncoding fills the built-in encoding. The Expert encoding is read as the Standard one.
func (f *cffFont) readEncoding(b be, off int, strings []be) {
	if off <= 1 {
		f.encoding = *standardEncoding
		return
	}
	format := b.u8(off)
	put := func(code, glyph int) {
		if code < 256 && glyph < len(f.names) {
			f.encoding[code] = glyphText(f.names[glyph])
		}
	}
	glyph, at := 1, off+2
	switch format & 0x7f {
	case 0:
		for range b.u8(off + 1) {
			put(b.u8(at), glyph)
			at++
			glyph++
		}
	case 1:
		for range b.u8(off + 1) {
			first, left := b.u8(at), b.u8(at+1)
			at += 2
			for k := 0; k <= left; k++ {
				put(first+k, glyph)
				glyph++
			}
		}
	}
	if format&0x80 != 0 {
		for range b.u8(at) {
			if code := b.u8(at + 1); code < 256 {
				f.encoding[code] = glyphText(cffString(b.u16(at+2), strings))
			}
			at += 3
		}
	}
}

// glyph returns the text of a glyph of a font that is not CID-keyed, or "".
func (f *cffFont) glyph(id int) string {
	if id < 0 || id >= len(f.names) {
		return ""
	}
	return glyphText(f.names[id])
}

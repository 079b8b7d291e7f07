package pdf

// maxGlyphs is the greatest number of glyphs of an sfnt or CFF font.
const maxGlyphs = 65536

// trueType has what an embedded TrueType or OpenType font says about the meaning of its glyphs.
type trueType struct {
	unicode map[int]rune   // glyph to character, from a Unicode cmap
	mac     map[int]int    // code to glyph, from a (1,0) cmap
	symbol  map[int]int    // code to glyph, from a (3,0) cmap, the private use offset removed
	names   map[int]string // glyph to name, from post
	cff     []byte         // the CFF table of an OpenType font
}

// be reads big-endian numbers of a font program. A read outside the data returns 0.
type be []byte

func (b be) u8(i int) int {
	if i < 0 || i >= len(b) {
		return 0
	}
	return int(b[i])
}

func (b be) u16(i int) int { return b.u8(i)<<8 | b.u8(i+1) }

func (b be) u32(i int) int { return b.u16(i)<<16 | b.u16(i+2) }

// from returns b from i on, empty when i lies outside.
func (b be) from(i int) be {
	if i < 0 || i > len(b) {
		return nil
	}
	return b[i:]
}

// parseTrueType reads the cmap and post tables of an sfnt. It returns nil when data is not one.
func parseTrueType(data []byte) *trueType {
	b := be(data)
	if b.u32(0) == 0x74746366 { // ttcf: the first font of a collection
		b = b.from(b.u32(12))
		if b == nil {
			return nil
		}
	}
	switch b.u32(0) {
	case 0x00010000, 0x74727565, 0x4f54544f: // 1.0, true, OTTO
	default:
		return nil
	}
	t := &trueType{unicode: map[int]rune{}, mac: map[int]int{}, symbol: map[int]int{}, names: map[int]string{}}
	for i := range min(b.u16(4), 64) {
		rec := 12 + 16*i
		table := be(data).from(b.u32(rec + 8))
		if n := b.u32(rec + 12); n < len(table) {
			table = table[:n]
		}
		switch b.u32(rec) {
		case 0x636d6170:
			t.readCmap(table)
		case 0x706f7374:
			t.readPost(table)
		case 0x43464620:
			t.cff = table
		}
	}
	return t
}

func (t *trueType) readCmap(b be) {
	for i := range min(b.u16(2), 32) {
		platform, enc := b.u16(4+8*i), b.u16(6+8*i)
		sub := b.from(b.u32(8 + 8*i))
		switch {
		case platform == 3 && enc == 0:
			readSubtable(sub, func(code, glyph int) {
				t.symbol[code&0xff] = glyph
			})
		case platform == 1 && enc == 0:
			readSubtable(sub, func(code, glyph int) { t.mac[code] = glyph })
		case platform == 0 || platform == 3:
			readSubtable(sub, func(code, glyph int) {
				old, has := t.unicode[glyph]
				if usable(rune(code)) && (!has || code < int(old)) {
					t.unicode[glyph] = rune(code)
				}
			})
		}
	}
}

// readSubtable calls add for each mapped code of a cmap subtable of format 0, 4, 6 or 12.
func readSubtable(b be, add func(code, glyph int)) {
	left := 1 << 18 // codes left to read, against ranges that overlap
	put := func(code, glyph int) bool {
		if left--; left < 0 {
			return false
		}
		if glyph > 0 && glyph < maxGlyphs {
			add(code, glyph)
		}
		return true
	}
	switch b.u16(0) {
	case 0:
		for code := range 256 {
			put(code, b.u8(6+code))
		}
	case 4:
		segs := b.u16(6) / 2
		for s := range segs {
			end, start := b.u16(14+2*s), b.u16(16+2*segs+2*s)
			delta, offAt := b.u16(16+4*segs+2*s), 16+6*segs+2*s
			off := b.u16(offAt)
			for code := start; code <= end && code < 0xffff; code++ {
				glyph := code
				if off != 0 {
					if glyph = b.u16(offAt + off + 2*(code-start)); glyph == 0 {
						continue
					}
				}
				if !put(code, (glyph+delta)&0xffff) {
					return
				}
			}
		}
	case 6:
		first := b.u16(6)
		for i := range b.u16(8) {
			put(first+i, b.u16(10+2*i))
		}
	case 12:
		for g := range min(b.u32(12), len(b)/12) {
			start, end, glyph := b.u32(16+12*g), b.u32(20+12*g), b.u32(24+12*g)
			for code := start; code <= end; code++ {
				if !put(code, glyph+code-start) {
					return
				}
			}
		}
	}
}

func (t *trueType) readPost(b be) {
	order := glyphOrders()["macintosh"]
	switch b.u32(0) {
	case 0x00010000:
		for i, n := range order {
			t.names[i] = n
		}
	case 0x00020000:
		count := b.u16(32)
		var extra []string
		for at := 34 + 2*count; at < len(b) && len(extra) < maxGlyphs; {
			n := b.u8(at)
			extra = append(extra, string(b[min(at+1, len(b)):min(at+1+n, len(b))]))
			at += 1 + n
		}
		for i := range count {
			n := b.u16(34 + 2*i)
			if n < len(order) {
				t.names[i] = order[n]
			} else if n-len(order) < len(extra) {
				t.names[i] = extra[n-len(order)]
			}
		}
	}
}

// glyph returns the text of a glyph, or "".
func (t *trueType) glyph(id int) string {
	if r, ok := t.unicode[id]; ok {
		return string(r)
	}
	if n, ok := t.names[id]; ok {
		return glyphText(n)
	}
	return ""
}

// code returns the text of a character code in a simple font that has no encoding of its own.
func (t *trueType) code(c int) string {
	if id, ok := t.symbol[c]; ok {
		if s := t.glyph(id); s != "" {
			return s
		}
	}
	if id, ok := t.mac[c]; ok {
		return t.glyph(id)
	}
	return ""
}

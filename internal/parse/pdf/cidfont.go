package pdf

import "strings"

// maxWidthRanges bounds the width ranges of one font, which are searched linearly.
const maxWidthRanges = 2048

// widthRange is the width of the CIDs from lo to hi.
type widthRange struct {
	lo, hi int
	width  float64
}

// cidFont is a composite font. Its encoding maps codes of one to four bytes to CIDs.
type cidFont struct {
	vertical  bool
	encoding  *cmap    // nil for Identity and for character sets
	charset   *charset // a predefined encoding
	toUnicode *cmap
	ordering  string // Adobe's collection that the CIDs belong to; empty for others

	widths       map[int]float64
	ranges       []widthRange
	defaultWidth float64
	advance      float64 // in vertical writing, negative downwards

	gidOf func(cid int) int
	glyph func(gid int) string // the text of a glyph by the embedded program
	// readProgram is set if these two are those of the embedded program, or would be if there was one.
	readProgram bool

	known map[uint64]shown // by code and its length
}

func (d *document) newCIDFont(dic dict, toUnicode *cmap) *cidFont {
	f := &cidFont{
		toUnicode: toUnicode, defaultWidth: 1, advance: -1,
		widths: map[int]float64{}, known: map[uint64]shown{},
		gidOf: func(cid int) int { return cid },
		glyph: func(int) string { return "" },
	}
	var descendant dict
	if a := d.array(dic["DescendantFonts"]); len(a) > 0 {
		descendant = d.dict(a[0])
	}
	d.cidEncoding(f, dic["Encoding"])
	d.cidCollection(f, dic["Encoding"], descendant)
	if v, ok := d.number(descendant["DW"]); ok {
		f.defaultWidth = finite(v / 1000)
	}
	if v := d.numbers(descendant["DW2"], 2); v != nil && v[1] != 0 {
		f.advance = finite(v[1] / 1000)
	}
	d.cidWidths(f, d.array(descendant["W"]))
	d.cidProgram(f, descendant)
	return f
}

// cidEncoding reads the Encoding of a composite font: a name, or an embedded CMap with the CMaps it uses.
func (d *document) cidEncoding(f *cidFont, o any) {
	switch v := d.resolve(o).(type) {
	case name:
		f.vertical = strings.HasSuffix(string(v), "-V") || v == "V"
		f.charset = predefinedCharset(string(v))
	case *stream:
		f.encoding = d.embeddedCMap(v, 0)
		f.vertical = f.encoding.vertical
		if w, ok := d.integer(v.dict["WMode"]); ok {
			f.vertical = w == 1
		}
		if base := string(f.encoding.base); len(f.encoding.ranges) == 0 {
			f.charset = predefinedCharset(base)
			f.encoding = nil
		}
	}
}

// cidCollection sets the character collection that the font's CIDs belong to (ISO 32000-1, 9.7.3). It leaves it empty for a predefined CMap
// that this package does not know, whose codes cannot be mapped to CIDs.
func (d *document) cidCollection(f *cidFont, encoding any, descendant dict) {
	if n, ok := d.resolve(encoding).(name); ok && !strings.HasPrefix(string(n), "Identity") {
		return
	}
	info := d.dict(descendant["CIDSystemInfo"])
	if registry, ok := d.resolve(info["Registry"]).(str); ok && string(registry) == "Adobe" {
		ordering, _ := d.resolve(info["Ordering"]).(str)
		f.ordering = string(ordering)
	}
}

// embeddedCMap reads a CMap stream and appends the ranges of the CMaps that it uses.
func (d *document) embeddedCMap(s *stream, depth int) *cmap {
	data, err := d.decode(s)
	if err != nil {
		return &cmap{}
	}
	m := d.parseCMap(data)
	if base := d.stream(s.dict["UseCMap"]); base != nil && depth < maxCMapUses {
		used := d.embeddedCMap(base, depth+1)
		m.spaces = append(m.spaces, used.spaces...)
		m.ranges = append(used.ranges, m.ranges...)
		m.sort()
	} else if n := d.name(s.dict["UseCMap"]); n != "" && m.base == "" {
		m.base = n
	}
	return m
}

// cidWidths reads the W array (ISO 32000-1, 9.7.4.3): "c [w1 w2 ...]" and "first last w".
func (d *document) cidWidths(f *cidFont, w array) {
	for i := 0; i+1 < len(w); {
		first, ok := d.integer(w[i])
		if !ok {
			i++
			continue
		}
		if list, ok := d.resolve(w[i+1]).(array); ok {
			for k, o := range list {
				if v, ok := d.number(o); ok && len(f.widths) < maxGlyphs {
					f.widths[first+k] = finite(v / 1000)
				}
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		last, ok1 := d.integer(w[i+1])
		v, ok2 := d.number(w[i+2])
		if ok1 && ok2 && len(f.ranges) < maxWidthRanges {
			f.ranges = append(f.ranges, widthRange{first, last, finite(v / 1000)})
		}
		i += 3
	}
}

// cidProgram reads the embedded font program when no ToUnicode map gives the meaning of glyphs.
func (d *document) cidProgram(f *cidFont, descendant dict) {
	if f.toUnicode != nil && len(f.toUnicode.ranges) > 0 || f.charset != nil {
		return
	}
	f.readProgram = true
	desc := d.dict(descendant["FontDescriptor"])
	for _, key := range []name{"FontFile2", "FontFile3"} {
		st := d.stream(desc[key])
		if st == nil {
			continue
		}
		data, err := d.decode(st)
		if err != nil {
			continue
		}
		if tt := parseTrueType(data); tt != nil {
			f.glyph = tt.glyph
			data = tt.cff
		}
		if c := parseCFF(data); c != nil {
			if !c.cid {
				f.glyph = c.glyph
			} else {
				gids := make(map[int]int, len(c.cids))
				for gid, cid := range c.cids {
					gids[cid] = gid
				}
				f.gidOf = func(cid int) int { return gids[cid] }
			}
		}
	}
	if st := d.stream(descendant["CIDToGIDMap"]); st != nil {
		if data, err := d.decode(st); err == nil {
			f.gidOf = func(cid int) int { return be(data).u16(2 * cid) }
		}
	}
}

// next splits the first code off s, which is not empty.
func (f *cidFont) next(s str) (shown, int) {
	var code uint32
	var n, cid int
	text := ""
	switch {
	case f.charset != nil:
		code, n, text = f.charset.next(s)
		cid = -1
	case f.encoding != nil:
		code, n = f.encoding.next(s)
		cid, _ = f.encoding.cid(code, n)
	default: // Identity
		n = min(2, len(s))
		for i := range n {
			code = code<<8 | uint32(s[i])
		}
		cid = int(code)
	}
	key := uint64(n)<<32 | uint64(code)
	if g, ok := f.known[key]; ok {
		return g, n
	}
	if t := f.unicode(code, n); t != "" {
		text = t
	} else if text == "" && cid > 0 {
		if text = f.glyph(f.gidOf(cid)); text == "" {
			text = cidText(f.ordering, cid)
		}
	}
	g := shown{text: text, width: f.width(cid, n), space: n == 1 && s[0] == ' ', silent: f.toUnicode != nil && f.toUnicode.silent(code, n)}
	if len(f.known) < maxCachedTexts {
		f.known[key] = g
	}
	return g, n
}

func (f *cidFont) unicode(code uint32, n int) string {
	if f.toUnicode == nil {
		return ""
	}
	return f.toUnicode.unicode(code, n)
}

// width returns the advance of a CID. If the CID is unknown (-1), codes of one byte are half as wide as the others, as in fonts of such
// character sets.
func (f *cidFont) width(cid, n int) float64 {
	if f.vertical {
		return f.advance
	}
	if cid < 0 {
		if n == 1 {
			return 0.5
		}
		return f.defaultWidth
	}
	if w, ok := f.widths[cid]; ok {
		return w
	}
	for _, r := range f.ranges {
		if r.lo <= cid && cid <= r.hi {
			return r.width
		}
	}
	return f.defaultWidth
}

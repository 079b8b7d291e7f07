package pdf

import (
	"crypto/sha256"
	"math"
	"reflect"
	"strings"
)

const (
	// maxCachedFonts bounds the cache of fonts, which is cleared when it is full.
	maxCachedFonts = 512
	// maxCachedTexts bounds the codes whose text a composite font caches.
	maxCachedTexts = 1 << 16
)

// shown is a character code as the page shows it: its text ("" when it has none), its advance in text space units of one em, and whether it
// is the single byte 32, to which word spacing applies.
type shown struct {
	text   string
	width  float64
	space  bool
	silent bool // the font gives it an empty text on purpose
}

// font turns the strings of a content stream into text and widths.
type font struct {
	simple    *[256]shown // nil for composite fonts
	composite *cidFont
	vertical  bool
	// height is the size of the font's em in text space. It is 1 except for Type 3 fonts, which set their own scale.
	height float64
	// type3 fonts may draw their glyphs with forms, so a code without text does not mean that text is lost.
	type3 bool
	style style
	// readProgram is set if the embedded font program was asked for the text of codes.
	readProgram bool
}

// style identifies a font and has flags for bold and monospaced ones, without keeping the font in memory. 0 is no font.
type style uint32

// fixedPitch is the font descriptor flag of monospaced fonts (ISO 32000-1, table 123).
const fixedPitch = 1

func (d *document) makeStyle(number int, base string, descriptor dict) style {
	s := style(0).numbered(number)
	if isBold(base) {
		s |= 1
	}
	if flags, _ := d.integer(descriptor["Flags"]); isMono(base) || flags&fixedPitch != 0 {
		s |= 2
	}
	return s
}

func (s style) bold() bool { return s&1 != 0 }
func (s style) mono() bool { return s&2 != 0 }

// numbered returns the style of a font that differs in its number only.
func (s style) numbered(number int) style { return style(number)<<2 | s&3 }

// next splits the first code off s, which is not empty, and returns the number of bytes that it takes.
func (f *font) next(s str) (shown, int) {
	if f.simple != nil {
		return f.simple[s[0]], 1
	}
	return f.composite.next(s)
}

// fonts caches the fonts made from font dictionaries.
type fonts struct {
	d      *document
	byRef  map[ref]*font
	inline map[uintptr]inlineFont
	made   int

	shared map[[sha256.Size]byte][]sharedFont // by the hash of their frame
	space  []byte                             // memory for descriptions
}

// inlineFont is a font whose dictionary is not an object of its own. It keeps the dictionary, so that its address stays unique.
type inlineFont struct {
	dict dict
	font *font
}

func newFonts(d *document) *fonts {
	return &fonts{d: d, byRef: map[ref]*font{}, inline: map[uintptr]inlineFont{}, shared: map[[sha256.Size]byte][]sharedFont{}}
}

// get returns the font that o refers to, or nil.
func (fs *fonts) get(o any) *font {
	r, isRef := o.(ref)
	if isRef {
		if f, ok := fs.byRef[r]; ok {
			return f
		}
	}
	dic := fs.d.dict(o)
	if dic == nil {
		return nil
	}
	address := reflect.ValueOf(dic).Pointer()
	if f, ok := fs.inline[address]; ok && !isRef {
		return f.font
	}
	if !fs.d.tick(4096) {
		return nil
	}
	f := fs.make(dic)
	if len(fs.byRef)+len(fs.inline) >= maxCachedFonts {
		clear(fs.byRef)
		clear(fs.inline)
		clear(fs.shared)
	}
	if isRef {
		fs.byRef[r] = f
	} else {
		fs.inline[address] = inlineFont{dic, f}
	}
	return f
}

// newFont makes the font and gives it the number.
func (d *document) newFont(dic dict, number int) *font {
	f := &font{height: 1}
	toUnicode := d.toUnicode(dic["ToUnicode"])
	if d.name(dic["Subtype"]) == "Type0" {
		f.composite = d.newCIDFont(dic, toUnicode)
		f.readProgram = f.composite.readProgram
		var descendant dict
		if a := d.array(dic["DescendantFonts"]); len(a) > 0 {
			descendant = d.dict(a[0])
		}
		f.style = d.makeStyle(number, baseFontName(d.name(dic["BaseFont"])), d.dict(descendant["FontDescriptor"]))
		f.vertical = f.composite.vertical
		return f
	}
	f.simple = &[256]shown{}
	s := simpleFont{d: d, dict: dic, desc: d.dict(dic["FontDescriptor"]), toUnicode: toUnicode}
	s.base = baseFontName(d.name(dic["BaseFont"]))
	f.style = d.makeStyle(number, s.base, s.desc)
	f.readProgram = s.texts(f.simple)
	s.widths(f)
	f.simple[' '].space = true
	return f
}

// baseFontName removes the tag of a font subset ("ABCDEF+Name").
func baseFontName(n name) string {
	if i := strings.IndexByte(string(n), '+'); i == 6 {
		return string(n[7:])
	}
	return string(n)
}

// isBold reports whether a font's name is that of a bold font. TeX's names follow rules of their own.
func isBold(base string) bool {
	lower := strings.ToLower(base)
	for _, word := range []string{"bold", "black", "heavy", "cmbx", "cmssbx", "sfbx", "-demi"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// toUnicode reads a ToUnicode entry. The name Identity maps codes to themselves.
func (d *document) toUnicode(o any) *cmap {
	switch v := d.resolve(o).(type) {
	case *stream:
		data, err := d.decode(v)
		if err != nil {
			return nil
		}
		m := d.parseCMap(data)
		if len(m.ranges) == 0 && strings.HasPrefix(string(m.base), "Identity") {
			return identityToUnicode
		}
		return m
	case name:
		if strings.HasPrefix(string(v), "Identity") {
			return identityToUnicode
		}
	}
	return nil
}

var identityToUnicode = &cmap{ranges: []cmapRange{{n: 2, lo: 0, hi: 0xffff, text: []rune{0}}}}

// simpleFont reads a font of one-byte codes.
type simpleFont struct {
	d         *document
	dict      dict
	desc      dict
	base      string
	toUnicode *cmap
}

// texts sets the text of each code: from the ToUnicode map, else the names in Differences, else the base encoding, else the embedded font
// program. It reports whether it read that program.
func (s *simpleFont) texts(out *[256]shown) bool {
	d := s.d
	var names [256]name
	var base *codeTable
	switch v := d.resolve(s.dict["Encoding"]).(type) {
	case name:
		base = namedEncoding(v)
	case dict:
		base = namedEncoding(d.name(v["BaseEncoding"]))
		code := 0
		for _, o := range d.array(v["Differences"]) {
			switch o := d.resolve(o).(type) {
			case int:
				code = o
			case name:
				if code >= 0 && code < 256 {
					names[code] = o
				}
				code++
			}
		}
	}
	isZapf := strings.Contains(s.base, "Dingbats")
	switch {
	case isZapf:
		base = zapfEncoding
	case strings.HasPrefix(s.base, "Symbol"):
		base = symbolEncoding
	}
	program := &fontProgram{s: s}
	coded := codesAsNames(&names, d.name(s.dict["Subtype"]) == "Type3")
	for code := range out {
		t := ""
		if s.toUnicode != nil {
			t = s.toUnicode.unicode(uint32(code), 1)
		}
		n := string(names[code])
		if t == "" && n != "" {
			if isZapf {
				t = zapfNames()[n]
			}
			switch {
			case t != "" || n == ".notdef":
			case coded != nil:
				t = coded[code]
			default:
				if t = glyphText(n); t == "" {
					t = program.numbered(n, code)
				}
			}
		}
		if t == "" && n == "" {
			if base != nil {
				t = base[code]
			} else {
				t = program.code(code)
			}
		}
		out[code].text = t
	}
	return program.loaded
}

// widths fills in the advances, from the Widths array, else from the standard fonts.
func (s *simpleFont) widths(f *font) {
	d := s.d
	scale, up := 0.001, 0.001
	if d.name(s.dict["Subtype"]) == "Type3" {
		f.type3 = true
		m := d.numbers(s.dict["FontMatrix"], 6)
		if m == nil {
			m = []float64{0.001, 0, 0, 0.001, 0, 0}
		}
		scale = math.Hypot(m[0], m[1])
		up = math.Hypot(m[2], m[3])
	}
	first, _ := d.integer(s.dict["FirstChar"])
	widths := d.array(s.dict["Widths"])
	missing, _ := d.number(s.desc["MissingWidth"])
	var standard *standardWidths
	if widths == nil && !f.type3 {
		standard = widthsOf(s.base)
	}
	for code := range f.simple {
		w := missing
		if i := code - first; i >= 0 && i < len(widths) {
			if v, ok := d.number(widths[i]); ok {
				w = v
			}
		} else if standard != nil {
			w = standard.width(f.simple[code].text, code)
		}
		f.simple[code].width = finite(w * scale)
	}
	if f.type3 {
		f.height = type3Height(d.numbers(s.dict["FontBBox"], 4), up, f.simple)
	}
}

// type3Height estimates the em of a Type 3 font in text space from its bounding box and from the mean width of its glyphs, which is about
// half an em. The bounding box is often missing, or that of a few low letters.
func type3Height(box []float64, scale float64, glyphs *[256]shown) float64 {
	h := 0.0
	if box != nil {
		h = finite(math.Abs(box[3]-box[1]) * scale)
	}
	sum, n := 0.0, 0
	for i := range glyphs {
		if w := math.Abs(glyphs[i].width); w > 0 && glyphs[i].text != "" {
			sum += w
			n++
		}
	}
	if n > 0 {
		h = max(h, 2*sum/float64(n))
	}
	if h == 0 {
		return 1
	}
	return h
}

// finite clamps numbers from a file to the range that the layout can compute with.
func finite(v float64) float64 {
	if math.IsNaN(v) || v > 1e7 || v < -1e7 {
		return 0
	}
	return v
}

// fontProgram reads the embedded font program of a simple font when it is first needed.
type fontProgram struct {
	s      *simpleFont
	loaded bool
	tt     *trueType
	cff    *cffFont
	enc    *codeTable
}

func (p *fontProgram) load() {
	if p.loaded {
		return
	}
	p.loaded = true
	d, desc := p.s.d, p.s.desc
	if st := d.stream(desc["FontFile2"]); st != nil {
		if data, err := d.decode(st); err == nil {
			p.tt = parseTrueType(data)
		}
	}
	if st := d.stream(desc["FontFile3"]); st != nil {
		if data, err := d.decode(st); err == nil {
			if p.tt = parseTrueType(data); p.tt != nil {
				data = p.tt.cff
			}
			p.cff = parseCFF(data)
		}
	}
	if st := d.stream(desc["FontFile"]); st != nil {
		if data, err := d.decode(st); err == nil {
			if enc, ok := d.type1Encoding(data); ok {
				p.enc = &enc
			}
		}
	}
	switch {
	case p.cff != nil && !p.cff.cid:
		p.enc = &p.cff.encoding
	case p.enc == nil && p.s.d.name(p.s.dict["Subtype"]) == "TrueType":
		p.enc = winAnsiEncoding
	case p.enc == nil:
		p.enc = standardEncoding
	}
}

// code returns the text that the font program gives a code. A Type 3 font has none.
func (p *fontProgram) code(code int) string {
	if p.s.d.name(p.s.dict["Subtype"]) == "Type3" {
		return ""
	}
	p.load()
	if p.tt != nil && p.cff == nil {
		if t := p.tt.code(code); t != "" {
			return t
		}
		if len(p.tt.symbol)+len(p.tt.mac) > 0 {
			return ""
		}
	}
	return p.enc[code]
}

// numbered returns the text of names like g36 or a65: that of the glyph in the embedded program, or the code itself when it equals the
// number.
func (p *fontProgram) numbered(n string, code int) string {
	v, ok := numberedName(n)
	if !ok {
		return ""
	}
	p.load()
	if n[0] == 'g' || n[0] == 'G' {
		if t := p.tt.glyphOrNone(v); t != "" {
			return t
		}
	}
	if v == code && v < 128 {
		return ot1Encoding[v]
	}
	return ""
}

// glyphOrNone is glyph for a font that may be nil.
func (t *trueType) glyphOrNone(id int) string {
	if t == nil {
		return ""
	}
	return t.glyph(id)
}

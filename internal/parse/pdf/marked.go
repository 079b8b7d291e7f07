package pdf

import (
	"math"
	"strings"
	"unicode/utf16"
)

// maxMarks bounds the nesting of marked content.
const maxMarks = 512

// mark is a marked content sequence that is open.
type mark struct {
	start  int // index of its first glyph
	actual string
	has    bool // it has an ActualText
	hidden bool // it belongs to hidden optional content, or to content that repeats on every page
	around tag  // tag of the enclosing sequence
}

// beginMark executes BDC.
func (in *interpreter) beginMark(args []any, resources dict) {
	m := mark{start: len(in.page.glyphs), around: in.page.tag}
	if len(args) < 2 || len(in.marks) >= maxMarks {
		in.pushMark(m)
		return
	}
	props := args[len(args)-1]
	if n, ok := props.(name); ok {
		props = in.resource(resources, "Properties", n)
	}
	if args[0] == name("OC") && in.layer.hides(props) {
		m.hidden = true
		in.hidden++
	}
	if t := in.page.tree.tagOf(in.page.number, in.d.dict(props)["MCID"]); t.order > 0 && len(in.path) == 0 {
		in.page.tag = t
		m.actual, m.has = t.actual, t.has
	}
	if in.page.tree != nil && args[0] == name("Artifact") && in.d.name(in.d.dict(props)["Type"]) == "Pagination" {
		m.hidden = true // a running head or foot
		in.hidden++
	}
	if t, ok := in.d.resolve(in.d.dict(props)["ActualText"]).(str); ok {
		m.actual, m.has = textString(t), true
	}
	in.pushMark(m)
}

// pushMark opens a sequence. Sequences beyond maxMarks are only counted.
func (in *interpreter) pushMark(m mark) {
	if len(in.marks) >= maxMarks {
		in.lostMarks++
		return
	}
	in.marks = append(in.marks, m)
}

// endMark closes the innermost sequence. An ActualText replaces the glyphs of a sequence that stays on one line; longer sequences keep
// their glyphs, which have a layout.
func (in *interpreter) endMark() {
	if in.lostMarks > 0 {
		in.lostMarks--
		return
	}
	m := in.marks[len(in.marks)-1]
	in.marks = in.marks[:len(in.marks)-1]
	in.page.tag = m.around
	if m.hidden {
		in.hidden--
	}
	glyphs := in.page.glyphs
	if !m.has || m.start >= len(glyphs) {
		return
	}
	g := glyphs[m.start]
	for _, o := range glyphs[m.start+1:] {
		if o.angle != g.angle || math.Abs(o.v-g.v) > 0.5*g.size {
			return
		}
		g.u0, g.u1 = min(g.u0, o.u0), max(g.u1, o.u1)
	}
	g.text, g.actual = m.actual, true
	in.page.glyphs = glyphs[:m.start]
	if g.text != "" {
		in.page.glyphs = append(in.page.glyphs, g)
	}
}

// textString decodes a text string (ISO 32000-2, 7.9.2.2): UTF-16 or UTF-8 if it begins with a byte order mark, else PDFDocEncoding.
func textString(s str) string {
	var text []rune
	switch {
	case strings.HasPrefix(string(s), "\xfe\xff"), strings.HasPrefix(string(s), "\xff\xfe"):
		little := s[0] == 0xff
		var units []uint16
		for i := 2; i+1 < len(s); i += 2 {
			hi, lo := s[i], s[i+1]
			if little {
				hi, lo = lo, hi
			}
			units = append(units, uint16(hi)<<8|uint16(lo))
		}
		text = utf16.Decode(units)
	case strings.HasPrefix(string(s), "\xef\xbb\xbf"):
		text = []rune(strings.ToValidUTF8(string(s[3:]), ""))
	default:
		for i := range len(s) {
			switch c := s[i]; {
			case pdfDocSpecial[c] != 0:
				text = append(text, pdfDocSpecial[c])
			case c < 32:
				text = append(text, ' ')
			default:
				text = append(text, rune(c))
			}
		}
	}
	out := make([]rune, 0, len(text))
	escape := false // U+001B encloses a language code
	for _, r := range text {
		switch {
		case r == 0x1b:
			escape = !escape
		case escape:
		case r == '\n' || r == '\r' || r == '\t':
			out = append(out, ' ')
		case usable(r):
			out = append(out, r)
		}
	}
	return string(out)
}

// pdfDocSpecial has the codes of PDFDocEncoding that differ from Latin-1 (ISO 32000-1, annex D.2).
var pdfDocSpecial = func() (t [256]rune) {
	code := 0x18
	for _, r := range "˘ˇˆ˙˝˛˚˜" {
		t[code] = r
		code++
	}
	code = 0x80
	for _, r := range "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž" {
		t[code] = r
		code++
	}
	t[0xa0] = '€'
	return t
}()

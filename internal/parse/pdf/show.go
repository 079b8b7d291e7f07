package pdf

import (
	"math"
)

// maxPageGlyphs bounds the glyphs of one page. A newspaper page of small print has about thirty thousand.
const maxPageGlyphs = 60_000

// minSpacedString is the least length of a string whose character spacing is taken for letter-spacing. Some writers set character spacing
// for two characters to separate the words that they belong to.
const minSpacedString = 6

// glyph is a piece of text at its position, in the coordinates of its direction of writing: u grows along the line, v upwards across it.
type glyph struct {
	text      string
	u0, u1, v float64
	size      float64 // height of the font's em on the page
	spacing   float64 // extra space after each glyph that the writer set
	style     style
	angle     int16 // direction of writing in degrees, multiples of 90 within five degrees of them
	invisible bool
	vertical  bool
	actual    bool  // its text is the ActualText of marked content
	begins    bool  // it is the first of a text object
	order     int32 // its position in the structure tree, 0 for none
	cell      int32 // the cell of the structure tree that it belongs to, 0 for none
}

// pageGlyphs collects the glyphs that a page shows.
type pageGlyphs struct {
	placed   placed
	glyphs   []glyph
	bounds   box
	rotate   int // of the page, clockwise, 0, 90, 180 or 270
	images   bool
	pictured float64 // the area of the images, in units of the page
	full     bool    // the limit of glyphs was reached
	unmapped int     // codes without a text
	comments []string
	rules    []rule
	number   int        // of the page's object, 0 when unknown
	tree     *structure // nil if the document has none
	begins   bool       // a text object has begun
	tag      tag        // tag of the glyphs that are being shown
}

// move sets the text position to the start of a line that is offset from the current one.
func (in *interpreter) move(x, y float64) {
	m := matrix{1, 0, 0, 1, x, y}.times(in.line)
	if m.sane() {
		in.text, in.line = m, m
	}
}

func (in *interpreter) showArg(args []any) {
	for _, a := range args {
		if s, ok := a.(str); ok {
			in.show(s)
		}
	}
}

// showArray executes TJ: strings, and numbers that move the position back in thousandths of an em.
func (in *interpreter) showArray(args []any) {
	if len(args) == 0 {
		return
	}
	list, _ := args[len(args)-1].(array)
	s := &in.state
	for _, o := range list {
		if t, ok := o.(str); ok {
			in.show(t)
			continue
		}
		if v, ok := number(o); ok {
			by := -finite(v) / 1000 * s.size
			if s.font != nil && s.font.vertical {
				in.advance(0, by)
			} else {
				in.advance(by*s.scale, 0)
			}
		}
	}
}

// advance moves the text position within the line.
func (in *interpreter) advance(x, y float64) {
	t := &in.text
	e, f := x*t[0]+y*t[2]+t[4], x*t[1]+y*t[3]+t[5]
	if isSane(e) && isSane(f) {
		t[4], t[5] = e, f
	}
}

// show places the glyphs of a string.
func (in *interpreter) show(s str) {
	st := &in.state
	if st.font == nil {
		in.page.unmapped += len(s)
		return
	}
	m := in.text.times(st.ctm)
	place := in.page.direction(&m, st)
	if len(s) >= minSpacedString {
		place.spacing = st.charSpace * place.along
	}
	c := &st.ctm
	raisedX, raisedY := m[2]*st.rise, m[3]*st.rise
	for len(s) > 0 {
		g, n := st.font.next(s)
		s = s[n:]
		if !in.d.tick(operatorWork) {
			return
		}
		extra := st.charSpace
		if g.space {
			extra += st.wordSpace
		}
		width := g.width * st.size
		if g.text == "" && g.width != 0 && !g.silent && !st.font.type3 {
			in.page.unmapped++
		}
		if in.hidden == 0 {
			x, y := in.text[4], in.text[5]
			in.page.add(g.text, raisedX+(x*c[0]+y*c[2]+c[4]), raisedY+(x*c[1]+y*c[3]+c[5]), width, &place, st)
		}
		if st.font.vertical {
			in.advance(0, width+extra)
		} else {
			in.advance((width+extra)*st.scale, 0)
		}
	}
}

// placing is the position values that all glyphs of one string share.
type placing struct {
	angle    int16
	sin, cos float64
	along    float64 // page units per unit of text space along the line
	size     float64
	spacing  float64 // after each glyph
	mirrored bool
	ok       bool
}

// placeKey has the values that the result of direction depends on.
type placeKey struct {
	a, b, c, d, scale, size float64
	font                    *font
}

// placed is the last result of direction. Most strings have the same key as the previous one.
type placed struct {
	key placeKey
	out placing
}

// direction computes how a string runs over the page. m is the text matrix times the current transformation matrix.
func (p *pageGlyphs) direction(m *matrix, st *graphics) placing {
	key := placeKey{m[0], m[1], m[2], m[3], st.scale, st.size, st.font}
	if p.placed.key != key {
		p.placed = placed{key, p.findDirection(m, st)}
	}
	return p.placed.out
}

func (p *pageGlyphs) findDirection(m *matrix, st *graphics) placing {
	ax, ay := m[0]*st.scale, m[1]*st.scale // along the line
	ux, uy := m[2], m[3]                   // upwards
	if st.font.vertical {
		ax, ay, ux, uy = -m[2], -m[3], m[0], m[1]
	}
	if st.size < 0 {
		ax, ay, ux, uy = -ax, -ay, -ux, -uy
	}
	along, up := math.Hypot(ax, ay), math.Hypot(ux, uy)
	out := placing{along: along, size: up * math.Abs(st.size) * st.font.height}
	if along == 0 || up == 0 || out.size < 1e-3 || out.size > 1e5 {
		return out
	}
	if ax*uy < ay*ux && !st.font.vertical && ax < 0 {
		// A letter in a mirror, as in some logos, stands on the line like the others but extends to the left.
		ax, ay, out.mirrored = -ax, -ay, true
	}
	degrees := math.Atan2(ay, ax)*180/math.Pi - float64(p.rotate)
	quarter := math.Round(degrees/90) * 90
	if math.Abs(degrees-quarter) <= 5 {
		degrees = quarter
	} else {
		degrees = math.Round(degrees/5) * 5
	}
	out.angle = int16(math.Mod(degrees+720, 360))
	out.sin, out.cos = math.Sincos(float64(out.angle) * math.Pi / 180)
	out.ok = true
	return out
}

// add places one glyph that begins at x and y, with its advance width in text space units.
func (p *pageGlyphs) add(text string, x, y, width float64, at *placing, st *graphics) {
	if !at.ok || text == "" {
		return
	}
	if len(p.glyphs) >= maxPageGlyphs {
		p.full = true
		return
	}
	const margin = 2
	if x < p.bounds.x0-margin || x > p.bounds.x1+margin || y < p.bounds.y0-margin || y > p.bounds.y1+margin {
		return
	}
	switch p.rotate {
	case 90:
		x, y = y, -x
	case 180:
		x, y = -x, -y
	case 270:
		x, y = -y, x
	}
	u := x*at.cos + y*at.sin
	v := -x*at.sin + y*at.cos
	w := math.Abs(width) * at.along
	if at.mirrored {
		u -= w
	}
	g := glyph{
		text: text, u0: u, u1: u + w, v: v, size: at.size, angle: at.angle,
		style: st.font.style, spacing: at.spacing, invisible: st.invisible, vertical: st.font.vertical,
		order: p.tag.order, cell: p.tag.cell, begins: p.begins,
	}
	p.begins = false
	p.glyphs = append(p.glyphs, g)
}

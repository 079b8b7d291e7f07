package pdf

import (
	"bytes"
	"errors"
	"math"
)

const (
	// maxStates bounds the stack of saved graphics states.
	maxStates = 256
	// maxOperands bounds the operands before an operator.
	maxOperands = 256
	// maxSpareArray bounds the memory of an operand array that is reused for the next one.
	maxSpareArray = 4096
	// maxFormDepth bounds forms within forms.
	maxFormDepth = 20
	// operatorWork is the cost of one operator in the work budget.
	operatorWork = 16
)

// graphics is the part of the graphics state that text depends on (ISO 32000-1, 8.4 and 9.3).
type graphics struct {
	ctm       matrix
	font      *font
	size      float64
	charSpace float64
	wordSpace float64
	scale     float64 // horizontal, 1 is normal
	leading   float64
	rise      float64
	invisible bool
}

// interpreter runs the content streams of one page and collects its glyphs.
type interpreter struct {
	d     *document
	fonts *fonts
	layer *layers

	state      graphics
	saved      []graphics
	overflow   int // states that were not saved
	text, line matrix
	marks      []mark
	lostMarks  int // sequences that were not kept because of the limit
	hidden     int // depth of hidden optional content
	inText     bool
	path       map[*stream]bool
	lines      path
	page       *pageGlyphs
}

// run executes a content stream with its resources.
func (in *interpreter) run(data []byte, resources dict, depth int) {
	l := in.d.lexer(data, false)
	l.content = true
	var args []any
	floor, markFloor := len(in.saved), len(in.marks)
	for {
		start := l.pos
		o, err := l.object()
		if errors.Is(err, errEnd) || !in.d.tick(operatorWork+l.pos-start) {
			break
		}
		if err != nil {
			continue
		}
		op, ok := o.(keyword)
		if !ok {
			if len(args) < maxOperands {
				args = append(args, o)
			}
			continue
		}
		switch op {
		case "Do":
			in.xobject(nameArg(args), resources, depth)
		case "BI":
			in.picture()
			if !skipInlineImage(l) {
				in.d.note(partialContent)
			}
		case "Q":
			if len(in.saved) > floor || in.overflow > 0 {
				in.restore()
			}
		case "EMC":
			if len(in.marks) > markFloor {
				in.endMark()
			}
		default:
			in.operator(op, args, resources)
		}
		for _, a := range args {
			if used, ok := a.(array); ok && cap(used) <= maxSpareArray {
				l.spare = used // no operator keeps its operands
			}
		}
		args = args[:0]
	}
	in.overflow, in.lostMarks = 0, 0
	for len(in.saved) > floor {
		in.restore()
	}
	for len(in.marks) > markFloor {
		in.endMark()
	}
}

// operator executes an operator that reads no data after itself.
func (in *interpreter) operator(op keyword, args []any, resources dict) {
	var v [6]float64
	n := 0
	for _, a := range args {
		if f, ok := number(a); ok && n < len(v) {
			v[n] = finite(f)
			n++
		}
	}
	if in.pathOperator(op, v) || in.textState(op, v) || in.textPosition(op, v, n) {
		return
	}
	s := &in.state
	switch op {
	case "q":
		if len(in.saved) < maxStates {
			in.saved = append(in.saved, in.state)
		} else {
			in.overflow++
		}
	case "cm":
		if m := matrix(v).times(s.ctm); n == 6 && m.sane() {
			s.ctm = m
		}
	case "gs":
		gs := in.d.dict(in.resource(resources, "ExtGState", nameArg(args)))
		if f := in.d.array(gs["Font"]); len(f) == 2 {
			s.font = in.fonts.get(f[0])
			s.size, _ = in.d.number(f[1])
		}
	case "Tf":
		s.font = in.fonts.get(in.resource(resources, "Font", nameArg(args)))
		s.size = v[0]
	case "Tj":
		in.showArg(args)
	case "'":
		in.move(0, -s.leading)
		in.showArg(args)
	case "\"":
		s.wordSpace, s.charSpace = v[0], v[1]
		in.move(0, -s.leading)
		in.showArg(args)
	case "TJ":
		in.showArray(args)
	case "BMC":
		in.pushMark(mark{start: len(in.page.glyphs), around: in.page.tag})
	case "BDC":
		in.beginMark(args, resources)
	}
}

// textState executes an operator that sets how text is shown, and reports whether op is one. v holds its numbers.
func (in *interpreter) textState(op keyword, v [6]float64) bool {
	s := &in.state
	switch op {
	case "Tc":
		s.charSpace = v[0]
	case "Tw":
		s.wordSpace = v[0]
	case "Tz":
		s.scale = v[0] / 100
	case "TL":
		s.leading = v[0]
	case "Ts":
		s.rise = v[0]
	case "Tr":
		s.invisible = v[0] == 3
	default:
		return false
	}
	return true
}

// textPosition executes an operator that begins or ends a text or says where it goes on, and reports whether op is one. v holds its n numbers.
func (in *interpreter) textPosition(op keyword, v [6]float64, n int) bool {
	switch op {
	case "BT":
		in.page.begins, in.inText = true, true
		in.text, in.line = identity, identity
	case "ET":
		in.inText = false
	case "Td":
		in.move(v[0], v[1])
	case "TD":
		in.state.leading = -v[1]
		in.move(v[0], v[1])
	case "Tm":
		if m := matrix(v); n == 6 && m.sane() {
			in.text, in.line = m, m
		}
	case "T*":
		in.move(0, -in.state.leading)
	default:
		return false
	}
	return true
}

func (in *interpreter) restore() {
	if in.overflow > 0 {
		in.overflow--
		return
	}
	in.state = in.saved[len(in.saved)-1]
	in.saved = in.saved[:len(in.saved)-1]
}

// resource looks up a named resource of a category. It does not resolve references.
func (in *interpreter) resource(resources dict, category, n name) any {
	return in.d.dict(resources[category])[n]
}

// nameArg returns the first name among the operands.
func nameArg(args []any) name {
	for _, a := range args {
		if n, ok := a.(name); ok {
			return n
		}
	}
	return ""
}

// xobject runs a form, or records that the page shows an image.
func (in *interpreter) xobject(n name, resources dict, depth int) {
	st := in.d.stream(in.resource(resources, "XObject", n))
	if st == nil {
		if in.resource(resources, "XObject", n) != nil && in.d.stop == nil {
			in.d.note(partialContent) // the page shows what the file does not hold
		}
		return
	}
	switch in.d.name(st.dict["Subtype"]) {
	case "Image":
		in.picture()
	case "Form":
		in.form(st, identity, resources, depth)
	}
}

// picture records that the page shows an image, which fills the unit square of the current coordinates.
func (in *interpreter) picture() {
	m := in.state.ctm
	in.page.images = true
	in.page.pictured += math.Abs(m[0]*m[3] - m[1]*m[2])
}

// form runs the content of a form with the transformation at. It skips a form that is already running or nested too deeply.
func (in *interpreter) form(st *stream, at matrix, resources dict, depth int) {
	if depth >= min(maxFormDepth, in.d.lim.MaxDepth) || in.path[st] || in.layer.hides(st.dict["OC"]) {
		return
	}
	data, err := in.d.decode(st)
	if err != nil {
		return
	}
	in.path[st] = true
	defer delete(in.path, st)
	outer, text, line := in.state, in.text, in.line
	defer func() { in.state, in.text, in.line = outer, text, line }()
	m := identity
	if v := in.d.numbers(st.dict["Matrix"], 6); v != nil {
		m = matrix(v)
	}
	if m = m.times(at).times(in.state.ctm); !m.sane() {
		return
	}
	in.state.ctm = m
	if own := in.d.dict(st.dict["Resources"]); own != nil {
		resources = own
	}
	in.run(data, resources, depth+1)
}

// skipInlineImage moves behind the EI that ends an inline image. The data is binary, so an EI counts only if white space precedes it and
// what follows looks like content.
func skipInlineImage(l *lexer) bool {
	i := bytes.Index(l.b[l.pos:], []byte("ID"))
	if i < 0 {
		l.pos = len(l.b)
		return false
	}
	l.pos += i + 2
	for l.pos < len(l.b) {
		i := bytes.Index(l.b[l.pos:], []byte("EI"))
		if i < 0 {
			l.pos = len(l.b)
			return false
		}
		at := l.pos + i
		l.pos = at + 2
		before := at > 0 && isSpace(l.b[at-1])
		if before && looksLikeContent(l.b[at+2:min(len(l.b), at+18)]) {
			return true
		}
	}
	return false
}

// looksLikeContent reports whether b has no binary data and is empty or begins with white space.
func looksLikeContent(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if !isSpace(b[0]) {
		return false
	}
	for _, c := range b {
		if c > 126 || c < 32 && !isSpace(c) {
			return false
		}
	}
	return true
}

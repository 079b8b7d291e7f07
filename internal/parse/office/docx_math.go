package office

import (
	"strings"

	"github.com/contextmem/contextmem/internal/parse/mathml"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// docxMath is what is open in a formula (ECMA-376 part 1, 22.1).
type docxMath struct {
	depth   int          // of formulas
	scripts []mathScript // innermost last
	fences  []mathFence
	root    bool // the sign of the next radicand is written
}

// mathScript collects an element that may need a sign before it or parentheses: "x^2", "x_(i+1)", "(a+b)/2", "√(a+b)".
type mathScript struct {
	element, sign string
	whole         bool // it gets parentheses if it is no single name or number
	text          []byte
}

// mathFence has the delimiters of terms, such as parentheses.
type mathFence struct {
	open, between, end string
	terms              int
}

const maxMathDepth = 64

// mathStart handles the beginning of an element of a formula and reports whether it was one that needs nothing else.
func (d *docxReader) mathStart(x *xmlscan.Scanner) bool {
	m := &d.math
	if x.Name == "oMath" {
		m.depth++
		return true
	}
	if m.depth == 0 {
		return false
	}
	parent := ""
	if n := len(x.Stack); n >= 2 {
		parent = x.Stack[n-2]
	}
	switch x.Name {
	case "sup":
		m.begin("sup", "^", true)
	case "sub":
		m.begin("sub", "_", true)
	case "num":
		m.begin("num", "", true)
	case "den":
		m.begin("den", "/", true)
	case "e":
		if n := len(m.fences); n > 0 && parent == "d" {
			f := &m.fences[n-1]
			if f.terms++; f.terms == 1 {
				d.sign(f.open)
			} else {
				d.sign(f.between)
			}
		}
		if parent == "nary" {
			d.write(" ")
		}
		if parent == "rad" {
			sign := "√"
			if m.root {
				sign = ""
			}
			m.root = false
			m.begin("e", sign, true)
		} else if len(m.scripts) > 0 {
			m.begin("e", "", false) // so that its end is not that of a radicand around it
		}
	case "deg":
		m.begin("deg", "", false)
	case "d":
		if len(m.fences) < maxMathDepth {
			m.fences = append(m.fences, mathFence{open: "(", between: "|", end: ")"})
		}
	case "begChr", "sepChr", "endChr":
		if n := len(m.fences); n > 0 && parent == "dPr" {
			f := &m.fences[n-1]
			*map[string]*string{"begChr": &f.open, "sepChr": &f.between, "endChr": &f.end}[x.Name] = x.Attr("val")
		}
	case "naryPr":
		d.sign(largeOperator(x))
	default:
		return false
	}
	return true
}

// mathEnd handles the end of an element of a formula.
func (d *docxReader) mathEnd(name string) {
	m := &d.math
	if m.depth == 0 {
		return
	}
	switch name {
	case "oMath":
		for len(m.scripts) > 0 {
			d.endScript()
		}
		m.depth--
		m.fences = m.fences[:0]
	case "d":
		if n := len(m.fences); n > 0 {
			f := m.fences[n-1]
			m.fences = m.fences[:n-1]
			d.sign(f.end)
		}
	case "sup", "sub", "num", "den", "deg", "e":
		if n := len(m.scripts); n > 0 && m.scripts[n-1].element == name {
			d.endScript()
		}
	}
}

func (m *docxMath) begin(element, sign string, whole bool) {
	if len(m.scripts) < maxMathDepth {
		m.scripts = append(m.scripts, mathScript{element: element, sign: sign, whole: whole})
	}
}

// endScript writes the innermost script.
func (d *docxReader) endScript() {
	n := len(d.math.scripts) - 1
	s := &d.math.scripts[n]
	text, sign, whole, element := strings.TrimSpace(string(s.text)), s.sign, s.whole, s.element
	d.math.scripts = d.math.scripts[:n]
	if text == "" {
		return
	}
	if element == "deg" {
		d.math.root = true
		sign, whole = "√[", false
	}
	d.sign(sign)
	if !whole || mathml.Group(text) == text {
		d.write(text)
	} else {
		d.sign("(")
		d.write(text)
		d.sign(")")
	}
	if element == "deg" {
		d.sign("]")
	}
}

// sign writes a sign of a formula, which needs no escape.
func (d *docxReader) sign(s string) {
	switch n := len(d.math.scripts); {
	case s == "" || d.hidden:
	case n > 0 || d.inCode:
		d.write(s)
	default:
		d.w.Word(s)
	}
}

// largeOperator reads the properties of a sum, an integral or the like and returns its sign.
func largeOperator(x *xmlscan.Scanner) string {
	sign, depth := "∫", len(x.Stack)
	for len(x.Stack) >= depth && x.Next() {
		if x.Kind == xmlscan.Start && x.Name == "chr" {
			sign = x.Attr("val")
		}
	}
	return sign
}

// mathText reads the oMath element that x is at, which is in no Word document, and returns it as text.
func mathText(x *xmlscan.Scanner, w *output.Writer) string {
	r := docxReader{w: w}
	r.math.depth = 1
	r.math.begin("", "", false) // collects the formula
	for depth := len(x.Stack); len(x.Stack) >= depth && x.Next(); {
		switch {
		case x.Kind == xmlscan.Start && skippedDOCX[x.Name]:
			x.Skip()
		case x.Kind == xmlscan.Start && x.Name == "t":
			r.text(x)
		case x.Kind == xmlscan.Start && x.Name != "oMath":
			r.mathStart(x)
		case x.Kind == xmlscan.End && x.Name != "oMath":
			r.mathEnd(x.Name)
		}
	}
	for len(r.math.scripts) > 1 {
		r.endScript()
	}
	return strings.TrimSpace(string(r.math.scripts[0].text))
}

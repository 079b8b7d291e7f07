package office

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// mathNode is an open element of a formula in MathML 3.
type mathNode struct {
	name, open, end string
	parts           []string // the texts of its children
}

// maxFormulaText bounds the text of a formula.
const maxFormulaText = 64 << 10

// mathML reads the element that x is at, and returns it as text: "x^2", "(a+b)/2". whole reports whether it was read to its end.
func mathML(x *xmlscan.Scanner) (text string, whole bool) {
	stack := []mathNode{{name: x.Name}}
	size := 0
	for x.Next() && size < maxFormulaText {
		n := len(stack) - 1
		switch x.Kind {
		case xmlscan.Start:
			if x.Name == "annotation" || x.Name == "annotation-xml" { // the source of the formula
				x.Skip()
				continue
			}
			node := mathNode{name: x.Name}
			if x.Name == "mfenced" {
				node.open, node.end = mathAttr(x, "open", "("), mathAttr(x, "close", ")")
			}
			stack = append(stack, node)
		case xmlscan.Text:
			text := strings.TrimSpace(string(x.Text))
			size += len(text)
			stack[n].parts = append(stack[n].parts, text)
		case xmlscan.End:
			text := stack[n].text()
			if n == 0 {
				return text, true
			}
			stack = stack[:n]
			stack[n-1].parts = append(stack[n-1].parts, text)
		}
	}
	for n := len(stack) - 1; n > 0; n-- {
		stack[n-1].parts = append(stack[n-1].parts, stack[n].text())
	}
	return stack[0].text(), false
}

func mathAttr(x *xmlscan.Scanner, name, otherwise string) string {
	if v := x.Attr(name); v != "" {
		return v
	}
	return otherwise
}

// text returns an element as text.
func (n *mathNode) text() string {
	p := n.parts
	whole := strings.Join(p, "")
	switch {
	case n.name == "msqrt":
		return "√" + mathGroup(whole)
	case n.name == "mfenced":
		return n.open + strings.Join(p, ",") + n.end
	case n.name == "mtr":
		return strings.Join(p, ", ")
	case n.name == "mtable":
		return strings.Join(p, "; ")
	case len(p) == 2:
		switch n.name {
		case "msup":
			return p[0] + scriptOf("^", p[1])
		case "msub", "munder":
			return p[0] + scriptOf("_", p[1])
		case "mfrac":
			return mathGroup(p[0]) + "/" + mathGroup(p[1])
		case "mroot":
			return "√[" + p[1] + "]" + mathGroup(p[0])
		}
	case len(p) == 3 && (n.name == "msubsup" || n.name == "munderover"):
		text := p[0] + scriptOf("_", p[1]) + scriptOf("^", p[2])
		if strings.ContainsAny(p[0], "∑∏∫∮⋃⋂") {
			text += " "
		}
		return text
	}
	return whole
}

// scriptOf returns an index or a power with its sign, or nothing if it is empty.
func scriptOf(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + mathGroup(text)
}

// mathGroup puts a term in parentheses unless it is a name, a number or a sign.
func mathGroup(s string) string {
	if utf8.RuneCountInString(s) == 1 || strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0 {
		return s
	}
	return "(" + s + ")"
}

// Package mathml writes formulas in MathML 3 as text: "x^2", "(a+b)/2".
package mathml

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Formula is a formula whose elements are read one after the other. The zero value is a formula without elements.
type Formula struct {
	stack []element // open elements, the outermost first
	whole []string  // the texts of elements that have ended, outside of any other
	size  int       // bytes of text and number of elements
	deep  int       // open elements that are not on the stack, since it is full
}

// element is an open element.
type element struct {
	name, open, end string
	parts           []string // the texts of its children
}

const (
	maxSize  = 64 << 10 // bytes of text and number of elements of a formula
	maxDepth = 200      // open elements; the text of deeper ones joins
)

// Full reports whether the rest of the formula is too long to be read.
func (f *Formula) Full() bool { return f.size >= maxSize }

// Start begins an element. first and last are its delimiters if it is an mfenced element; empty means parentheses.
func (f *Formula) Start(name, first, last string) {
	if f.size++; len(f.stack) >= maxDepth || f.Full() {
		f.deep++
		return
	}
	e := element{name: name}
	if name == "mfenced" {
		e.open, e.end = or(first, "("), or(last, ")")
	}
	f.stack = append(f.stack, e)
}

func or(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

// Source reports whether an element has the source of a formula, which is no part of it.
func Source(name string) bool { return name == "annotation" || name == "annotation-xml" }

// Text adds text to the open element.
func (f *Formula) Text(s string) {
	if s = strings.TrimSpace(s); s != "" && !f.Full() {
		f.size += len(s)
		f.add(s)
	}
}

func (f *Formula) add(text string) {
	if n := len(f.stack); n > 0 {
		f.stack[n-1].parts = append(f.stack[n-1].parts, text)
	} else {
		f.whole = append(f.whole, text)
	}
}

// End ends the innermost element.
func (f *Formula) End() {
	n := len(f.stack) - 1
	switch {
	case f.deep > 0:
		f.deep--
	case n >= 0:
		text := f.stack[n].text()
		f.stack = f.stack[:n]
		f.add(text)
	}
}

// EndOf ends the innermost open element of a name and those in it, if there is one.
func (f *Formula) EndOf(name string) {
	if f.deep > 0 {
		f.deep--
		return
	}
	for n := len(f.stack) - 1; n >= 0; n-- {
		if f.stack[n].name == name {
			for len(f.stack) > n {
				f.End()
			}
			return
		}
	}
}

// String ends all elements and returns the formula.
func (f *Formula) String() string {
	for f.deep = 0; len(f.stack) > 0; {
		f.End()
	}
	return strings.Join(f.whole, "")
}

// text returns an element as text.
func (e *element) text() string {
	p := e.parts
	whole := strings.Join(p, "")
	switch {
	case e.name == "msqrt":
		return "√" + Group(whole)
	case e.name == "mfenced":
		return e.open + strings.Join(p, ",") + e.end
	case e.name == "mtr":
		return strings.Join(p, ", ")
	case e.name == "mtable":
		return strings.Join(p, "; ")
	case len(p) == 2:
		switch e.name {
		case "msup":
			return p[0] + script("^", p[1])
		case "msub", "munder":
			return p[0] + script("_", p[1])
		case "mfrac":
			return Group(p[0]) + "/" + Group(p[1])
		case "mroot":
			return "√[" + p[1] + "]" + Group(p[0])
		}
	case len(p) == 3 && (e.name == "msubsup" || e.name == "munderover"):
		text := p[0] + script("_", p[1]) + script("^", p[2])
		if strings.ContainsAny(p[0], "∑∏∫∮⋃⋂") {
			text += " "
		}
		return text
	}
	return whole
}

// script returns an index or a power with its sign, or nothing if it is empty.
func script(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + Group(text)
}

// Group puts a term in parentheses unless it is a name, a number or a sign.
func Group(s string) string {
	if utf8.RuneCountInString(s) == 1 || strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0 {
		return s
	}
	return "(" + s + ")"
}

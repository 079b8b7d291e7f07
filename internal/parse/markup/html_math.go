package markup

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/contextmem/contextmem/internal/parse/mathml"
)

// htmlMath is the formula that is open (MathML Core 2.1). Its elements are no elements of the page.
type htmlMath struct {
	formula mathml.Formula
	source  int // open elements with the source of the formula
}

// mathStart handles the beginning of an element in a formula. It reports whether the element belongs to it: a block of the page ends a formula.
func (h *HTMLReader) mathStart(raw []byte, name atom.Atom, selfClosing bool) bool {
	if blockTags[name] || tableTags[name] {
		h.end(atom.Math)
		return false
	}
	m := h.math
	element := elementName(raw)
	if m.source > 0 || mathml.Source(element) {
		if !selfClosing && mathml.Source(element) {
			m.source++
		}
		return true
	}
	var first, last string
	if element == "mfenced" {
		_, rest := tagName(raw)
		first, last = attrOf(rest, "open"), attrOf(rest, "close")
	}
	if m.formula.Start(element, first, last); selfClosing || voidTags[name] {
		m.formula.End()
	}
	return true
}

// mathEnd handles an end tag in a formula. It reports whether the tag belongs to it.
func (h *HTMLReader) mathEnd(raw []byte, name atom.Atom) bool {
	if name == atom.Math || blockTags[name] && h.count[name] > 0 || tableTags[name] {
		h.end(atom.Math)
		return name == atom.Math
	}
	m := h.math
	switch element := elementName(raw); {
	case m.source > 0 && mathml.Source(element):
		m.source--
	case m.source == 0:
		m.formula.EndOf(element)
	}
	return true
}

// mathText adds text to the formula.
func (h *HTMLReader) mathText(z *html.Tokenizer) {
	if h.math.source == 0 {
		h.math.formula.Text(string(z.Text())) // it is kept while the page is read on
	}
}

// endMath writes the formula.
func (h *HTMLReader) endMath() {
	text := h.math.formula.String()
	h.math = nil
	h.w.Word(text)
}

// elementName returns the name of a tag in lower case.
func elementName(raw []byte) string {
	raw = bytes.TrimPrefix(bytes.TrimPrefix(raw, []byte("<")), []byte("/"))
	n := 0
	for n < len(raw) && n < 32 && !endsName(raw[n]) {
		n++
	}
	name := bytes.ToLower(raw[:n])
	return string(name[bytes.IndexByte(name, ':')+1:])
}

// attrOf returns the value of an attribute of a tag, without its name.
func attrOf(b []byte, name string) string {
	for range 256 {
		var key, value []byte
		if key, value, b = nextAttr(b); key == nil {
			return ""
		}
		if string(bytes.ToLower(key)) == name {
			return html.UnescapeString(string(value))
		}
	}
	return ""
}

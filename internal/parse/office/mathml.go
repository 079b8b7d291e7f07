package office

import (
	"github.com/contextmem/contextmem/internal/parse/mathml"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// mathML reads the element that x is at, a formula in MathML, and returns it as text. whole reports whether it was read to its end.
func mathML(x *xmlscan.Scanner) (text string, whole bool) {
	var f mathml.Formula
	depth := 1
	for x.Next() && !f.Full() {
		switch x.Kind {
		case xmlscan.Start:
			if mathml.Source(x.Name) {
				x.Skip()
				continue
			}
			depth++
			f.Start(x.Name, x.Attr("open"), x.Attr("close"))
		case xmlscan.Text:
			f.Text(string(x.Text))
		case xmlscan.End:
			if depth--; depth == 0 {
				return f.String(), true
			}
			f.End()
		}
	}
	return f.String(), false
}

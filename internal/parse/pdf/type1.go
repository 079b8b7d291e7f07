package pdf

import (
	"bytes"
	"errors"
)

// type1Encoding reads the built-in encoding from the clear text part of a Type 1 font program. known is false when there is none.
func (d *document) type1Encoding(data []byte) (enc codeTable, known bool) {
	if i := bytes.Index(data, []byte("eexec")); i >= 0 {
		data = data[:i]
	}
	i := bytes.Index(data, []byte("/Encoding"))
	if i < 0 {
		return enc, false
	}
	l := d.lexer(data[i+len("/Encoding"):], false)
	var last [2]any // the code and the name before "put"
	for n := 0; ; n++ {
		o, err := l.object()
		if errors.Is(err, errEnd) || !d.tick(4) {
			return enc, known
		}
		switch v := o.(type) {
		case keyword:
			switch v {
			case "StandardEncoding":
				if n == 0 {
					return *standardEncoding, true
				}
			case "put":
				code, ok1 := last[0].(int)
				glyph, ok2 := last[1].(name)
				if ok1 && ok2 && code >= 0 && code < 256 {
					enc[code] = glyphText(string(glyph))
					known = true
				}
			case "def", "readonly":
				if known {
					return enc, true
				}
			}
		default:
			last[0], last[1] = last[1], v
		}
	}
}

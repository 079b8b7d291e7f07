package charset

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// EBCDIC is the code page 37 of mainframes. Its line end 0x15 becomes a line feed. The other Latin code pages differ from it in a few
// signs.
var EBCDIC encoding.Encoding = ebcdic{}

type ebcdic struct{}

func (ebcdic) NewDecoder() *encoding.Decoder {
	lines := runes.Map(func(r rune) rune {
		if r == '\u0085' {
			return '\n'
		}
		return r
	})
	return &encoding.Decoder{Transformer: transform.Chain(charmap.CodePage037.NewDecoder(), lines)}
}

func (ebcdic) NewEncoder() *encoding.Encoder { return charmap.CodePage037.NewEncoder() }

// Bounds of what isEBCDIC takes for a text.
const (
	ebcdicLeast = 64 // bytes
	ebcdicSpace = 0x40
)

// isEBCDIC reports whether data is text in EBCDIC. Such a text has the space 0x40 between its words, and in code page 37 nearly all its other
// bytes are letters, digits, or signs that are common between words. Texts of other charsets have the space 0x20, or trail bytes that are no letters there.
func isEBCDIC(data []byte) bool {
	sample := clean.Head(data, 64<<10)
	if len(sample) < ebcdicLeast {
		return false
	}
	spaces, letters, small, digits, signs := 0, 0, 0, 0, 0
	for _, b := range sample {
		switch r := charmap.CodePage037.DecodeByte(b); {
		case b == ebcdicSpace:
			spaces++
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			letters++
			if unicode.IsLower(r) {
				small++
			}
		case r >= '0' && r <= '9':
			digits++
		case r >= utf8.RuneSelf && unicode.IsLetter(r), r > ' ' && r < 0x7f, r == '\n', r == '\r', r == '\t', r == '\u0085':
			signs++
		}
	}
	words := letters + digits
	others := len(sample) - spaces - words - signs
	return spaces*25 >= len(sample) && letters*3 >= words && words*4 >= (len(sample)-spaces)*3 && others*100 <= len(sample) && (small*2 >= letters || small == 0)
}

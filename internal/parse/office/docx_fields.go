package office

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// docxField is an open field: its instruction, read until the separator, and whether it opened a link.
type docxField struct {
	instr  string
	result bool
	link   bool
}

const maxFieldInstr = 4096

// instruction collects a field's instruction.
func (d *docxReader) instruction(x *xmlscan.Scanner) {
	for x.Next() && x.Kind != xmlscan.End {
		if n := len(d.fields); n > 0 && x.Kind == xmlscan.Text && len(d.fields[n-1].instr) < maxFieldInstr {
			d.fields[n-1].instr += string(x.Text)
		}
	}
}

// fieldChar handles the begin, separator and end of a field. A HYPERLINK field is a link around its result.
func (d *docxReader) fieldChar(kind string) {
	n := len(d.fields)
	switch kind {
	case "begin":
		if n < 64 {
			d.fields = append(d.fields, docxField{})
		}
	case "separate":
		if n > 0 && !d.fields[n-1].result {
			f := &d.fields[n-1]
			f.result = true
			if url := hyperlinkField(f.instr); url != "" {
				f.link = true
				d.w.LinkStart(url)
			}
		}
	case "end":
		if n > 0 {
			if d.fields[n-1].link {
				d.w.LinkEnd()
			}
			if !d.fields[n-1].result {
				d.write(buttonField(d.fields[n-1].instr))
			}
			d.fields = d.fields[:n-1]
		}
	}
}

// hyperlinkField returns the address of a field instruction like HYPERLINK "https://..." \o "tip".
func hyperlinkField(instr string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(instr), "HYPERLINK")
	if !ok {
		return ""
	}
	rest = strings.TrimSpace(rest)
	if rest, ok = strings.CutPrefix(rest, `"`); !ok {
		return ""
	}
	url, _, _ := strings.Cut(rest, `"`)
	return url
}

// buttonField returns the placeholder text of a field instruction like MACROBUTTON name text.
func buttonField(instr string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(instr), "MACROBUTTON ")
	if !ok {
		return ""
	}
	_, label, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return label
}

// symbolText returns the standard character for a character of a symbol font, whose codes begin at U+F000.
func symbolText(hex string) string {
	n, err := strconv.ParseUint(hex, 16, 32)
	switch {
	case err != nil:
		return ""
	case n == 0xF0B7 || n == 0xF0A7:
		return "\u2022"
	case n >= 0xE000 && n < 0xF900 || n < 0x20 || n > unicode.MaxRune:
		return ""
	}
	return string(rune(n))
}

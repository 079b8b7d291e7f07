package light

import (
	"context"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// man reads manual pages written with the groff macros of man(7) and mdoc(7).
type man struct {
	*source
	para   []string // the open paragraph
	code   []string // the open block of unfilled lines
	unfill bool
	tag    bool   // the next line is a tag
	item   string // marker if the next paragraph is a list item
	level  int    // list level of the items
	name   string // name of the page, in mdoc
	lists  int    // open lists of mdoc
	rows   [][]string
	table  bool     // within .TS and .TE
	sep    string   // separator of the cells of a table
	format bool     // in the format lines of a table
	cell   []string // cells of the open row; the last one may be inside T{ and T}
	inCell bool
	skip   int  // open braces of conditions, whose lines are dropped
	macro  bool // inside a macro definition
}

// ParseMan reads a manual page.
func ParseMan(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	return read(ctx, in, lim, func(s *source, text string) {
		m := &man{source: s}
		for line := range strings.Lines(text) {
			if !m.goOn() {
				return
			}
			m.line(strings.TrimRight(line, "\n"))
		}
		m.flush()
		if m.unfill || m.table || m.macro {
			m.partial("the page ends within a block, and may be cut off")
		}
	})
}

var (
	manFont   = lazyregexp.New(`\\f(?:\[[^\]]*\]|\(..|.)|\\s[-+]?\d+|\\m\[[^\]]*\]|\\[&|^%:,/)]|\\c$`)
	manGlyph  = lazyregexp.New(`\\(?:\[([^\]]{1,20})\]|\((..)|\*\[([^\]]{1,20})\]|\*\((..)|([-e '` + "`" + `~0]))`)
	manMotion = lazyregexp.New(`\\[hvwlLkN]'[^']*'`)
)

// manGlyphs maps names of groff_char(7) to characters. The reader leaves out glyphs that are not listed.
var manGlyphs = map[string]string{"em": "—", "en": "–", "hy": "-", "bu": "•", "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "aq": "'",
	"dq": `"`, "co": "©", "rg": "®", "tm": "™", "mu": "×", "di": "÷", "+-": "±", "->": "→", "<-": "←", "de": "°", "ha": "^", "ti": "~",
	"rs": `\`, "sl": "/", "ga": "`", "aa": "´", "<=": "≤", ">=": "≥", "!=": "≠", "==": "≡", "if": "∞", "12": "½", "14": "¼", "34": "¾",
	"ss": "ß", ":a": "ä", ":o": "ö", ":u": "ü", ":i": "ï", ":e": "ë", ":A": "Ä", ":O": "Ö", ":U": "Ü", "'e": "é", "`e": "è", "'a": "á", "`a": "à", "^e": "ê",
	"oa": "å", "/o": "ø", "ae": "æ", ",c": "ç", "~n": "ñ", "Fo": "«", "Fc": "»", "Eu": "€", "eu": "€", "ct": "¢", "Po": "£", "sc": "§",
	"ps": "¶", "dg": "†", "dd": "‡", "lB": "[", "rB": "]", "lC": "{", "rC": "}", "la": "<", "ra": ">", "ba": "|", "at": "@", "sh": "#",
	"Tm": "™", "R": "®", "-": "-", "e": `\`, " ": " ", "'": "´", "`": "`", "~": " ", "0": " ",
	`L"`: "“", `R"`: "”", "C`": "", "C'": "", "--": "—", "PI": "π", "C+": "C++"}

// inline removes the escapes from a text.
func (m *man) inline(s string) string {
	if i := strings.Index(s, `\"`); i >= 0 {
		s = s[:i]
	}
	if !strings.Contains(s, `\`) {
		return s
	}
	s = manMotion.ReplaceAllString(manFont.ReplaceAllString(s, ""), "")
	return replaceAll(manGlyph, s, func(g []string) string {
		name := g[1] + g[2] + g[3] + g[4] + g[5]
		if code, ok := strings.CutPrefix(name, "u"); ok && len(code) >= 4 {
			n := rune(0)
			for _, c := range strings.ToLower(code) {
				d := strings.IndexRune("0123456789abcdef", c)
				if d < 0 || n > 0x10ffff {
					return ""
				}
				n = n<<4 + rune(d)
			}
			return string(n)
		}
		return manGlyphs[name]
	})
}

// args splits the arguments of a macro, which are words or quoted strings.
func (m *man) args(s string) []string {
	var out []string
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		if s[0] == '"' {
			var b strings.Builder
			i := 1
			for i < len(s) {
				if s[i] == '"' {
					if i+1 < len(s) && s[i+1] == '"' {
						i++
					} else {
						break
					}
				}
				b.WriteByte(s[i])
				i++
			}
			out = append(out, m.inline(b.String()))
			s = s[min(i+1, len(s)):]
			continue
		}
		i := 0
		for i < len(s) && s[i] != ' ' {
			if s[i] == '\\' {
				i++
			}
			i++
		}
		i = min(i, len(s))
		if a := m.inline(s[:i]); a != "" || !strings.HasPrefix(s, `\"`) {
			out = append(out, a)
		} else {
			break
		}
		s = s[i:]
	}
	return out
}

func (m *man) flush() {
	if text := strings.Join(m.para, " "); m.item != "" && text != "" {
		m.w.Item(m.level, m.item)
		m.w.Text(text)
		m.item = ""
	} else {
		m.paragraph(text)
	}
	m.para = nil
	if !m.unfill && len(m.code) > 0 {
		m.source.code("", m.code)
		m.code = nil
	}
}

// add adds words to the open paragraph.
func (m *man) add(text string) {
	switch {
	case m.table:
		m.row(text)
	case m.unfill:
		m.code = append(m.code, text)
	case m.tag:
		m.tag = false
		m.flush()
		m.paragraph(text)
	case strings.TrimSpace(text) == "":
		m.flush()
	default:
		m.para = append(m.para, strings.TrimSpace(text))
	}
}

// row handles a line of a table. The format lines come first, up to a line that ends with a dot; rows follow.
func (m *man) row(line string) {
	switch {
	case m.format && strings.HasSuffix(line, ";"):
		if _, after, ok := strings.Cut(line, "tab("); ok && after != "" {
			m.sep = after[:1]
		}
	case m.format:
		m.format = !strings.HasSuffix(strings.TrimSpace(line), ".")
	case m.inCell && !strings.HasPrefix(line, "T}"):
		last := &m.cell[len(m.cell)-1]
		*last = strings.TrimSpace(*last + " " + line)
	case !m.inCell && strings.Trim(line, "_= ") == "":
	default:
		sep := m.sep
		if sep == "" {
			sep = "        " // a tab, which is expanded when the text is read
		}
		cells := strings.Split(line, sep)
		if m.inCell {
			cells = cells[1:] // behind T}
		}
		for _, c := range cells {
			m.cell = append(m.cell, strings.TrimSpace(c))
		}
		if m.inCell = len(m.cell) > 0 && m.cell[len(m.cell)-1] == "T{"; m.inCell {
			m.cell[len(m.cell)-1] = ""
			return
		}
		m.rows = append(m.rows, m.cell)
		m.cell = nil
	}
}

// line reads a line of the page: text, or a request that begins with "." or "'".
func (m *man) line(line string) {
	switch {
	case m.drops(line):
	case line == "":
		m.add("")
	case line[0] != '.' && line[0] != '\'':
		m.add(m.inline(line))
	default:
		name, rest, _ := strings.Cut(strings.TrimLeft(line[1:], " "), " ")
		if name != "" && !strings.HasPrefix(name, `\"`) { // no comment
			args := m.args(rest)
			m.request(manRequest{name: name, args: args, text: strings.Join(args, " ")})
		}
	}
}

// drops reports whether a line belongs to the definition of a macro, or to a condition in braces.
func (m *man) drops(line string) bool {
	if m.macro {
		m.macro = line != ".."
		return true
	}
	opens := strings.Count(line, `\{`)
	if m.skip == 0 && opens == 0 {
		return false
	}
	m.skip = max(0, m.skip+opens-strings.Count(line, `\}`))
	return true
}

// isMacro reports whether a word of a line of mdoc is a macro.
func isMacro(w string) bool { return mdocMacros[w] }

var mdocMacros = wordSet(`Ac Ad An Ao Ap Aq Ar At Bc Bo Bq Bro Brc Brq Bsx Bx Cd Cm Dc Do Dq Dv Dx Ec Em Eo Er Ev Fa Fl Fn Fo Fr Ft Fx
	Ic In Li Lk Ms Mt Nd Nm No Ns Nx Oc Oo Op Ot Ox Pa Pc Pf Po Pq Qc Ql Qo Qq Sc So Sq St Sx Sy Tn Ux Va Vt Xc Xo Xr`)

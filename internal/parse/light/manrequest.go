package light

import "strings"

// manRequest is a line of a manual page that calls a macro.
type manRequest struct {
	name string
	args []string
	text string // the arguments with spaces between them
}

// manRequests maps the macros of man(7) and mdoc(7) to what they do.
var manRequests = map[string]func(*man, manRequest){
	"de": (*man).define, "de1": (*man).define, "am": (*man).define, "ig": (*man).define,
	"TH": (*man).manTitle, "Dt": (*man).mdocTitle, "Dd": (*man).mdocDate,
	"SH": (*man).section, "Sh": (*man).section, "SS": (*man).subsection, "Ss": (*man).subsection,
	"RS": (*man).indent, "RE": (*man).unindent,
	"PP": (*man).newParagraph, "P": (*man).newParagraph, "LP": (*man).newParagraph, "Pp": (*man).newParagraph, "sp": (*man).newParagraph, "HP": (*man).newParagraph,
	"Lp": (*man).newParagraph, "br": (*man).lineBreak,
	"TP": (*man).tagged, "TQ": (*man).tagged, "IP": (*man).marked,
	"B": (*man).words, "I": (*man).words, "SM": (*man).words, "SB": (*man).words, "R": (*man).words, "UR": (*man).words, "MT": (*man).words, "Lk": (*man).words,
	"BR": (*man).joined, "BI": (*man).joined, "IR": (*man).joined, "IB": (*man).joined, "RB": (*man).joined, "RI": (*man).joined,
	"nf": (*man).openUnfilled, "EX": (*man).openUnfilled, "DS": (*man).openUnfilled, "Bd": (*man).openDisplay,
	"fi": (*man).closeUnfilled, "EE": (*man).closeUnfilled, "Ed": (*man).closeUnfilled, "DE": (*man).closeUnfilled,
	"TS": (*man).openTable, "TE": (*man).closeTable,
	"so": (*man).included,
	"Bl": (*man).openList, "El": (*man).closeList, "It": (*man).listItem,
	"Dl": (*man).displayLine, "D1": (*man).displayLine,
	"Nm": (*man).pageName, "Nd": (*man).description,
}

// manIgnored are the requests that have no text, or only say how to print it.
var manIgnored = wordSet(`UE ME PD ad hy nh na ne in ti ta ie el if ds nr rr so. ft ps vs Os AT UC DT IX tr rm als Bk Ek Rs Re \} .. ll pl mso cs ss lf tm eo ec cc c2
	fam defcolor`)

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// request does what a macro says. Unknown macros of two letters are taken for those of mdoc, which stand for words; of others only the
// arguments remain.
func (m *man) request(q manRequest) {
	if do := manRequests[q.name]; do != nil {
		do(m, q)
		return
	}
	switch {
	case manIgnored[q.name]:
	case len(q.name) == 2 && q.name[0] >= 'A' && q.name[0] <= 'Z':
		m.add(m.mdoc(append([]string{q.name}, q.args...)))
	case q.text != "" && q.name[0] != '\\' && q.name[0] != '.':
		m.add(q.text)
	}
}

func (m *man) define(manRequest) { m.macro = true }

func (m *man) manTitle(q manRequest) {
	if len(q.args) > 1 {
		m.source.title = strings.TrimSuffix(q.args[0]+"("+q.args[1]+")", "()")
	}
	if len(q.args) > 2 {
		m.date = q.args[2]
	}
}

func (m *man) mdocTitle(q manRequest) {
	if len(q.args) > 1 {
		m.source.title = q.args[0] + "(" + q.args[1] + ")"
	}
}

func (m *man) mdocDate(q manRequest) {
	m.date = strings.Trim(strings.TrimPrefix(q.text, "$Mdocdate:"), " $")
}

func (m *man) section(q manRequest) {
	m.flush()
	m.lists, m.level, m.unfill = 0, 0, false
	m.heading(2, q.text)
}

func (m *man) subsection(q manRequest) {
	m.flush()
	m.heading(3, q.text)
}

func (m *man) indent(manRequest) {
	m.flush()
	m.level = min(m.level+1, 8)
}

func (m *man) unindent(manRequest) {
	m.flush()
	m.level = max(m.level-1, 0)
}

func (m *man) newParagraph(manRequest) {
	if m.unfill {
		m.code = append(m.code, "")
		return
	}
	m.flush()
}

// lineBreak begins a paragraph, except between a tag and its text.
func (m *man) lineBreak(q manRequest) {
	if m.unfill || !m.tag {
		m.newParagraph(q)
	}
}

func (m *man) tagged(manRequest) {
	m.flush()
	m.tag = true
}

// marked begins a paragraph with a bullet, a number or a word before it.
func (m *man) marked(q manRequest) {
	m.flush()
	m.item = ""
	if len(q.args) == 0 {
		return
	}
	switch mark := q.args[0]; {
	case mark == "":
	case mark == "•" || mark == "-" || mark == "*" || mark == "o":
		m.item = "-"
	case strings.Trim(mark, "0123456789.)") == "":
		m.item = strings.TrimRight(mark, ".)") + "."
	default:
		m.paragraph(mark)
	}
}

func (m *man) words(q manRequest) { m.add(q.text) }

// joined adds words in alternating fonts, which have no space between them.
func (m *man) joined(q manRequest) { m.add(strings.Join(q.args, "")) }

func (m *man) openUnfilled(manRequest) {
	m.flush()
	m.unfill = true
}

func (m *man) openDisplay(q manRequest) {
	m.flush()
	m.unfill = strings.Contains(q.text, "literal") || strings.Contains(q.text, "unfilled")
}

func (m *man) closeUnfilled(manRequest) {
	m.unfill = false
	m.flush()
}

func (m *man) openTable(manRequest) {
	m.flush()
	m.table, m.format, m.rows, m.sep = true, true, nil, ""
}

func (m *man) closeTable(manRequest) {
	m.table, m.inCell, m.cell = false, false, nil
	m.source.table(m.rows)
	m.rows = nil
}

func (m *man) included(manRequest) { m.partial("a file that the text includes is not part of it") }

func (m *man) openList(manRequest) {
	m.flush()
	m.lists++
}

func (m *man) closeList(manRequest) {
	m.flush()
	m.lists = max(0, m.lists-1)
}

func (m *man) listItem(q manRequest) {
	m.flush()
	if t := m.mdoc(q.args); t != "" {
		m.paragraph(t)
	}
}

func (m *man) displayLine(q manRequest) {
	m.flush()
	m.source.code("", []string{m.mdoc(q.args)})
}

// pageName notes the name of the page where it is first given, for later lines without a name.
func (m *man) pageName(q manRequest) {
	if len(q.args) > 0 && m.name == "" {
		m.name = q.args[0]
	}
	m.add(m.mdoc(append([]string{"Nm"}, q.args...)))
}

func (m *man) description(q manRequest) { m.add("— " + m.mdoc(q.args)) }

package light

import (
	"context"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// org reads Org, the outlines of Emacs (orgmode.org, "Org Syntax").
type org struct{ *source }

// ParseOrg reads Org.
func ParseOrg(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	return read(ctx, in, lim, func(s *source, text string) {
		o := &org{s}
		o.blocks(strings.Split(text, "\n"), 0)
	})
}

var (
	orgHeading  = lazyregexp.New(`^(\*{1,20}) +(?:\[#[A-Z0-9]\] +)?(.*?)(?: +(:[\w@#%:]+:))? *$`)
	orgKeyword  = lazyregexp.New(`(?i)^ *#\+([a-z_]+)(?:\[[^\]]*\])?: *(.*)$`)
	orgBegin    = lazyregexp.New(`(?i)^ *#\+begin_(\w+) *(.*)$`)
	orgDrawer   = lazyregexp.New(`^ *:[\w-]+: *$`)
	orgItem     = lazyregexp.New(`^( *)([-+]|\*|[0-9]{1,4}[.)]|[a-zA-Z][.)]) +(?:\[@\d+\] +)?(?:\[([ xX-])\] +)?(.*)$`)
	orgRule     = lazyregexp.New(`^ *\|[-+]+\|? *$`)
	orgNoteText = lazyregexp.New(`^\[fn:([\w-]+)\] *(.*)$`)

	orgLink   = lazyregexp.New(`\[\[([^\[\]]+)\](?:\[([^\[\]]+)\])?\]`)
	orgNote   = lazyregexp.New(`\[fn:([\w-]*)(?::([^\[\]]*))?\]`)
	orgCode   = lazyregexp.New(`(^|[\s({"'-])[=~]([^\s=~](?:[^=~]*?[^\s=~])?)[=~]($|[\s)}"'.,:;!?-])`)
	orgMark   = lazyregexp.New(`(^|[\s({"'-])([*/_+])([^\s*/_+](?:[^*_+\n]*?[^\s*/_+])?)([*/_+])($|[\s)}"'.,:;!?-])`)
	orgTarget = lazyregexp.New(`<<<?[^<>\n]+>>>?`)
)

func (o *org) blocks(lines []string, depth int) {
	if depth > maxDepth {
		o.paragraph(o.inline(strings.Join(lines, " ")))
		return
	}
	for i := 0; i < len(lines) && o.goOn(); {
		i += o.block(lines[i:], depth)
	}
}

func (o *org) block(lines []string, depth int) int {
	line := strings.TrimRight(lines[0], " ")
	if line == "" {
		return 1
	}
	if m := orgHeading.FindStringSubmatch(line); m != nil {
		o.headline(len(m[1]), m[2], m[3])
		return 1
	}
	if m := orgBegin.FindStringSubmatch(line); m != nil {
		return o.delimited(lines, m[1], m[2], depth)
	}
	if m := orgKeyword.FindStringSubmatch(line); m != nil {
		o.keyword(strings.ToLower(m[1]), m[2])
		return 1
	}
	trimmed := strings.TrimLeft(line, " ")
	switch {
	case orgDrawer.MatchString(line):
		if n := drawer(lines); n > 0 {
			return n
		}
	case strings.HasPrefix(trimmed, "# "), trimmed == "#":
		return 1
	case strings.HasPrefix(trimmed, ": "), trimmed == ":":
		return o.example(lines)
	case trimmed[0] == '|':
		return o.orgTable(lines)
	case len(trimmed) >= 5 && strings.Trim(trimmed, "-") == "":
		o.w.Rule()
		return 1
	}
	if m := orgNoteText.FindStringSubmatch(line); m != nil {
		return o.footnote(lines, m[1], m[2])
	}
	if m := orgItem.FindStringSubmatch(line); m != nil && !(m[2] == "*" && m[1] == "") {
		return o.list(lines)
	}
	n := 0
	for n < len(lines) && (n == 0 || o.continues(lines[n])) {
		n++
	}
	o.paragraph(o.inline(strings.Join(lines[:n], " ")))
	return n
}

// headline writes a heading with its tags, which colons separate.
func (o *org) headline(level int, title, tags string) {
	title = o.inline(title)
	if list := strings.Join(strings.FieldsFunc(tags, func(r rune) bool { return r == ':' }), ", "); list != "" {
		title += " (" + list + ")"
	}
	if o.title != "" {
		level++
	}
	o.heading(level, title)
}

// delimited writes a block between #+begin_ and #+end_ of a kind, and returns its number of lines.
func (o *org) delimited(lines []string, kind, args string, depth int) int {
	end := 1
	for end < len(lines) && !strings.EqualFold(strings.TrimSpace(lines[end]), "#+end_"+kind) {
		end++
	}
	if end == len(lines) {
		o.partial("a block of the text does not end, and it may be cut off")
	}
	o.begun(strings.ToLower(kind), args, lines[1:end], depth)
	return end + 1
}

// drawer returns the number of lines of a drawer, whose content is no text of the document; 0: it does not end within 500 lines.
func drawer(lines []string) int {
	for end := 1; end < len(lines) && end <= 500; end++ {
		if strings.EqualFold(strings.TrimSpace(lines[end]), ":end:") {
			return end + 1
		}
	}
	return 0
}

// example writes lines that begin with a colon as code, and returns their number.
func (o *org) example(lines []string) int {
	var code []string
	for _, l := range lines {
		l, ok := strings.CutPrefix(strings.TrimLeft(l, " "), ":")
		if !ok {
			break
		}
		code = append(code, strings.TrimPrefix(l, " "))
	}
	o.code("", code)
	return len(code)
}

// footnote writes the text of a footnote, and returns its number of lines.
func (o *org) footnote(lines []string, name, text string) int {
	n := 1
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" && !orgNoteText.MatchString(lines[n]) && !orgHeading.MatchString(lines[n]) {
		text += " " + strings.TrimSpace(lines[n])
		n++
	}
	o.paragraph("[^" + name + "]: " + o.inline(text))
	return n
}

// continues reports whether a line continues the paragraph above it.
func (o *org) continues(line string) bool {
	t := strings.TrimSpace(line)
	return t != "" && t[0] != '|' && t != "#" && !strings.HasPrefix(t, "# ") && !strings.HasPrefix(t, ": ") && !strings.HasPrefix(t, "#+") && !orgHeading.MatchString(line) && !orgItem.MatchString(line)
}

// keyword stores a metadata keyword of the document.
func (o *org) keyword(name, value string) {
	switch name {
	case "title":
		if o.title == "" {
			o.setTitle(o.inline(value))
		}
	case "author":
		o.author = value
		o.paragraph("Author: " + value)
	case "date":
		o.date = strings.Trim(value, "<>[]")
		o.paragraph("Date: " + o.date)
	case "language":
		o.locale = value
	case "description", "keywords", "subtitle", "caption":
		o.paragraph(o.inline(value))
	case "include":
		o.partial("a file that the text includes is not part of it")
	}
}

func (o *org) begun(kind, info string, body []string, depth int) {
	switch kind {
	case "src", "example", "export", "verbatim":
		lang, _, _ := strings.Cut(info, " ")
		for i, l := range body {
			body[i] = strings.TrimPrefix(l, ",") // escapes lines that look like Org
		}
		o.code(lang, body)
	case "comment":
	case "verse":
		o.w.Block()
		for _, l := range body {
			o.w.Text(o.inline(l))
			o.w.Newline()
		}
		o.w.Block()
	default:
		o.blocks(body, depth+1)
	}
}

func (o *org) orgTable(lines []string) int {
	var rows [][]string
	n := 0
	for n < len(lines) {
		t := strings.TrimSpace(lines[n])
		if t == "" || t[0] != '|' {
			break
		}
		n++
		if orgRule.MatchString(t) {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(t[1:], "|"), "|")
		for i := range cells {
			cells[i] = o.inline(strings.TrimSpace(cells[i]))
		}
		rows = append(rows, cells)
	}
	o.table(rows)
	return n
}

func (o *org) list(lines []string) int {
	var indents []int
	i := 0
	for i < len(lines) && o.goOn() {
		line := strings.TrimRight(lines[i], " ")
		m := orgItem.FindStringSubmatch(line)
		if m == nil || m[2] == "*" && m[1] == "" {
			break
		}
		in := len(m[1])
		for len(indents) > 0 && indents[len(indents)-1] >= in {
			indents = indents[:len(indents)-1]
		}
		indents = append(indents, in)
		text := []string{m[4]}
		i++
		blank := 0
		var extra [][]string
		for i < len(lines) {
			l := strings.TrimRight(lines[i], " ")
			if l == "" {
				if blank++; blank > 1 {
					break
				}
				i++
				continue
			}
			if indentOf(l) <= in || orgItem.MatchString(l) {
				break
			}
			if m := orgBegin.FindStringSubmatch(l); m != nil {
				end := i + 1
				for end < len(lines) && !strings.EqualFold(strings.TrimSpace(lines[end]), "#+end_"+m[1]) {
					end++
				}
				lang, _, _ := strings.Cut(m[2], " ")
				extra = append(extra, append([]string{"\x00" + lang}, lines[i+1:end]...))
				i = min(end+1, len(lines))
				continue
			}
			if blank > 0 {
				extra = append(extra, []string{strings.TrimSpace(l)})
				blank = 0
			} else if n := len(extra); n > 0 {
				extra[n-1] = append(extra[n-1], strings.TrimSpace(l))
			} else {
				text = append(text, strings.TrimSpace(l))
			}
			i++
		}
		mark := "-"
		if c := m[2][0]; c >= '0' && c <= '9' {
			mark = strings.TrimRight(m[2], ".)") + "."
		}
		o.w.Item(len(indents)-1, mark)
		first := o.inline(strings.Join(text, " "))
		if term, rest, ok := strings.Cut(first, " :: "); ok {
			first = term + ": " + rest
		}
		o.w.Text(first)
		for _, e := range extra {
			if lang, ok := strings.CutPrefix(e[0], "\x00"); ok {
				o.code(lang, e[1:])
				continue
			}
			o.w.ItemBreak()
			o.w.Text(o.inline(strings.Join(e, " ")))
		}
		if blank > 1 {
			break
		}
	}
	o.w.Block()
	return max(i, 1)
}

// inline converts inline markup to Markdown.
func (o *org) inline(s string) string {
	s = replaceAll(orgLink, s, func(m []string) string {
		if strings.HasPrefix(m[1], "file:") && m[2] == "" {
			return strings.TrimPrefix(m[1], "file:")
		}
		return link(m[2], m[1])
	})
	s = replaceAll(orgNote, s, func(m []string) string {
		if m[2] != "" {
			return " (" + m[2] + ")"
		}
		return "[^" + m[1] + "]"
	})
	s = orgTarget.ReplaceAllString(s, "")
	s = replaceAll(orgCode, s, func(m []string) string { return m[1] + "`" + m[2] + "`" + m[3] })
	return replaceAll(orgMark, s, func(m []string) string {
		if m[2] != m[4] {
			return m[0]
		}
		mark := map[string]string{"*": "**", "/": "*", "_": "", "+": "~~"}[m[2]]
		return m[1] + mark + m[3] + mark + m[5]
	})
}

package light

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// rst reads reStructuredText (docutils, "reStructuredText Markup Specification").
type rst struct {
	*source
	levels []string          // adornments of headings in order of appearance
	subs   map[string]string // substitutions
	any    bool              // some text was written
}

// ParseRST reads reStructuredText.
func ParseRST(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	return read(ctx, in, lim, func(s *source, text string) {
		r := &rst{source: s, subs: map[string]string{}}
		lines := strings.Split(text, "\n")
		for _, l := range lines {
			if m := rstSubstitution.FindStringSubmatch(l); m != nil {
				r.subs[m[1]] = m[2]
			}
		}
		r.blocks(lines, 0)
	})
}

var (
	rstSubstitution = lazyregexp.New(`^\.\. \|([^|]{1,80})\| replace::\s*(.*)$`)
	rstDirective    = lazyregexp.New(`^\.\. (?:\|[^|]*\| )?([A-Za-z][\w:.+-]*)::(?: +(.*))?$`)
	rstFootnote     = lazyregexp.New(`^\.\. \[(#?[\w*-]*)\] ?(.*)$`)
	rstField        = lazyregexp.New(`^:([^:` + "`" + `][^:]{0,60}):(?: +(.*))?$`)
	rstBullet       = lazyregexp.New(`^([*+\-•‣⁃]) +`)
	rstNumber       = lazyregexp.New(`^(?:\(?([0-9]{1,4}|[A-Za-z]|[ivxlcdmIVXLCDM]{1,6}|#)[.)]) +`)
	rstSimpleRule   = lazyregexp.New(`^=+( +=+)+ *$`)
	rstGridRule     = lazyregexp.New(`^\+[-=+]+\+ *$`)
	rstRole         = lazyregexp.New("(?::[\\w.+:-]{1,40}:)?`([^`<>]*?)\\s*(?:<([^`<>]+)>)?`(?:__?|:[\\w.+:-]{1,40}:)?")
	rstLiteral      = lazyregexp.New("``([^`](?:`?[^`])*)``")
	rstNote         = lazyregexp.New(`\[(#?[\w*-]{0,20})\]_`)
	rstReference    = lazyregexp.New(`\b(\w+)__?(\W|$)`)
	rstUse          = lazyregexp.New(`\|([^|\s][^|]{0,80})\|_{0,2}`)
)

// adornment returns the character of a line that underlines a title, or 0 for any other line.
func adornment(line string) byte {
	line = strings.TrimRight(line, " ")
	if len(line) < 2 || !strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rune(line[0])) || strings.Trim(line, line[:1]) != "" {
		return 0
	}
	return line[0]
}

func (r *rst) level(style string) int {
	for i, s := range r.levels {
		if s == style {
			return i + 1
		}
	}
	r.levels = append(r.levels, style)
	return len(r.levels)
}

// blocks writes the blocks of lines. The caller has removed the common indentation.
func (r *rst) blocks(lines []string, depth int) {
	if depth > maxDepth {
		r.paragraph(r.inline(strings.Join(lines, " ")))
		return
	}
	for i := 0; i < len(lines) && r.goOn(); {
		i += r.block(lines[i:], depth)
	}
}

// block writes the first block of lines and returns its number of lines.
func (r *rst) block(lines []string, depth int) int {
	line := strings.TrimRight(lines[0], " ")
	next := ""
	if len(lines) > 1 {
		next = strings.TrimRight(lines[1], " ")
	}
	if line == "" {
		return 1
	}
	if n := indentOf(line); n > 0 {
		body, used := indented(lines, 1)
		r.blocks(dedent(body), depth+1) // a quotation
		return used
	}
	if depth == 0 {
		if n := r.sectionTitle(lines, line, next); n > 0 {
			return n
		}
	}
	if n := r.marked(lines, line, next, depth); n > 0 {
		return n
	}
	if n := r.listed(lines, line, next, depth); n > 0 {
		return n
	}
	return r.text(lines, depth)
}

// sectionTitle writes a title that lines of signs adorn, and returns its number of lines; 0: there is none.
func (r *rst) sectionTitle(lines []string, line, next string) int {
	if a := adornment(line); a != 0 && len(lines) > 2 && adornment(lines[2]) == a && next != "" && len(strings.TrimSpace(next)) <= len(line)+2 {
		r.section(string([]byte{a, a}), strings.TrimSpace(next))
		return 3
	}
	if a := adornment(next); a != 0 && adornment(line) == 0 && (len(next) >= utf8.RuneCountInString(line) || len(next) >= 4) {
		r.section(string(a), line)
		return 2
	}
	return 0
}

// marked writes a block whose first line begins with a mark of its kind, lists aside, and returns its number of lines; 0: there is none.
func (r *rst) marked(lines []string, line, next string, depth int) int {
	switch {
	case adornment(line) != 0 && len(line) >= 4 && next == "":
		r.w.Rule()
		return 1
	case strings.HasPrefix(line, ".. ") || line == "..":
		body, used := indented(lines[1:], 1)
		r.explicit(line, body, depth)
		return used + 1
	case rstGridRule.MatchString(line):
		return r.gridTable(lines)
	case rstSimpleRule.MatchString(line):
		return r.simpleTable(lines)
	case strings.HasPrefix(line, ">>> "):
		n := 0
		for n < len(lines) && strings.TrimSpace(lines[n]) != "" {
			n++
		}
		r.code("python", lines[:n])
		return n
	case line[0] == '|' && (len(line) == 1 || line[1] == ' '):
		return r.lineBlock(lines)
	}
	return 0
}

// listed writes a field or an item of a list, and returns its number of lines; 0: there is none.
func (r *rst) listed(lines []string, line, next string, depth int) int {
	if m := rstField.FindStringSubmatch(line); m != nil {
		body, used := indented(lines[1:], 1)
		r.field(m[1], strings.TrimSpace(m[2]+" "+strings.Join(dedent(body), " ")))
		return used + 1
	}
	if m := rstBullet.FindString(line); m != "" {
		return r.item(lines, "-", len(m), depth)
	}
	if m := rstNumber.FindStringSubmatch(line); m != nil && (next == "" || indentOf(next) > 0 || rstNumber.MatchString(next)) {
		mark := m[1]
		if mark == "#" {
			mark = "1"
		}
		return r.item(lines, mark+".", len(m[0]), depth)
	}
	return 0
}

// indented returns the leading lines that are blank or indented by at least n, without trailing blank lines.
func indented(lines []string, n int) ([]string, int) {
	used, last := 0, 0
	for used < len(lines) {
		in := indentOf(lines[used])
		if in >= 0 && in < n {
			break
		}
		used++
		if in >= 0 {
			last = used
		}
	}
	return lines[:last], last
}

func (r *rst) section(style, title string) {
	level := r.level(style)
	title = r.inline(title)
	if !r.any && r.source.title == "" {
		r.source.title = title
	}
	r.any = true
	r.heading(level, title)
}

// field stores a metadata field of the document and writes it as a line.
func (r *rst) field(name, value string) {
	switch strings.ToLower(name) {
	case "author", "authors":
		r.author = value
	case "date":
		r.date = value
	case "language":
		r.locale = value
	}
	if value = r.inline(value); value != "" {
		r.paragraph(name + ": " + value)
	}
}

func (r *rst) item(lines []string, mark string, width, depth int) int {
	body, used := indented(lines[1:], 1)
	own := append([]string{strings.Repeat(" ", width) + lines[0][width:]}, body...)
	least := width
	for _, l := range body {
		if n := indentOf(l); n >= 0 {
			least = min(least, n)
		}
	}
	for i, l := range own {
		own[i] = l[min(len(l), least):]
	}
	own[0] = strings.TrimLeft(own[0], " ")
	n := paragraphLines(own)
	r.any = true
	r.w.Item(r.depthOf(depth), mark)
	all := strings.TrimRight(strings.Join(own[:n], " "), " ")
	literal := strings.HasSuffix(all, "::")
	if literal {
		all = strings.TrimSuffix(all, ":")
	}
	r.w.Text(r.inline(all))
	rest := own[n:]
	if literal {
		code, k := indented(rest, 1)
		r.code("", code)
		rest = rest[k:]
	}
	r.blocks(dedent(rest), depth+1)
	return used + 1
}

func (r *rst) depthOf(depth int) int { return min(depth, 8) }

// paragraphLines counts the lines before a blank line or one that begins a list.
func paragraphLines(lines []string) int {
	n := 0
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" {
		if n > 0 && (rstBullet.MatchString(lines[n]) || rstNumber.MatchString(lines[n])) {
			break
		}
		n++
	}
	return n
}

// text writes a paragraph, or a term with its definition.
func (r *rst) text(lines []string, depth int) int {
	r.any = true
	n := 0
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" && (n == 0 || indentOf(lines[n]) == 0) {
		n++
	}
	all := strings.TrimRight(strings.Join(lines[:n], " "), " ")
	literal := strings.HasSuffix(all, "::")
	if literal {
		all = strings.TrimSuffix(all, ":")
		if strings.HasSuffix(all, " :") || all == ":" {
			all = strings.TrimSuffix(all, ":")
		}
	}
	if n < len(lines) && n == 1 && indentOf(lines[n]) > 0 && !literal {
		body, used := indented(lines[1:], 1)
		r.paragraph(r.inline(all))
		r.blocks(dedent(body), depth+1)
		return used + 1
	}
	r.paragraph(r.inline(all))
	if literal {
		body, used := indented(lines[n:], 1)
		r.code("", body)
		n += used
	}
	return n
}

func (r *rst) lineBlock(lines []string) int {
	r.w.Block()
	n := 0
	for n < len(lines) && strings.HasPrefix(lines[n], "|") {
		if n > 0 {
			r.w.Newline()
		}
		r.w.Text(r.inline(strings.TrimSpace(lines[n][1:])))
		n++
	}
	r.w.Block()
	return n
}

// explicit writes a directive or a footnote. It leaves out comments and targets.
func (r *rst) explicit(line string, body []string, depth int) {
	if m := rstFootnote.FindStringSubmatch(line); m != nil {
		r.paragraph("[^" + strings.TrimPrefix(m[1], "#") + "]: " + r.inline(strings.TrimSpace(m[2]+" "+strings.Join(dedent(body), " "))))
		return
	}
	m := rstDirective.FindStringSubmatch(line)
	if m == nil || strings.HasPrefix(line, ".. |") && !strings.Contains(line, "image::") {
		return
	}
	r.any = true
	if depth == 0 {
		r.w.Block() // so that it is not part of the list above
	}
	args, options := m[2], map[string]string{}
	body = dedent(body)
	for len(body) > 0 {
		o := rstField.FindStringSubmatch(body[0])
		if o == nil {
			if args != "" && strings.TrimSpace(body[0]) != "" && len(options) == 0 && !hasBody[m[1]] {
				args += " " + strings.TrimSpace(body[0])
				body = body[1:]
				continue
			}
			break
		}
		options[o[1]] = o[2]
		body = body[1:]
	}
	switch name := m[1]; name {
	case "code", "code-block", "sourcecode", "highlight", "parsed-literal", "math", "doctest", "testcode", "prompt":
		if name == "math" && args != "" {
			body = append([]string{args}, body...)
			args = ""
		}
		r.code(args, body)
	case "include", "literalinclude":
		r.partial("a file that the text includes is not part of it")
	case "toctree", "contents", "index", "raw", "meta", "sectnum", "default-role", "role", "currentmodule", "module":
	case "image":
		r.paragraph(r.inline(options["alt"]))
	case "figure":
		r.paragraph(r.inline(options["alt"]))
		r.blocks(dedent(body), depth+1)
	case "csv-table":
		r.paragraph(r.inline(args))
		r.csvTable(options["header"], body)
	case "list-table":
		r.paragraph(r.inline(args))
		r.listTable(body)
	case "title":
		r.source.title = args
	default:
		switch label := rstAdmonitions[name]; {
		case label != "" && args != "":
			r.paragraph(label + ": " + r.inline(args))
		case label != "":
			r.paragraph(label + ":")
		default:
			r.paragraph(r.inline(args))
		}
		r.blocks(dedent(body), depth+1)
	}
}

var rstAdmonitions = map[string]string{"note": "Note", "warning": "Warning", "tip": "Tip", "important": "Important", "caution": "Caution",
	"danger": "Danger", "error": "Error", "hint": "Hint", "attention": "Attention", "seealso": "See also", "versionadded": "Added in",
	"versionchanged": "Changed in", "deprecated": "Deprecated since", "todo": "To do"}

// hasBody lists the directives whose lines after the first are a body and not part of the argument.
var hasBody = map[string]bool{"code": true, "code-block": true, "sourcecode": true, "math": true, "csv-table": true, "list-table": true,
	"table": true, "note": true, "warning": true, "tip": true, "important": true}

func (r *rst) inline(s string) string {
	if !strings.ContainsAny(s, "`|_\\") {
		return s
	}
	var codes []string
	s = replaceAll(rstLiteral, s, func(m []string) string {
		codes = append(codes, m[1])
		return "\x00"
	})
	s = replaceAll(rstUse, s, func(m []string) string {
		if to, ok := r.subs[m[1]]; ok {
			return to
		}
		return m[0]
	})
	s = replaceAll(rstRole, s, func(m []string) string { return link(m[1], m[2]) })
	s = replaceAll(rstNote, s, func(m []string) string { return "[^" + strings.TrimPrefix(m[1], "#") + "]" })
	s = replaceAll(rstReference, s, func(m []string) string { return m[1] + m[2] })
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\\ ", ""), "\\", "")
	if len(codes) == 0 {
		return s
	}
	var b strings.Builder
	for i, part := range strings.Split(s, "\x00") {
		if i > 0 && i <= len(codes) {
			b.WriteString("`" + codes[i-1] + "`")
		}
		b.WriteString(part)
	}
	return b.String()
}

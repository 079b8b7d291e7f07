package light

import (
	"context"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// asciidoc reads AsciiDoc (the language of Asciidoctor).
type asciidoc struct {
	*source
	attrs map[string]string
	style string // style of the next block, from [style,...] above it
	lang  string
	cols  int // columns of the next table, from [cols=...] above it; 0 if not given
}

// ParseAsciiDoc reads AsciiDoc.
func ParseAsciiDoc(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	return read(ctx, in, lim, func(s *source, text string) {
		a := &asciidoc{source: s, attrs: map[string]string{}}
		lines := strings.Split(text, "\n")
		a.blocks(lines[a.header(lines):], 0)
	})
}

var (
	adocHeading   = lazyregexp.New(`^(={1,6}|#{1,6}) +(.+?)(?: +=+)?$`)
	adocAttribute = lazyregexp.New(`^:!?([\w-]+)!?:(?: +(.*))?$`)
	adocAuthor    = lazyregexp.New(`^([\p{L}][^<:\[\]=]{1,80}?)(?: +<[^>]+>)?$`)
	adocStyle     = lazyregexp.New(`^\[([^\]]*)\]$`)
	adocItem      = lazyregexp.New(`^ *(\*{1,6}|-|\.{1,6}|[0-9]{1,4}\.|[a-zA-Z]\.) +(.+)$`)
	adocTerm      = lazyregexp.New(`^ *(.+?)(:{2,4}|;;)(?: +(.*))?$`)
	adocLabel     = lazyregexp.New(`^(NOTE|TIP|IMPORTANT|WARNING|CAUTION): +`)
	adocMacro     = lazyregexp.New(`^(image|video|audio|toc|include)::?([^\[\s]*)\[([^\]]*)\]$`)
	adocCondition = lazyregexp.New(`^(ifdef|ifndef|ifeval|endif)::[^\[]*\[.*\]$`)
	adocCols      = lazyregexp.New(`cols=(?:"([^"]*)"|([^,\]]*))`)
	adocCell      = lazyregexp.New(`(?:^|\s)(?:(\d+)(?:\.\d+)?\+|(\d+)\*)?(?:[.<^>]*[aehlmsv]?)\|`)

	adocLink     = lazyregexp.New(`(?:link:|xref:)([^\[\s]+)\[([^\]]*)\]|\b(https?://[^\[\s<>]+)\[([^\]]*)\]`)
	adocCross    = lazyregexp.New(`<<([^,<>]+)(?:,\s*([^<>]+))?>>`)
	adocNote     = lazyregexp.New(`footnote:[\w-]*\[([^\]]*)\]`)
	adocUse      = lazyregexp.New(`\{([\w-]{1,60})\}`)
	adocImage    = lazyregexp.New(`(?:image|icon):[^\[\s]+\[([^\]]*)\]`)
	adocAnchor   = lazyregexp.New(`\[\[[^\[\]]+\]\]|\[#[\w-]+\]`)
	adocTermMark = lazyregexp.New(`(?:kbd|btn|menu|pass|stem|latexmath|asciimath):[^\[\s]*\[([^\]]*)\]`)
)

var adocNames = map[string]string{"nbsp": " ", "sp": " ", "empty": "", "blank": "", "zwsp": "", "wj": "", "apos": "'", "quot": `"`, "lt": "<",
	"gt": ">", "amp": "&", "plus": "+", "vbar": "|", "asterisk": "*", "backslash": `\`, "two-colons": "::", "startsb": "[", "endsb": "]", "deg": "°"}

// header reads the title, author and attributes above the first blank line, and returns the number of those lines.
func (a *asciidoc) header(lines []string) int {
	i := 0
	for i < len(lines) && (strings.TrimSpace(lines[i]) == "" || strings.HasPrefix(lines[i], "//")) {
		i++
	}
	titled := false
	for n := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " ")
		m := adocAttribute.FindStringSubmatch(line)
		switch {
		case m != nil:
			a.attribute(m[1], m[2])
		case strings.HasPrefix(line, "//"):
		case strings.HasPrefix(line, "= ") && !titled:
			titled = true
			a.setTitle(a.inline(line[2:]))
		case titled && n == 1 && adocAuthor.MatchString(line):
			a.author = adocAuthor.FindStringSubmatch(line)[1]
			a.paragraph("Author: " + a.author)
		case titled && n == 2 && a.author != "" && (line != "" && (line[0] == 'v' || line[0] >= '0' && line[0] <= '9')):
			parts := strings.Split(line, ",")
			a.date = strings.TrimSpace(parts[len(parts)-1])
		default:
			return i
		}
		n++
	}
	return i
}

func (a *asciidoc) attribute(name, value string) {
	switch name {
	case "author":
		a.author = value
	case "revdate":
		a.date = value
	case "lang":
		a.locale = value
	}
	if len(a.attrs) < 500 && len(value) < 1000 {
		a.attrs[name] = value
	}
}

func (a *asciidoc) blocks(lines []string, depth int) {
	if depth > maxDepth {
		a.paragraph(a.inline(strings.Join(lines, " ")))
		return
	}
	for i := 0; i < len(lines) && a.goOn(); {
		i += a.block(lines[i:], depth)
	}
}

// adocFence returns the line that ends the delimited block begun by a line, or "" if the line does not begin one.
func adocFence(line string) string {
	switch {
	case line == "--" || line == "|===" || line == ",===" || line == ":===" || line == "!===":
		return line
	case len(line) >= 4 && strings.ContainsRune("-.=*_/+", rune(line[0])) && strings.Trim(line, line[:1]) == "":
		return line
	case strings.HasPrefix(line, "```"):
		return "```"
	}
	return ""
}

// block reads the block that the first of the lines begins, and returns its number of lines.
func (a *asciidoc) block(lines []string, depth int) int {
	line := strings.TrimRight(lines[0], " ")
	if line == "" {
		return 1
	}
	if fence := adocFence(line); fence != "" {
		return a.fenced(fence, lines, depth)
	}
	if a.single(line) {
		return 1
	}
	if adocItem.MatchString(line) && a.style != "source" && a.style != "listing" {
		a.style = ""
		return a.list(lines, depth)
	}
	if m := adocTerm.FindStringSubmatch(line); m != nil && !strings.Contains(m[1], "::") && len(m[1]) < 200 {
		return a.term(m[1], m[3], lines)
	}
	n := 0
	for n < len(lines) {
		l := strings.TrimRight(lines[n], " ")
		if l == "" || l == "+" || n > 0 && (adocFence(l) != "" || adocStyle.MatchString(l)) {
			break
		}
		n++
	}
	a.flow(lines[:n])
	a.style, a.lang = "", ""
	return n
}

// fenced reads the delimited block that the first of the lines begins.
func (a *asciidoc) fenced(fence string, lines []string, depth int) int {
	end := 1
	for end < len(lines) && strings.TrimRight(lines[end], " ") != fence {
		end++
	}
	if end == len(lines) {
		a.partial("a block of the text does not end, and it may be cut off")
	}
	a.delimited(fence, strings.TrimPrefix(strings.TrimRight(lines[0], " "), "```"), lines[1:end], depth)
	a.style, a.lang = "", ""
	return end + 1
}

// single reads a line that is a block of its own, or that says something about the text after it.
func (a *asciidoc) single(line string) bool {
	if m := adocHeading.FindStringSubmatch(line); m != nil {
		a.heading(len(m[1]), a.inline(m[2]))
		return true
	}
	if m := adocStyle.FindStringSubmatch(line); m != nil {
		a.setStyle(m[1])
		return true
	}
	switch {
	case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "[["), adocCondition.MatchString(line), line == "+", line == "<<<":
		return true
	case line == "'''" || line == "---" || line == "***":
		a.w.Rule()
		return true
	case line[0] == '.' && len(line) > 1 && line[1] != ' ' && line[1] != '.':
		a.paragraph(a.inline(line[1:])) // a block title
		return true
	}
	if m := adocAttribute.FindStringSubmatch(line); m != nil {
		a.attribute(m[1], m[2])
		return true
	}
	if m := adocMacro.FindStringSubmatch(line); m != nil {
		a.macro(m[1], m[3])
		return true
	}
	return false
}

// setStyle notes the style of the next block from the attributes between brackets.
func (a *asciidoc) setStyle(attributes string) {
	if n := colsOf(attributes); n > 0 {
		a.cols = n
	}
	parts := strings.Split(attributes, ",")
	if a.style, _, _ = strings.Cut(strings.TrimSpace(parts[0]), "%"); len(parts) > 1 {
		a.lang = strings.TrimSpace(parts[1])
	}
	if a.style == "quote" || a.style == "verse" {
		a.lang = strings.Trim(strings.Join(parts[1:], ", "), ", ")
	}
}

// macro reads a block macro. Only the words for an image are text.
func (a *asciidoc) macro(name, attributes string) {
	switch name {
	case "image":
		alt, _, _ := strings.Cut(attributes, ",")
		a.paragraph(a.inline(strings.Trim(alt, `"`)))
	case "include":
		a.partial("a file that the text includes is not part of it")
	}
}

// term reads a term of a description list with its text.
func (a *asciidoc) term(term, text string, lines []string) int {
	a.paragraph(a.inline(term))
	n := 1
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" && !adocTerm.MatchString(lines[n]) && !adocItem.MatchString(lines[n]) && adocFence(strings.TrimSpace(lines[n])) == "" && lines[n] != "+" {
		text += " " + strings.TrimSpace(lines[n])
		n++
	}
	a.paragraph(a.inline(text))
	return n
}

// flow writes a paragraph according to its style and its indentation.
func (a *asciidoc) flow(lines []string) {
	switch {
	case a.style == "source" || a.style == "listing" || a.style == "literal" || indentOf(lines[0]) > 0:
		a.code(a.lang, lines)
		return
	case a.style == "verse":
		a.w.Block()
		for _, l := range lines {
			a.w.Text(a.inline(l))
			a.w.Newline()
		}
		a.w.Block()
		return
	}
	var kept []string
	for _, l := range lines {
		if !strings.HasPrefix(l, "//") {
			kept = append(kept, strings.TrimSuffix(l, " +"))
		}
	}
	t := a.inline(strings.Join(kept, " "))
	if m := adocLabel.FindString(t); m != "" {
		label := strings.TrimSuffix(strings.TrimSpace(m), ":")
		t = label[:1] + strings.ToLower(label[1:]) + ": " + t[len(m):]
	} else if label := strings.ToUpper(a.style); adocLabel.MatchString(label + ": ") {
		t = label[:1] + strings.ToLower(label[1:]) + ": " + t
	}
	a.paragraph(t)
	if a.style == "quote" && a.lang != "" {
		a.paragraph("— " + a.lang)
	}
}

func (a *asciidoc) delimited(fence, info string, body []string, depth int) {
	style, lang := a.style, a.lang
	a.style, a.lang = "", ""
	switch {
	case strings.HasSuffix(fence, "==="), fence == "!===":
		if len(fence) == 4 && fence[0] != '=' {
			a.delimitedTable(fence, body)
			return
		}
		if label := strings.ToUpper(style); adocLabel.MatchString(label + ": ") {
			a.paragraph(label[:1] + strings.ToLower(label[1:]) + ":")
		}
		a.blocks(body, depth+1)
	case fence[0] == '/':
	case fence[0] == '-' && len(fence) >= 4 || fence[0] == '.' || fence[0] == '`' || style == "source" || style == "listing":
		if fence[0] == '`' {
			lang = info
		}
		for i, l := range body {
			if strings.HasPrefix(l, "include::") {
				body[i] = ""
				a.partial("a file that the text includes is not part of it")
			}
		}
		a.code(lang, body)
	case fence[0] == '+':
		a.code("", body)
	case style == "verse":
		a.w.Block()
		for _, l := range body {
			a.w.Text(a.inline(l))
			a.w.Newline()
		}
		a.w.Block()
	default:
		if label := strings.ToUpper(style); adocLabel.MatchString(label + ": ") {
			a.paragraph(label[:1] + strings.ToLower(label[1:]) + ":")
		}
		a.blocks(body, depth+1)
		if style == "quote" && lang != "" {
			a.paragraph("— " + lang)
		}
	}
}

func (a *asciidoc) list(lines []string, depth int) int {
	var marks []string // markers of the open lists, outermost first
	i := 0
	for i < len(lines) && a.goOn() {
		line := strings.TrimRight(lines[i], " ")
		m := adocItem.FindStringSubmatch(line)
		switch {
		case m != nil:
			mark := m[1]
			if c := mark[0]; c >= '0' && c <= '9' {
				mark = "1."
			}
			at := -1
			for k, o := range marks {
				if o == mark {
					at = k
				}
			}
			if at < 0 {
				marks = append(marks, mark)
				at = len(marks) - 1
			}
			marks = marks[:at+1]
			text := []string{m[2]}
			for i+1 < len(lines) {
				l := strings.TrimRight(lines[i+1], " ")
				if l == "" || l == "+" || adocItem.MatchString(l) || adocFence(l) != "" || adocStyle.MatchString(l) {
					break
				}
				text = append(text, strings.TrimSpace(l))
				i++
			}
			sign := "-"
			if mark[0] != '*' && mark[0] != '-' {
				sign = "1."
			}
			a.w.Item(at, sign)
			a.w.Text(a.inline(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.Join(text, " "), "[ ] "), "[x] "), "[*] ")))
			i++
		case line == "+" && i+1 < len(lines):
			i++
			i += a.block(lines[i:], depth+1)
		case line == "" && i+1 < len(lines) && adocItem.MatchString(lines[i+1]):
			i++
		default:
			a.w.Block()
			return max(i, 1)
		}
	}
	a.w.Block()
	return max(i, 1)
}

// inline converts inline markup to Markdown.
func (a *asciidoc) inline(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "``", "“"), "''", "”")
	if !strings.ContainsAny(s, ":<{[+") {
		return s
	}
	s = replaceAll(adocUse, s, func(m []string) string {
		if v, ok := a.attrs[m[1]]; ok {
			return v
		}
		if v, ok := adocNames[m[1]]; ok {
			return v
		}
		return m[0]
	})
	s = replaceAll(adocNote, s, func(m []string) string { return " (" + m[1] + ")" })
	s = replaceAll(adocImage, s, func(m []string) string { return m[1] })
	s = replaceAll(adocLink, s, func(m []string) string {
		text, _, _ := strings.Cut(m[2]+m[4], ",")
		return link(strings.TrimSuffix(text, "^"), m[1]+m[3])
	})
	s = replaceAll(adocCross, s, func(m []string) string {
		if m[2] != "" {
			return m[2]
		}
		return m[1]
	})
	s = replaceAll(adocTermMark, s, func(m []string) string { return m[1] })
	return adocAnchor.ReplaceAllString(s, "")
}

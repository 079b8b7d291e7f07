package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHeading is the longest line, in bytes, that counts as a heading; a longer
// one is a paragraph that happens to look like one. It also bounds the paths.
const maxHeading = 200

// block is a stretch of source with one structure.
type block struct {
	start, end int
	kind       kind
	level      int    // of a heading
	title      string // of a heading
	alone      bool   // one line between blank lines
}

// addBlocks appends the sections and atoms of src[start:end].
func (d *document) addBlocks(start, end int, markdown bool) {
	p := &parser{src: d.src, markdown: markdown}
	p.parse(start, end)
	if !markdown {
		numberedHeadings(p.src, p.blocks)
	}
	cur := int32(len(d.sections) - 1)
	for _, b := range p.blocks {
		if b.kind == heading {
			parent := cur
			for parent > 0 && d.sections[parent].level >= b.level {
				parent = d.sections[parent].parent
			}
			cur = int32(len(d.sections))
			d.sections = append(d.sections, section{parent: parent, level: b.level, title: b.title})
		}
		d.addAtoms(b, cur)
	}
}

// addAtoms cuts block b as far as its size demands.
func (d *document) addAtoms(b block, sec int32) {
	a := atom{section: sec, kind: b.kind}
	size := b.end - b.start
	switch {
	case b.kind == code && size > d.o.MaxBytes:
		for l := range lines(d.src, b.start, b.end) {
			if !l.blank(d.src) {
				d.cut(l.start, l.end, a)
			}
		}
	case b.kind == paragraph && size > d.o.TargetBytes, b.kind == item && size > d.o.MaxBytes:
		for s := range sentences(d.src, b.start, b.end) {
			d.cut(s.start, s.end, a)
		}
	default:
		a.table = d.headAtom
		if b.kind == tableRow && d.wideRow(b, a) {
			return
		}
		d.cut(b.start, b.end, a)
	}
	if b.kind == tableHead {
		d.head, d.headAtom, d.names = b, int32(len(d.atoms)-1), nil
	}
}

// parser finds the blocks of a text, line by line.
type parser struct {
	src      string
	markdown bool
	blocks   []block

	// The block that lines are being added to; from < 0 if there is none.
	cur      block
	from     int
	lines    int
	lastLine line // of cur
	isolated bool // a blank line, or nothing, precedes cur

	items []int // the columns at which the open list items' content begins, innermost last
}

func (p *parser) parse(start, end int) {
	p.from = -1
	p.blocks = make([]block, 0, 1+strings.Count(p.src[start:end], "\n\n")) // most blocks of prose are paragraphs
	blank := true                                                          // the line before
	skip := start                                                          // lines before this offset are part of a block already
	if p.markdown {
		skip = p.frontMatter(start, end)
	}
	for l := range lines(p.src, skip, end) {
		if l.start < skip {
			continue
		}
		if l.blank(p.src) {
			p.close(true)
			blank = true
			continue
		}
		if p.markdown {
			p.leaveItems(l)
			if n := p.markdownLine(l, end); n > 0 {
				skip, blank = n, false
				continue
			}
		}
		if p.from < 0 || isItem(l.text(p.src)) {
			p.close(false)
			p.from, p.lines, p.isolated = l.start, 0, blank
			p.cur = block{start: l.contentStart(p.src), kind: paragraph}
			if isItem(l.text(p.src)) {
				p.cur.kind = item
			}
		}
		p.cur.end = l.end
		p.lines++
		p.lastLine = l
		blank = false
	}
	p.close(true)
}

// close ends the current block. blank says whether a blank line or the end of the text follows.
func (p *parser) close(blank bool) {
	if p.from < 0 {
		return
	}
	p.cur.alone = p.lines == 1 && p.isolated && blank
	_, p.cur.end = trim(p.src, p.cur.start, p.cur.end)
	p.blocks = append(p.blocks, p.cur)
	p.from = -1
}

// markdownLine handles a line that is a structure of its own and returns the
// offset after it, or 0 if the line is ordinary.
func (p *parser) markdownLine(l line, end int) int {
	text := strings.TrimSpace(l.text(p.src))
	if content := p.enterItems(l); content != "" && (content[0] == '`' || content[0] == '~') {
		text = content // "- ```go": the code begins on the line of its item
	}
	switch text[0] {
	case '`', '~':
		if fence := fenceOf(text); fence != "" {
			p.close(false)
			return p.fenced(l, end, fence)
		}
	case '#':
		if level, title := atxHeading(l.raw(p.src)); level > 0 {
			p.close(false)
			p.addHeading(l.contentStart(p.src), l, level, title)
			return l.next
		}
	case '=', '-', '|', ':':
		if p.from < 0 {
			if underline(text) != 2 {
				return 0
			}
			start, stop := trim(p.src, l.start, l.end) // a rule between paragraphs
			p.blocks = append(p.blocks, block{start: start, end: stop, kind: paragraph})
			return l.next
		}
		if isDelimiterRow(text) && strings.Contains(p.lastLine.text(p.src), "|") {
			return p.table(l, end)
		}
		level := underline(text)
		if level > 0 && p.cur.kind == paragraph && p.lines == 1 && l.end-p.cur.start <= maxHeading {
			title := strings.TrimSpace(p.lastLine.text(p.src))
			p.from = -1
			p.addHeading(p.cur.start, l, level, title)
			return l.next
		}
	}
	return 0
}

func (p *parser) addHeading(start int, l line, level int, title string) {
	p.blocks = append(p.blocks, block{start: start, end: l.end, kind: heading, level: level, title: title})
	_, p.blocks[len(p.blocks)-1].end = trim(p.src, start, l.end)
}

// leaveItems closes the list items that line l is not indented for.
func (p *parser) leaveItems(l line) {
	if len(p.items) == 0 {
		return
	}
	n := column(l.raw(p.src))
	for len(p.items) > 0 && p.items[len(p.items)-1] > n {
		p.items = p.items[:len(p.items)-1]
	}
}

// enterItems opens the list items that begin on line l; "- 1. text" opens two.
// It returns the text after their markers, or "" if no item begins.
func (p *parser) enterItems(l line) string {
	raw := l.raw(p.src)
	at := 0
	for len(p.items) < maxItems {
		text := strings.TrimLeft(raw[at:], " \t")
		n := itemMarker(text)
		if n == 0 {
			break
		}
		at = len(raw) - len(text) + n
		rest := strings.TrimLeft(raw[at:], " \t")
		if pad := len(raw) - at - len(rest); pad > 4 || rest == "" {
			at++ // indented code, or an item that begins with a blank line
		} else {
			at += pad
		}
		p.items = append(p.items, columnOf(raw, at))
	}
	if at == 0 {
		return ""
	}
	return strings.TrimSpace(raw[at:])
}

// maxItems bounds how many list items may be nested.
const maxItems = 32

// fenced adds the code block that opens at line l; it ends at the same fence,
// before the first line that is not indented for the list item that holds it
// (CommonMark 0.31, 5.2), or with the text.
func (p *parser) fenced(l line, end int, fence string) int {
	inside := 0
	if n := len(p.items); n > 0 {
		inside = p.items[n-1]
	}
	last, next := l, end
	for m := range lines(p.src, l.next, end) {
		if !m.blank(p.src) {
			if inside > 0 && column(m.raw(p.src)) < inside {
				next = m.start
				break
			}
			last = m
		}
		text := strings.TrimSpace(m.text(p.src))
		if strings.HasPrefix(text, fence) && strings.Trim(text, fence[:1]) == "" {
			next = m.next
			break
		}
	}
	_, stop := trim(p.src, l.start, last.end)
	p.blocks = append(p.blocks, block{start: l.start, end: stop, kind: code})
	return next
}

// table adds a table whose delimiter row is l and whose header is the line
// before, taken from the current block.
func (p *parser) table(l line, end int) int {
	head := p.lastLine
	if p.lines > 1 {
		p.cur.end = head.start
		p.close(false)
	}
	p.from = -1
	_, stop := trim(p.src, head.start, l.end)
	p.blocks = append(p.blocks, block{start: head.contentStart(p.src), end: stop, kind: tableHead})
	next := l.next
	for m := range lines(p.src, l.next, end) {
		if m.blank(p.src) || !strings.Contains(m.text(p.src), "|") {
			break
		}
		start, stop := trim(p.src, m.start, m.end)
		p.blocks = append(p.blocks, block{start: start, end: stop, kind: tableRow})
		next = m.next
	}
	return next
}

// frontMatter adds the metadata block between two "---" lines at the very
// beginning and returns where the text goes on.
func (p *parser) frontMatter(start, end int) int {
	const maxLines = 200
	n, stop := 0, start
	for l := range lines(p.src, start, end) {
		text := strings.TrimRightFunc(l.text(p.src), unicode.IsSpace)
		if n == 0 && text != "---" || n > maxLines || n > 0 && text == "" {
			return start
		}
		if n > 0 && text == "---" {
			_, stop = trim(p.src, start, l.end)
			p.blocks = append(p.blocks, block{start: start, end: stop, kind: code})
			return l.next
		}
		n++
	}
	return start
}

// fenceOf returns the run of three or more backticks or tildes that text opens
// with, or "".
func fenceOf(text string) string {
	n := len(text) - len(strings.TrimLeft(text, text[:1]))
	if n < 3 || text[0] == '`' && strings.Contains(text[n:], "`") {
		return ""
	}
	return text[:n]
}

// atxHeading parses "## Title ##". level is 0 if the line is not a heading.
func atxHeading(raw string) (level int, title string) {
	text := strings.TrimLeft(raw, " ")
	if len(raw)-len(text) > 3 || len(text) > maxHeading {
		return 0, ""
	}
	rest := strings.TrimLeft(text, "#")
	level = len(text) - len(rest)
	if level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	rest = strings.TrimSpace(rest)
	if closed := strings.TrimRight(rest, "#"); closed == "" || closed[len(closed)-1] == ' ' {
		rest = strings.TrimSpace(closed)
	}
	return level, rest
}

// underline returns 1 for a line of "=", 2 for a line of "-", else 0.
func underline(text string) int {
	switch {
	case strings.Trim(text, "=") == "":
		return 1
	case strings.Trim(text, "-") == "":
		return 2
	}
	return 0
}

// isDelimiterRow reports whether text separates a table's header from its rows.
func isDelimiterRow(text string) bool {
	return strings.Trim(text, "|-: \t") == "" && strings.Contains(text, "|") && strings.Contains(text, "-")
}

// isItem reports whether a line begins a list item.
func isItem(text string) bool { return itemMarker(strings.TrimLeft(text, " \t")) > 0 }

// itemMarker returns the length of the marker that text begins with: "-",
// "12."; 0 if there is none.
func itemMarker(text string) int {
	n := 0
	for n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	switch {
	case n > 0 && n < len(text) && (text[n] == '.' || text[n] == ')'):
		n++
	case n == 0 && text != "" && strings.IndexByte("-*+", text[0]) >= 0:
		n = 1
	case n == 0 && strings.HasPrefix(text, "\u2022"): // bullet
		n = len("\u2022")
	default:
		return 0
	}
	if n < len(text) && (text[n] == ' ' || text[n] == '\t') {
		return n
	}
	return 0
}

// numberedHeadings turns lines such as "2.1 Scope" into headings: alone between
// blank lines, short, beginning with a capital (or a letter without case), not
// ending like a sentence, and followed by a paragraph, not by the next number.
func numberedHeadings(src string, blocks []block) {
	for i := range len(blocks) - 1 {
		b, next := &blocks[i], &blocks[i+1]
		if !b.alone || b.end-b.start > maxHeading/2 || next.kind != paragraph {
			continue
		}
		text := src[b.start:b.end]
		level, rest := sectionNumber(text)
		first, _ := utf8.DecodeRuneInString(rest)
		last, _ := utf8.DecodeLastRuneInString(rest)
		if level == 0 || !unicode.IsLetter(first) || unicode.IsLower(first) || unicode.IsPunct(last) && last != ')' {
			continue
		}
		if n, _ := sectionNumber(src[next.start:next.end]); n == 0 || n > level {
			b.kind, b.level, b.title = heading, level, text
		}
	}
}

// sectionNumber parses a leading "1", "1." or "1.2.3" followed by a space;
// level is the count of its parts, at most 6, or 0 if there is none.
func sectionNumber(text string) (level int, rest string) {
	i := 0
	for level < 6 {
		from := i
		for i < len(text) && i-from < 3 && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		if i == from {
			break
		}
		level++
		if i == len(text) || text[i] != '.' {
			break
		}
		i++
	}
	if level == 0 || i >= len(text) || text[i] != ' ' {
		return 0, ""
	}
	return level, strings.TrimLeft(text[i:], " ")
}

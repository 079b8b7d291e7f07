package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kinds of blocks.
const (
	blockParagraph = iota
	blockItem      // a list item
	blockTable
	blockCode
)

// allOfLine and mostOfLine are the shares of a line's letters that must be in one font for the line to be in that font.
const allOfLine, mostOfLine = 0.9, 0.5

// block is a paragraph, heading, list item, table or code block of a page.
type block struct {
	kind  int
	text  string
	size  float64 // font size
	bold  bool
	lines int
	edges *tableEdges // set for a table
}

// paragraph collects lines until one begins another block.
type paragraph struct {
	lines []*line
	texts []string
	hard  []bool // by line: it begins after a line end set by the author
	item  bool
	whole bool // it is an entry of a table of contents, which ends with its line
}

// regionBlocks returns the blocks of a region of one column. If code is set, lines in monospaced fonts are code. rules are the lines drawn
// on the page.
func regionBlocks(segs []*segment, code bool, rules []rule, hyphens *hyphenation) []block {
	lines := makeLines(segs)
	findCells(lines)
	usual := leading(lines)
	right := rightMargin(lines)
	var out []block
	var p paragraph
	flush := func() {
		if len(p.lines) > 0 {
			if b := p.block(hyphens); b.text != "" {
				out = append(out, b)
			}
			p = paragraph{lines: p.lines[:0], texts: p.texts[:0], hard: p.hard[:0]}
		}
	}
	for i := 0; i < len(lines); {
		if t := lines[i].takeTable(); t != nil {
			flush()
			out = append(out, rowsBlock(t.cells, hyphens))
			if len(lines[i].segs) == 0 {
				i++
			}
			continue
		}
		if n := 0; code {
			var before *line
			if i > 0 {
				before = &lines[i-1]
			}
			if n = codeLines(lines[i:], before, usual); n > 0 {
				flush()
				out = append(out, codeBlock(lines[i:i+n]))
				i += n
				continue
			}
		}
		if rows := tableRows(lines[i:]); rows > 0 {
			flush()
			out = append(out, tableBlock(lines[i:i+rows], rules, hyphens))
			i += rows
			continue
		}
		l := &lines[i]
		text := l.text()
		i++
		if text == "" {
			continue
		}
		text, isEntry := dropLeaders(text)
		_, isItem := listMarker(text)
		hard := len(p.lines) > 0 && hadRoom(p.lines[len(p.lines)-1], l, right)
		if isItem && !hard && p.runsInto(text) {
			isItem = false
		}
		isItem = isItem || isEntry
		if len(p.lines) > 0 && p.ends(l, text, isItem, usual, right) {
			flush()
		}
		if len(p.lines) == 0 {
			p.item, p.whole = isItem, isEntry
		}
		p.hard = append(p.hard, hard)
		p.lines = append(p.lines, l)
		p.texts = append(p.texts, text)
	}
	flush()
	return out
}

// takeTable removes from l, and returns, the table that begins at its height. It returns nil when there is none.
func (l *line) takeTable() *ruledTable {
	for i, s := range l.segs {
		if s.table != nil {
			l.segs = slices.Delete(l.segs, i, i+1)
			l.cells = slices.DeleteFunc(l.cells, func(c *segment) bool { return c.table != nil })
			return s.table
		}
	}
	return nil
}

// runsInto reports whether a dash or a number at the beginning of text continues the sentence above rather than marking a list item.
func (p *paragraph) runsInto(text string) bool {
	if len(p.lines) == 0 || p.item || endsSentence(p.texts[len(p.texts)-1]) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text)
	return strings.ContainsRune(dashes, r) || unicode.IsDigit(r) || unicode.IsLetter(r)
}

// ends reports whether l, whose text is given, begins a block of its own. usual is the leading of the region in ems, right its right
// margin.
func (p *paragraph) ends(l *line, text string, isItem bool, usual, right float64) bool {
	n := len(p.lines)
	last := p.lines[n-1]
	size := min(last.size, l.size)
	gap := (last.v - l.v) / max(last.size, l.size)
	switch {
	case isItem, p.whole:
		return true
	case max(last.size, l.size) > 1.12*size:
		return true
	case gap > 2.2, gap < 0.3:
		return true
	case usual > 0 && gap > 1.3*usual, usual == 0 && gap > 1.7:
		// Scripts increase the distance of lines, so a sentence that continues in lower case is not cut there.
		return !startsLower(text) || endsSentence(p.texts[n-1])
	}
	const indent, centred = 0.8, 4
	short := last.u1 < right-0.3*(right-last.u0)
	shift := (l.u0 - last.u0) / size
	if p.item && shift < -0.3 {
		return true
	}
	if short && n <= 2 {
		if a, b := last.style(allOfLine), l.style(mostOfLine); a != 0 && b != 0 && a != b {
			return true // a heading, or a line below one in another font
		}
	}
	if n == 1 && short && shift < -centred {
		return true
	}
	if n == 1 {
		// An indented second line is a hanging indent after a full line or in a list, and a new paragraph after a short line.
		return shift > indent && short && !p.item || short && shift > -indent && endsSentence(p.texts[0]) && !startsLower(text)
	}
	if shift > indent || shift < -indent {
		return true
	}
	return short && endsSentence(p.texts[n-1]) && !startsLower(text)
}

// rightMargin returns how far lines reach to the right. It ignores a single line that reaches further than all others.
func rightMargin(lines []line) float64 {
	first, second := math.Inf(-1), math.Inf(-1)
	for i := range lines {
		switch u := lines[i].u1; {
		case u > first:
			first, second = u, first
		case u > second:
			second = u
		}
	}
	if len(lines) < 4 {
		return first
	}
	return second
}

// hadRoom reports whether the first word of l would have fitted at the end of the line above it, so that the author ended that line: in
// verse, an address, a program.
func hadRoom(above, l *line, right float64) bool {
	const slack = 1.5
	word, ok := l.segs[0].firstWord()
	end := above.segs[len(above.segs)-1]
	return ok && above.u1+word < right-slack*l.size && !end.endsWithHyphen()
}

// firstWord returns the width of the first word. ok is false when the segment is written from right to left.
func (s *segment) firstWord() (float64, bool) {
	end, begun := s.u0, false
	for i := range s.glyphs {
		g := &s.glyphs[i]
		if isBlank(g.text) || begun && g.u0-end > spacedGap*s.size {
			if begun {
				break
			}
			continue
		}
		if direction(g.text) == rightToLeft {
			return 0, false
		}
		end, begun = max(end, g.u1), true
	}
	return end - s.u0, begun
}

func (s *segment) endsWithHyphen() bool {
	for i := len(s.glyphs) - 1; i >= 0; i-- {
		if t := s.glyphs[i].text; !isBlank(t) {
			return t == "-" || t == "\u00ad" || t == "\u2010"
		}
	}
	return false
}

func endsSentence(text string) bool {
	text = strings.TrimRight(text, "\"')]”’»0123456789")
	r, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!?:。！？", r)
}

// startsLower reports whether the first letter of text is lower case.
func startsLower(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) {
			return unicode.IsLower(r)
		}
	}
	return false
}

// block joins the lines of the paragraph.
func (p *paragraph) block(hyphens *hyphenation) block {
	text := hyphens.join(p.texts, p.hard)
	b := block{kind: blockParagraph, lines: len(p.lines)}
	if p.item {
		b.kind = blockItem
		if rest, ok := listMarker(text); ok && rest != "" {
			text = "- " + rest
		}
	}
	b.text = text
	widest := 0
	for _, l := range p.lines {
		for _, s := range l.segs {
			if s.chars > widest {
				widest, b.size = s.chars, s.size
			}
		}
	}
	b.bold = len(p.lines) == 1 && p.lines[0].style(allOfLine).bold()
	return b
}

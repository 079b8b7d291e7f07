package pdf

import (
	"math"
	"slices"
	"strings"
)

const (
	// monoShare is the least share of a line set in monospaced fonts for the line to be code.
	monoShare = 0.9
	// maxIndent bounds the columns of indentation of a line of code.
	maxIndent = 200
)

// isMono reports whether a font's name is that of a monospaced font.
func isMono(base string) bool {
	lower := strings.ToLower(base)
	for _, word := range []string{"mono", "courier", "typewriter", "consol", "menlo", "sourcecode", "firacode", "cmtt", "cmsltt", "sftt", "lmtt", "txtt"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// countMono counts the glyphs of a page, and those in monospaced fonts. In a document that is mostly monospaced, such lines are not code.
func (d *document) countMono(segs []*segment) {
	for _, s := range segs {
		for i := range s.glyphs {
			if s.glyphs[i].style.mono() {
				d.mono++
			}
		}
		d.shown += len(s.glyphs)
	}
}

// mono reports whether the line is set in monospaced fonts.
func (l *line) mono() bool {
	all, mono := 0, 0
	for _, s := range l.segs {
		for i := range s.glyphs {
			if g := &s.glyphs[i]; !isBlank(g.text) && !g.vertical {
				all++
				if g.style.mono() {
					mono++
				}
			}
		}
	}
	return all > 0 && float64(mono) >= monoShare*float64(all)
}

// codeLines returns how many of the first lines are a block of code. before is the line above them, or nil. A single line is code only if
// it stands apart or is indented: inside a paragraph it is words in another font.
func codeLines(lines []line, before *line, usual float64) int {
	n := 0
	for n < len(lines) && lines[n].mono() && (n == 0 || lines[n-1].v-lines[n].v < 4*lines[n].size) {
		n++
	}
	if n != 1 {
		return n
	}
	l := &lines[0]
	apart := func(o *line) bool {
		return math.Abs(o.v-l.v) > 1.25*max(usual, 1)*max(o.size, l.size) || math.Abs(o.u0-l.u0) > 0.8*l.size
	}
	if before != nil && !apart(before) || len(lines) > 1 && !apart(&lines[1]) {
		return 0
	}
	return 1
}

// codeBlock writes lines with their indentation and the gaps within them.
func codeBlock(lines []line) block {
	var widths, gaps []float64
	left := math.Inf(1)
	for i := range lines {
		left = min(left, lines[i].u0)
		if i > 0 {
			gaps = append(gaps, lines[i-1].v-lines[i].v)
		}
		for _, s := range lines[i].segs {
			for k := range s.glyphs {
				if w := s.glyphs[k].u1 - s.glyphs[k].u0; w > 0 && s.glyphs[k].style.mono() {
					widths = append(widths, w)
				}
			}
		}
	}
	b := block{kind: blockCode, size: lines[0].size, lines: len(lines)}
	if len(widths) == 0 {
		return b
	}
	slices.Sort(widths)
	slices.Sort(gaps)
	width := widths[len(widths)/2]
	var out strings.Builder
	for i := range lines {
		if i > 0 {
			out.WriteByte('\n')
			if lines[i-1].v-lines[i].v > 1.6*gaps[len(gaps)/3] {
				out.WriteByte('\n')
			}
		}
		lines[i].writeCode(&out, left, width)
	}
	b.text = strings.Trim(out.String(), "\n")
	return b
}

// writeCode writes one line whose left edge is at left and whose columns are width wide.
func (l *line) writeCode(out *strings.Builder, left, width float64) {
	column := 0
	for _, s := range l.segs {
		end := math.Inf(-1)
		for i := range s.glyphs {
			g := &s.glyphs[i]
			text := clean(g.text)
			if isBlank(g.text) || text == "" {
				continue
			}
			at := min(int(math.Round((g.u0-left)/width)), column+maxIndent)
			if at > column && (math.IsInf(end, -1) || g.u0-end > 0.4*width) {
				out.WriteString(strings.Repeat(" ", at-column))
				column = at
			}
			out.WriteString(text)
			column += max(1, int(math.Round((g.u1-g.u0)/width)))
			end = g.u1
		}
	}
}

// fence encloses code in a fence that is longer than any fence within it.
func fence(code string) string {
	longest, run := 0, 0
	for i := range len(code) {
		if code[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	mark := strings.Repeat("`", max(3, min(longest+1, 16)))
	return mark + "\n" + code + "\n" + mark
}

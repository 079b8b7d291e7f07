package pdf

import (
	"math"
	"slices"
	"strings"
)

// segmentWork is the cost of one segment in the work budget. A line of text is one segment for many glyphs; a page of scattered glyphs has
// as many segments as glyphs.
const segmentWork = 256

// blocks returns the text of a page in reading order: first the most common direction of writing, then the others, then readers' comments.
func (l *pageLayout) blocks(d *document, hyphens *hyphenation) []block {
	var out []block
	for _, segs := range l.groups {
		first := len(out)
		d.countMono(segs)
		for _, region := range inTreeOrder(readingOrder(d, segs)) {
			blocks := regionBlocks(region, 2*d.mono < d.shown, l.rules, hyphens)
			if len(out) > first && len(blocks) > 0 && goesOn(&out[len(out)-1], &blocks[0]) {
				last := &out[len(out)-1]
				last.text = hyphens.join([]string{last.text, blocks[0].text}, nil)
				last.lines += blocks[0].lines
				blocks = blocks[1:]
			}
			out = append(out, blocks...)
		}
	}
	for _, c := range l.comments {
		out = append(out, block{kind: blockParagraph, text: c, lines: maxHeadingLines + 1})
	}
	return out
}

// goesOn reports whether a paragraph that ends a column continues at the top of the next one.
func goesOn(a, b *block) bool {
	if a.kind == blockTable || a.kind == blockCode || b.kind != blockParagraph || math.Abs(a.size-b.size) > 0.05*a.size {
		return false
	}
	return startsLower(b.text) && !endsSentence(a.text)
}

// shownGlyphs drops invisible text, unless the page has little else: it is then the text layer of a scan.
func shownGlyphs(p *pageGlyphs) []glyph {
	invisible, visible := 0, 0
	for i := range p.glyphs {
		switch {
		case isBlank(p.glyphs[i].text):
		case p.glyphs[i].invisible:
			invisible++
		default:
			visible++
		}
	}
	if invisible == 0 || visible == 0 || p.images && invisible > 8*visible {
		return p.glyphs
	}
	out := p.glyphs[:0]
	for _, g := range p.glyphs {
		if !g.invisible {
			out = append(out, g)
		}
	}
	return out
}

// runText is the length in bytes from which the text of one glyph is taken for that of a whole run.
const runText = 32

// dropRuns keeps one of several glyphs that map to the same whole run of text, or to its beginning. Some writers of Arabic do this by
// mistake; the other glyphs have no text of their own then.
func dropRuns(glyphs []glyph) []glyph {
	var runs []string
	for i := range glyphs {
		if g := &glyphs[i]; len(g.text) >= runText && !g.actual {
			runs = append(runs, g.text)
		}
	}
	if len(runs) < 2 {
		return glyphs
	}
	slices.Sort(runs)
	runs = slices.Compact(runs)
	seen := map[string]bool{}
	return slices.DeleteFunc(glyphs, func(g glyph) bool {
		if len(g.text) < runText || g.actual {
			return false
		}
		if seen[g.text] {
			return true
		}
		seen[g.text] = true
		i, _ := slices.BinarySearch(runs, g.text)
		return i+1 < len(runs) && strings.HasPrefix(runs[i+1], g.text)
	})
}

// byDirection groups glyphs by their direction of writing, the most common first.
func byDirection(glyphs []glyph) [][]glyph {
	var counts [360]int
	for i := range glyphs {
		counts[glyphs[i].angle]++
	}
	var out [][]glyph
	for left := len(glyphs); left > 0; {
		best := 0
		for a, n := range counts {
			if n > counts[best] {
				best = a
			}
		}
		if counts[best] == len(glyphs) {
			return [][]glyph{glyphs}
		}
		group := make([]glyph, 0, counts[best])
		for _, g := range glyphs {
			if int(g.angle) == best {
				group = append(group, g)
			}
		}
		left -= counts[best]
		counts[best] = 0
		out = append(out, group)
	}
	return out
}

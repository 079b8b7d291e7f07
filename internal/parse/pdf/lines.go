package pdf

import (
	"math"
	"slices"
)

// line is the segments on one baseline of a region, from left to right.
type line struct {
	segs   []*segment
	cells  []*segment // segs, cut further at gaps that continue in the line above or below
	u0, u1 float64
	v      float64
	size   float64
}

// makeLines groups the segments of a region by their baselines. segs are nearly in descending order of v: attached scripts and measuring
// may have changed v.
func makeLines(segs []*segment) []line {
	segs = slices.Clone(segs)
	slices.SortStableFunc(segs, func(a, b *segment) int {
		switch {
		case a.v > b.v:
			return -1
		case a.v < b.v:
			return 1
		}
		return 0
	})
	lines := make([]line, 0, len(segs))
	for _, s := range segs {
		if n := len(lines); n > 0 {
			l := &lines[n-1]
			if l.v-s.v <= 0.3*min(l.size, s.size) && !l.covers(s) {
				l.segs = append(l.segs, s)
				l.u0, l.u1 = min(l.u0, s.u0), max(l.u1, s.u1)
				if s.chars > l.segs[0].chars {
					l.size = s.size
				}
				continue
			}
		}
		lines = append(lines, line{segs: []*segment{s}, u0: s.u0, u1: s.u1, v: s.v, size: s.size})
	}
	for i := range lines {
		slices.SortStableFunc(lines[i].segs, func(a, b *segment) int {
			switch {
			case a.u0 < b.u0:
				return -1
			case a.u0 > b.u0:
				return 1
			}
			return 0
		})
	}
	return lines
}

// style returns the style of at least share of the line's letters, or 0 when none has that many.
func (l *line) style(share float64) style {
	counts := map[style]int{}
	total := 0
	var most style
	for _, s := range l.segs {
		for i := range s.glyphs {
			g := &s.glyphs[i]
			if isBlank(g.text) {
				continue
			}
			total++
			if counts[g.style]++; counts[g.style] > counts[most] {
				most = g.style
			}
		}
	}
	if float64(counts[most]) < share*float64(total) {
		return 0
	}
	return most
}

// covers reports whether s is printed over text of the line.
func (l *line) covers(s *segment) bool {
	for _, o := range l.segs[max(0, len(l.segs)-maxColumns):] {
		if overlap := min(o.u1, s.u1) - max(o.u0, s.u0); overlap > s.size && overlap > 0.5*min(o.u1-o.u0, s.u1-s.u0) {
			return true
		}
	}
	return false
}

// text returns the words of a line, in logical order.
func (l *line) text() string { return joinSegments(l.segs...) }

// text returns the words of a segment, in logical order.
func (s *segment) text() string { return joinSegments(s) }

// leading returns the usual distance of baselines in a region, or 0 when no two lines have the same size.
func leading(lines []line) float64 {
	var gaps []float64
	for i := 1; i < len(lines); i++ {
		gap := lines[i-1].v - lines[i].v
		if gap < 2.2*lines[i].size && math.Abs(lines[i-1].size-lines[i].size) < 0.05*lines[i].size {
			gaps = append(gaps, gap/lines[i].size)
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)*2/5] // below the median, because the gaps between paragraphs are larger
}

package pdf

import (
	"math"
	"slices"
)

const (
	// cellGap is the least gap between two cells.
	cellGap = 0.5
	// cellGapRatio is how much wider the gap between two cells is than the other gaps of its segment.
	cellGapRatio = 1.6
	// A gap of at least wideCellGap ems may separate two cells even if it is no wider than the other gaps of its segment, provided that it
	// continues over softLines lines.
	wideCellGap, softLines = 0.9, 3
	// minLefts is how many segments begin at the left edge of a column.
	minLefts = 3
)

// wideGap is a gap in a segment that may separate two cells. It precedes the glyph with index at.
type wideGap struct {
	u0, u1 float64
	at     int
	soft   bool // it is no wider than the other gaps of its segment
}

// findCells sets the cells of all lines. It cuts segments at wide gaps that continue in the line below or above, as the blank stretch
// between two columns does.
func findCells(lines []line) {
	gaps := make([][][]wideGap, len(lines)) // by line and segment
	edges := findEdges(lines)
	for i := range lines {
		for _, s := range lines[i].segs {
			own := s.wideGaps()
			for _, at := range s.cutsAt(edges, i) {
				own = append(own, wideGap{s.glyphs[at-1].u1, s.glyphs[at].u0, at, false})
			}
			gaps[i] = append(gaps[i], own)
		}
	}
	for i := range lines {
		l := &lines[i]
		for k, s := range l.segs {
			rest := s
			cuts := s.cutsAt(edges, i)
			for _, g := range gaps[i][k] {
				if g.goesOn(lines, gaps, i, -1) || g.goesOn(lines, gaps, i, 1) {
					cuts = append(cuts, g.at)
				}
			}
			slices.Sort(cuts)
			cuts = slices.Compact(cuts)
			for n := len(cuts) - 1; n >= 0; n-- {
				var tail *segment
				rest, tail = rest.cut(cuts[n])
				l.cells = append(l.cells, tail)
			}
			l.cells = append(l.cells, rest)
		}
		slices.SortStableFunc(l.cells, func(a, b *segment) int {
			if a.u0 < b.u0 {
				return -1
			}
			return 1
		})
	}
}

const (
	// minEdgeLines is how many lines must have a text object that begins at a column edge, and edgeShare the least share of them among the
	// lines from the first to the last of those.
	minEdgeLines, edgeShare = 4, 0.4
	// edgeSlack is how far apart, in points, text objects at one edge may begin.
	edgeSlack = 0.3
)

// columnEdge is where the texts of a column begin, or end, in the lines from from to to: spreadsheets place each cell by itself, however
// narrow the gap before it is.
type columnEdge struct {
	u        float64
	from, to int
}

// columnEdges are those of lines.
type columnEdges struct{ left, right []columnEdge }

// findEdges finds the places within lines at which text objects begin, or end, in most of them.
func findEdges(lines []line) columnEdges {
	var begins, ends []edgePlace
	for i := range lines {
		for k, s := range lines[i].segs {
			first := len(ends)
			objects := 0
			for n := range s.glyphs {
				g := &s.glyphs[n]
				if !g.begins || g.vertical || isBlank(g.text) || g.style.mono() {
					continue
				}
				objects++
				if k > 0 || n > 0 {
					begins = append(begins, edgePlace{g.u0, i})
				}
				if n > 0 {
					ends = append(ends, edgePlace{s.endBefore(n), i})
				}
			}
			if objects > 0 {
				ends = append(ends, edgePlace{s.endBefore(len(s.glyphs)), i})
			}
			if objects < 2 && len(lines[i].segs) == 1 {
				ends = ends[:first] // of a line of text
			}
		}
	}
	return columnEdges{commonPlaces(begins), commonPlaces(ends)}
}

// edgePlace is a place in a line.
type edgePlace struct {
	u    float64
	line int
}

// commonPlaces returns the places that most lines share.
func commonPlaces(all []edgePlace) []columnEdge {
	slices.SortFunc(all, func(a, b edgePlace) int { return sign(a.u - b.u) })
	var out []columnEdge
	for i := 0; i < len(all); {
		k, n := i, 0
		e := columnEdge{u: all[i].u, from: all[i].line, to: all[i].line}
		for ; k < len(all) && all[k].u-all[i].u <= edgeSlack; k++ {
			n++
			e.from, e.to = min(e.from, all[k].line), max(e.to, all[k].line)
		}
		if n >= minEdgeLines && float64(n) >= edgeShare*float64(e.to-e.from+1) {
			out = append(out, e)
		}
		i = k
	}
	return out
}

// endBefore returns where the last glyph before the one with index at ends that is not blank.
func (s *segment) endBefore(at int) float64 {
	for at--; at > 0 && isBlank(s.glyphs[at].text); at-- {
	}
	return s.glyphs[at].u1
}

// cutsAt lists the glyphs of a segment of line i that begin a column.
func (s *segment) cutsAt(edges columnEdges, i int) []int {
	if len(edges.left) == 0 && len(edges.right) == 0 {
		return nil
	}
	common := func(all []columnEdge, u float64) bool {
		at, _ := slices.BinarySearchFunc(all, u-2*edgeSlack, func(e columnEdge, u float64) int { return sign(e.u - u) })
		for ; at < len(all) && all[at].u <= u+edgeSlack; at++ {
			if e := &all[at]; i >= e.from && i <= e.to && u >= e.u-edgeSlack {
				return true
			}
		}
		return false
	}
	var out []int
	for n := range s.glyphs {
		if g := &s.glyphs[n]; n == 0 || !g.begins || isBlank(g.text) {
			continue
		}
		end := n + 1
		for end < len(s.glyphs) && !s.glyphs[end].begins {
			end++
		}
		if common(edges.left, s.glyphs[n].u0) || common(edges.right, s.endBefore(n)) || common(edges.right, s.endBefore(end)) {
			out = append(out, n)
		}
	}
	return out
}

// wideGaps lists the gaps of a segment that may separate cells.
func (s *segment) wideGaps() []wideGap {
	var space [32]wideGap
	all := space[:0]
	prev := -1
	for i := range s.glyphs {
		g := &s.glyphs[i]
		if isBlank(g.text) {
			continue
		}
		if prev >= 0 {
			if p := &s.glyphs[prev]; g.u0-p.u1 > wordGap*s.size {
				all = append(all, wideGap{p.u1, g.u0, i, false})
			}
		}
		if prev < 0 || g.u1 > s.glyphs[prev].u1 {
			prev = i
		}
	}
	if len(all) == 0 {
		return nil
	}
	var widthSpace [32]float64
	widths := widthSpace[:0]
	for _, g := range all {
		widths = append(widths, g.u1-g.u0)
	}
	slices.Sort(widths)
	least := cellGap * s.size
	if len(widths) >= 3 {
		least = max(least, cellGapRatio*widths[len(widths)/3])
	}
	out := all[:0]
	for _, g := range all {
		if width := g.u1 - g.u0; width >= min(least, wideCellGap*s.size) {
			g.soft = width < least
			out = append(out, g)
		}
	}
	return slices.Clone(out)
}

// maxBlankLines is how many lines without text at a gap may lie between two lines that have the gap. Such lines continue a cell whose
// neighbours have ended.
const maxBlankLines = 5

// goesOn reports whether a gap of lines[i] continues in the next lines, in the direction of step, that have text on both sides of it.
func (g wideGap) goesOn(lines []line, gaps [][][]wideGap, i, step int) bool {
	need := 1
	if g.soft {
		need = softLines
	}
	last, blank := &lines[i], 0
	for k := i + step; k >= 0 && k < len(lines) && blank <= maxBlankLines; k += step {
		l := &lines[k]
		if math.Abs(l.v-last.v) > 3*lines[i].size || len(l.segs) == 0 {
			return false
		}
		if g.within(l, gaps[k], 0.15*lines[i].size) {
			if need--; need == 0 {
				return true
			}
		} else if min(l.u1, g.u1)-max(l.u0, g.u0) > 0.1*l.size {
			return false
		} else {
			blank++
		}
		last = l
	}
	return false
}

// within reports whether line l is blank over at least the share least of the gap, between two texts. all has the gaps of l.
func (g wideGap) within(l *line, all [][]wideGap, least float64) bool {
	meets := func(u0, u1 float64) bool { return min(u1, g.u1)-max(u0, g.u0) >= least }
	for k, s := range l.segs {
		if k > 0 && meets(l.segs[k-1].u1, s.u0) {
			return true
		}
		for _, o := range all[k] {
			if meets(o.u0, o.u1) && (g.soft || !o.soft) {
				return true
			}
		}
	}
	return false
}

// leftEdges returns where several segments begin.
func leftEdges(segs []*segment) []float64 {
	all := make([]float64, 0, len(segs))
	for _, s := range segs {
		if s.table == nil {
			all = append(all, s.u0)
		}
	}
	slices.Sort(all)
	var out []float64
	for i := 0; i < len(all); {
		k := i
		for k < len(all) && all[k]-all[i] <= edgeSlack {
			k++
		}
		if k-i >= minLefts {
			out = append(out, all[i])
		}
		i = k
	}
	return out
}

// pieces cuts a segment at its wide gaps, where a text object begins at an edge at which others do, and at the cuts given.
func (s *segment) pieces(lefts []float64, cuts []int) []*segment {
	for _, g := range s.wideGaps() {
		cuts = append(cuts, g.at)
	}
	for n := 1; n < len(s.glyphs); n++ {
		g := &s.glyphs[n]
		if !g.begins || isBlank(g.text) {
			continue
		}
		at, _ := slices.BinarySearch(lefts, g.u0-edgeSlack)
		if at < len(lefts) && lefts[at] <= g.u0+edgeSlack {
			cuts = append(cuts, n)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []*segment
	rest := s
	for n := len(cuts) - 1; n >= 0; n-- {
		var tail *segment
		rest, tail = rest.cut(cuts[n])
		out = append(out, tail)
	}
	out = append(out, rest)
	slices.Reverse(out)
	return out
}

// cut splits a segment before the glyph with index at.
func (s *segment) cut(at int) (head, tail *segment) {
	part := func(glyphs []glyph) *segment {
		out := &segment{glyphs: glyphs, v: s.v, size: s.size, chars: len(glyphs), u0: glyphs[0].u0, u1: glyphs[0].u1}
		for i := range glyphs {
			if !isBlank(glyphs[i].text) {
				out.u1 = max(out.u1, glyphs[i].u1)
			}
		}
		return out
	}
	return part(s.glyphs[:at]), part(s.glyphs[at:])
}

// joinCells puts two segments of one line together.
func joinCells(a, b *segment) *segment {
	out := *a
	out.words, out.read = "", false
	out.glyphs = append(a.glyphs[:len(a.glyphs):len(a.glyphs)], b.glyphs...)
	out.u1, out.chars = max(a.u1, b.u1), a.chars+b.chars
	return &out
}

package pdf

import (
	"math"
	"slices"
)

const (
	// maxColumnDepth bounds columns within columns.
	maxColumnDepth = 8
	// maxGutters bounds the positions that are tried as a gutter in one region.
	maxGutters = 24
	// minColumnLines is the least number of lines on each side of a gutter.
	minColumnLines = 3
	// minColumnChars is the least mean number of characters in the lines of a column of text.
	minColumnChars = 8
	// sameRow is how far apart, in ems, the baselines of cells of one table row may be.
	sameRow = 0.08
	// minTextChars is minColumnChars for lines whose two sides stand on the same baselines, as the cells of a table do.
	minTextChars = 24
)

// readingOrder cuts a page into regions of one column, in reading order. segs are in descending order of v.
func readingOrder(d *document, segs []*segment) [][]*segment {
	var out [][]*segment
	var split func(segs []*segment, depth int)
	split = func(segs []*segment, depth int) {
		if len(segs) == 0 {
			return
		}
		if len(segs) >= 2*minColumnLines && depth < maxColumnDepth {
			if g, ok := bestGutter(d, segs); ok {
				left, right := g.sides(segs)
				split(segs[:g.from], depth+1)
				split(left, depth+1)
				split(right, depth+1)
				split(segs[g.to:], depth+1)
				return
			}
		}
		out = append(out, segs)
	}
	split(segs, 0)
	return out
}

// gutter is a gap between two columns: of the segments from index from to index to, each lies left or right of u.
type gutter struct {
	u        float64
	from, to int
	chars    int
}

func (g gutter) sides(segs []*segment) (left, right []*segment) {
	for _, s := range segs[g.from:g.to] {
		if s.u0 >= g.u {
			right = append(right, s)
		} else {
			left = append(left, s)
		}
	}
	return left, right
}

// bestGutter tries the left edges that several lines share, and returns the gutter with the most text on both sides.
func bestGutter(d *document, segs []*segment) (gutter, bool) {
	var best gutter
	for _, u := range gutterPlaces(segs) {
		if !d.tick(len(segs)) {
			break
		}
		for from := 0; from < len(segs); {
			if crosses(segs[from], u) {
				from++
				continue
			}
			to := from
			for to < len(segs) && !crosses(segs[to], u) {
				to++
			}
			if g, ok := measureGutter(segs, trimGutter(segs, gutter{u: u, from: from, to: to})); ok && g.chars > best.chars {
				best = g
			}
			from = to
		}
	}
	return best, best.chars > 0
}

func crosses(s *segment, u float64) bool { return s.u0 < u && s.u1 > u-0.2*s.size }

// gutterPlaces lists the left edges that at least minColumnLines segments share, the most common first.
func gutterPlaces(segs []*segment) []float64 {
	edges := make([]float64, len(segs))
	size := 0.0
	for i, s := range segs {
		edges[i] = s.u0
		size += s.size
	}
	size /= float64(len(segs))
	slices.Sort(edges)
	type place struct {
		u float64
		n int
	}
	var places []place
	for i := 0; i < len(edges); {
		j := i
		for j < len(edges) && edges[j]-edges[i] <= 0.5*size {
			j++
		}
		if i > 0 && j-i >= minColumnLines {
			places = append(places, place{edges[i] - 0.05*size, j - i})
		}
		i = j
	}
	slices.SortStableFunc(places, func(a, b place) int { return b.n - a.n })
	var out []float64
	for _, p := range places[:min(len(places), maxGutters)] {
		out = append(out, p.u)
	}
	return out
}

// trimGutter excludes segments above and below the columns that are on one side only, such as a heading or a page number.
func trimGutter(segs []*segment, g gutter) gutter {
	const apart = 2.2
	for changed := true; changed; {
		changed = false
		for k := 1; k <= 3 && g.from+k < g.to; k++ { // the first k stand apart from the rest
			if segs[g.from+k-1].v-segs[g.from+k].v > apart*max(segs[g.from+k-1].size, segs[g.from+k].size) && oneSided(segs[g.from:g.from+k], g.u) {
				g.from += k
				changed = true
				break
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for k := 1; k <= 3 && g.to-k > g.from; k++ {
			if segs[g.to-k-1].v-segs[g.to-k].v > apart*max(segs[g.to-k-1].size, segs[g.to-k].size) && oneSided(segs[g.to-k:g.to], g.u) {
				g.to -= k
				changed = true
				break
			}
		}
	}
	return g
}

func oneSided(segs []*segment, u float64) bool {
	for _, s := range segs[1:] {
		if (s.u0 >= u) != (segs[0].u0 >= u) {
			return false
		}
	}
	return true
}

// side is the measurements of one side of a gutter.
type side struct {
	rows        int
	chars       int
	u0, u1      float64
	top, bottom float64
	lastV       float64
}

func (s *side) add(seg *segment) {
	if s.rows == 0 {
		s.u0, s.u1, s.top, s.lastV = seg.u0, seg.u1, seg.v, math.Inf(1)
	}
	if s.lastV-seg.v > sameLine*seg.size {
		s.rows++
		s.lastV = seg.v
	}
	s.bottom = seg.v
	s.chars += seg.chars
	s.u0, s.u1 = min(s.u0, seg.u0), max(s.u1, seg.u1)
}

// measureGutter reports whether the two sides are columns of text. Short cells on common baselines are a table, which is read row by row.
func measureGutter(segs []*segment, g gutter) (gutter, bool) {
	var left, right side
	size, aligned := 0.0, 0
	inside := segs[g.from:g.to]
	lastLeft := math.Inf(1)
	for i, s := range inside {
		size += s.size
		if s.u0 >= g.u {
			right.add(s)
			below := i+1 < len(inside) && inside[i+1].u0 < g.u && s.v-inside[i+1].v <= sameRow*s.size
			if below || math.Abs(lastLeft-s.v) <= sameRow*s.size {
				aligned++
			}
		} else {
			left.add(s)
			lastLeft = s.v
		}
	}
	if left.rows < minColumnLines || right.rows < minColumnLines {
		return g, false
	}
	size /= float64(len(inside))
	if right.u0-left.u1 < 0.5*size {
		return g, false
	}
	overlap := min(left.top, right.top) - max(left.bottom, right.bottom)
	if overlap < 1.5*size {
		return g, false
	}
	chars := min(left.chars/left.rows, right.chars/right.rows)
	need := minColumnChars
	if 2*aligned >= min(left.rows, right.rows) {
		need = minTextChars
	}
	g.chars = left.chars + right.chars
	return g, chars >= need
}

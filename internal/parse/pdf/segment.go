package pdf

import (
	"math"
	"slices"
)

// The layout computes in ems: multiples of the size of the glyphs at hand. The limits below were set by comparing the output for documents
// of several typesetters with that of established readers.
const (
	// sameLine is how far the baselines of one line may differ.
	sameLine = 0.2
	// nearGap is the widest gap within a segment between glyphs that are consecutive in the content stream: a word space of a badly
	// justified line.
	nearGap = 1.2
	// farGap is the widest gap between other glyphs, which may belong to different columns.
	farGap = 0.55
	// streamNear is how many runs may lie between two runs that still count as consecutive: a superscript, a word in another font.
	streamNear = 3
	// scriptUp and scriptDown are how far a superscript and a subscript may be from the baseline.
	scriptUp, scriptDown = 0.75, 0.55
	// scriptDownOver is scriptDown for text below letters instead of beside them.
	scriptDownOver = 0.45
	// scriptGap is the widest gap between a script and its base.
	scriptGap = 0.35
	// maxScriptSteps bounds the segments that are searched for the base of a script.
	maxScriptSteps = 400
	// maxScriptBase bounds the glyphs of a base that are compared with a script.
	maxScriptBase = 1000
	// boldShift is the greatest offset between two copies of a text that a page prints twice to look bold.
	boldShift = 0.25
	// maxOverprint bounds the glyphs that are compared to distinguish such a copy from other text in the same place.
	maxOverprint = 200
)

// segment is text on one baseline without a wide gap. Its glyphs are in the order of u.
type segment struct {
	glyphs []glyph
	u0, u1 float64
	v      float64
	size   float64
	chars  int
	table  *ruledTable // set if the segment represents a table, and has no glyphs
	words  string      // the text of the glyphs, if read is set. Glyphs do not change after it was read
	read   bool
}

// run is glyphs that are consecutive in the stream and on the page.
type run struct {
	glyphs []glyph
	index  int
	u0, u1 float64
	v      float64
	size   float64
}

// makeRuns cuts glyphs of one direction, in stream order, where the baseline, the size or the position jumps.
func makeRuns(glyphs []glyph) []run {
	runs := make([]run, 0, len(glyphs)/64+16)
	start := 0
	flush := func(end int) {
		if start == end {
			return
		}
		r := run{glyphs: glyphs[start:end], index: len(runs), u0: math.Inf(1), u1: math.Inf(-1), v: glyphs[start].v}
		for _, g := range r.glyphs {
			r.u0, r.u1, r.size = min(r.u0, g.u0), max(r.u1, g.u1), max(r.size, g.size)
		}
		runs = append(runs, r)
		start = end
	}
	for i := 1; i < len(glyphs); i++ {
		a, b := &glyphs[i-1], &glyphs[i]
		gap := b.u0 - a.u1
		same := math.Abs(a.v-b.v) <= 0.05*a.size && b.size <= 1.1*a.size && a.size <= 1.1*b.size
		if !same || gap < -0.6*a.size || gap > nearGap*a.size {
			flush(i)
		}
	}
	flush(len(glyphs))
	return runs
}

// makeSegments joins the glyphs of one direction to segments, from the top of the page to its bottom.
func makeSegments(glyphs []glyph) []*segment {
	runs := makeRuns(glyphs)
	slices.SortStableFunc(runs, func(a, b run) int {
		switch {
		case a.v > b.v:
			return -1
		case a.v < b.v:
			return 1
		}
		return 0
	})
	var segs []*segment
	for start := 0; start < len(runs); {
		end := start + 1
		for end < len(runs) && runs[start].v-runs[end].v <= sameLine*min(runs[start].size, runs[end].size) {
			end++
		}
		segs = append(segs, rowSegments(runs[start:end])...)
		start = end
	}
	segs = attachScripts(segs)
	for _, s := range segs {
		slices.SortStableFunc(s.glyphs, func(a, b glyph) int {
			switch {
			case a.u0 < b.u0:
				return -1
			case a.u0 > b.u0:
				return 1
			}
			return 0
		})
		s.glyphs = dropDuplicates(s.glyphs)
	}
	return segs
}

// rowSegments joins the runs of one baseline where the gaps allow it.
func rowSegments(row []run) []*segment {
	slices.SortStableFunc(row, func(a, b run) int {
		switch {
		case a.u0 < b.u0:
			return -1
		case a.u0 > b.u0:
			return 1
		}
		return a.index - b.index
	})
	var segs []*segment
	var last *segment
	prev := 0
	for _, r := range row {
		if last != nil {
			limit := farGap
			if d := r.index - prev; d >= -streamNear && d <= streamNear {
				limit = nearGap
			}
			if r.u0-last.u1 > limit*min(r.size, last.size) || overprints(last, &r) {
				last = nil
			}
		}
		if last == nil {
			last = &segment{u0: r.u0, u1: r.u1, v: r.v, size: r.size}
			segs = append(segs, last)
		}
		last.add(r.glyphs, r.u0, r.u1, r.size)
		prev = r.index
	}
	for _, s := range segs {
		s.measure()
	}
	return segs
}

// overprints reports whether r is text printed in the place of s that differs from it. If most glyphs of r are the same as those of s in
// the same place, r is a second copy that makes s bold.
func overprints(s *segment, r *run) bool {
	overlap := min(s.u1, r.u1) - r.u0
	if overlap < r.size || overlap < 0.5*min(r.u1-r.u0, s.u1-s.u0) {
		return false
	}
	below := s.glyphs[max(0, len(s.glyphs)-maxOverprint):]
	glyphs := r.glyphs[:min(len(r.glyphs), maxOverprint)]
	same := 0
	for i := range glyphs {
		g := &glyphs[i]
		if slices.ContainsFunc(below, func(o glyph) bool { return o.text == g.text && math.Abs(o.u0-g.u0) < boldShift*g.size }) {
			same++
		}
	}
	return 2*same < len(glyphs)
}

func (s *segment) add(glyphs []glyph, u0, u1, size float64) {
	if s.glyphs == nil {
		s.glyphs = glyphs[:len(glyphs):len(glyphs)] // each glyph belongs to one run, so nothing else changes it
	} else {
		s.glyphs = append(s.glyphs, glyphs...)
	}
	s.u0, s.u1, s.size = min(s.u0, u0), max(s.u1, u1), max(s.size, size)
	s.chars += len(glyphs)
}

// measure sets size and baseline to the most common values of the glyphs, so that an initial or a symbol does not determine them.
func (s *segment) measure() {
	type count struct {
		size float64
		n    int
	}
	var room [8]count
	few := room[:0]             // the first few sizes; most segments have one
	var more map[float64]int    // further sizes
	last, rounded := -1.0, -1.0 // the size of the previous glyph
	at := -1                    // its index in few
	best := 0
	for i := range s.glyphs {
		g := &s.glyphs[i]
		if g.size != last {
			last, rounded = g.size, math.Round(g.size*10)/10
			at = slices.IndexFunc(few, func(c count) bool { return c.size == rounded })
			if at < 0 && len(few) < len(room) {
				at, few = len(few), append(few, count{size: rounded})
			}
		}
		n := 0
		if at >= 0 {
			few[at].n++
			n = few[at].n
		} else {
			if more == nil {
				more = map[float64]int{}
			}
			more[rounded]++
			n = more[rounded]
		}
		if n > best {
			best = n
			s.size, s.v = g.size, g.v
		}
	}
}

// attachScripts merges superscripts, subscripts and the like into the segment that they belong to.
func attachScripts(segs []*segment) []*segment {
	out := segs[:0]
	host := make([]*segment, len(segs))
	for i, s := range segs {
		host[i] = findBase(segs, i, s)
	}
	for i, s := range segs {
		h := host[i]
		if h == nil {
			out = append(out, s)
			continue
		}
		v, size := h.v, h.size
		h.add(s.glyphs, s.u0, s.u1, s.size)
		h.v, h.size = v, size
	}
	return out
}

// findBase returns the segment that s is a script of, or nil. segs are in descending order of v.
func findBase(segs []*segment, i int, s *segment) *segment {
	var best *segment
	distance := math.Inf(1)
	try := func(h *segment) {
		shift := s.v - h.v
		if s.size > 0.88*h.size && (s.size > 1.02*h.size || s.u1-s.u0 > 4*h.size || math.Abs(shift) > 0.55*h.size || s.chars >= h.chars) {
			return // nearly as large: only a few raised or lowered characters are a script
		}
		if shift > scriptUp*h.size || shift < -scriptDown*h.size {
			return
		}
		if s.u0 > h.u1+scriptGap*h.size || s.u1 < h.u0-scriptGap*h.size {
			return
		}
		if s.u1-s.u0 > 12*h.size { // a line of small print, not a script
			return
		}
		d := math.Abs(shift)
		if h.overlaps(s) { // used only if there is no other base
			if d += 2 * h.size; shift < -scriptDownOver*h.size {
				return
			}
		}
		if d < distance {
			best, distance = h, d
		}
	}
	reach := 4 * s.size // the base of a script is smaller than this
	for k := i - 1; k >= 0 && k >= i-maxScriptSteps && segs[k].v-s.v < reach; k-- {
		try(segs[k])
	}
	for k := i + 1; k < len(segs) && k <= i+maxScriptSteps && s.v-segs[k].v < reach; k++ {
		try(segs[k])
	}
	return best
}

// overlaps reports whether s is above or below letters of h instead of beside them. Text that belongs to a line has room of its own in it.
func (h *segment) overlaps(s *segment) bool {
	if len(h.glyphs) > maxScriptBase {
		return false
	}
	least := 0.5 * (s.u1 - s.u0)
	for i := range h.glyphs {
		if g := &h.glyphs[i]; g.u0 < s.u1 && g.u1 > s.u0 && !isBlank(g.text) {
			if least -= min(g.u1, s.u1) - max(g.u0, s.u0); least < 0 {
				return true
			}
		}
	}
	return false
}

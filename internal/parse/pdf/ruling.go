package pdf

import (
	"math"
	"slices"
)

const (
	// maxRules bounds the drawn lines of a page. Drawings have more, tables do not.
	maxRules = 4000
	// maxPathSteps bounds the steps of one path that may be lines of a table.
	maxPathSteps = 1024
	// thinRule is how thick, in points, a filled rectangle may be to count as a line.
	thinRule = 2.5
	// ruleSlack is how far apart, in points, the ends of lines that meet may be.
	ruleSlack = 3
	// shortRule is the least length of a line, in points.
	shortRule = 4
)

// rule is a drawn line parallel or perpendicular to the lines of text, in the coordinates of glyphs.
type rule struct {
	across   bool    // it is perpendicular to the text
	at       float64 // v if parallel to the text, else u
	from, to float64
}

// path collects the straight lines of a path until it is painted.
type path struct {
	x, y   float64 // the current point
	x0, y0 float64 // the start of the subpath
	lines  [][4]float64
	boxes  []box
}

// pathOperator follows the operators of paths (ISO 32000-1, 8.5). It reports whether op was one.
func (in *interpreter) pathOperator(op keyword, v [6]float64) bool {
	p := &in.lines
	m := in.state.ctm
	switch op {
	case "m":
		p.x, p.y = m.apply(v[0], v[1])
		p.x0, p.y0 = p.x, p.y
	case "l":
		x, y := m.apply(v[0], v[1])
		p.line(x, y)
	case "c":
		p.x, p.y = m.apply(v[4], v[5])
	case "v", "y":
		p.x, p.y = m.apply(v[2], v[3])
	case "h":
		p.line(p.x0, p.y0)
	case "re":
		if len(p.boxes) < maxPathSteps {
			p.boxes = append(p.boxes, makeBox([]float64{v[0], v[1], v[0] + v[2], v[1] + v[3]}).transform(m))
		}
	case "S", "s":
		if op == "s" {
			p.line(p.x0, p.y0)
		}
		in.paint(true)
	case "B", "B*", "b", "b*":
		in.paint(true)
	case "f", "F", "f*":
		in.paint(false)
	case "n":
		p.clear()
	default:
		return false
	}
	return true
}

func (p *path) line(x, y float64) {
	if len(p.lines) < maxPathSteps {
		p.lines = append(p.lines, [4]float64{p.x, p.y, x, y})
	}
	p.x, p.y = x, y
}

func (p *path) clear() { p.lines, p.boxes = p.lines[:0], p.boxes[:0] }

// paint keeps the lines of the path that may be table borders. A filled shape counts as a line if it is thin.
func (in *interpreter) paint(stroked bool) {
	p := &in.lines
	defer p.clear()
	if in.hidden > 0 {
		return
	}
	if stroked {
		for _, l := range p.lines {
			in.page.addRule(box{min(l[0], l[2]), min(l[1], l[3]), max(l[0], l[2]), max(l[1], l[3])})
		}
	} else if len(p.lines) >= 3 && len(p.lines) <= 5 { // a thin quadrilateral
		b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
		for _, l := range p.lines {
			b = box{min(b.x0, l[0], l[2]), min(b.y0, l[1], l[3]), max(b.x1, l[0], l[2]), max(b.y1, l[1], l[3])}
		}
		in.page.addRule(b)
	}
	for i, b := range p.boxes {
		thin := b.x1-b.x0 <= thinRule || b.y1-b.y0 <= thinRule
		framed := !stroked && i > 0 && b.frames(p.boxes[i-1])
		switch {
		case thin:
			in.page.addRule(b)
		case stroked || framed:
			in.page.addRule(box{b.x0, b.y0, b.x1, b.y0})
			in.page.addRule(box{b.x0, b.y1, b.x1, b.y1})
			in.page.addRule(box{b.x0, b.y0, b.x0, b.y1})
			in.page.addRule(box{b.x1, b.y0, b.x1, b.y1})
		}
	}
}

// frames reports whether b and inner are the outside and the inside of a thin frame that is filled.
func (b box) frames(inner box) bool {
	within := func(d float64) bool { return d >= 0 && d <= thinRule }
	return within(inner.x0-b.x0) && within(inner.y0-b.y0) && within(b.x1-inner.x1) && within(b.y1-inner.y1)
}

// addRule keeps a thin box as a line, in page coordinates before rotation.
func (p *pageGlyphs) addRule(b box) {
	if len(p.rules) >= maxRules {
		return
	}
	b = b.transform(turn(p.rotate))
	w, h := b.x1-b.x0, b.y1-b.y0
	switch {
	case h <= thinRule && w >= shortRule:
		p.rules = append(p.rules, rule{at: (b.y0 + b.y1) / 2, from: b.x0, to: b.x1})
	case w <= thinRule && h >= shortRule:
		p.rules = append(p.rules, rule{across: true, at: (b.x0 + b.x1) / 2, from: b.y0, to: b.y1})
	}
}

// turn returns the matrix that maps page coordinates to the coordinates of the displayed, rotated page.
func turn(rotate int) matrix {
	switch rotate {
	case 90:
		return matrix{0, -1, 1, 0, 0, 0}
	case 180:
		return matrix{-1, 0, 0, -1, 0, 0}
	case 270:
		return matrix{0, 1, -1, 0, 0, 0}
	}
	return identity
}

// along returns rules in the coordinates of glyphs whose direction is angle. It returns none if angle is not a multiple of 90.
func along(rules []rule, angle int16) []rule {
	if angle == 0 || angle%90 != 0 {
		if angle != 0 {
			return nil
		}
		return rules
	}
	out := make([]rule, 0, len(rules))
	for _, r := range rules {
		b := box{r.from, r.at, r.to, r.at}
		if r.across {
			b = box{r.at, r.from, r.at, r.to}
		}
		b = b.transform(turn(int(angle)))
		if b.x1-b.x0 > b.y1-b.y0 {
			out = append(out, rule{at: b.y0, from: b.x0, to: b.x1})
		} else {
			out = append(out, rule{across: true, at: b.x0, from: b.y0, to: b.y1})
		}
	}
	return out
}

// mergeRules joins the rules of one direction that lie on one line and meet.
func mergeRules(rules []rule, across bool) []rule {
	var out []rule
	for _, r := range rules {
		if r.across == across {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b rule) int {
		switch {
		case math.Abs(a.at-b.at) > 1.2:
			return sign(a.at - b.at)
		default:
			return sign(a.from - b.from)
		}
	})
	merged := out[:0]
	for _, r := range out {
		if n := len(merged); n > 0 && math.Abs(merged[n-1].at-r.at) <= 1.5 && r.from <= merged[n-1].to+ruleSlack && r.from >= merged[n-1].from-ruleSlack {
			merged[n-1].to = max(merged[n-1].to, r.to)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

func sign(x float64) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

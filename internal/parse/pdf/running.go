package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// runningReach is how many pages before and after a page are compared with it. Books have other headers on left pages than on right
	// ones.
	runningReach = 2
	// maxEdgeRows is how many rows the header or the footer of a page may have.
	maxEdgeRows = 3
	// edgeGap is the least distance in ems between a header or footer and the text.
	edgeGap = 1.8
	// edgeShift is how far, in ems, the position of the same header may differ between two pages.
	edgeShift = 0.6
	// edgeSize is the greatest size of a header in relation to the text. Larger ones are titles.
	edgeSize = 1.06
	// edgeLarge is the greatest size of a header that every page around it has too.
	edgeLarge = 1.25
	// maxRunningTexts bounds the running headers and footers that are remembered.
	maxRunningTexts = 4096
)

// pageLayout is a page whose glyphs are joined to segments but not yet in reading order.
type pageLayout struct {
	space    *pageSpace   // the memory of the glyphs
	groups   [][]*segment // by direction of writing, the most common first
	edges    []edge
	comments []string
	rules    []rule // in the coordinates of the first group
}

// edge is a row at the head or the foot of a page that may be the same on other pages.
type edge struct {
	segs    []*segment
	key     string // its text in lower case, each number replaced by "#"
	numbers []int
	foot    bool
	large   bool // larger than edgeSize
	v, size float64
}

// newPageLayout makes segments of what a page shows.
func newPageLayout(d *document, p *pageGlyphs, space *pageSpace) *pageLayout {
	l := &pageLayout{space: space, comments: p.comments}
	for _, glyphs := range byDirection(dropRuns(shownGlyphs(p))) {
		var tables []*segment
		if p.tree != nil {
			tables, glyphs = p.tree.taggedTables(glyphs)
		}
		segs := insertTables(makeSegments(glyphs), tables)
		l.groups = append(l.groups, segs)
		if !d.tick(segmentWork * len(segs)) {
			break
		}
	}
	if len(l.groups) > 0 && len(l.groups[0]) > 0 {
		segs := l.groups[0]
		if at := slices.IndexFunc(segs, func(s *segment) bool { return s.table == nil }); at >= 0 {
			l.rules = along(p.rules, segs[at].glyphs[0].angle)
		}
		if d.tick(len(l.rules) * len(l.rules) / 16) {
			for _, t := range findGrids(l.rules) {
				if d.tick(len(segs)) {
					segs = t.take(segs)
				}
			}
		}
		if p.tree == nil && d.tick(8*len(segs)) {
			segs = takeSheets(segs, l.rules)
		}
		l.groups[0] = segs
		l.findEdges(segs)
	}
	return l
}

// findEdges finds the separate rows at the head and at the foot of the page. segs are in descending order of v.
func (l *pageLayout) findEdges(segs []*segment) {
	size := mainSize(segs)
	l.edges = append(edgeRows(segs, size, false), edgeRows(segs, size, true)...)
}

// mainSize returns the size of most glyphs.
func mainSize(segs []*segment) float64 {
	counts := map[float64]int{}
	best, most := 0.0, 0
	for _, s := range segs {
		k := math.Round(s.size * 2)
		if counts[k] += s.chars; counts[k] > most {
			best, most = s.size, counts[k]
		}
	}
	return best
}

// edgeRows returns the rows from one end of the page up to the first wide gap.
func edgeRows(segs []*segment, size float64, foot bool) []edge {
	var rows []edge
	at := func(i int) *segment {
		if foot {
			return segs[len(segs)-1-i]
		}
		return segs[i]
	}
	for i := 0; i < len(segs); {
		first := at(i)
		row := edge{foot: foot, v: first.v, size: first.size}
		for ; i < len(segs) && math.Abs(at(i).v-first.v) <= 0.3*first.size; i++ {
			row.segs = append(row.segs, at(i))
			row.size = max(row.size, at(i).size)
		}
		if row.size > edgeLarge*size || len(rows) == maxEdgeRows {
			return nil
		}
		row.large = row.size > edgeSize*size
		rows = append(rows, row)
		if i < len(segs) && math.Abs(at(i).v-first.v) > edgeGap*max(row.size, at(i).size) {
			for k := range rows {
				rows[k].read()
			}
			return rows
		}
	}
	return nil
}

// read fills in the fields that rows are compared by.
func (e *edge) read() {
	var key strings.Builder
	line := makeLines(e.segs)
	number, inNumber := 0, false
	end := func() {
		if inNumber {
			e.numbers = append(e.numbers, number)
			number, inNumber = 0, false
		}
	}
	for i := range line {
		for _, r := range strings.ToLower(line[i].text()) {
			if r >= '0' && r <= '9' {
				if !inNumber {
					key.WriteByte('#')
				}
				number, inNumber = min(number*10+int(r-'0'), 1<<30), true
				continue
			}
			end()
			key.WriteRune(r)
		}
		end()
		key.WriteByte(' ')
	}
	e.key = strings.TrimSpace(key.String())
	if n := roman(e.key); n > 0 {
		e.key, e.numbers = "#", []int{n}
	}
}

// roman returns the value of a Roman numeral in lower case, or 0 when text is not one.
func roman(text string) int {
	values := map[byte]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100}
	total := 0
	for i := range len(text) {
		v, ok := values[text[i]]
		if !ok || len(text) > 8 {
			return 0
		}
		if i+1 < len(text) && values[text[i+1]] > v {
			v = -v
		}
		total += v
	}
	return max(total, 0)
}

// repeats reports whether o, on the page apart pages later, is the same running text. Its numbers must be equal or count the pages; without
// words at least one must count the pages.
func (e *edge) repeats(o *edge, apart int) bool {
	if e.key == "" || e.key != o.key || e.foot != o.foot || len(e.numbers) != len(o.numbers) || math.Abs(e.v-o.v) > edgeShift*e.size {
		return false
	}
	counts := false
	for i, n := range e.numbers {
		if o.numbers[i]-n == apart {
			counts = true
		} else if o.numbers[i] != n {
			return false
		}
	}
	return counts || e.words() > 0
}

// words counts the words without numbers.
func (e *edge) words() int {
	n := 0
	for w := range strings.FieldsSeq(e.key) {
		if strings.ContainsFunc(w, unicode.IsLetter) {
			n++
		}
	}
	return n
}

// pageQueue has the pages that wait until the running texts of the next pages are known.
type pageQueue struct {
	pages []*pageLayout // the last pages read
	next  int           // index of the first page that is not written
	seen  map[string]bool
	spare []*pageSpace
}

// space returns memory for the glyphs of a page.
func (q *pageQueue) space() *pageSpace {
	if n := len(q.spare); n > 0 {
		sp := q.spare[n-1]
		q.spare = q.spare[:n-1]
		return sp
	}
	return new(pageSpace)
}

// pop returns the next page that can be written, without its running texts. It returns nil when it has to wait for more pages, unless last
// is set.
func (q *pageQueue) pop(last bool) *pageLayout {
	if q.next >= len(q.pages) || !last && len(q.pages)-q.next <= runningReach {
		return nil
	}
	l := q.pages[q.next]
	drop := map[*segment]bool{}
	for i := range l.edges {
		e := &l.edges[i]
		if !q.running(e) {
			continue
		}
		// The first occurrence of a running text of several words stays; only its repetitions are dropped.
		if id := e.key; e.words() > 2 && !q.seen[id] && len(q.seen) < maxRunningTexts {
			q.seen[id] = true
			continue
		}
		for _, s := range e.segs {
			drop[s] = true
		}
	}
	if len(drop) > 0 && len(drop) < len(l.groups[0]) {
		kept := l.groups[0][:0]
		for _, s := range l.groups[0] {
			if !drop[s] {
				kept = append(kept, s)
			}
		}
		l.groups[0] = kept
	}
	q.next++
	if q.next > runningReach {
		q.pages = q.pages[1:]
		q.next--
	}
	return l
}

// running reports whether a page within runningReach has the same row in the same place. A large row must be on at least two of them and on
// both adjacent pages.
func (q *pageQueue) running(e *edge) bool {
	same := 0
	for i := max(0, q.next-runningReach); i <= q.next+runningReach && i < len(q.pages); i++ {
		if i == q.next {
			continue
		}
		has := slices.ContainsFunc(q.pages[i].edges, func(o edge) bool { return e.repeats(&o, i-q.next) })
		if has {
			same++
		}
		if has && !e.large {
			return true
		}
		if !has && e.large && (i == q.next-1 || i == q.next+1) {
			return false
		}
	}
	return e.large && same >= 2
}

// release makes the memory of a page available for others. Its edges stay for comparison.
func (q *pageQueue) release(l *pageLayout) {
	for i := range l.edges {
		l.edges[i].segs = nil
	}
	l.groups, l.rules = nil, nil
	l.space.keep()
	q.spare = append(q.spare, l.space)
	l.space = nil
}

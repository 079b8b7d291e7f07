package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// The gap between two rows of a table is at least bandGap times the usual distance of lines plus bandGapPoints points, and at most
	// maxBandGap ems.
	bandGap, bandGapPoints, maxBandGap = 1.12, 0.5, 3.2
	// minBandRows is the least number of rows of a table without ruling lines, and minBandLong how many of its rows must have a cell of
	// several lines.
	minBandRows, minBandLong = 3, 2
	// maxBandColumns bounds the columns of such a table, and maxBandLines the mean number of lines of its rows. Anything larger is columns
	// of text.
	maxBandColumns, maxBandLines = 8, 9
	// bandFill is the least share of the table's cells that must have text. Tables of two columns need pairFill, because margin notes beside
	// a few paragraphs look like them.
	bandFill, pairFill = 0.6, 0.85
	// maxCut is the greatest share of cell lines that may contain a gap as wide as the gaps between columns.
	maxCut = 0.1
	// riverGap is the least width, in ems, of the gap between columns.
	riverGap = 0.02
	// minLefts is how many segments must begin at the left edge of a column.
	minLefts = 3
	// strayStarts is the greatest share of rows whose first line begins a row in one column and continues the row above in another.
	strayStarts = 0.4
	// maxBandWork limits the segments of a page on which the reader searches for such tables.
	maxBandWork = 4000
)

// band is the lines between two horizontal gaps that no text crosses.
type band struct {
	pieces  []*segment // the segments, cut at wide gaps
	segs    []*segment
	columns []tableColumn
	top     float64 // baseline of the first line
	bottom  float64 // baseline of the last line
	size    float64
}

// takeBandTables finds tables whose rows and columns are separated by gaps alone, and replaces their segments by one table segment each.
// Without it, cells of several lines would be read as columns of text. segs are in descending order of v.
func takeBandTables(segs []*segment) []*segment {
	if len(segs) < 2*minBandRows || len(segs) > maxBandWork {
		return segs
	}
	pitch := linePitch(segs)
	if pitch == 0 {
		return segs
	}
	bands := findBands(segs, pitch)
	var out []*segment
	for i := 0; i < len(bands); {
		columns, to := bandTable(bands, i)
		if t, mark := newBandTable(bands[i:to], columns); t != nil {
			out = append(out, mark)
			i = to
			continue
		}
		out = append(out, bands[i].segs...)
		i++
	}
	return out
}

// linePitch returns the usual distance, in ems, of a line from the line above it.
func linePitch(segs []*segment) float64 {
	var all []float64
	for i, s := range segs {
		for k := i - 1; k >= 0 && k >= i-4*maxBandColumns; k-- {
			a := segs[k]
			if gap := (a.v - s.v) / s.size; gap > 2.2 {
				break
			} else if gap > 0.8 && a.u0 < s.u1 && s.u0 < a.u1 && math.Abs(a.size-s.size) < 0.05*s.size {
				all = append(all, gap)
				break
			}
		}
	}
	if len(all) < 2*minBandRows {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/5]
}

// findBands splits the segments into bands at each gap that crosses all of them.
func findBands(segs []*segment, pitch float64) []band {
	var out []band
	for _, s := range segs {
		if n := len(out); n == 0 || s.table != nil || out[n-1].segs[0].table != nil || out[n-1].bottom-s.v > bandGap*pitch*max(s.size, out[n-1].size)+bandGapPoints {
			out = append(out, band{top: s.v, bottom: s.v, size: s.size})
		}
		b := &out[len(out)-1]
		b.segs = append(b.segs, s)
		b.bottom, b.size = min(b.bottom, s.v), max(b.size, s.size)
	}
	lefts := leftEdges(segs)
	for i := range out {
		b := &out[i]
		for _, s := range b.segs {
			if s.table == nil {
				b.pieces = append(b.pieces, s.pieces(lefts)...)
			}
		}
		b.columns = rivers(b.pieces, nil)
	}
	return out
}

// leftEdges returns the positions at which several segments begin.
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

// pieces cuts a segment at its wide gaps, and at each text object that begins at one of lefts.
func (s *segment) pieces(lefts []float64) []*segment {
	var cuts []int
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

// rivers merges pieces and columns that overlap horizontally. The gaps between the returned columns are free of both.
func rivers(pieces []*segment, columns []tableColumn) []tableColumn {
	all := slices.Clone(columns)
	size := 0.0
	for _, s := range pieces {
		all = append(all, tableColumn{s.u0, s.u1})
		size = max(size, s.size)
	}
	slices.SortFunc(all, func(a, b tableColumn) int { return sign(a.u0 - b.u0) })
	out := all[:0]
	for _, c := range all {
		if n := len(out); n > 0 && c.u0 < out[n-1].u1+riverGap*size {
			out[n-1].u1 = max(out[n-1].u1, c.u1)
			continue
		}
		out = append(out, c)
	}
	return out
}

// bandTable returns the merged columns of the bands, starting at from, that may be rows of one table. to is the index after the last of
// those bands.
func bandTable(bands []band, from int) (columns []tableColumn, to int) {
	for to = from; to < len(bands); to++ {
		b := &bands[to]
		if len(b.columns) < 2 || to > from && bands[to-1].bottom-b.top > maxBandGap*b.size {
			break
		}
		merged := rivers(b.pieces, columns)
		if len(merged) > maxBandColumns || !apart(columns, merged) || !apart(b.columns, merged) || b.mono() {
			break
		}
		columns = merged
	}
	return columns, to
}

// apart reports whether each of columns lies in a merged column of its own.
func apart(columns, merged []tableColumn) bool {
	last := -1
	for _, c := range columns {
		k := slices.IndexFunc(merged, func(m tableColumn) bool { return m.u0 <= c.u0 && m.u1 >= c.u1 })
		if k == last {
			return false
		}
		last = k
	}
	return true
}

// mono reports whether most of a band is set in a monospaced font.
func (b *band) mono() bool {
	n := 0
	for _, s := range b.pieces {
		if (&line{segs: []*segment{s}}).mono() {
			n++
		}
	}
	return 2*n > len(b.pieces)
}

// newBandTable returns the table that bands make and the segment that represents it, or nil if they do not look like a table.
func newBandTable(bands []band, columns []tableColumn) (*ruledTable, *segment) {
	if len(columns) < 2 {
		return nil, nil
	}
	t := &ruledTable{vs: []float64{bands[0].top + bands[0].size}}
	for _, c := range columns {
		t.us = append(t.us, c.u0)
	}
	t.us = append(t.us, columns[len(columns)-1].u1)
	mark := &segment{table: t, u0: t.us[0], u1: t.us[len(columns)], v: bands[0].top, size: bands[0].size}
	for i := range bands {
		b := &bands[i]
		for _, s := range b.pieces {
			mark.chars += s.chars
		}
		rows := b.rows(columns)
		t.cells = append(t.cells, rows...)
		for range rows {
			t.vs = append(t.vs, b.bottom)
		}
	}
	n := len(t.cells)
	if n < minBandRows || n > maxGridRows {
		return nil, nil
	}
	filled, long, lines, items, leaders, texts, cut := 0, 0, 0, 0, 0, 0, 0
	for _, row := range t.cells {
		most := 0
		for k, cell := range row {
			if len(cell) == 0 {
				continue
			}
			in := makeLines(cell)
			filled++
			texts += len(in)
			for i := range in {
				if len(in[i].segs) > 1 {
					cut++
				}
			}
			most = max(most, len(in))
			text := in[0].text()
			if _, ok := dropLeaders(text); ok {
				leaders++
			}
			if k == 0 && marksItem(text, len(columns)) {
				items++
			}
		}
		if lines += most; most > 1 {
			long++
		}
	}
	fill := bandFill
	if len(columns) == 2 {
		fill = pairFill
	}
	if long < minBandLong || lines > maxBandLines*n || float64(filled) < fill*float64(n*len(columns)) || 2*items > n || leaders > 0 || float64(cut) > maxCut*float64(texts) {
		return nil, nil
	}
	return t, mark
}

// rows splits a band into rows of cells at the lines that begin a row. It returns the band as one row if too many of those lines also
// continue a cell, as happens when cells are centred vertically.
func (b *band) rows(columns []tableColumn) [][][]*segment {
	lines := makeLines(b.pieces)
	var rows [][][]*segment
	var above [][]*segment
	stray, close := 0, false
	for i := range lines {
		cells := make([][]*segment, len(columns))
		for _, s := range lines[i].segs {
			k := columnOf(columns, s)
			cells[k] = append(cells[k], s)
		}
		begins, both := i == 0, false
		if i > 0 {
			begins, both = beginsRow(above, cells, columns)
			close = close || lines[i-1].v-lines[i].v < 0.8*b.size
		}
		if both {
			stray++
		}
		if begins {
			rows = append(rows, make([][]*segment, len(columns)))
		}
		for k := range cells {
			rows[len(rows)-1][k] = append(rows[len(rows)-1][k], cells[k]...)
		}
		above = cells
	}
	if !close && float64(stray) <= strayStarts*float64(len(rows)-1) {
		return rows
	}
	whole := rows[0]
	for _, row := range rows[1:] {
		for k := range row {
			whole[k] = append(whole[k], row[k]...)
		}
	}
	return [][][]*segment{whole}
}

// beginsRow reports whether a line begins a new row below the line above, and whether one of its cells seems to continue the cell above all
// the same. Both lines are given as cells by column. A cell begins if there is none above it, if its first word would have fitted behind
// the text above, or if one of the two has no letters. Below a single word neither can be inferred.
func beginsRow(above, cells [][]*segment, columns []tableColumn) (begins, stray bool) {
	fresh, fits, on, unsure := 0, 0, 0, 0
	for k, cell := range cells {
		if len(cell) == 0 {
			continue
		}
		if len(above[k]) == 0 {
			fresh++
			continue
		}
		text, before := joinSegments(cell...), joinSegments(above[k]...)
		first, last := above[k][0], above[k][len(above[k])-1]
		word, ok := cell[0].firstWord()
		switch width := last.u1 - first.u0; {
		case !ok || !strings.ContainsFunc(text, unicode.IsLetter) || !strings.ContainsFunc(before, unicode.IsLetter),
			width+0.2*first.size+word <= columns[k].u1-columns[k].u0:
			fits++
		case strings.Contains(before, " "):
			on++
		default:
			unsure++
		}
	}
	leads := len(cells[0]) > 0
	begins = fresh > 0 || fits > on && (leads || fits > 1) || leads && fits == 0 && on == 0 && unsure > 1
	return begins, on > 0 && (begins || fits > 0)
}

// marksItem reports whether the text of a first cell is the marker of a list item, considering the number of columns.
func marksItem(text string, columns int) bool {
	if _, bullet := listMarker(text + " x"); bullet || isEnumerator(text) {
		return true
	}
	return columns == 2 && len(text) <= 8 && !strings.ContainsFunc(text, unicode.IsLetter)
}

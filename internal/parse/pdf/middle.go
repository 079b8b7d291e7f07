package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// maxMiddleLines bounds the lines of a row whose cells stand in its middle; those of a cell with an even number of lines stand between those
	// of one with an odd number.
	maxMiddleLines = 2*maxSheetLines + 1
	// minBetween is the least number of lines that stand between those of other cells, for cells to be in the middle of their rows.
	minBetween = 2
	// middlePart is how far, as a part of the size of the text, the middle of a cell is from that of its row at most.
	middlePart = 0.25
	// minPitchPart and maxPitchPart bound the distance of lines within a cell, as a part of the usual one. The lines of two rows are at
	// least as far apart.
	minPitchPart, maxPitchPart = 0.9, 1.15
	// emptyCost is what a cell without text takes from the score of a row, in cells with text. beginGain and onCost are what the text of a
	// column adds when it begins where a row does, and takes when it goes on there.
	emptyCost, beginGain, onCost = 1.5, 1, 2
	// maxBegun is the greatest share of the lines within cells that may begin a cell.
	maxBegun = 0.25
	// lowShare is the least share of the rows of several lines with a cell of at most half as many lines.
	lowShare = 1.0 / 3
)

// middle finds the rows of a table whose cells stand in the middle of their rows.
type middle struct {
	lines   []rowLine
	columns []tableColumn
	numbers []bool
	pitch   float64
}

// byMiddle sets where rows begin in a table whose cells stand in the middle of their rows, and reports whether it is one. No gap parts
// such rows. All cells of a row have the same middle, the lines of its highest cell fill it, and rows do not overlap: of the ways to part
// the lines like that, it takes the one with the fewest empty cells in which the fewest texts are cut.
func byMiddle(lines []rowLine, columns []tableColumn, numbers, out []bool) bool {
	between := 0
	for i := 1; i < len(lines); i++ {
		if lines[i-1].v-lines[i].v < 0.8*lines[i].size {
			between++
		}
	}
	if between < minBetween {
		return false
	}
	m := &middle{lines: lines, columns: columns, numbers: numbers, pitch: pitchOf(lines)}
	n := len(lines)
	best := make([]float64, n+1) // of the lines from one on
	ends := make([]int, n)
	for i := n - 1; i >= 0; i-- {
		best[i] = math.Inf(-1)
		for to := i + 1; to <= min(n, i+maxMiddleLines); to++ {
			if math.IsInf(best[to], -1) || to < n && !m.parted(to) {
				continue
			}
			filled, ok := m.row(i, to)
			if !ok {
				continue
			}
			score := best[to] + float64(filled) - emptyCost*float64(len(columns)-filled)
			if lines[i].whole {
				score = best[to]
			}
			if to < n {
				score += m.cut(i, to)
			}
			if score > best[i] {
				best[i], ends[i] = score, to
			}
		}
	}
	if math.IsInf(best[0], -1) || !m.holds(ends) {
		return false
	}
	for i := 0; i < n; i = ends[i] {
		out[i] = true
	}
	return true
}

// holds reports whether rows, by the line that each one ends at, are those of a table. In columns of text, text goes on from most rows to the next ones, or
// no column has fewer lines than the others. Where texts begin within rows, a cell stands in the middle of several rows.
func (m *middle) holds(ends []int) bool {
	long, low, cut := 0, 0, 0.0
	joins, begun := 0, 0
	for i := 0; i < len(ends); i = ends[i] {
		if ends[i] < len(ends) {
			cut += m.cut(i, ends[i])
		}
		least, most := len(ends), 0
		for k := range m.columns {
			n, last := 0, -1
			for at := i; at < ends[i]; at++ {
				if len(m.lines[at].cells[k]) == 0 {
					continue
				}
				if n++; last >= 0 {
					joins++
					if m.begins(k, last, at) > 0 {
						begun++
					}
				}
				last = at
			}
			if n > 0 {
				least, most = min(least, n), max(most, n)
			}
		}
		if most > 1 {
			long++
			if 2*least <= most {
				low++
			}
		}
	}
	return cut >= 0 && float64(begun) <= maxBegun*float64(joins) && low >= minLongRows && lowShare*float64(long) <= float64(low)
}

// parted reports whether a line is as far from the one above it as one of another row is.
func (m *middle) parted(i int) bool {
	return m.lines[i].whole || m.lines[i-1].whole || m.lines[i-1].v-m.lines[i].v >= minPitchPart*m.pitch
}

// row returns how many columns have text in the lines from one to another; not ok if these cannot be one row.
func (m *middle) row(from, to int) (filled int, ok bool) {
	if to == from+1 {
		return m.lines[from].filled(), true
	}
	at := (m.lines[from].v + m.lines[to-1].v) / 2
	for k := range m.columns {
		first, last := -1, -1
		for i := from; i < to; i++ {
			if m.lines[i].whole {
				return 0, false
			}
			if len(m.lines[i].cells[k]) == 0 {
				continue
			}
			if last >= 0 && m.lines[last].v-m.lines[i].v > maxPitchPart*m.pitch {
				return 0, false
			}
			if first < 0 {
				first = i
			}
			last = i
		}
		if first < 0 {
			continue
		}
		if filled++; math.Abs((m.lines[first].v+m.lines[last].v)/2-at) > middlePart*m.lines[first].size {
			return 0, false
		}
	}
	return filled, true
}

// cut weighs the texts of a row, from a line on, and of the next one, from another line on: whether they are those of two cells.
func (m *middle) cut(from, to int) (score float64) {
	for k := range m.columns {
		has := func(l rowLine) bool { return len(l.cells[k]) > 0 }
		next := slices.IndexFunc(m.lines[to:min(len(m.lines), to+maxMiddleLines)], has)
		last := to - 1
		for last >= from && !has(m.lines[last]) {
			last--
		}
		if next < 0 || last < from || m.lines[last].v-m.lines[to+next].v > maxPitchPart*m.pitch {
			continue
		}
		score += m.begins(k, last, to+next)
	}
	return score
}

// begins weighs whether the text of a column in a line is another cell than its text in a line above.
func (m *middle) begins(k, above, at int) float64 {
	cell, before := m.lines[at].cells[k], m.lines[above].cells[k]
	text := joinSegments(cell...)
	begins, words := cellBegins(before, cell, m.columns[k], text)
	switch {
	case m.numbers[k] && !strings.ContainsFunc(text, unicode.IsLetter), begins:
		return beginGain
	case words && !(endsSentence(joinSegments(before...)) && startsUpper(text)):
		return -onCost
	}
	return 0
}

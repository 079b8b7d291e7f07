package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// gapStep is how much wider than the distance of lines within a cell, as a factor and in points, the distance of two rows is at least.
	gapStep, gapStepPoints = 1.035, 0.4
	// tightStarts is the greatest share of the close lines that may begin a row for the wider distances to be those of rows.
	tightStarts = 0.1
	// numberShare is the least share of the texts of a column without letters for each of its lines to be a cell.
	numberShare = 0.75
)

// rowLine is a line of a table whose cells may go on over several lines.
type rowLine struct {
	cells [][]*segment // by column
	v     float64
	size  float64
	whole bool // one text that reaches over several columns
}

// rowLines assigns the cells of lines to columns.
func rowLines(lines []line, columns []tableColumn) []rowLine {
	out := make([]rowLine, len(lines))
	for i := range lines {
		l := &lines[i]
		out[i] = rowLine{cells: make([][]*segment, len(columns)), v: l.v, size: l.size}
		for _, s := range l.cells {
			k := columnOf(columns, s)
			out[i].cells[k] = append(out[i].cells[k], s)
		}
	}
	return out
}

// filled returns how many columns have text in a line.
func (r *rowLine) filled() int {
	n := 0
	for _, c := range r.cells {
		if len(c) > 0 {
			n++
		}
	}
	return n
}

// start is what tells that a line begins a row below the line above it: the sum of what speaks for it and against it.
type start struct {
	score float64
	firm  bool // a number stands below another one, or a word had room above
	on    bool // a text of several words may go on
}

// rowStarts says which lines begin a row: those below a line that is drawn, where that is how rows are parted; those of cells in the middle of their rows; those behind a wider gap,
// where no line within the narrow ones begins a cell; else those whose cells cannot be what goes on from the cells above. sure reports
// whether lines or gaps told.
func rowStarts(lines []rowLine, columns []tableColumn, rules []rule) (out []bool, sure bool) {
	out = make([]bool, len(lines))
	out[0] = true
	if byRule(lines, columns, rules, out) {
		return out, true
	}
	numbers := numberColumns(lines, len(columns))
	if byMiddle(lines, columns, numbers, out) {
		return out, true
	}
	starts := make([]start, len(lines))
	for i := 1; i < len(lines); i++ {
		starts[i] = startOf(lines, i, columns, numbers)
	}
	if byGap(lines, starts, out) {
		return out, true
	}
	pitch := pitchOf(lines)
	for i := 1; i < len(lines); i++ {
		score := starts[i].score
		switch gap := lines[i-1].v - lines[i].v; {
		case lines[i].whole || lines[i-1].whole:
			score += 2
		case gap > wrapGap*pitch+gapStepPoints:
			score += 2.5
		case gap > gapStep*pitch+gapStepPoints:
			score += 0.7
		}
		out[i] = score > 0
	}
	if len(lines) > 2 && headGoesOn(&lines[0], &lines[1]) && !headGoesOn(&lines[1], &lines[2]) {
		out[1] = false
	}
	return out, false
}

// byRule sets where rows begin by drawn lines and reports whether that is how they are parted.
func byRule(lines []rowLine, columns []tableColumn, rules []rule, out []bool) bool {
	ruled := 0
	left, right := columns[0].u1, columns[len(columns)-1].u0
	for i := 1; i < len(lines); i++ {
		above, l := &lines[i-1], &lines[i]
		out[i] = slices.ContainsFunc(rules, func(r rule) bool {
			return !r.across && r.at < above.v && r.at > l.v+0.5*l.size && r.from < left && r.to > right
		})
		if out[i] {
			ruled++
		}
	}
	if ruled >= 2 && 3*ruled >= len(lines)-1 {
		return true
	}
	clear(out[1:])
	return false
}

// pitchOf returns the distance of lines that follow one another within a cell, or of the closest rows.
func pitchOf(lines []rowLine) float64 {
	var gaps []float64
	for k := range lines[0].cells {
		last := -1
		for i := range lines {
			if len(lines[i].cells[k]) == 0 {
				continue
			}
			if last >= 0 {
				if gap := (lines[last].v - lines[i].v) / lines[i].size; gap > 0.8 && gap < 2.2 {
					gaps = append(gaps, gap*lines[i].size)
				}
			}
			last = i
		}
	}
	if len(gaps) == 0 {
		return 1.2 * lines[0].size
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/10]
}

// byGap sets where rows begin by the gaps before them and reports whether these tell: some are wider than the others, and behind the
// narrow ones hardly any line begins a row.
func byGap(lines []rowLine, starts []start, out []bool) bool {
	pitch := pitchOf(lines)
	wide, narrow, firm, against, between := 0, 0, 0, 0, 0
	several, low, first := 0, 0, 0 // rows of several lines, those whose first cell stands at their foot, and where the row begins
	for i := 1; i < len(lines); i++ {
		if lines[i-1].v-lines[i].v < 0.8*lines[i].size {
			between++
		}
		if gap := lines[i-1].v - lines[i].v; gap > gapStep*pitch+gapStepPoints {
			wide++
			if i-first > 1 {
				if several++; len(lines[first].cells[0]) == 0 && len(lines[i-1].cells[0]) > 0 {
					low++
				}
			}
			first = i
			if gap < wrapGap*pitch && starts[i].on && !starts[i].firm {
				against++
			}
			continue
		}
		narrow++
		if starts[i].firm && i > 1 {
			firm++
		}
	}
	// Where lines stand between those of other cells, cells stand in the middle of their rows, and only gaps tell; as where they stand at their
	// foot.
	if wide < 2 || narrow == 0 || between < 2 && (low < 2 || 2*low <= several) && (float64(firm) > tightStarts*float64(narrow) || 2*against > wide+2) {
		return false
	}
	for i := 1; i < len(lines); i++ {
		out[i] = lines[i-1].v-lines[i].v > gapStep*pitch+gapStepPoints
	}
	return true
}

// numberColumns says which columns hold texts without letters below their heads.
func numberColumns(lines []rowLine, columns int) []bool {
	out := make([]bool, columns)
	for k := range out {
		texts, numbers := 0, 0
		for i := 1; i < len(lines); i++ {
			if cell := lines[i].cells[k]; len(cell) > 0 {
				texts++
				if !strings.ContainsFunc(joinSegments(cell...), unicode.IsLetter) {
					numbers++
				}
			}
		}
		out[k] = numbers >= 2 && float64(numbers) >= numberShare*float64(texts)
	}
	return out
}

// startOf weighs whether a line begins a row.
func startOf(lines []rowLine, i int, columns []tableColumn, numbers []bool) start {
	var out start
	l, above := &lines[i], &lines[i-1]
	for k, cell := range l.cells {
		if len(cell) == 0 {
			continue
		}
		text := joinSegments(cell...)
		if numbers[k] && !strings.ContainsFunc(text, unicode.IsLetter) {
			out.score, out.firm = out.score+2, true
			continue
		}
		if len(above.cells[k]) == 0 {
			out.score += 1.5
			continue
		}
		switch begins, words := cellBegins(above.cells[k], cell, columns[k], text); {
		case begins:
			out.score, out.firm = out.score+1.5, true
		case words && endsSentence(joinSegments(above.cells[k]...)) && startsUpper(text):
			out.score += 0.6
		case words:
			out.score, out.on = out.score-1, true
		case k == 0 && l.filled() > 1 && (len(text) < 3 || !startsLower(text) || startsLower(joinSegments(above.cells[k]...))):
			out.score += 0.8
		case k == 0:
			out.score -= 0.8
		default:
			out.score -= 0.1
		}
	}
	if cell := l.cells[0]; len(cell) > 0 {
		if out.score += 0.3; startsUpper(joinSegments(cell...)) {
			out.score += 0.3
		}
	} else {
		out.score -= 1.2
	}
	return out
}

// cellBegins reports whether text stands below that of another cell and does not go on from it: its first word had room there, or one of
// them has no letters. Below a single word that fills its column nothing tells; words reports whether there are several.
func cellBegins(above, cell []*segment, column tableColumn, text string) (begins, words bool) {
	before := joinSegments(above...)
	first, last := above[0], above[len(above)-1]
	if last.endsWithHyphen() {
		return false, true
	}
	word, ok := cell[0].firstWord()
	letters := strings.ContainsFunc(text, unicode.IsLetter) && strings.ContainsFunc(before, unicode.IsLetter)
	if !ok || last.u1-first.u0+0.2*first.size+word <= column.u1-column.u0 {
		return true, false
	}
	return false, letters && strings.Contains(before, " ")
}

// startsUpper reports whether text begins with a capital letter.
func startsUpper(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(r)
}

// headGoesOn reports whether each cell of a header goes on in the line below it: they begin with capitals, and go on with small letters.
func headGoesOn(above, l *rowLine) bool {
	if l.filled() < 2 || above.v-l.v >= wrapGap*l.size {
		return false
	}
	for k, cell := range l.cells {
		if len(cell) == 0 {
			continue
		}
		if len(above.cells[k]) == 0 {
			return false
		}
		first, _ := utf8.DecodeRuneInString(joinSegments(cell...))
		head, _ := utf8.DecodeRuneInString(joinSegments(above.cells[k]...))
		if !unicode.IsLower(first) || !unicode.IsUpper(head) {
			return false
		}
	}
	return true
}

// gatherRows puts the lines of each row together, by column.
func gatherRows(lines []rowLine, begins []bool) [][][]*segment {
	var rows [][][]*segment
	for i := range lines {
		if begins[i] {
			rows = append(rows, make([][]*segment, len(lines[i].cells)))
		}
		row := rows[len(rows)-1]
		for k, cell := range lines[i].cells {
			row[k] = append(row[k], cell...)
		}
	}
	return rows
}

// joinHeads puts columns together of which one has the head alone, and the one beside it all other texts: a head stands at the other
// side of its column than numbers do. It returns the rows, and for each column of before the one that it is in.
func joinHeads(rows [][][]*segment) ([][][]*segment, []int) {
	if len(rows) < 2 {
		return rows, nil
	}
	n := len(rows[0])
	at := make([]int, n)
	use := func(k int) (head, body int) {
		for i, row := range rows {
			if len(row[k]) > 0 {
				if i == 0 {
					head++
				} else {
					body++
				}
			}
		}
		return head, body
	}
	k, to := 0, 0
	joined := false
	for ; k < n; k, to = k+1, to+1 {
		at[k] = to
		if k+1 == n {
			break
		}
		h0, b0 := use(k)
		h1, b1 := use(k + 1)
		if h0 == 1 && b0 == 0 && h1 == 0 && b1 > 0 || h0 == 0 && b0 > 0 && h1 == 1 && b1 == 0 {
			k++
			at[k] = to
			joined = true
		}
	}
	if !joined || to < 2 && k < n {
		return rows, nil
	}
	width := at[n-1] + 1
	if width < 2 {
		return rows, nil
	}
	out := make([][][]*segment, len(rows))
	for i, row := range rows {
		out[i] = make([][]*segment, width)
		for k, cell := range row {
			out[i][at[k]] = append(out[i][at[k]], cell...)
		}
	}
	return out, at
}

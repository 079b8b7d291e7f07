package chunk

import "strings"

// Bounds on what a part of a wide row repeats.
const (
	maxRepeatedCell = 100 // bytes of a cell: a name of a column, or the first cell of the row
	// widest is how many times as long as a row its header may be. With a longer one, the parts would repeat mostly names.
	widest = 4
)

// wideRow cuts a row of a table into parts that fit into a chunk each, if the row and the header of its table do not fit together. A part is
// some columns of the row. It is preceded by their names and the first cell of the row, which tells what the row is about. The parts have about the
// same size, since a short one would come first for every question that has the first cell's words. wideRow reports whether it cut the row.
func (d *document) wideRow(b block, a atom) bool {
	head, size := d.head, b.end-b.start
	if n := head.end - head.start; head.end == 0 || n <= d.o.MaxBytes/2 && n+size < d.o.MaxBytes || n > widest*size || d.src[b.start] != '|' {
		return false
	}
	ends := cellEnds(d.src, b.start, b.end)
	if d.names == nil {
		d.names = d.headNames()
	}
	if len(ends) < 2 || len(d.names) < 2 {
		return false
	}
	label := repeated(d.src[b.start+1 : ends[0]-1])
	column := func(i int) int { // bytes of a column in its part
		from, name := b.start, ""
		if i > 0 {
			from = ends[i-1]
		}
		if i < len(d.names) {
			name = d.names[i]
		}
		return len(name) + len(" "+" | --- |") + ends[i] - from
	}
	total := 0
	for i := range ends {
		total += column(i)
	}
	limit := max(1, d.o.TargetBytes-len(label)-len("|\n|\n|  | "))
	parts := (total + limit - 1) / limit
	told := len(strings.TrimSpace(d.src[b.start+1:ends[0]-1])) <= maxRepeatedCell // each part tells all of the first cell
	done, part := 0, 0                                                            // bytes of the columns before; number of the part
	for i := 0; i < len(ends); {
		part++
		p := widePart{lead: "| " + label + " | "}
		from := b.start
		if i == 0 {
			p.lead = ""
		} else {
			p.add(d.names[0])
			from, _ = trim(d.src, ends[i-1], b.end)
		}
		first := i
		for ; i < len(ends); i++ {
			name := ""
			if i < len(d.names) {
				name = d.names[i]
			}
			size := p.size() + len(name) + len(" "+" | --- |") + ends[i] - from
			if size > d.o.MaxBytes || i > first && !(i == 1 && told) && (done+column(i)/2)*parts > total*part {
				break
			}
			done += column(i)
			p.add(name)
		}
		if i == first || i == 1 && told && i < len(ends) { // one cell is too long for a chunk, perhaps with the first one before it
			d.longCell(&p, from, ends[i], i, label, a)
			done += column(i)
			i++
			continue
		}
		d.pieces = append(d.pieces, p.String())
		cut := a
		cut.piece, cut.start, cut.end = int32(len(d.pieces)), from, ends[i-1]
		d.atoms = append(d.atoms, cut)
	}
	return true
}

// longCell cuts the cell of column i, which is too long for a chunk, into parts below the name of its column and beside the first cell of the row. A
// first cell that is too long stands alone, as does a cell beside names that leave it little room.
func (d *document) longCell(p *widePart, from, to, i int, label string, a atom) {
	if i > 0 && i < len(d.names) {
		p.add(d.names[i])
	}
	lead := "| " + label + " | "
	room := d.o.MaxBytes - p.size() - len(lead)
	if i == 0 || room < d.o.MaxBytes/3 {
		a.kind = item
		d.cut(from, to, a)
		return
	}
	target := min(room, max(d.o.TargetBytes-p.size()-len(lead), room/2))
	for parts := (to - from + target - 1) / target; from < to; parts-- {
		end := to
		if size := (end - from) / max(1, parts); parts > 1 && size < end-from {
			end = cutPoint(d.src, from+size*2/3, min(from+size*4/3, from+room, end))
		} else if end-from > room {
			end = cutPoint(d.src, from+room*2/3, from+room)
		}
		d.pieces = append(d.pieces, p.String())
		cut := a
		cut.piece = int32(len(d.pieces))
		cut.start, cut.end = trim(d.src, from, end)
		d.atoms = append(d.atoms, cut)
		from, p.lead = end, lead
		from, _ = trim(d.src, from, to)
	}
}

// widePart is what stands before a part of a wide row.
type widePart struct {
	names, rule strings.Builder
	lead        string // the first cell of the row
}

func (p *widePart) add(name string) {
	p.names.WriteString(" " + name + " |")
	p.rule.WriteString(" --- |")
}

func (p *widePart) size() int { return len("|\n|\n") + p.names.Len() + p.rule.Len() + len(p.lead) }

func (p *widePart) String() string {
	return "|" + p.names.String() + "\n|" + p.rule.String() + "\n" + p.lead
}

// headNames returns the names of the columns of the current table.
func (d *document) headNames() []string {
	line, _, _ := strings.Cut(d.src[d.head.start:d.head.end], "\n")
	end := d.head.start + len(strings.TrimRight(line, " \t\r"))
	from := d.head.start
	var names []string
	if d.src[from] == '|' {
		from++
	}
	for _, to := range cellEnds(d.src, d.head.start, end) {
		names = append(names, repeated(d.src[from:max(from, to-1)]))
		from = to
	}
	return names
}

// repeated returns the beginning of a cell that fits into a header.
func repeated(cell string) string {
	cell = strings.TrimSpace(cell)
	if len(cell) > maxRepeatedCell {
		at := cutPoint(cell, maxRepeatedCell*2/3, maxRepeatedCell)
		cell = strings.TrimRight(strings.TrimSpace(cell[:at]), `\`)
	}
	return cell
}

// cellEnds returns the offset behind the bar at the end of each cell of a row that begins at start with a bar or with its first cell.
func cellEnds(src string, start, end int) []int {
	var ends []int
	for i := start + 1; i < end; i++ {
		if src[i] == '|' && src[i-1] != '\\' {
			ends = append(ends, i+1)
		}
	}
	if n := len(ends); n == 0 || ends[n-1] < end {
		ends = append(ends, end)
	}
	return ends
}

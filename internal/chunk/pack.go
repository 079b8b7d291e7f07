package chunk

// open is the chunk being filled.
type open struct {
	first, last int    // its atoms, both included
	prefix      string // repeated header of a table
	from        int    // offset in the source where Text begins, overlap included; only without prefix
	top         int32  // its outermost section, the first one
	content     bool   // holds more than headings
}

// pack fills chunks with atoms, in order.
func (d *document) pack() []Chunk {
	chunks := make([]Chunk, 0, len(d.src)/d.o.TargetBytes+1)
	if len(d.atoms) == 0 {
		return chunks
	}
	cur := d.begin(0)
	d.addPiece(&cur)
	for i := 1; i < len(d.atoms); i++ {
		if d.joins(cur, i) {
			cur.last = i
			cur.content = cur.content || d.atoms[i].kind != heading
			continue
		}
		chunks = append(chunks, d.close(cur))
		next := d.begin(i)
		d.addContext(&next, cur)
		cur = next
	}
	return append(chunks, d.close(cur))
}

func (d *document) begin(i int) open {
	return open{first: i, last: i, from: d.atoms[i].start, top: d.atoms[i].section, content: d.atoms[i].kind != heading}
}

// close makes the chunk.
func (d *document) close(c open) Chunk {
	start, end := d.atoms[c.first].start, d.atoms[c.last].end
	return Chunk{
		Text: c.prefix + d.src[c.from:end], Start: start, End: end,
		Heading: d.path(d.commonSection(c.first, c.last+1)),
	}
}

// joins reports whether atom i goes into chunk c.
func (d *document) joins(c open, i int) bool {
	target, limit := d.o.TargetBytes, d.o.MaxBytes
	a, last := d.atoms[i], d.atoms[c.last]
	if a.piece > 0 || last.piece > 0 {
		return false
	}
	if len(c.prefix) > limit/4 { // else it would hold more header than rows
		target = limit
	}
	size := func(end int) int { return len(c.prefix) + end - c.from }
	if size(a.end) > limit {
		return false
	}
	if a.section != last.section {
		whole := size(d.sections[a.section].end) <= target
		if !c.content {
			return whole || d.within(a.section, last.section) // a heading alone says nothing
		}
		// Small pairs of turns join whole, below the parent that they share.
		return d.conversation && whole && d.within(a.section, max(0, d.sections[c.top].parent))
	}
	end := d.sections[a.section].end
	switch {
	case size(a.end) <= target:
		return true
	case last.kind == heading || last.kind == tableHead:
		return true
	case size(last.end) < target/4: // too small to stand alone
		return true
	case end-a.start < target/4 && size(end) <= limit: // the remainder would be too small
		return true
	}
	return false
}

// addPiece puts the names of its columns before a chunk that is a part of a wide row.
func (d *document) addPiece(c *open) {
	if n := d.atoms[c.first].piece; n > 0 {
		c.prefix = d.pieces[n-1]
	}
}

// addContext repeats context from the previous chunk at the head of chunk c:
// the header of a table, or the last sentences of a paragraph.
func (d *document) addContext(c *open, before open) {
	a, last := d.atoms[c.first], d.atoms[before.last]
	room := d.o.MaxBytes - (a.end - a.start)
	switch {
	case a.piece > 0:
		d.addPiece(c)
	case a.kind == tableRow:
		head := d.atoms[a.table]
		if n := head.end - head.start; n <= d.o.MaxBytes/2 && n < room && !head.partial {
			c.prefix = d.src[head.start:head.end] + "\n"
		}
	case a.kind == paragraph && last.kind == paragraph && a.section == last.section:
		first := before.last
		for first > before.first && d.atoms[first-1].kind == paragraph && d.atoms[first-1].section == last.section {
			first--
		}
		earliest := a.start - min(d.o.OverlapBytes, room)
		if d.atoms[first].partial { // it does not begin with a sentence
			earliest = max(earliest, d.atoms[first].start+1)
		}
		for s := range sentences(d.src, d.atoms[first].start, last.end) {
			if s.start >= earliest {
				c.from = s.start
				break
			}
		}
	}
}

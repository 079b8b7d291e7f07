package local

import "math"

// content is what a block says of its partition, beside vectors and postings: the
// sources that came since the block before, those that went, and what changed about
// older ones. Blocks are read from the oldest to the newest.
type content struct {
	drops   []int64 // sources of earlier blocks that are gone
	names   []string
	sources []storedSource
	tags    []storedTags // of new sources, and of older ones where they changed
	keys    []string
	graph   []storedGraph // likewise
}

type storedSource struct {
	num, time, length int64
	name              uint32 // in names, plus 1; 0: none
	first             uint32
	rows              []storedRow
}

type storedRow struct {
	chunk   int64
	ordinal int32
	speaker uint32 // in names, plus 1; 0: none
	flags   uint8
}

type storedTags struct {
	source int64
	tags   []uint64
}

type storedGraph struct {
	source int64
	refs   []storedRef
}

type storedRef struct {
	row    uint32
	entity int64
	key    uint32 // in keys
	weight float32
}

// encodeRows writes drops, names and sources with their rows:
//
//	drops    count; distance to the source before
//	names    count; text
//	sources  count; distance to the source before, time (8 bytes), length, name,
//	         distance of the first row to the end of the source before, and
//	         the number of rows; for each row the distance to the chunk before, the
//	         ordinal less its place, the speaker, and the flags (1 byte)
//
// Counts, names and rows are unsigned varints, distances signed ones.
func (c *content) encodeRows() []byte {
	var e encoder
	e.uint(uint64(len(c.drops)))
	last := int64(0)
	for _, d := range c.drops {
		e.int(d - last)
		last = d
	}
	e.uint(uint64(len(c.names)))
	for _, s := range c.names {
		e.text(s)
	}
	e.uint(uint64(len(c.sources)))
	last, end, chunk := 0, uint32(0), int64(0)
	for i := range c.sources {
		s := &c.sources[i]
		e.int(s.num - last)
		e.fixed(uint64(s.time))
		e.int(s.length)
		e.uint(uint64(s.name))
		e.uint(uint64(s.first - end))
		e.uint(uint64(len(s.rows)))
		for j, r := range s.rows {
			e.int(r.chunk - chunk)
			e.int(int64(r.ordinal) - int64(j))
			e.uint(uint64(r.speaker))
			e.byte(r.flags)
			chunk = r.chunk
		}
		last, end = s.num, s.first+uint32(len(s.rows))
	}
	return e.buf
}

// rowReader takes what a section of rows holds, in its order.
type rowReader struct {
	drop   func(source int64) error
	names  func(names []string)
	count  func(sources int)
	source func(s *storedSource, rows int) error // without its rows, which follow
	row    func(r storedRow)
}

// readRows reads what encodeRows wrote. Rows must rise and lie below limit.
func readRows(b []byte, limit uint32, to *rowReader) error {
	const leastSource, leastRow = 13, 4
	d := decoder{buf: b}
	last := int64(0)
	for range d.count(1) {
		last += d.int()
		if d.err != nil {
			return d.err
		}
		if err := to.drop(last); err != nil {
			return err
		}
	}
	names := make([]string, d.count(1))
	for i := range names {
		names[i] = d.text()
	}
	to.names(names)
	name := func() uint32 {
		n := d.uint32()
		if n > uint32(len(names)) {
			d.fail()
			return 0
		}
		return n
	}
	last, end, chunk := 0, uint64(0), int64(0)
	var s storedSource
	sources := d.count(leastSource)
	to.count(sources)
	for range sources {
		last += d.int()
		s = storedSource{num: last, time: int64(d.fixed()), length: d.int(), name: name()}
		first := end + uint64(d.uint32())
		n := d.count(leastRow)
		if end = first + uint64(n); end > uint64(limit) {
			d.fail()
		}
		if d.err != nil {
			return d.err
		}
		s.first = uint32(first)
		if err := to.source(&s, n); err != nil {
			return err
		}
		for j := range n {
			chunk += d.int()
			to.row(storedRow{chunk, int32(d.int() + int64(j)), name(), d.byte()})
		}
	}
	return d.end()
}

// decodeRows reads what encodeRows wrote.
func (c *content) decodeRows(b []byte, limit uint32) error {
	return readRows(b, limit, &rowReader{
		drop: func(source int64) error {
			c.drops = append(c.drops, source)
			return nil
		},
		names: func(names []string) { c.names = names },
		count: func(sources int) { c.sources = make([]storedSource, 0, sources) },
		source: func(s *storedSource, rows int) error {
			s.rows = make([]storedRow, 0, rows)
			c.sources = append(c.sources, *s)
			return nil
		},
		row: func(r storedRow) {
			s := &c.sources[len(c.sources)-1]
			s.rows = append(s.rows, r)
		},
	})
}

// encodeTags writes for each source its distance to the one before, the number of
// its tags, and the tags, 8 bytes each.
func (c *content) encodeTags() []byte {
	var e encoder
	e.uint(uint64(len(c.tags)))
	last := int64(0)
	for _, t := range c.tags {
		e.int(t.source - last)
		e.uint(uint64(len(t.tags)))
		for _, tag := range t.tags {
			e.fixed(tag)
		}
		last = t.source
	}
	return e.buf
}

func (c *content) decodeTags(b []byte) error {
	d := decoder{buf: b}
	c.tags = make([]storedTags, d.count(2))
	last := int64(0)
	for i := range c.tags {
		last += d.int()
		t := storedTags{last, make([]uint64, d.count(8))}
		for j := range t.tags {
			t.tags[j] = d.fixed()
		}
		c.tags[i] = t
		if d.err != nil {
			break
		}
	}
	return d.end()
}

// encodeGraph writes the keys; then for each source its distance to the one before,
// the number of its mentions, and of each the row, the entity, the key and the
// weight (4 bytes).
func (c *content) encodeGraph() []byte {
	var e encoder
	e.uint(uint64(len(c.keys)))
	for _, k := range c.keys {
		e.text(k)
	}
	e.uint(uint64(len(c.graph)))
	last := int64(0)
	for _, g := range c.graph {
		e.int(g.source - last)
		e.uint(uint64(len(g.refs)))
		for _, r := range g.refs {
			e.uint(uint64(r.row))
			e.int(r.entity)
			e.uint(uint64(r.key))
			e.fixed32(math.Float32bits(r.weight))
		}
		last = g.source
	}
	return e.buf
}

func (c *content) decodeGraph(b []byte) error {
	const leastRef = 7
	d := decoder{buf: b}
	c.keys = make([]string, d.count(1))
	for i := range c.keys {
		c.keys[i] = d.text()
	}
	c.graph = make([]storedGraph, d.count(2))
	last := int64(0)
	for i := range c.graph {
		last += d.int()
		g := storedGraph{last, make([]storedRef, d.count(leastRef))}
		for j := range g.refs {
			r := storedRef{row: d.uint32(), entity: d.int(), key: d.uint32(), weight: math.Float32frombits(d.fixed32())}
			if r.key >= uint32(len(c.keys)) {
				d.fail()
				r.key = 0
			}
			g.refs[j] = r
		}
		c.graph[i] = g
		if d.err != nil {
			break
		}
	}
	return d.end()
}

// encodePlaces writes which rows the vectors of a section belong to, as runs: their
// number, and of each the distance of its first row to the end of the run before and
// its length.
func encodePlaces(rows []uint32) []byte {
	var runs []uint32
	for i, r := range rows {
		if i == 0 || r != rows[i-1]+1 {
			runs = append(runs, r, 0)
		}
		runs[len(runs)-1]++
	}
	var e encoder
	e.uint(uint64(len(runs) / 2))
	end := uint32(0)
	for i := 0; i < len(runs); i += 2 {
		e.uint(uint64(runs[i] - end))
		e.uint(uint64(runs[i+1]))
		end = runs[i] + runs[i+1]
	}
	return e.buf
}

// decodePlaces reads the rows of n vectors, which rise and must lie below limit.
// Where they follow each other without a gap it returns the first alone.
func decodePlaces(b []byte, n int, limit uint32) (first uint32, rows []uint32, err error) {
	d := decoder{buf: b}
	end, total := uint64(0), uint64(0)
	runs := d.count(2)
	for i := range runs {
		from := end + uint64(d.uint32())
		length := uint64(d.uint32())
		end, total = from+length, total+length
		if end > uint64(limit) || length == 0 || total > uint64(n) {
			d.fail()
			break
		}
		if i == 0 {
			first = uint32(from)
		}
		if runs > 1 {
			for r := from; r < end; r++ {
				rows = append(rows, uint32(r))
			}
		}
	}
	if total != uint64(n) {
		d.fail()
	}
	return first, rows, d.end()
}

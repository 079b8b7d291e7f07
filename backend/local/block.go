package local

import "math"

// content is what a block records about its partition, except vectors and postings: the sources added
// since the block before, the sources deleted since then, and the changes of older sources.
// Blocks are read from the oldest to the newest.
type content struct {
	drops   []storedDrop // deleted sources of earlier blocks
	names   []string
	sources []storedSource
	tags    []storedTags // of new sources, and of older sources whose tags changed
	keys    []string
	graph   []storedGraph // mentions of new sources, and of older sources whose mentions changed
}

// storedDrop is a deleted source: its number and its first row.
type storedDrop struct {
	num   int64
	first uint32
}

// storedSource is a source as stored. Its name is an index in names plus 1; 0 is no name.
type storedSource struct {
	num int64
	source
	at []storedRow
}

type storedRow struct {
	chunk   int64
	ordinal int32
	speaker uint32 // index in names plus 1; 0: none
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
	key    uint32 // index in keys
	weight float32
}

// encodeTags writes the number of sources, then the sources. A source is the difference between its
// number and the number before, the number of its tags, and the tags, 8 bytes each.
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

// decodeGraph reads mentions as earlier releases wrote them: the keys, then the sources.
// A source is the difference between its number and the number before, the number of its mentions, and the mentions.
// A mention is its row, entity, key and weight (4 bytes).
func (c *content) decodeGraph(b []byte) error {
	const leastRef, refsAtOnce = 7, 4096
	d := decoder{buf: b}
	c.keys = make([]string, d.count(1))
	for i := range c.keys {
		c.keys[i] = d.text()
	}
	c.graph = make([]storedGraph, d.count(2))
	last := int64(0)
	var room []storedRef // memory shared by the mentions of several sources
	for i := range c.graph {
		last += d.int()
		n := d.count(leastRef)
		if n > len(room) {
			room = make([]storedRef, max(n, min(refsAtOnce, len(b)/leastRef)))
		}
		g := storedGraph{last, room[:n:n]}
		room = room[n:]
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

// encodePlaces writes the rows that the vectors of a section belong to, as runs of consecutive rows.
// It writes the number of runs, then the runs. A run is the distance of its first row from the end
// of the run before, and its length.
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

// decodePlaces reads the rows of n vectors. The rows must rise and lie below limit; otherwise the error is errFormat.
func decodePlaces(b []byte, n int, limit uint32) (places, error) {
	d := decoder{buf: b}
	var p places
	end := uint64(0)
	for range d.count(2) {
		from := end + uint64(d.uint32())
		length := uint64(d.uint32())
		end = from + length
		if end > uint64(limit) || length == 0 || uint64(p.n)+length > uint64(n) {
			d.fail()
			break
		}
		p.add(uint32(from), uint32(length))
	}
	if uint64(p.n) != uint64(n) {
		d.fail()
	}
	return p, d.end()
}

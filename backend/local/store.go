package local

import (
	"context"
	"io"
	"slices"

	"github.com/contextmem/contextmem/internal/simd"
	"github.com/contextmem/contextmem/internal/vector"
)

// alignRows: after a tail of at least so many rows the next tail begins at a multiple of
// 64, so that searches can use the words of a filter's set without copying them.
const alignRows = 256

// dirty reports whether the partition has changes for the next flush. A partition without
// columns has none, because every change builds them first.
func (p *partition) dirty() bool {
	if !p.has(facetColumns) {
		return false
	}
	return p.sealed != nil || p.cleared || len(p.chunk) > int(p.tailFrom) || len(p.dropped)+len(p.changedTags)+len(p.changedGraph) > 0
}

// tailRows returns the number of rows in the tail, which are only in memory.
func (p *partition) tailRows() int { return len(p.chunk) - int(p.tailFrom) }

// pressure returns the length of the tail in rows, or the number of its terms divided by maxTailTerms if that is more.
func (p *partition) pressure() int { return max(p.tailRows(), int(p.tailTerms/maxTailTerms)) }

// full reports whether the tail is long enough to be flushed.
func (p *partition) full() bool { return p.pressure() >= p.flushAt }

// tail collects the changes for the next flush, other than vectors and postings.
func (p *partition) tail() *content {
	c := &content{drops: p.dropped}
	names := newInterner(&c.names)
	keys := newInterner(&c.keys)
	graph := func(at uint32) {
		g := storedGraph{source: p.sourceNum[at]}
		g.refs = make([]storedRef, 0, len(p.refsOf[at]))
		for _, r := range p.refsOf[at] {
			g.refs = append(g.refs, storedRef{r.row, p.mentions.entities[r.entity].num, keys.number(p.mentions.keys[r.key].text), r.weight})
		}
		c.graph = append(c.graph, g)
	}
	for _, at := range sorted(p.changedTags) {
		c.tags = append(c.tags, storedTags{p.sourceNum[at], p.tagsOf[at]})
	}
	for _, at := range sorted(p.changedGraph) {
		graph(at)
	}
	first := len(p.sources)
	for first > 0 && p.sources[first-1].first >= p.tailFrom {
		first--
	}
	n := len(p.sources) - first
	c.sources, c.tags = make([]storedSource, 0, n), slices.Grow(c.tags, n)
	rows := make([]storedRow, 0, p.tailRows()) // of all sources
	for at := first; at < len(p.sources); at++ {
		s := &p.sources[at]
		if !p.alive(uint32(at)) {
			continue
		}
		out := storedSource{num: p.sourceNum[at], source: *s}
		if s.name != 0 {
			out.name = names.number(p.names[s.name]) + 1
		}
		for r := s.first; r < s.first+s.rows; r++ {
			row := storedRow{chunk: p.chunk[r], ordinal: p.ordinal[r], flags: p.flags[r]}
			if p.speaker[r] != 0 {
				row.speaker = names.number(p.names[p.speaker[r]]) + 1
			}
			rows = append(rows, row)
		}
		out.at = rows[len(rows)-int(s.rows):]
		c.sources = append(c.sources, out)
		c.tags = append(c.tags, storedTags{out.num, p.tagsOf[at]})
		if len(p.refsOf[at]) > 0 {
			graph(uint32(at))
		}
	}
	return c
}

// interner numbers strings from 0 in the order of their first use.
type interner struct {
	list *[]string
	of   map[string]uint32
}

func newInterner(list *[]string) interner { return interner{list, make(map[string]uint32)} }

func (n interner) number(s string) uint32 {
	i, ok := n.of[s]
	if !ok {
		i = uint32(len(*n.list))
		*n.list = append(*n.list, s)
		n.of[s] = i
	}
	return i
}

func sorted(set map[uint32]struct{}) []uint32 {
	out := make([]uint32, 0, len(set))
	for at := range set {
		out = append(out, at)
	}
	slices.Sort(out)
	return out
}

// rows returns the number of rows of all sources.
func (c *content) rows() (n int) {
	for i := range c.sources {
		n += len(c.sources[i].at)
	}
	return n
}

// writeContent adds the sections of c to the newest block of the file. alone is true when
// this block is the first of its partition.
func (w *fileWriter) writeContent(c *content, alone bool) error {
	b := w.blocks[len(w.blocks)-1]
	b.rows = uint32(c.rows())
	for _, s := range []struct {
		kind sectionKind
		skip bool
		data func() []byte
	}{
		{secRows, len(c.drops)+len(c.sources) == 0, func() []byte { return c.encodeRows(b.nextRow, alone) }},
		{secTags, len(c.tags) == 0, c.encodeTags},
		{secLinks, len(c.graph) == 0, c.encodeLinks},
	} {
		if s.skip {
			continue
		}
		if err := w.sectionOf(s.kind, s.data()); err != nil {
			return err
		}
	}
	return nil
}

func (w *fileWriter) sectionOf(kind sectionKind, data []byte) error {
	return w.section(kind, func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	})
}

// placed is a vector, named by its part and its place there, and its row.
type placed struct {
	row   uint32
	part  *vectorPart
	place uint32
}

// largest returns the segment of the part with most of the vectors, or nil when that part is in memory.
func largest(vs []placed) *vector.Segment {
	count := make(map[*vectorPart]int)
	var most *vectorPart
	for _, v := range vs {
		if count[v.part]++; most == nil || count[v.part] > count[most] {
			most = v.part
		}
	}
	if most == nil {
		return nil
	}
	s, _ := most.search.(*vector.Segment)
	return s
}

// vectorPadding is the number of float32 values by which a buffer for a vector has to be longer than the vector.
const vectorPadding = simd.AlignF32

// writeVectors adds the sections of vectors of one length, by ascending row.
func (w *fileWriter) writeVectors(ctx context.Context, dim int, vs []placed) error {
	opts := &vector.WriteOptions{Check: ctx.Err, ExactRows: w.exactRows}
	if len(vs) > w.exactRows { // the segment gets lists; From lets it reuse existing ones
		opts.From = largest(vs)
	}
	rows := make([]uint32, len(vs))
	for i, v := range vs {
		rows[i] = v.row
	}
	buf := make([]float32, dim+vectorPadding)
	err := w.section(secVectors, func(out io.Writer) error {
		return vector.WriteSegment(out, dim, vector.InnerProduct, len(vs), func(i int) []float32 {
			return vs[i].part.search.Vector(vs[i].place, buf)
		}, opts)
	})
	if err != nil {
		return err
	}
	return w.sectionOf(secPlaces, encodePlaces(rows))
}

// collect returns the vectors of parts for whose rows live returns true, by vector length.
func collect(parts []*vectorPart, live func(row uint32) bool) map[int][]placed {
	out := make(map[int][]placed)
	for _, v := range parts {
		all := slices.Grow(out[v.dim], v.live)
		for place := range uint32(v.search.Len()) {
			if row := v.row(place); live(row) {
				all = append(all, placed{row, v, place})
			}
		}
		if len(all) > 0 {
			out[v.dim] = all
		}
	}
	return out
}

// writeAllVectors adds the sections of all vectors, by ascending length.
func (w *fileWriter) writeAllVectors(ctx context.Context, byDim map[int][]placed) error {
	dims := make([]int, 0, len(byDim))
	for dim := range byDim {
		dims = append(dims, dim)
	}
	slices.Sort(dims)
	for _, dim := range dims {
		if err := w.writeVectors(ctx, dim, byDim[dim]); err != nil {
			return err
		}
	}
	return nil
}

package local

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/lexical"
)

// folded is the merged content of blocks of one partition.
type folded struct {
	block    block // the merged block, without its sections
	drops    []storedDrop
	sources  map[int64]*foldedSource
	segments []*segment
}

type foldedSource struct {
	storedSource
	older  bool // the source is in an earlier block; these blocks only change it
	names  []string
	tags   []uint64
	tagged bool
	keys   []string
	refs   []storedRef
	linked bool
}

// fold reads and merges blocks. It checks every checksum in them, so that damaged bytes do not get a new, valid checksum.
func fold(blocks []*block) (*folded, error) {
	m := &folded{sources: make(map[int64]*foldedSource)}
	m.block.part = blocks[0].part
	for _, b := range blocks {
		seg, err := b.open(true)
		if err != nil {
			return nil, err
		}
		c, err := b.read()
		if err != nil {
			return nil, err
		}
		if b.cleared {
			m.block.cleared, m.block.dropped = true, 0
			m.drops, m.segments = nil, nil
			clear(m.sources)
		}
		m.block.nextRow = b.nextRow
		if err := m.drop(c.drops, b); err != nil {
			return nil, err
		}
		m.segments = append(m.segments, seg)
		for i := range c.sources {
			s := &foldedSource{storedSource: c.sources[i], names: c.names}
			m.sources[s.num] = s
		}
		for _, t := range c.tags {
			s := m.source(t.source)
			s.tags, s.tagged = t.tags, true
		}
		for _, g := range c.graph {
			s := m.source(g.source)
			s.refs, s.keys, s.linked = g.refs, c.keys, true
		}
	}
	return m, nil
}

// source returns the entry of a source. It adds an entry marked older if these blocks do not contain the source.
func (m *folded) source(num int64) *foldedSource {
	s := m.sources[num]
	if s == nil {
		s = &foldedSource{storedSource: storedSource{num: num}, older: true}
		m.sources[num] = s
	}
	return s
}

// drop removes the sources that block b deletes. It records deletions of sources in earlier blocks for the merged block.
func (m *folded) drop(drops []storedDrop, b *block) error {
	left := b.dropped
	for _, d := range drops {
		s := m.sources[d.num]
		delete(m.sources, d.num)
		if s == nil || s.older {
			m.drops = append(m.drops, d)
			continue
		}
		left -= min(left, s.rows)
		for row := s.first; row < s.first+s.rows; row++ {
			for _, seg := range m.segments {
				if seg.words == nil {
					continue
				}
				if _, err := seg.words.Delete(row); err != nil {
					return err
				}
			}
		}
	}
	m.block.dropped += left
	return nil
}

// content returns the content of the merged block, except vectors and postings.
// whole says that no earlier blocks exist, so that the merged block has no deletions to record.
func (m *folded) content(whole bool) *content {
	c := new(content)
	if !whole {
		c.drops = m.drops
	}
	names, keys := newInterner(&c.names), newInterner(&c.keys)
	order := slices.Collect(maps.Values(m.sources))
	slices.SortFunc(order, func(a, b *foldedSource) int {
		switch {
		case a.first != b.first:
			return int(a.first) - int(b.first)
		case a.num < b.num:
			return -1
		}
		return 1
	})
	for _, s := range order {
		if s.tagged {
			c.tags = append(c.tags, storedTags{s.num, s.tags})
		}
		if s.linked {
			refs := slices.Clone(s.refs)
			for i := range refs {
				refs[i].key = keys.number(s.keys[refs[i].key])
			}
			c.graph = append(c.graph, storedGraph{s.num, refs})
		}
		if s.older {
			continue
		}
		rename := func(n uint32) uint32 {
			if n == 0 {
				return 0
			}
			return names.number(s.names[n-1]) + 1
		}
		out := s.storedSource
		out.name = rename(s.name)
		out.at = slices.Clone(s.at)
		for i := range out.at {
			out.at[i].speaker = rename(out.at[i].speaker)
		}
		c.sources = append(c.sources, out)
	}
	return c
}

// dropPages gives the memory of pages of the merged files back to the system.
func (m *folded) dropPages() {
	for _, seg := range m.segments {
		seg.block.file.dropPages(seg.block.file.data)
	}
}

// write adds the merged block to a file, unless the block is empty. whole says that no earlier blocks exist.
func (m *folded) write(ctx context.Context, w *fileWriter, whole bool) error {
	c := m.content(whole)
	b := &block{part: m.block.part, nextRow: m.block.nextRow}
	if !whole {
		b.cleared, b.dropped = m.block.cleared, m.block.dropped
	}
	if !b.cleared && len(c.drops)+len(c.sources)+len(c.tags)+len(c.graph) == 0 {
		return nil
	}
	w.blocks = append(w.blocks, b)
	if err := w.writeContent(c, whole || b.cleared); err != nil {
		return err
	}
	if len(c.sources) == 0 {
		return nil
	}
	live := bitset.New(int(b.nextRow))
	for i := range c.sources {
		setRange(live, c.sources[i].first, c.sources[i].rows)
	}
	var vectors []*vectorPart
	var words []lexical.Part
	for _, seg := range m.segments {
		vectors = append(vectors, seg.parts...)
		if seg.words != nil {
			words = append(words, seg.words)
		}
	}
	if err := w.writeAllVectors(ctx, collect(vectors, live.Has)); err != nil {
		return err
	}
	defer m.dropPages()
	m.dropPages()
	return w.section(secWords, func(out io.Writer) error { return lexical.WriteSegment(ctx, out, words...) })
}

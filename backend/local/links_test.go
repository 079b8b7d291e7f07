package local

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// graphBlock returns an in-memory file with one block of a content, whose mentions are in a section of the given kind.
func graphBlock(t *testing.T, c *content, limit uint32, alone bool, kind sectionKind) *block {
	t.Helper()
	f := &file{}
	b := &block{file: f, nextRow: limit}
	graph := c.encodeGraph()
	if kind == secLinks {
		graph = c.encodeLinks()
	}
	for k, s := range map[sectionKind][]byte{secRows: c.encodeRows(limit, alone), kind: graph} {
		data := alignedBytes((len(f.data)+sectionAlign-1)/sectionAlign*sectionAlign + len(s))
		at := len(data) - len(s)
		copy(data, f.data)
		copy(data[at:], s)
		f.data = data
		b.sections = append(b.sections, section{k, uint64(at), uint64(len(s)), checksum(s)})
	}
	f.refs.Store(1)
	return b
}

// state holds the answers of all queries about the mentions of a partition.
func (p *partition) state() (out []string) {
	m := &p.mentions
	out = append(out, fmt.Sprint(m.count(), m.shared, m.links, m.edges))
	for num := int64(-3); num < 60; num++ {
		if at, ok := m.findEntity(num); ok {
			line := fmt.Sprint("entity ", num, ":")
			for _, g := range m.entities[at].edges {
				line += fmt.Sprint(" ", p.chunk[g.row], "*", g.weight)
			}
			out = append(out, line)
		}
	}
	for i := range 60 {
		text := fmt.Sprint("key ", i)
		if k, ok := m.findKey(text); ok {
			named := map[int64]int{}
			for _, n := range m.keys[k].named {
				named[m.entities[n.entity].num] = n.n
			}
			out = append(out, fmt.Sprint(text, " names ", named))
		}
	}
	for at, refs := range p.refsOf {
		weights := map[string]float32{}
		keys := map[string]bool{}
		for _, r := range refs {
			edge := fmt.Sprint(r.row, " ", m.entities[r.entity].num)
			weights[edge] += r.weight
			keys[edge+" "+m.keys[r.key].text] = true
		}
		if len(refs) > 0 {
			out = append(out, fmt.Sprint("source ", at, ": ", weights, keys))
		}
	}
	return out
}

// Checks that a partition that loads the mention section as a whole has the same mentions as one that adds them one by one, also after
// deletions and changes.
func TestLinksInOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := &content{}
		keys := newInterner(&c.keys)
		row := uint32(0)
		for i := range 1 + r.IntN(20) {
			n := uint32(1 + r.IntN(3))
			s := storedSource{num: int64(100 - i), source: source{time: noTime, first: row, rows: n}}
			for j := range n {
				chunk := int64(row + j)
				if seed%3 == 0 {
					chunk = 1000 - chunk // chunks fall
				}
				s.at = append(s.at, storedRow{chunk: chunk})
			}
			c.sources = append(c.sources, s)
			g := storedGraph{source: s.num}
			for range r.IntN(6) {
				at := row + uint32(r.IntN(int(n)))
				if r.IntN(10) == 0 {
					at = row + n // another's
				}
				g.refs = append(g.refs, storedRef{at, int64(r.IntN(50)) - 3, keys.number(fmt.Sprint("key ", r.IntN(50))), []float32{1, 1, .5, 3}[r.IntN(4)]})
			}
			if len(g.refs) > 0 || r.IntN(2) == 0 {
				c.graph = append(c.graph, g)
			}
			row += n
		}
		// A second block changes mentions of sources of the first, and has one source of its own.
		var later *content
		if seed%4 < 2 {
			later = &content{}
			keys := newInterner(&later.keys)
			for _, s := range c.sources {
				if r.IntN(3) > 0 {
					continue
				}
				g := storedGraph{source: s.num}
				for range r.IntN(3) {
					g.refs = append(g.refs, storedRef{s.first, int64(r.IntN(50)) - 3, keys.number(fmt.Sprint("key ", r.IntN(50))), 1})
				}
				later.graph = append(later.graph, g)
			}
			later.sources = []storedSource{{num: 500, source: source{time: noTime, first: row, rows: 1}, at: []storedRow{{chunk: 2000}}}}
			later.graph = append(later.graph, storedGraph{500, []storedRef{{row, 7, keys.number("key 7"), 1}, {row, 7, keys.number("key 8"), 2}}})
		}
		var ps [2]*partition
		for i, kind := range []sectionKind{secGraph, secLinks} {
			blocks := []*block{graphBlock(t, c, row, true, kind)}
			if later != nil {
				blocks = append(blocks, graphBlock(t, later, row+1, false, secLinks))
			}
			p, err := loadPartition(backend.Knowledge, blocks)
			require.NoError(t, err)
			_, err = p.need(facetRows)
			require.NoError(t, err)
			for at := range p.sources {
				if seed%2 == 1 && at%4 == 1 {
					require.NoError(t, p.remove(uint32(at)))
				}
			}
			_, err = p.need(allFacets)
			require.NoError(t, err)
			require.Equal(t, kind == secLinks, p.mentions.inOrder)
			ps[i] = p
		}
		require.Equal(t, ps[0].state(), ps[1].state(), "seed %d", seed)
		for step := range 30 {
			at := uint32(r.IntN(len(c.sources)))
			if !ps[0].alive(at) {
				continue
			}
			s := &ps[0].sources[at]
			var refs []backend.MentionRef
			for range r.IntN(4) {
				refs = append(refs, backend.MentionRef{Chunk: ps[0].chunk[s.first], Entity: int64(r.IntN(60)) - 3, Key: fmt.Sprint("key ", r.IntN(60)), Weight: 1})
			}
			for _, p := range ps {
				if step%7 == 6 {
					require.NoError(t, p.remove(at))
				} else {
					p.putGraph(p.sourceNum[at], refs)
				}
			}
			require.Equal(t, ps[0].state(), ps[1].state(), "seed %d, step %d", seed, step)
		}
	}
}

func FuzzLinks(f *testing.F) {
	f.Add(sampleContent().encodeLinks())
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := new(content)
		if err := c.decodeLinks(b); err != nil {
			require.ErrorIs(t, err, errFormat)
			return
		}
		again := new(content)
		require.NoError(t, again.decodeLinks(c.encodeLinks()))
		require.Equal(t, c.said(), again.said())
	})
}

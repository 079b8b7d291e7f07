package local

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func FuzzManifest(f *testing.F) {
	m := &manifest{applied: 7, nextID: 3, files: []manifestFile{{1, 99, 5}, {2, 1 << 40, 6}}}
	f.Add(m.encode())
	f.Add([]byte(manifestMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decodeManifest(b)
		if err != nil {
			require.ErrorIs(t, err, errFormat)
			// The only fault may be the checksum.
			if len(b) < 4 {
				return
			}
			b = binary.LittleEndian.AppendUint32(bytes.Clone(b[:len(b)-4]), checksum(b[:len(b)-4]))
			if got, err = decodeManifest(b); err != nil {
				return
			}
		}
		require.Equal(t, b, got.encode())
	})
}

func FuzzDirectory(f *testing.F) {
	f.Add(encodeDirectory([]*block{
		{part: backend.Partition{Class: 2, Sub: "a/b"}, cleared: true, nextRow: 64, rows: 3, dropped: 1,
			sections: []section{{secRows, 64, 10, 1}, {secWords, 128, 100, 2}}},
		{part: backend.Partition{Class: 1}},
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 12
		blocks, err := decodeDirectory(b, limit)
		if err != nil {
			require.ErrorIs(t, err, errFormat)
			return
		}
		for _, b := range blocks {
			for _, s := range b.sections {
				require.LessOrEqual(t, s.offset+s.length, uint64(limit))
			}
		}
		again, err := decodeDirectory(encodeDirectory(blocks), limit)
		require.NoError(t, err)
		require.Equal(t, blocks, again)
	})
}

// FuzzFile opens arbitrary bytes as an index file.
func FuzzFile(f *testing.F) {
	h := newHistory(f, 3, 1)
	data, err := os.ReadFile(filepath.Join(h.path(), fileName(0)))
	require.NoError(f, err)
	f.Add(data)
	f.Add(data[:headerSize])
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, fileName(0)), b, 0o600))
		got, err := openFile(dir, 0, limits{})
		if err != nil {
			require.ErrorIs(t, err, errFormat)
			return
		}
		defer got.release()
		for _, b := range got.blocks {
			p, err := loadPartition(b.part.Class, []*block{b})
			if err != nil {
				require.True(t, isDamage(err), err)
				continue
			}
			p.giveBack()
		}
	})
}

func sampleContent() *content {
	return &content{
		drops: []storedDrop{{5, 0}, {3, 1}}, names: []string{"Ada", "a session"},
		sources: []storedSource{
			{num: 7, source: source{time: noTime, first: 2, rows: 2}, at: []storedRow{{chunk: 9, ordinal: 0, speaker: 1, flags: 3}, {chunk: 8, ordinal: 5}}},
			{num: 9, source: source{time: 1_000_000, length: 30, name: 2, first: 10, rows: 1}, at: []storedRow{{chunk: 10}}},
		},
		tags: []storedTags{{7, []uint64{1, math.MaxUint64}}, {2, []uint64{}}},
		keys: []string{"copper kettle", ""},
		graph: []storedGraph{
			{9, []storedRef{{10, 4, 0, 1.5}, {10, 4, 1, 0}, {10, -6, 1, 2}}},
			{7, []storedRef{}},
		},
	}
}

// encodeGraph writes mentions as earlier releases did: the keys; then for each source its distance to the one before,
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

// said returns the mentions of a content by source, with their keys as texts, in a deterministic order.
func (c *content) said() map[int64][]string {
	out := map[int64][]string{}
	for _, g := range c.graph {
		list := []string{}
		for _, r := range g.refs {
			list = append(list, fmt.Sprint(r.row, r.entity, c.keys[r.key], math.Float32bits(r.weight)))
		}
		slices.Sort(list)
		out[g.source] = append(out[g.source], list...)
	}
	return out
}

// FuzzContent reads arbitrary bytes as the sections of a block, and builds a partition
// from the readable ones.
func FuzzContent(f *testing.F) {
	c := sampleContent()
	f.Add(c.encodeRows(11, true), c.encodeTags(), c.encodeGraph(), encodePlaces([]uint32{3, 4, 9}), false)
	f.Add(c.encodeRows(11, true), c.encodeTags(), c.encodeLinks(), encodePlaces([]uint32{3, 4, 9}), true)
	f.Add([]byte{}, []byte{0}, []byte{0, 0}, []byte{0}, false)
	f.Add([]byte{}, []byte{0}, []byte{0, 0, 0, 0}, []byte{0}, true)
	const limit = 1 << 10
	f.Fuzz(func(t *testing.T, rows, tags, graph, places []byte, linked bool) {
		if got, err := decodePlaces(places, 3, limit); err == nil {
			again, err := decodePlaces(encodePlaces(rowsAt(&got)), 3, limit)
			require.NoError(t, err)
			require.Equal(t, got, again)
			require.True(t, slices.IsSorted(rowsAt(&got)))
		}
		c := new(content)
		decode, kind := c.decodeGraph, secGraph
		if linked {
			decode, kind = c.decodeLinks, secLinks
		}
		for _, err := range []error{c.decodeRows(rows, limit), c.decodeTags(tags), decode(graph)} {
			if err != nil {
				require.ErrorIs(t, err, errFormat)
				return
			}
		}
		again := new(content)
		require.NoError(t, again.decodeRows(c.encodeRows(limit, false), limit))
		require.NoError(t, again.decodeTags(c.encodeTags()))
		require.NoError(t, again.decodeGraph(c.encodeGraph()))
		require.Equal(t, c.encodeGraph(), again.encodeGraph()) // weights may be no numbers
		if slices.IsSorted(c.keys) && len(slices.Compact(slices.Clone(c.keys))) == len(c.keys) {
			require.NoError(t, again.decodeLinks(c.encodeLinks()))
			require.Equal(t, c.said(), again.said())
		}
		c.graph, again.graph = nil, nil
		require.Equal(t, c, again)
		data := rows
		f := &file{}
		b := &block{file: f, nextRow: limit}
		for i, s := range [][]byte{rows, tags, graph} {
			f.data = append(f.data, make([]byte, -len(f.data)&(sectionAlign-1))...)
			k := sectionKind(i + 1)
			if k == secGraph {
				k = kind
			}
			b.sections = append(b.sections, section{k, uint64(len(f.data)), uint64(len(s)), checksum(s)})
			f.data = append(f.data, s...)
		}
		f.refs.Store(1)
		p, err := loadPartition(backend.Memory, []*block{b})
		if err == nil {
			_, err = p.need(allFacets)
		}
		if err != nil {
			require.ErrorIs(t, err, errFormat, "%x", data)
		}
	})
}

func TestContentRoundTrip(t *testing.T) {
	t.Parallel()
	c, got := sampleContent(), new(content)
	require.NoError(t, got.decodeRows(c.encodeRows(11, true), 11))
	require.NoError(t, got.decodeTags(c.encodeTags()))
	require.NoError(t, got.decodeGraph(c.encodeGraph()))
	require.Equal(t, c, got)
	require.NoError(t, got.decodeLinks(c.encodeLinks()))
	require.Equal(t, c.said(), got.said())
	require.ErrorIs(t, got.decodeRows(c.encodeRows(11, true), 10), errFormat, "a row at the limit")
	for _, want := range [][]uint32{{3, 4, 5}, {3, 5, 6}} {
		p, err := decodePlaces(encodePlaces(want), 3, 7)
		require.NoError(t, err)
		require.Equal(t, want, rowsAt(&p))
	}
	_, err := decodePlaces(encodePlaces([]uint32{1, 2}), 3, 10)
	require.ErrorIs(t, err, errFormat, "too few places")
	_, err = decodePlaces(encodePlaces([]uint32{1, 9}), 2, 9)
	require.ErrorIs(t, err, errFormat, "a row at the limit")
}

// rowsAt returns all rows in order.
func rowsAt(p *places) []uint32 {
	var rows []uint32
	for place := range p.n {
		rows = append(rows, p.row(place))
	}
	return rows
}

// TestStoredFlags holds the flags of rows, which files contain, to the marks that a survey makes of them.
func TestStoredFlags(t *testing.T) {
	t.Parallel()
	require.Equal(t, []backend.Marks{flagQuestion, flagHasTime, flagAsks, flagFirst, flagSecond},
		[]backend.Marks{backend.MarkQuestion, backend.MarkHasTime, backend.MarkAsks, backend.MarkFirst, backend.MarkSecond})
	require.Equal(t, []int{1, 2, 4, 8, 16}, []int{flagQuestion, flagHasTime, flagAsks, flagFirst, flagSecond})
}

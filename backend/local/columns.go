package local

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// The rows section of a block has the layout that a partition has in memory. A partition of one
// block therefore reads its columns directly from the mapped file:
//
//	head      headBytes bytes, see columnsHead
//	drops     count * int64, numbers of deleted sources of earlier blocks
//	places    count * uint32, the first rows of those sources
//	numbers   count * int64, numbers of the sources, in order of their rows
//	sources   count * source
//	chunks    rows * int64, chunk numbers; a row without a source repeats the number before
//	live      words * uint64, bit i is row i of the section
//	ordinals  rows * int32
//	owners    rows * uint32, indexes in sources
//	speakers  rows * uint32, indexes in names plus 1; 0: none
//	flags     rows * byte
//	ends      count * uint32, end of each name in the text of all names
//	names     the text of all names
//
// Each column begins at a multiple of 8. Zeros fill the gaps.
const headBytes = 64

// columnsHead holds the numbers at the head of a rows section.
type columnsHead struct {
	drops, names, sources uint32
	first, rows           uint32 // the first row, and the number of rows from there on
	text                  uint32 // size of the text of all names, in bytes
	falling               uint32 // 1: chunk numbers do not rise with rows
	_                     uint32
	low, high             int64 // the first and the greatest chunk number
	_                     [2]uint64
}

// columns is a rows section whose columns are read where the section lies.
type columns struct {
	columnsHead
	dropNum  []int64
	dropRow  []uint32
	num      []int64
	source   []source
	chunk    []int64
	live     []uint64
	ordinal  []int32
	of       []uint32
	speaker  []uint32
	flags    []uint8
	nameEnds []uint32
	nameText []byte
}

// view returns the first n values of *b without copying them, and moves *b behind them and their
// padding. The caller has checked the length and the alignment of *b.
func view[T any](b *[]byte, n uint32) []T {
	var one T
	size := int(n) * int(unsafe.Sizeof(one))
	part := (*b)[:size]
	*b = (*b)[min((size+7)&^7, len(*b)):]
	if size == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(part))), int(n))
}

// bytesOf returns the memory of values as bytes, without copying it.
func bytesOf[T any](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0])))
}

// alignedBytes returns n bytes that begin at a multiple of sectionAlign.
func alignedBytes(n int) []byte {
	b := make([]byte, n+sectionAlign)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (sectionAlign - 1)
	return b[skip : skip+n : skip+n]
}

// littleEndian reports whether this machine is little-endian, as index files are. Other machines
// do not read rows sections.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// openColumns returns the columns of a rows section, whose rows must lie below limit, without copying them.
// It checks the sizes. It does not check the indexes in the columns: check does, and so does code
// that uses columns before check.
func openColumns(b []byte, limit uint32) (*columns, error) {
	if len(b) < headBytes || !littleEndian || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 != 0 {
		return nil, errFormat
	}
	c := &columns{columnsHead: view[columnsHead](&b, 1)[0]}
	words := (c.rows + 63) / 64
	size := uint64(0)
	for _, x := range [][2]uint64{
		{uint64(c.drops), 8}, {uint64(c.drops), 4}, {uint64(c.sources), 8}, {uint64(c.sources), uint64(unsafe.Sizeof(source{}))},
		{uint64(c.rows), 8}, {uint64(words), 8}, {uint64(c.rows), 4}, {uint64(c.rows), 4}, {uint64(c.rows), 4}, {uint64(c.rows), 1},
		{uint64(c.names), 4}, {uint64(c.text), 1},
	} {
		size += (x[0]*x[1] + 7) &^ 7
	}
	if size != uint64(len(b)) || uint64(c.first)+uint64(c.rows) > uint64(limit) || limit == none {
		return nil, fmt.Errorf("%w: rows of %d bytes", errFormat, len(b))
	}
	c.dropNum, c.dropRow = view[int64](&b, c.drops), view[uint32](&b, c.drops)
	c.num, c.source = view[int64](&b, c.sources), view[source](&b, c.sources)
	c.chunk, c.live = view[int64](&b, c.rows), view[uint64](&b, words)
	c.ordinal, c.of = view[int32](&b, c.rows), view[uint32](&b, c.rows)
	c.speaker, c.flags = view[uint32](&b, c.rows), view[uint8](&b, c.rows)
	c.nameEnds, c.nameText = view[uint32](&b, c.names), b[:c.text]
	if n := c.rows % 64; n != 0 && c.live[len(c.live)-1]>>n != 0 {
		return nil, fmt.Errorf("%w: live rows behind the last", errFormat)
	}
	return c, nil
}

// check reads all columns and returns errFormat when an index is out of range.
func (c *columns) check() error {
	end, bad := uint64(c.first), false
	for i := range c.source {
		s := &c.source[i]
		bad = bad || uint64(s.first) < end || s.rows == 0 || s.name > c.names || s.zero != 0
		end = uint64(s.first) + uint64(s.rows)
	}
	bad = bad || end > uint64(c.first)+uint64(c.rows)
	most := uint32(0)
	for _, at := range c.of {
		most = max(most, at)
	}
	bad = bad || len(c.of) > 0 && most >= c.sources
	most = 0
	for _, n := range c.speaker {
		most = max(most, n)
	}
	bad = bad || most > c.names
	at := uint32(0)
	for _, end := range c.nameEnds {
		bad = bad || end < at || end > c.text
		at = end
	}
	if bad {
		return fmt.Errorf("%w: rows contradict each other", errFormat)
	}
	return nil
}

// texts returns copies of the names, which stay valid when the file is unmapped.
func (c *columns) texts() []string {
	all, at := string(c.nameText), uint32(0)
	out := make([]string, c.names)
	for i, end := range c.nameEnds {
		out[i] = all[at:end]
		at = end
	}
	return out
}

// decodeRows reads a rows section into c. Its rows must lie below limit.
func (c *content) decodeRows(b []byte, limit uint32) error {
	cols, err := openColumns(b, limit)
	if err == nil {
		err = cols.check()
	}
	if err != nil {
		return err
	}
	c.names = cols.texts()
	for i, num := range cols.dropNum {
		c.drops = append(c.drops, storedDrop{num, cols.dropRow[i]})
	}
	c.sources = make([]storedSource, cols.sources)
	for i := range cols.source {
		s := cols.source[i]
		out := storedSource{num: cols.num[i], source: s, at: make([]storedRow, s.rows)}
		for j := range out.at {
			r := int(s.first-cols.first) + j
			out.at[j] = storedRow{cols.chunk[r], cols.ordinal[r], cols.speaker[r], cols.flags[r]}
		}
		c.sources[i] = out
	}
	return nil
}

// encodeRows returns a rows section for rows below limit. alone says that no block comes before:
// the section then begins with row 0, so that a partition can use it in place.
func (c *content) encodeRows(limit uint32, alone bool) []byte {
	h := columnsHead{
		drops: uint32(len(c.drops)), names: uint32(len(c.names)), sources: uint32(len(c.sources)),
		low: math.MaxInt64, high: math.MinInt64,
	}
	if len(c.sources) > 0 {
		if !alone {
			h.first = c.sources[0].first
		}
		h.rows = limit - h.first
	}
	out := columns{
		chunk: make([]int64, h.rows), live: make([]uint64, (h.rows+63)/64), ordinal: make([]int32, h.rows),
		of: make([]uint32, h.rows), speaker: make([]uint32, h.rows), flags: make([]uint8, h.rows),
	}
	for _, d := range c.drops {
		out.dropNum, out.dropRow = append(out.dropNum, d.num), append(out.dropRow, d.first)
	}
	last, next := int64(math.MinInt64), uint32(0)
	gap := func(to uint32) {
		for ; next < to; next++ {
			out.chunk[next] = last
		}
	}
	for i := range c.sources {
		s := &c.sources[i]
		out.num, out.source = append(out.num, s.num), append(out.source, s.source)
		gap(s.first - h.first)
		for _, r := range s.at {
			if h.low == math.MaxInt64 {
				h.low = r.chunk
			} else if r.chunk <= h.high {
				h.falling = 1
			}
			h.high = max(h.high, r.chunk)
			last = r.chunk
			out.chunk[next], out.ordinal[next], out.of[next] = r.chunk, r.ordinal, uint32(i)
			out.speaker[next], out.flags[next] = r.speaker, r.flags
			out.live[next/64] |= 1 << (next % 64)
			next++
		}
	}
	gap(h.rows)
	end := uint32(0)
	for _, s := range c.names {
		end += uint32(len(s))
		out.nameEnds = append(out.nameEnds, end)
	}
	h.text = end
	var e encoder
	for _, b := range [][]byte{
		bytesOf([]columnsHead{h}), bytesOf(out.dropNum), bytesOf(out.dropRow), bytesOf(out.num), bytesOf(out.source),
		bytesOf(out.chunk), bytesOf(out.live), bytesOf(out.ordinal), bytesOf(out.of), bytesOf(out.speaker), out.flags,
		bytesOf(out.nameEnds), []byte(strings.Join(c.names, "")),
	} {
		e.buf = append(e.buf, b...)
		e.buf = append(e.buf, make([]byte, -len(e.buf)&7)...)
	}
	return e.buf
}

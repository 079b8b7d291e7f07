package local

import (
	"sort"

	"github.com/contextmem/contextmem/internal/bitset"
)

// places maps ascending rows to consecutive places from 0 on. The place of a row is the index of its
// vector in a vectorPart. Rows are stored as runs of consecutive rows; mostly there is one run.
type places struct {
	runs []run
	n    uint32
}

// run is a run of consecutive rows, from a row and its place up to the place of the next run.
type run struct{ row, place uint32 }

// add appends n rows from row on, which is above all rows so far.
func (p *places) add(row, n uint32) {
	if last := len(p.runs) - 1; last < 0 || p.runs[last].row+(p.n-p.runs[last].place) != row {
		p.runs = append(p.runs, run{row, p.n})
	}
	p.n += n
}

// end returns the place after the last one of run i.
func (p *places) end(i int) uint32 {
	if i+1 < len(p.runs) {
		return p.runs[i+1].place
	}
	return p.n
}

// row returns the row at a place.
func (p *places) row(place uint32) uint32 {
	i := 0
	if len(p.runs) > 1 {
		i = sort.Search(len(p.runs), func(i int) bool { return p.runs[i].place > place }) - 1
	}
	return p.runs[i].row + (place - p.runs[i].place)
}

// straight returns the row of place 0 if there is exactly one run. ok is false otherwise.
func (p *places) straight() (first uint32, ok bool) {
	if len(p.runs) != 1 {
		return 0, false
	}
	return p.runs[0].row - p.runs[0].place, true
}

// find returns the place of a row.
func (p *places) find(row uint32) (place uint32, ok bool) {
	i := sort.Search(len(p.runs), func(i int) bool { return p.runs[i].row > row }) - 1
	if i < 0 {
		return 0, false
	}
	place = p.runs[i].place + (row - p.runs[i].row)
	return place, place < p.end(i)
}

// before returns the number of rows below the given one.
func (p *places) before(row uint32) uint32 {
	i := sort.Search(len(p.runs), func(i int) bool { return p.runs[i].row >= row }) - 1
	if i < 0 {
		return 0
	}
	return min(p.end(i), p.runs[i].place+(row-p.runs[i].row))
}

// of returns the set of places of the rows in a set. It shares the words of the set if there is one
// run whose first row is a multiple of 64. Otherwise it uses buf, which grows as needed.
func (p *places) of(rows *bitset.Set, buf *[]uint64) *bitset.Set {
	words := rows.Words()
	if len(p.runs) == 1 && p.runs[0].row%64 == 0 {
		from := min(int(p.runs[0].row), rows.Len())
		return bitset.FromWords(words[from/64:], rows.Len()-from)
	}
	size := int(p.n+63) / 64
	if cap(*buf) < size {
		*buf = make([]uint64, size)
	}
	out := (*buf)[:size]
	clear(out)
	for i, r := range p.runs {
		copyBits(out, r.place, words, r.row, p.end(i)-r.place)
	}
	return bitset.FromWords(out, int(p.n))
}

// copyBits copies n bits of src, from bit from on, to bit at of dst. The bits in dst are 0 before.
// Bits beyond the end of src count as 0.
func copyBits(dst []uint64, at uint32, src []uint64, from, n uint32) {
	n = min(n, uint32(max(0, 64*len(src)-int(from))))
	if n == 0 {
		return
	}
	if head := min(-at&63, n); head > 0 {
		dst[at/64] |= bitsFrom(src, from) & (1<<head - 1) << (at & 63)
		at, from, n = at+head, from+head, n-head
	}
	out, by := dst[at/64:], from&63
	in := src[min(int(from/64), len(src)):]
	whole := int(n / 64)
	if by == 0 {
		copy(out[:whole], in)
	} else {
		for i := range whole {
			out[i] = in[i]>>by | in[i+1]<<(64-by)
		}
	}
	if rest := n & 63; rest > 0 {
		out[whole] |= bitsFrom(src, from+uint32(64*whole)) & (1<<rest - 1)
	}
}

// bitsFrom returns the 64 bits of src from bit from on. Bits beyond its end are 0.
func bitsFrom(src []uint64, from uint32) uint64 {
	i, by := int(from/64), from&63
	if i >= len(src) {
		return 0
	}
	w := src[i] >> by
	if i+1 < len(src) && by > 0 {
		w |= src[i+1] << (64 - by)
	}
	return w
}

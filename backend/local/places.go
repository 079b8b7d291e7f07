package local

import (
	"sort"

	"github.com/contextmem/contextmem/internal/bitset"
)

// places numbers rows that rise, from 0 on: the place of a row in a part of the vectors. It is
// kept as runs of rows that follow each other, mostly one.
type places struct {
	runs []run
	n    uint32
}

// run is rows that follow each other, up to the place of the next run.
type run struct{ row, place uint32 }

// add numbers rows behind all before.
func (p *places) add(row, n uint32) {
	if last := len(p.runs) - 1; last < 0 || p.runs[last].row+(p.n-p.runs[last].place) != row {
		p.runs = append(p.runs, run{row, p.n})
	}
	p.n += n
}

// end is the place behind a run.
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

// straight returns the row of the first place where all rows follow each other.
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

// before returns how many of the rows are below the given one.
func (p *places) before(row uint32) uint32 {
	i := sort.Search(len(p.runs), func(i int) bool { return p.runs[i].row >= row }) - 1
	if i < 0 {
		return 0
	}
	return min(p.end(i), p.runs[i].place+(row-p.runs[i].row))
}

// of returns the places of the rows in a set. They lie in words of the set where they can, else
// in buf, which grows for them.
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

// copyBits puts n bits of src from the given one on into dst, where they are 0, from at on. src goes
// on with zeros.
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

// bitsFrom returns 64 bits from the given one on.
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

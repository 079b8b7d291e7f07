package rank

import "math/bits"

// chunkIndex finds the candidate of a chunk. It is a hash table with linear probing whose
// slots count only when they are of this generation, so that emptying it costs nothing.
type chunkIndex struct {
	slots []slot
	n     int
	gen   uint32
}

type slot struct {
	chunk int64
	at    int32
	gen   uint32
}

const minSlots = 512 // a power of two

// clear forgets all chunks.
func (x *chunkIndex) clear() {
	x.n = 0
	if x.gen++; x.gen == 0 { // once in 4 billion searches old slots would count again
		clear(x.slots)
		x.gen = 1
	}
}

// get returns the place of a chunk.
func (x *chunkIndex) get(chunk int64) (at int32, ok bool) {
	s := x.find(chunk)
	if s == nil || s.gen != x.gen {
		return 0, false
	}
	return s.at, true
}

// add returns the place of a chunk, which is at when the chunk is new.
func (x *chunkIndex) add(chunk int64, at int32) (place int32, fresh bool) {
	if 2*x.n >= len(x.slots) {
		x.grow()
	}
	s := x.find(chunk)
	if s.gen == x.gen {
		return s.at, false
	}
	*s = slot{chunk, at, x.gen}
	x.n++
	return at, true
}

// find returns the slot of a chunk or the free one where it belongs; nil where there
// are no slots.
func (x *chunkIndex) find(chunk int64) *slot {
	if len(x.slots) == 0 {
		return nil
	}
	mask := uint64(len(x.slots) - 1)
	// The upper bits of a product depend on all bits of the number (Knuth, 6.4).
	for i := uint64(chunk) * 0x9e3779b97f4a7c15 >> (64 - bits.Len64(mask)); ; i = (i + 1) & mask {
		if s := &x.slots[i]; s.gen != x.gen || s.chunk == chunk {
			return s
		}
	}
}

func (x *chunkIndex) grow() {
	old := x.slots
	x.gen = max(x.gen, 1)
	x.slots = make([]slot, max(minSlots, 2*len(old)))
	for _, s := range old {
		if s.gen == x.gen {
			*x.find(s.chunk) = s
		}
	}
}

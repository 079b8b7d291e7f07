package lexical

import (
	"hash/maphash"
	"math/bits"
)

// termNumbers is a hash table of the numbers of terms. It keeps no terms: their texts lie in the list that its methods get, at their numbers.
// It takes half the memory of a map of strings, and most look-ups of an unknown term read one cache line. The zero value is an empty table.
type termNumbers struct {
	slots []uint64 // the hash of a term in the upper half, its number plus 1 in the lower; 0 is free
	shift uint8    // the upper bits of the hash, shifted by it, are the place from which on the term is searched
	n     int      // terms
}

// leastSlots is the number of slots of a table with one term, a power of two.
const leastSlots = 8

// termSeed makes the places of terms differ between processes, so that nobody can write texts whose terms share one.
var termSeed = maphash.MakeSeed()

// find returns the number of a term, and its hash for add. It reports whether the table has the term.
func (t *termNumbers) find(terms []memTerm, term string) (id, hash uint32, ok bool) {
	hash = uint32(maphash.String(termSeed, term) >> 32)
	if len(t.slots) == 0 {
		return 0, hash, false
	}
	mask := uint32(len(t.slots) - 1)
	for i := hash >> t.shift; ; i++ {
		slot := t.slots[i&mask]
		if slot == 0 {
			return 0, hash, false
		}
		if uint32(slot>>32) == hash {
			if id := uint32(slot) - 1; terms[id].text == term {
				return id, hash, true
			}
		}
	}
}

// of returns the number of a term, and reports whether the table has it.
func (t *termNumbers) of(terms []memTerm, term string) (uint32, bool) {
	id, _, ok := t.find(terms, term)
	return id, ok
}

// add adds the number of a term that the table does not have. hash is what find returned for the term.
func (t *termNumbers) add(hash, id uint32) {
	if t.n >= len(t.slots)/4*3 {
		t.resize(max(leastSlots, 2*len(t.slots)))
	}
	t.n++
	t.put(uint64(hash)<<32 | uint64(id+1))
}

// resize moves the terms into n slots, a power of two.
func (t *termNumbers) resize(n int) {
	old := t.slots
	t.slots, t.shift = make([]uint64, n), uint8(32-bits.TrailingZeros(uint(n)))
	for _, slot := range old {
		if slot != 0 {
			t.put(slot)
		}
	}
}

func (t *termNumbers) put(slot uint64) {
	mask := uint32(len(t.slots) - 1)
	i := uint32(slot>>32) >> t.shift
	for ; t.slots[i&mask] != 0; i++ {
	}
	t.slots[i&mask] = slot
}

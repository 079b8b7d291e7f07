package pipeline

import "hash/maphash"

// lookup is a hash table that maps elements of a list to their indexes, with eight bytes for each element. A Go map
// would take more memory than the list. The zero value is empty.
type lookup struct {
	slots []lookupSlot // the length is a power of two; at most three quarters are in use
	n     int
}

type lookupSlot struct {
	hash uint32
	at   int32 // index plus one; 0: the slot is free
}

// find returns the index of the element that has the hash and for which same returns true, or -1 if there is none.
func (k *lookup) find(hash uint32, same func(at int) bool) int {
	if len(k.slots) == 0 {
		return -1
	}
	mask := uint32(len(k.slots) - 1)
	for i := hash & mask; k.slots[i].at != 0; i = (i + 1) & mask {
		if s := k.slots[i]; s.hash == hash && same(int(s.at-1)) {
			return int(s.at - 1)
		}
	}
	return -1
}

// add adds the index of an element that is not in the table.
func (k *lookup) add(hash uint32, at int) {
	if 4*(k.n+1) > 3*len(k.slots) {
		k.grow(max(16, 2*len(k.slots)))
	}
	k.n++
	k.put(lookupSlot{hash, int32(at + 1)})
}

func (k *lookup) grow(size int) {
	old := k.slots
	k.slots = make([]lookupSlot, size)
	for _, s := range old {
		if s.at != 0 {
			k.put(s)
		}
	}
}

func (k *lookup) put(s lookupSlot) {
	mask := uint32(len(k.slots) - 1)
	i := s.hash & mask
	for k.slots[i].at != 0 {
		i = (i + 1) & mask
	}
	k.slots[i] = s
}

var lookupSeed = maphash.MakeSeed()

// hashOf hashes texts and a number.
func hashOf(n int64, texts ...string) uint32 {
	h := uint64(n) * 0x9e3779b97f4a7c15
	for _, s := range texts {
		h = (h ^ maphash.String(lookupSeed, s)) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return uint32(h)
}

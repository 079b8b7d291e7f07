// Package placeindex finds elements of a list by their hashes.
package placeindex

import "hash/maphash"

// Index maps elements of a list to their places in it, with eight bytes for each element. A Go map would take more memory than the list.
// The zero value is empty.
type Index struct {
	slots []slot // the length is a power of two; at most three quarters are in use
	n     int
}

type slot struct {
	hash uint32
	at   int32 // place plus one; 0: the slot is free
}

// Find returns the place of the element that has the hash and for which same returns true, or -1 if there is none.
func (k *Index) Find(hash uint32, same func(at int) bool) int {
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

// Add adds the place of an element that is not in the table.
func (k *Index) Add(hash uint32, at int) {
	if 4*(k.n+1) > 3*len(k.slots) {
		k.grow(max(16, 2*len(k.slots)))
	}
	k.n++
	k.put(slot{hash, int32(at + 1)})
}

func (k *Index) grow(size int) {
	old := k.slots
	k.slots = make([]slot, size)
	for _, s := range old {
		if s.at != 0 {
			k.put(s)
		}
	}
}

func (k *Index) put(s slot) {
	mask := uint32(len(k.slots) - 1)
	i := s.hash & mask
	for k.slots[i].at != 0 {
		i = (i + 1) & mask
	}
	k.slots[i] = s
}

// Len returns the number of elements.
func (k *Index) Len() int { return k.n }

// Reset removes all elements. It keeps the memory of at most keep elements.
func (k *Index) Reset(keep int) {
	if k.n = 0; len(k.slots) > 2*keep {
		k.slots = nil
	}
	clear(k.slots)
}

var seed = maphash.MakeSeed()

// Hash hashes texts and a number.
func Hash(n int64, texts ...string) uint32 {
	h := uint64(n) * 0x9e3779b97f4a7c15
	for _, s := range texts {
		h = (h ^ maphash.String(seed, s)) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return uint32(h)
}

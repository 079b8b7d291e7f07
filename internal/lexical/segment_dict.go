package lexical

import (
	"encoding/binary"
	"math/bits"
)

// A segment has a hash table of its terms, so a look-up reads a few cache lines where a binary
// search would read many. The table uses linear probing, starts at the low bits of the hash, and
// is less than two thirds full. A slot is 0 if it is empty. Otherwise its low bits, as many as the
// count of terms has, are the number of the term plus 1, and its other bits are high bits of the
// term's hash.

// noTerm is the number of a term that a segment does not have.
const noTerm = ^uint32(0)

// slotCount returns the number of slots for a number of terms. It is a power of two.
func slotCount(terms uint64) uint64 {
	if terms == 0 {
		return 0
	}
	return 1 << bits.Len64(terms+terms/2)
}

// termHash is FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) of 64 bits, whose high
// bits are mixed into the low ones. It is part of the format.
func termHash[T string | []byte](term T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	return h ^ h>>32
}

// slotTag returns the bits of a slot that come from the term's hash.
func slotTag(h uint64, terms uint32) uint32 { return uint32(h>>32) << bits.Len32(terms) }

// makeSlots returns the table of terms with the given hashes, in order of their numbers.
func makeSlots(hashes []uint64) []byte {
	terms := uint32(len(hashes))
	n := slotCount(uint64(terms))
	slots := make([]byte, 4*n)
	for id, h := range hashes {
		at := h & (n - 1)
		for binary.LittleEndian.Uint32(slots[4*at:]) != 0 {
			at = (at + 1) & (n - 1)
		}
		binary.LittleEndian.PutUint32(slots[4*at:], slotTag(h, terms)|uint32(id+1))
	}
	return slots
}

// term returns the bytes of a term, or none if the file is damaged.
func (s *Segment) term(id uint32) []byte {
	at := termInfoBytes*int(id) + infoText
	from, to := binary.LittleEndian.Uint32(s.termInfo[at:]), uint32(len(s.terms))
	if id+1 < s.footer.terms {
		to = binary.LittleEndian.Uint32(s.termInfo[at+termInfoBytes:])
	}
	if from > to || uint64(to) > uint64(len(s.terms)) {
		return nil
	}
	return s.terms[from:to]
}

// lookup returns the number of a term, or noTerm.
func (s *Segment) lookup(term string) uint32 {
	h := termHash(term)
	n := uint64(len(s.termSlots) / 4)
	terms := s.footer.terms
	tag, low := slotTag(h, terms), uint32(1)<<bits.Len32(terms)-1
	for i := range n { // an undamaged table ends the loop with a return
		slot := binary.LittleEndian.Uint32(s.termSlots[4*((h+i)&(n-1)):])
		if slot == 0 {
			break
		}
		if id := slot&low - 1; slot&^low == tag && id < terms && string(s.term(id)) == term {
			return id
		}
	}
	return noTerm
}

// lookupAll sets ids to the numbers of the terms.
func (s *Segment) lookupAll(terms []scoreTerm, ids []uint32) {
	for i := range terms {
		ids[i] = s.lookup(terms[i].term)
	}
}

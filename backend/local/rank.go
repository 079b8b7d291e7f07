package local

import (
	"math/bits"

	"github.com/contextmem/contextmem/internal/bitset"
)

// rank turns sets of rows into sets of places, where the rows of a part have gaps.
type rank struct {
	base   uint32   // row of bit 0, a multiple of 64
	words  []uint64 // the rows of the part
	before []uint32 // how many of them stand before a word
}

// newRank returns the rank of rows, which rise.
func newRank(rows []uint32) *rank {
	if len(rows) == 0 {
		return new(rank)
	}
	k := &rank{base: rows[0] &^ 63}
	n := (rows[len(rows)-1]-k.base)/64 + 1
	k.words, k.before = make([]uint64, n), make([]uint32, n)
	for _, r := range rows {
		k.words[(r-k.base)/64] |= 1 << (r % 64)
	}
	sum := uint32(0)
	for i, w := range k.words {
		k.before[i] = sum
		sum += uint32(bits.OnesCount64(w))
	}
	return k
}

// compressFrom is the number of bits of a word from which on they are moved together.
const compressFrom = 8

// places returns the places, out of n, of the rows in a set.
func (k *rank) places(rows *bitset.Set, n int) *bitset.Set {
	out := make([]uint64, n/64+2) // a word more than is needed, for what is shifted out
	from := rows.Words()[min(int(k.base/64), len(rows.Words())):]
	for i, mask := range k.words[:min(len(k.words), len(from))] {
		w := from[i] & mask
		if w == 0 {
			continue
		}
		at := k.before[i]
		if bits.OnesCount64(w) < compressFrom {
			for ; w != 0; w &= w - 1 {
				place := at + uint32(bits.OnesCount64(mask&(w&-w-1)))
				out[place/64] |= 1 << (place % 64)
			}
			continue
		}
		w = compress(w, mask)
		out[at/64] |= w << (at % 64)
		out[at/64+1] |= w >> 1 >> (63 - at%64)
	}
	return bitset.FromWords(out, n)
}

// compress moves the bits of x that mask selects together, to the low end (Warren,
// Hacker's Delight, 7-4).
func compress(x, mask uint64) uint64 {
	if mask == ^uint64(0) {
		return x
	}
	x &= mask
	below := ^mask << 1 // unselected bits below each
	for i := range 6 {
		parity := below ^ below<<1
		parity ^= parity << 2
		parity ^= parity << 4
		parity ^= parity << 8
		parity ^= parity << 16
		parity ^= parity << 32
		move := parity & mask
		mask = mask ^ move | move>>(1<<i)
		moved := x & move
		x = x ^ moved | moved>>(1<<i)
		below &^= parity
	}
	return x
}

// Package bitset is a dense set of row numbers. Search filters, tombstones and typed metadata are sets of rows, which are
// combined before a scan.
package bitset

import "math/bits"

// Set is a set of row numbers in [0, Len). The zero value is an empty set of length zero. Concurrent reads are safe; writes
// must not be concurrent with any other access.
type Set struct {
	words []uint64
	n     int
}

// New returns an empty set for rows 0 to n-1.
func New(n int) *Set { return &Set{words: make([]uint64, (n+63)/64), n: n} }

// FromWords returns a set backed by words, without copying them. Bit i of word j is row 64*j+i. Bits at or above n must be
// zero; len(words) must be at least (n+63)/64.
func FromWords(words []uint64, n int) *Set { return &Set{words: words[:(n+63)/64], n: n} }

// Len returns the number of rows in the set's range, whether or not they are members.
func (s *Set) Len() int { return s.n }

// Words returns the words backing the set, for scans. The caller must not append to them.
func (s *Set) Words() []uint64 { return s.words }

// Grow extends the range of the set to n rows. The new rows are not members. A smaller n has no effect.
func (s *Set) Grow(n int) {
	if n <= s.n {
		return
	}
	if w := (n + 63) / 64; w > len(s.words) {
		if w <= cap(s.words) {
			s.words = s.words[:w]
		} else {
			words := make([]uint64, w, w+w/2)
			copy(words, s.words)
			s.words = words
		}
	}
	s.n = n
}

// Add adds row i. i must be below Len.
func (s *Set) Add(i uint32) { s.words[i>>6] |= 1 << (i & 63) }

// Remove removes row i. i must be below Len.
func (s *Set) Remove(i uint32) { s.words[i>>6] &^= 1 << (i & 63) }

// Has reports whether row i is in the set. It returns false for a row at or above Len.
func (s *Set) Has(i uint32) bool {
	w := int(i >> 6)
	return w < len(s.words) && s.words[w]&(1<<(i&63)) != 0
}

// Count returns the number of rows in the set.
func (s *Set) Count() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Fill adds every row below Len.
func (s *Set) Fill() {
	for i := range s.words {
		s.words[i] = ^uint64(0)
	}
	if r := s.n & 63; r != 0 && len(s.words) > 0 {
		s.words[len(s.words)-1] = 1<<r - 1
	}
}

// And keeps the rows that are also in t. Rows outside the range of t are removed.
func (s *Set) And(t *Set) {
	for i := range s.words {
		if i < len(t.words) {
			s.words[i] &= t.words[i]
		} else {
			s.words[i] = 0
		}
	}
}

// Or adds the rows of t that are below s.Len.
func (s *Set) Or(t *Set) {
	for i := range s.words {
		if i >= len(t.words) {
			break
		}
		s.words[i] |= t.words[i]
	}
	if r := s.n & 63; r != 0 && len(s.words) > 0 {
		s.words[len(s.words)-1] &= 1<<r - 1
	}
}

// AndNot removes the rows of t from s.
func (s *Set) AndNot(t *Set) {
	for i := range s.words {
		if i >= len(t.words) {
			return
		}
		s.words[i] &^= t.words[i]
	}
}

// Clone returns an independent copy of s.
func (s *Set) Clone() *Set {
	return &Set{words: append([]uint64(nil), s.words...), n: s.n}
}

// Each calls f for every row of the set in ascending order until f returns false.
func (s *Set) Each(f func(i uint32) bool) {
	for j, w := range s.words {
		for w != 0 {
			i := bits.TrailingZeros64(w)
			if !f(uint32(j<<6 + i)) {
				return
			}
			w &= w - 1
		}
	}
}

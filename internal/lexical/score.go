package lexical

import (
	"slices"
)

// Hit is a row that matches a query. Scores of one search are comparable across parts.
type Hit struct {
	Row   uint32
	Score float32
}

// CompareHits orders hits by descending score, then by ascending row.
func CompareHits(x, y Hit) int {
	switch {
	case x.Score > y.Score:
		return -1
	case x.Score < y.Score:
		return 1
	case x.Row < y.Row:
		return -1
	case x.Row > y.Row:
		return 1
	}
	return 0
}

// maxScore bounds the score of a document in units. It is below 2^24, so every sum is exact
// as a float32.
const maxScore = 1 << 23

// maxUnitExp bounds the exponent of the unit, which keeps scores finite and exact. Terms with
// boosts too large for that score nothing.
const maxUnitExp = 100

// scorer holds the weights of a query in units of the score.
type scorer struct {
	terms    []scoreTerm
	required int     // terms[:required] must occur, for And and Phrase
	any      bool    // one term is enough
	unit     float32 // score of one unit, a power of two
	norm0    float32 // tf/(tf+norm0+norm1*length)
	norm1    float32
}

type scoreTerm struct {
	term   string
	weight float32 // the score as tf goes to infinity, in units; 0 scores nothing
}

// norm returns the part of the denominator that depends on the length. Its conversions to
// float32 keep compilers from fusing the operations, which would change the rounding.
func (s *scorer) norm(length uint32) float32 { return lengthPart(s.norm0, s.norm1, length) }

func lengthPart(norm0, norm1 float32, length uint32) float32 {
	return norm0 + float32(norm1*float32(length))
}

// units returns the score of one term in a document. It is at least 1 for a term with a
// weight, so a match never scores 0.
func (t *scoreTerm) units(tf uint32, norm float32) uint32 {
	if t.weight == 0 {
		return 0
	}
	return units(t.weight, tf, norm)
}

// units is scoreTerm.units for a weight above 0.
func units(weight float32, tf uint32, norm float32) uint32 {
	f := float32(tf)
	return uint32(weight*(f/(f+norm))) + 1
}

// topK keeps the k best pairs of score and row; of equal scores the smaller row is better. A key
// has the score in its upper half and the complement of the row in its lower half, so pairs
// compare as integers.
type topK struct {
	keys []uint64 // once full, a binary heap with the worst key on top
	k    int
	min  uint64 // once full, the worst key in keys; else 0
}

// fills reports whether n rows fill h, so that it may drop rows.
func (h *topK) fills(n int) bool { return n >= h.k }

func (h *topK) reset(k int) {
	h.keys, h.k, h.min = h.keys[:0], k, 0
}

// maxPooledKeys bounds the heap that stays in the pool.
const maxPooledKeys = 1 << 14

// trim releases a heap that is larger than maxPooledKeys.
func (h *topK) trim() {
	if cap(h.keys) > maxPooledKeys {
		h.keys = nil
	}
}

func topKey(score, row uint32) uint64 { return uint64(score)<<32 | uint64(^row) }

func (h *topK) push(score, row uint32) {
	key := topKey(score, row)
	if len(h.keys) < h.k {
		h.keys = append(h.keys, key)
		if len(h.keys) == h.k {
			h.heapify()
		}
		return
	}
	if key <= h.min {
		return
	}
	h.keys[0] = key
	h.down(0)
	h.min = h.keys[0]
}

func (h *topK) heapify() {
	for i := len(h.keys)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	h.min = h.keys[0]
}

func (h *topK) down(i int) {
	keys := h.keys
	key := keys[i]
	for {
		c := 2*i + 1
		if c >= len(keys) {
			break
		}
		if c+1 < len(keys) && keys[c+1] < keys[c] {
			c++
		}
		if keys[c] >= key {
			break
		}
		keys[i] = keys[c]
		i = c
	}
	keys[i] = key
}

// appendHits appends the hits of the keys to dst, from the last key to the first.
func (h *topK) appendHits(dst []Hit, unit float32) []Hit {
	n := len(dst)
	dst = slices.Grow(dst, len(h.keys))[:n+len(h.keys)]
	to := dst[n:]
	for i, key := range h.keys {
		to[len(to)-1-i] = Hit{Row: ^uint32(key), Score: float32(key>>32) * unit}
	}
	return dst
}

package lexical

import (
	"math"
	"slices"
)

// Hit is a row that matches a query. Scores of one query and one Stats compare
// across parts.
type Hit struct {
	Row   uint32
	Score float32
}

// CompareHits orders hits best first: by score falling, then by row rising.
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

// maxScore bounds the score of a document in whole units. It stays well below
// 2^24, so that every sum is exact as a float32.
const maxScore = 1 << 23

// maxUnitExp bounds the exponent of the unit, so that no score is infinite or
// rounded; boosts beyond it count as nothing.
const maxUnitExp = 100

// scorer holds the weights of a query in whole units of the score.
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

// newScorer weighs the terms of q with st. Terms that a conjunction requires come
// first.
func newScorer(q *Query, st *Stats) *scorer {
	s := &scorer{any: q.Op == Or}
	var seen termSet
	s.terms = make([]scoreTerm, 0, len(q.Terms))
	boosts, need := make([]float64, 0, len(q.Terms)), make([]bool, 0, len(q.Terms))
	add := func(term string, boost float64, required bool) {
		k, fresh := seen.place(term)
		if fresh {
			s.terms = append(s.terms, scoreTerm{term: term})
			boosts, need = append(boosts, 0), append(need, false)
		}
		boosts[k] += boost
		need[k] = need[k] || required
	}
	for _, t := range q.Terms {
		boost := float64(t.Boost)
		if !(boost > 0) || math.IsInf(boost, 1) {
			boost = 0
		}
		add(t.Term, boost, !s.any && !t.Optional)
	}
	if !s.any {
		for _, p := range q.Phrases {
			for _, t := range p {
				add(t.Term, 0, true)
			}
		}
	}
	total := 0.0
	for i, t := range s.terms {
		boosts[i] *= st.IDF(t.term)
		total += boosts[i]
	}
	_, exp := math.Frexp(total / maxScore) // total/maxScore < 2^exp
	if total == 0 || exp < -maxUnitExp || exp > maxUnitExp {
		exp = 0
		clear(boosts)
	}
	s.unit = float32(math.Ldexp(1, exp))
	for i := range s.terms {
		s.terms[i].weight = float32(math.Ldexp(boosts[i], -exp))
	}
	s.norm0 = bm25K1 * (1 - bm25B)
	s.norm1 = float32(bm25K1 * bm25B / st.Average())
	s.order(need)
	return s
}

// order moves the required terms to the front. If none is, one term is enough.
func (s *scorer) order(need []bool) {
	if s.any {
		return
	}
	sorted := make([]scoreTerm, 0, len(s.terms))
	for i, t := range s.terms {
		if need[i] {
			sorted = append(sorted, t)
		}
	}
	s.required = len(sorted)
	for i, t := range s.terms {
		if !need[i] {
			sorted = append(sorted, t)
		}
	}
	s.terms = sorted
	s.any = s.required == 0
}

// norm returns the length part of a score. The conversions keep compilers from
// fusing the operations, which would round differently in different places.
func (s *scorer) norm(length uint32) float32 {
	return s.norm0 + float32(s.norm1*float32(length))
}

// units returns the score of one term in a document. It is at least 1 for a term
// with a weight, so that a match never scores nothing.
func (t *scoreTerm) units(tf uint32, norm float32) uint32 {
	if t.weight == 0 {
		return 0
	}
	f := float32(tf)
	return uint32(t.weight*(f/(f+norm))) + 1
}

// topK keeps the k best of (score, document) pairs, ties by the smaller document.
// A key is the score in the upper half and the complement of the document in the
// lower, so that one comparison orders them.
type topK struct {
	keys []uint64 // a binary heap with the worst on top once full
	k    int
	min  uint64 // the worst kept key once full, else 0
}

func (h *topK) reset(k int) {
	h.keys, h.k, h.min = h.keys[:0], k, 0
}

// maxPooledKeys bounds the heap that is kept between searches.
const maxPooledKeys = 1 << 14

// trim forgets a heap that is too large to keep.
func (h *topK) trim() {
	if cap(h.keys) > maxPooledKeys {
		h.keys = nil
	}
}

func topKey(score, doc uint32) uint64 { return uint64(score)<<32 | uint64(^doc) }

func (h *topK) push(score, doc uint32) {
	key := topKey(score, doc)
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

// hits appends the kept pairs best first; row maps a document to its row and must
// rise with it.
func (h *topK) hits(dst []Hit, unit float32, row func(doc uint32) uint32) []Hit {
	slices.Sort(h.keys)
	dst = slices.Grow(dst, len(h.keys))
	for i := len(h.keys) - 1; i >= 0; i-- {
		key := h.keys[i]
		dst = append(dst, Hit{Row: row(^uint32(key)), Score: float32(key>>32) * unit})
	}
	return dst
}

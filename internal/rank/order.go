package rank

import (
	"math"
	"slices"
)

// place is a candidate with the value that it is ordered by.
type place struct {
	v     float64
	chunk int64
	at    int32 // in rows and cand
}

// ahead reports whether a place comes before another: by value, highest first, then by chunk.
// It is small enough to be inlined.
func (a *place) ahead(b *place) bool { return a.v > b.v || a.v == b.v && a.chunk < b.chunk }

// measure is what candidates are ordered by.
type measure uint8

const (
	byScore  measure = iota
	bySearch         // cand.s0
)

// of returns the value of a candidate; 0 for what is none.
func (m measure) of(c *cand) float64 {
	switch {
	case !c.in:
		return 0
	case m == bySearch:
		return c.s0
	}
	return c.Score
}

// best returns the places of the n best candidates, best first: those of which the measure is
// above 0. They are good until the next call.
func (q *work) best(n int, by measure) []place {
	if n <= fewPlaces {
		if some, ok := q.few(n, by); ok {
			return some
		}
	}
	all := q.order[:0]
	for i := range q.cand {
		if v := by.of(&q.cand[i]); v > 0 {
			all = append(all, place{v, q.rows[i].Chunk, int32(i)})
		}
	}
	q.order = all
	q.sorted = slices.Grow(q.sorted[:0], len(all))[:len(all)]
	return first(all, n, q.sorted)
}

const (
	buckets = 256
	// fewPlaces is the number of places up to which they are sorted by insertion.
	fewPlaces = 32
	// fewMoves bounds the moves of few, for each candidate.
	fewMoves = 4
)

// few is best for few places: it keeps the best so far in order. It reports false where that takes many moves, as it does where each candidate is
// better than most before it.
func (q *work) few(n int, by measure) ([]place, bool) {
	if n <= 0 {
		return nil, true
	}
	q.sorted = slices.Grow(q.sorted[:0], n)
	some, moves, floor := q.sorted[:0], n*n+fewMoves*len(q.cand), 0.0
	for i := range q.cand {
		v := by.of(&q.cand[i])
		if !(v > 0 && v >= floor) {
			continue
		}
		p := place{v, q.rows[i].Chunk, int32(i)}
		if len(some) < n {
			some = some[:len(some)+1]
		} else if !p.ahead(&some[n-1]) {
			continue
		}
		last := len(some) - 1
		j := last
		for ; j > 0 && p.ahead(&some[j-1]); j-- {
			some[j] = some[j-1]
		}
		some[j] = p
		if moves -= last - j; moves < 0 {
			return nil, false
		}
		if len(some) == n {
			floor = some[last].v
		}
	}
	return some, true
}

// first returns the n first of places with values above 0, in their order and in the memory of
// into, which has room for all: a distribution into buckets of value (Knuth, vol. 3, 5.2.5), and a sort of each
// bucket that is needed.
func first(all []place, n int, into []place) []place {
	n = min(n, len(all))
	if n <= 0 {
		return nil
	}
	top := 0.0
	for i := range all {
		if v := all[i].v; v > top {
			top = v
		}
	}
	scale := (buckets - 1) / top
	if math.IsInf(scale, 1) {
		scale = 0 // all in one bucket
	}
	var start [buckets]int32
	for i := range all {
		start[bucket(all[i].v, scale)]++
	}
	kept, most, lowest := int32(0), int32(0), buckets
	for kept < int32(n) {
		lowest--
		count := start[lowest]
		start[lowest] = kept
		kept, most = kept+count, max(most, count)
	}
	for i := range all {
		if s := bucket(all[i].v, scale); int(s) >= lowest {
			into[start[s]] = all[i]
			start[s]++
		}
	}
	into = into[:kept]
	if most <= fewPlaces {
		insertionSort(into)
		return into[:n]
	}
	for from := 0; from < len(into); {
		s := bucket(into[from].v, scale)
		to := int(start[s]) // behind its places by now
		sortPlaces(into[from:to])
		from = to
	}
	return into[:n]
}

// bucket maps a value from 0 to (buckets-1)/scale to one of the buckets.
func bucket(v, scale float64) uint8 { return uint8(int32(v * scale)) }

func sortPlaces(all []place) {
	if len(all) <= fewPlaces {
		insertionSort(all)
		return
	}
	slices.SortFunc(all, func(a, b place) int {
		if a.ahead(&b) {
			return -1
		}
		return 1
	})
}

// insertionSort is for places that nearly are in order.
func insertionSort(all []place) {
	for i := 1; i < len(all); i++ {
		p, j := all[i], i
		for ; j > 0 && p.ahead(&all[j-1]); j-- {
			all[j] = all[j-1]
		}
		all[j] = p
	}
}

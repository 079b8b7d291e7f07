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

// best returns the places of the n best candidates by f, best first: those of which it is
// above 0. They are good until the next call.
func (q *work) best(n int, f func(c *cand) float64) []place {
	all := q.order[:0]
	for i := range q.cand {
		c := &q.cand[i]
		if !c.in {
			continue
		}
		if v := f(c); v > 0 {
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
)

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

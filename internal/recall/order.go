package recall

import (
	"math"
	"math/bits"
	"slices"
)

// place is a candidate with the value that it is ordered by.
type place struct {
	v     float64
	chunk int64
	at    int32 // in cand
}

// ahead tells whether a place comes before another: by value, highest first, then by chunk.
// Values are numbers. It is small enough to be inlined.
func (a *place) ahead(b *place) bool { return a.v > b.v || a.v == b.v && a.chunk < b.chunk }

// fewPlaces is the number of places up to which they are sorted by insertion.
const fewPlaces = 64

// sortPlaces sorts places, best first.
func sortPlaces(all []place) {
	if len(all) > fewPlaces {
		slices.SortFunc(all, func(a, b place) int {
			if a.ahead(&b) {
				return -1
			}
			return 1
		})
		return
	}
	for i := 1; i < len(all); i++ {
		p, j := all[i], i
		for ; j > 0 && p.ahead(&all[j-1]); j-- {
			all[j] = all[j-1]
		}
		all[j] = p
	}
}

// some returns the places of the n best candidates by f, in no particular order. They
// are good until the next call of it or of best.
func (q *work) some(n int, f func(c *cand) float64) []place {
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
	return first(all, n)
}

// best returns the places of the n best candidates by f, best first.
func (q *work) best(n int, f func(c *cand) float64) []int32 {
	all := q.some(n, f)
	sortPlaces(all)
	out := make([]int32, len(all))
	for i := range out {
		out[i] = all[i].at
	}
	return out
}

// first returns the n first places, in any order and in the memory of all: those of the
// highest steps of value, and of the last step that is needed by quickselect (Hoare, 1961), with
// a sort where its pivots are bad.
func first(all []place, n int) []place {
	if n <= 0 {
		return nil
	}
	if all = highest(all, n); n >= len(all) {
		return all
	}
	lo, hi := 0, len(all)
	for rounds := 2 * bits.Len(uint(len(all))); hi-lo > 8; rounds-- {
		if rounds == 0 {
			break
		}
		pivot := median(all[lo], all[lo+(hi-lo)/2], all[hi-1])
		i, j := lo, hi-1
		for i <= j {
			for all[i].ahead(&pivot) {
				i++
			}
			for pivot.ahead(&all[j]) {
				j--
			}
			if i <= j {
				all[i], all[j] = all[j], all[i]
				i++
				j--
			}
		}
		switch { // all[lo:j+1] <= pivot <= all[i:hi]
		case n <= j+1:
			hi = j + 1
		case n >= i:
			lo = i
		default:
			return all[:n]
		}
	}
	sortPlaces(all[lo:hi])
	return all[:n]
}

const valueSteps = 256

// highest drops places whose values lie in steps below that of the n-th. Values that are not above 0 lie
// in the lowest step. No processor predicts which of them stay, so none is asked to.
func highest(all []place, n int) []place {
	if n >= len(all) {
		return all
	}
	top := 0.0
	for i := range all {
		if v := all[i].v; v > top {
			top = v
		}
	}
	if !(top > 0) || math.IsInf(valueSteps/top, 1) {
		return all
	}
	scale := (valueSteps - 1) / top
	var count [valueSteps]int32
	for i := range all {
		count[stepOf(all[i].v, scale)]++
	}
	last, left := uint8(valueSteps-1), int32(n)
	for ; last > 0; last-- {
		if left -= count[last]; left <= 0 {
			break
		}
	}
	kept := 0
	for i := range all {
		p := all[i]
		all[kept] = p
		stay := 0
		if stepOf(p.v, scale) >= last {
			stay = 1
		}
		kept += stay
	}
	return all[:kept]
}

// stepOf returns the step of a value. The result of a conversion is not defined for values out of
// range, so they are not converted.
func stepOf(v, scale float64) uint8 {
	return uint8(int32(max(v*scale, 0)))
}

// median returns the middle one of three places.
func median(a, b, c place) place {
	if b.ahead(&a) {
		a, b = b, a
	}
	if c.ahead(&b) {
		b = c
		if b.ahead(&a) {
			b = a
		}
	}
	return b
}

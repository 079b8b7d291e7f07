package recall

import (
	"cmp"
	"math/bits"
	"slices"
)

// place is a candidate with the value that it is ordered by.
type place struct {
	v     float64
	chunk int64
	at    int32 // in cand
}

// comparePlaces orders by value, highest first, then by chunk. Values are numbers.
func comparePlaces(a, b place) int {
	switch {
	case a.v > b.v:
		return -1
	case a.v < b.v:
		return 1
	}
	return cmp.Compare(a.chunk, b.chunk)
}

// some returns the places of the n best candidates by f, in no particular order. They
// are good until the next call of it or of best.
func (q *work) some(n int, f func(c *cand) float64) []place {
	all := q.order[:0]
	for i := range q.cand {
		if v := f(&q.cand[i]); v > 0 {
			all = append(all, place{v, q.cand[i].Chunk, int32(i)})
		}
	}
	q.order = all
	return first(all, n)
}

// best returns the places of the n best candidates by f, best first.
func (q *work) best(n int, f func(c *cand) float64) []int32 {
	all := q.some(n, f)
	slices.SortFunc(all, comparePlaces)
	out := make([]int32, len(all))
	for i := range out {
		out[i] = all[i].at
	}
	return out
}

// first moves the n first places to the front, in any order, and returns them:
// quickselect (Hoare, 1961), and a sort where its pivots are bad.
func first(all []place, n int) []place {
	if n >= len(all) {
		return all
	}
	if n <= 0 {
		return nil
	}
	lo, hi := 0, len(all)
	for rounds := 2 * bits.Len(uint(len(all))); hi-lo > 8; rounds-- {
		if rounds == 0 {
			break
		}
		pivot := median(all[lo], all[lo+(hi-lo)/2], all[hi-1])
		i, j := lo, hi-1
		for i <= j {
			for comparePlaces(all[i], pivot) < 0 {
				i++
			}
			for comparePlaces(all[j], pivot) > 0 {
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
	slices.SortFunc(all[lo:hi], comparePlaces)
	return all[:n]
}

// median returns the middle one of three places.
func median(a, b, c place) place {
	if comparePlaces(b, a) < 0 {
		a, b = b, a
	}
	if comparePlaces(c, b) < 0 {
		b = c
		if comparePlaces(b, a) < 0 {
			b = a
		}
	}
	return b
}

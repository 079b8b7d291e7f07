package rank

import (
	"math"
	"math/bits"
	"slices"
)

// place is a candidate with its sort key.
type place struct {
	v     float64
	chunk int64
	at    int32 // index in rows and cand
}

// ahead reports whether a comes before b: by descending value, then by ascending chunk. It is small
// enough to be inlined.
func (a *place) ahead(b *place) bool { return a.v > b.v || a.v == b.v && a.chunk < b.chunk }

// measure selects the score by which candidates are ordered.
type measure uint8

const (
	byScore  measure = iota
	bySearch         // cand.s0
)

// of returns the score of a row, or 0 if the row is no candidate.
func (m measure) of(c *cand) float64 {
	switch {
	case !c.in:
		return 0
	case m == bySearch:
		return c.s0
	}
	return c.Score
}

// best returns the n best candidates whose score is above 0, best first. The result is valid until
// the next call.
func (q *work) best(n int, by measure) []place {
	all := q.order[:0]
	for _, i := range q.upper(n, by) {
		all = append(all, place{q.values[i], q.rows[i].Chunk, i})
	}
	q.order = all
	if n = min(n, len(all)); len(all) <= fewPlaces {
		insertionSort(all)
		return all[:n]
	}
	q.sorted = slices.Grow(q.sorted[:0], len(all))[:len(all)]
	return first(all, n, q.sorted)
}

// upper returns the rows of the n best candidates, and of the others in the same buckets, in no order. It sets q.values to the scores of all candidates.
func (q *work) upper(n int, by measure) []int32 {
	size := len(q.cand)
	q.values, q.buckets, q.kept = slices.Grow(q.values[:0], size)[:size], slices.Grow(q.buckets[:0], size)[:size], slices.Grow(q.kept[:0], size)[:size]
	top := 0.0
	if by == byScore {
		top = finalScores(q.values, q.cand)
	} else {
		for i := range q.cand {
			v := by.of(&q.cand[i])
			if !(v > 0) {
				v = 0
			}
			q.values[i] = v
			top = max(top, v)
		}
	}
	if n <= 0 || top == 0 {
		return nil
	}
	scale := scaleOf(top)
	var count [buckets]int32
	for i, v := range q.values {
		b := bucket(v, scale)
		q.buckets[i] = b
		count[b]++
	}
	lowest := buckets
	for some := int32(0); some < int32(n) && lowest > 0; some += count[lowest] {
		lowest--
	}
	kept := 0
	for i, b := range q.buckets { // without a branch, which would be mispredicted too often
		q.kept[kept] = int32(i)
		kept += 1 - int(uint(int(b)-lowest)>>(bits.UintSize-1))
	}
	some := q.kept[:kept]
	if lowest == 0 { // this bucket also has the rows with score 0
		some = slices.DeleteFunc(some, func(i int32) bool { return q.values[i] == 0 })
	}
	return some
}

// finalScores sets values to the scores of candidates, 0 for what is none, and returns the greatest. It is apart from the loop for other
// measures, since nearly each recall runs it.
func finalScores(values []float64, cand []cand) (top float64) {
	values = values[:len(cand)]
	for i := range cand {
		c := &cand[i]
		v := c.Score
		if !c.in || !(v > 0) {
			v = 0
		}
		values[i] = v
		if v > top {
			top = v
		}
	}
	return top
}

// scaleOf returns the factor that maps values up to top to buckets.
func scaleOf(top float64) float64 {
	scale := (buckets - 1) / top
	if math.IsInf(scale, 1) {
		return 0 // all values go to one bucket
	}
	return scale
}

const (
	buckets = 256
	// fewPlaces is the number of places up to which insertion sort is used.
	fewPlaces = 32
)

// first returns the first n of all in order of ahead. All values must be above 0. The result uses the memory of
// into, which has room for all. first distributes the places into buckets by value (Knuth, vol. 3, 5.2.5), and
// sorts only the buckets that are needed.
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
	scale := scaleOf(top)
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
		to := int(start[s]) // by now the end of the bucket
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

// insertionSort sorts places that are nearly in order.
func insertionSort(all []place) {
	for i := 1; i < len(all); i++ {
		p, j := all[i], i
		for ; j > 0 && p.ahead(&all[j-1]); j-- {
			all[j] = all[j-1]
		}
		all[j] = p
	}
}

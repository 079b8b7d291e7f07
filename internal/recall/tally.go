package recall

// tallied is the number of sources that a tally counts in a list. For the few sources of an ordinary result a list is faster than a map.
const tallied = 32

// tally counts hits by source. The zero value is ready to use.
type tally struct {
	nums   []int64
	counts []int
	more   map[int64]int // counts of sources beyond the first tallied ones
}

// reset sets all counts to 0.
func (t *tally) reset() {
	t.nums, t.counts = t.nums[:0], t.counts[:0]
	clear(t.more)
}

// add counts a hit of a source and returns the number of its hits so far.
func (t *tally) add(source int64) int {
	for i, num := range t.nums {
		if num == source {
			t.counts[i]++
			return t.counts[i]
		}
	}
	if len(t.nums) < tallied {
		t.nums, t.counts = append(t.nums, source), append(t.counts, 1)
		return 1
	}
	if t.more == nil {
		t.more = map[int64]int{}
	}
	t.more[source]++
	return t.more[source]
}

package recall

// tallied is how many sources are counted in a list, which costs less than a map for the few of an ordinary result.
const tallied = 32

// tally counts hits by source. The zero value has counted none.
type tally struct {
	nums   []int64
	counts []int
	more   map[int64]int // of the sources beyond the first ones
}

// reset forgets what was counted.
func (t *tally) reset() {
	t.nums, t.counts = t.nums[:0], t.counts[:0]
	clear(t.more)
}

// add counts a hit of a source and returns how many there are of it.
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

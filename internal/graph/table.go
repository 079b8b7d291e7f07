package graph

// table maps numbers to values and remembers the order in which they were added. Values do not move until reset.
type table[T any] struct {
	nums   []int64
	values map[int64]*T
	room   []T // backing array of values
}

// get returns the value of a number, nil if there is none.
func (t *table[T]) get(num int64) *T { return t.values[num] }

// add adds a zero value for a number that has none yet, and returns it.
func (t *table[T]) add(num int64) *T {
	if t.values == nil {
		t.values = make(map[int64]*T)
	}
	v := &take(&t.room, 1)[0]
	t.nums, t.values[num] = append(t.nums, num), v
	return v
}

// reset removes all values and keeps the memory.
func (t *table[T]) reset() {
	clear(t.values)
	clear(t.room)
	t.nums, t.room = t.nums[:0], t.room[:0]
}

// take returns n zero elements from room. Elements that were taken before do not move.
func take[T any](room *[]T, n int) []T {
	at := len(*room)
	if cap(*room)-at < n {
		*room, at = make([]T, 0, max(n, 2*at, 16)), 0
	}
	*room = (*room)[:at+n]
	return (*room)[at : at+n : at+n]
}

package graph

// table holds values by number and remembers the order in which they came. Values stay where they are until reset.
type table[T any] struct {
	nums   []int64
	values map[int64]*T
	room   []T // that values point to, and room for the next ones
}

// get returns the value of a number, nil if there is none.
func (t *table[T]) get(num int64) *T { return t.values[num] }

// add returns the zero value of a number that has none yet.
func (t *table[T]) add(num int64) *T {
	if t.values == nil {
		t.values = make(map[int64]*T)
	}
	v := &take(&t.room, 1)[0]
	t.nums, t.values[num] = append(t.nums, num), v
	return v
}

// reset forgets all values and keeps the memory for others.
func (t *table[T]) reset() {
	clear(t.values)
	clear(t.room)
	t.nums, t.room = t.nums[:0], t.room[:0]
}

// take returns n zero elements behind those that were taken before, which stay where they are.
func take[T any](room *[]T, n int) []T {
	at := len(*room)
	if cap(*room)-at < n {
		*room, at = make([]T, 0, max(n, 2*at, 16)), 0
	}
	*room = (*room)[:at+n]
	return (*room)[at : at+n : at+n]
}

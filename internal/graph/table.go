package graph

import "slices"

// table maps numbers to values and remembers the order in which they were added. Values do not move until reset.
type table[T any] struct {
	nums   []int64
	values []*T         // of nums
	byNum  map[int64]*T // of all nums, once there are more than fewNums
	room   []T          // backing array of values
}

// fewNums is the size up to which a table compares numbers one by one. This is faster than a map, which also has to be filled and cleared.
const fewNums = 48

// get returns the value of a number, nil if there is none.
func (t *table[T]) get(num int64) *T {
	if len(t.nums) > fewNums {
		return t.byNum[num]
	}
	if i := slices.Index(t.nums, num); i >= 0 {
		return t.values[i]
	}
	return nil
}

// add adds a zero value for a number that has none yet, and returns it.
func (t *table[T]) add(num int64) *T {
	v := &take(&t.room, 1)[0]
	t.nums, t.values = append(t.nums, num), append(t.values, v)
	switch n := len(t.nums); {
	case n == fewNums+1:
		if t.byNum == nil {
			t.byNum = make(map[int64]*T, 4*fewNums)
		}
		for i, num := range t.nums {
			t.byNum[num] = t.values[i]
		}
	case n > fewNums:
		t.byNum[num] = v
	}
	return v
}

// reset removes all values and keeps the memory.
func (t *table[T]) reset() {
	if len(t.nums) > fewNums {
		clear(t.byNum)
	}
	clear(t.values)
	clear(t.room)
	t.nums, t.values, t.room = t.nums[:0], t.values[:0], t.room[:0]
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

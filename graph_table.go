package contextmem

import "github.com/contextmem/contextmem/internal/numtable"

// byNumber holds values by number, in the order in which they came. They stay where they are until forget.
type byNumber[T any] struct {
	nums   []int64
	values []*T // of nums
	made   []T  // that values point to
	table  numtable.Table
}

// get returns the value of a number, nil if there is none.
func (b *byNumber[T]) get(num int64) *T {
	at, ok := b.table.Get(b.nums, num)
	if !ok {
		return nil
	}
	return b.values[at]
}

// add returns the zero value of a number that has none yet.
func (b *byNumber[T]) add(num int64) *T {
	v := &take(&b.made, 1)[0]
	b.nums, b.values = append(b.nums, num), append(b.values, v)
	b.table.Put(b.nums, uint32(len(b.nums)-1))
	return v
}

// forget makes b ready for other values.
func (b *byNumber[T]) forget() {
	if cap(b.nums) > maxGraphScratch || cap(b.made) > maxGraphScratch {
		*b = byNumber[T]{}
		return
	}
	clear(b.values)
	clear(b.made)
	b.nums, b.values, b.made = b.nums[:0], b.values[:0], b.made[:0]
	b.table.Clear()
}

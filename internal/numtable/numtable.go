// Package numtable is a hash index of the numbers in a column.
package numtable

// Table maps a number to its index in a column. It stores only indexes, 4 bytes per slot, and compares numbers with the column.
// Numbers cannot be removed one by one. Putting a number again replaces its index. The zero value is empty.
type Table struct {
	slots []uint32 // index plus 1; 0: free
	used  int
	shift uint8
}

func (t *Table) slot(num int64) int {
	// Fibonacci hashing: Knuth, The Art of Computer Programming, vol. 3, 6.4.
	return int(uint64(num) * 0x9E3779B97F4A7C15 >> t.shift)
}

// Get returns the index of num in column, and whether it is present.
func (t *Table) Get(column []int64, num int64) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for i := t.slot(num); ; i = (i + 1) & (len(t.slots) - 1) {
		s := t.slots[i]
		if s == 0 {
			return 0, false
		}
		if column[s-1] == num {
			return s - 1, true
		}
	}
}

// Put records that column[place] is num.
func (t *Table) Put(column []int64, place uint32) {
	if 4*(t.used+1) > 3*len(t.slots) {
		t.grow(column)
	}
	num := column[place]
	i := t.slot(num)
	for ; t.slots[i] != 0; i = (i + 1) & (len(t.slots) - 1) {
		if column[t.slots[i]-1] == num {
			t.slots[i] = place + 1
			return
		}
	}
	t.slots[i] = place + 1
	t.used++
}

func (t *Table) grow(column []int64) {
	old := t.slots
	size := max(16, 2*len(old))
	t.slots = make([]uint32, size)
	t.shift = 64
	for n := size; n > 1; n >>= 1 {
		t.shift--
	}
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := t.slot(column[s-1])
		for t.slots[i] != 0 {
			i = (i + 1) & (size - 1)
		}
		t.slots[i] = s
	}
}

// Clear removes all numbers.
func (t *Table) Clear() {
	clear(t.slots)
	t.used = 0
}

// Bytes returns the memory of the table in bytes.
func (t *Table) Bytes() int { return 4 * len(t.slots) }

package local

// lookup is a hash table of places in another table: 4 bytes a slot, at most three quarters of which are used. The zero
// value is empty. The caller compares what is at a place.
type lookup struct {
	slots []uint32 // place plus 1; 0 is free
	used  int
}

// grow makes room for n more places; hash returns the hash of what is at a place.
func (t *lookup) grow(n int, hash func(at uint32) uint64) {
	size := max(16, len(t.slots))
	for 3*size < 4*(t.used+n) {
		size *= 2
	}
	if size == len(t.slots) {
		return
	}
	old := t.slots
	t.slots = make([]uint32, size)
	for _, s := range old {
		if s != 0 {
			t.slots[t.free(hash(s-1))] = s
		}
	}
}

// free is the first free slot of a hash.
func (t *lookup) free(hash uint64) int {
	i := t.first(hash)
	for t.slots[i] != 0 {
		i = t.behind(i)
	}
	return i
}

func (t *lookup) first(hash uint64) int { return int(hash & uint64(len(t.slots)-1)) }

func (t *lookup) behind(i int) int { return (i + 1) & (len(t.slots) - 1) }

// find returns the place with a hash for which is returns true.
func (t *lookup) find(hash uint64, is func(at uint32) bool) (at uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for i := t.first(hash); t.slots[i] != 0; i = t.behind(i) {
		if at := t.slots[i] - 1; is(at) {
			return at, true
		}
	}
	return 0, false
}

// put adds a place that is not there; hash returns the hash of what is at any place.
func (t *lookup) put(at uint32, hash func(at uint32) uint64) {
	t.grow(1, hash)
	t.slots[t.free(hash(at))] = at + 1
	t.used++
}

// remove removes a place that is there. Places behind it move up, so that no gap separates one from its first slot (Knuth, 6.4, algorithm R).
func (t *lookup) remove(at uint32, hash func(at uint32) uint64) {
	i := t.first(hash(at))
	for t.slots[i] != at+1 {
		i = t.behind(i)
	}
	t.used--
	for j := t.behind(i); t.slots[j] != 0; j = t.behind(j) {
		first := t.first(hash(t.slots[j] - 1))
		if mask := len(t.slots) - 1; (j-first)&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = 0
}

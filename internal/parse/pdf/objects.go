package pdf

import (
	"iter"
	"maps"
	"slices"
)

// Kinds of cross-reference entries.
const (
	entryFree = iota
	entryOffset
	entryCompressed
)

// xrefEntry locates an object: at file offset pos, or in the object stream whose number is pos.
type xrefEntry struct {
	kind uint8
	pos  int
}

// objectTable maps object numbers to entries. Consecutive numbers, as in nearly all files, take eight bytes each; others are in a map.
type objectTable struct {
	dense  []int64 // pos<<2 | kind+1; 0 where there is no entry
	sparse map[int]xrefEntry
	count  int
}

// maxPackedPos is far above any file offset.
const maxPackedPos = 1 << 60

// maxGap is how many entries of dense may be empty in addition to the number of used ones.
const maxGap = 512

func (t *objectTable) get(num int) (xrefEntry, bool) {
	if num >= 0 && num < len(t.dense) {
		if v := t.dense[num]; v != 0 {
			return xrefEntry{uint8(v&3) - 1, int(v >> 2)}, true
		}
	}
	e, ok := t.sparse[num]
	return e, ok
}

// offset returns the pos of an entry, or 0 if there is none.
func (t *objectTable) offset(num int) int {
	e, _ := t.get(num)
	return e.pos
}

// reserve allocates room for count numbers from first on, if they continue those in dense.
func (t *objectTable) reserve(first, count int) {
	if n := first + count - len(t.dense); first <= len(t.dense) && n > 0 {
		t.dense = slices.Grow(t.dense, n)
	}
}

func (t *objectTable) set(num int, e xrefEntry) {
	_, has := t.get(num)
	if !has {
		t.count++
	}
	_, elsewhere := t.sparse[num]
	if elsewhere || num < 0 || num >= len(t.dense) && num >= 2*t.count+maxGap {
		if t.sparse == nil {
			t.sparse = map[int]xrefEntry{}
		}
		t.sparse[num] = e
		return
	}
	if n := num + 1 - len(t.dense); n > 0 {
		t.dense = slices.Grow(t.dense, n)[:num+1]
	}
	pos := e.pos
	if pos < 0 || pos > maxPackedPos {
		pos = -1 // no object can be there
	}
	t.dense[num] = int64(pos)<<2 | int64(e.kind+1)
}

// all visits the entries of dense in ascending order of their numbers, then those of the map.
func (t *objectTable) all() iter.Seq2[int, xrefEntry] {
	return func(yield func(int, xrefEntry) bool) {
		for num := range t.dense {
			if t.dense[num] != 0 {
				if e, _ := t.get(num); !yield(num, e) {
					return
				}
			}
		}
		maps.All(t.sparse)(yield)
	}
}

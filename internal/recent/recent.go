// Package recent remembers values that were made of texts lately, so that equal texts
// that come again soon, or at once in several calls, are not read twice.
package recent

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	tableSlots = 64 // a power of two
	maxKey     = 1024
)

var seed = maphash.MakeSeed()

// Table keeps at most 64 values by the text that each was made of, a newer one in place
// of an older one of the same slot. It takes memory from the first Put on. The zero value
// is an empty table. It is safe for concurrent use and takes no lock; values are shared,
// nobody may change them.
type Table[V any] struct {
	slots atomic.Pointer[[tableSlots]atomic.Pointer[entry[V]]]
}

type entry[V any] struct {
	key   string
	value V
}

// Get returns the value of a text.
func Get[K string | []byte, V any](t *Table[V], key K) (value V, ok bool) {
	slots := t.slots.Load()
	if slots == nil || len(key) > maxKey {
		return value, false
	}
	if e := slots[slot(key)].Load(); e != nil && e.key == string(key) {
		return e.value, true
	}
	return value, false
}

// Put keeps the value of a text. One of more than 1,024 bytes is not kept.
func Put[K string | []byte, V any](t *Table[V], key K, value V) {
	if len(key) > maxKey {
		return
	}
	slots := t.slots.Load()
	if slots == nil {
		t.slots.CompareAndSwap(nil, new([tableSlots]atomic.Pointer[entry[V]]))
		slots = t.slots.Load()
	}
	slots[slot(key)].Store(&entry[V]{string(key), value})
}

func slot[K string | []byte](key K) uint64 {
	switch k := any(key).(type) {
	case string:
		return maphash.String(seed, k) % tableSlots
	case []byte:
		return maphash.Bytes(seed, k) % tableSlots
	}
	return 0
}

// Package recent caches values computed from texts, so that a text repeated soon after, or concurrently, is not processed
// twice.
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

// Table caches at most 64 values, keyed by the text that each was computed from. A newer value replaces an older one in the
// same slot. The first Put allocates the memory. The zero value is an empty table. It is safe for concurrent use and takes no
// lock. Values are shared and must not be changed.
type Table[V any] struct {
	slots atomic.Pointer[[tableSlots]atomic.Pointer[entry[V]]]
}

type entry[V any] struct {
	key   string
	value V
}

// Get returns the cached value of a text.
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

// Put caches the value of a text. Texts of more than 1,024 bytes are not cached.
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

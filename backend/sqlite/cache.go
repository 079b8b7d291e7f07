package sqlite

import (
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// cacheKind is the kind of thing that a cacheKey names.
type cacheKind uint8

const (
	cachedChunk          cacheKind = iota // a visible chunk: *backend.Hydrated
	cachedEntity                          // an entity: *backend.Entity
	cachedChunkFacts                      // all relations with evidence in a chunk: *factList
	cachedEntityRelation                  // the first relations of an entity: *factList
	cachedEntityHistory                   // the same, whenever they were believed: *factList
	cachedSuccessions                     // what took the place of a version: *successionList
)

// cacheKey names a value: its kind, the limit of a list (0: all), and a number. One of 0 names none.
type cacheKey uint64

const (
	kindBits  = 3
	limitBits = 13
)

func newCacheKey(kind cacheKind, limit int, num int64) cacheKey {
	if limit >= 1<<limitBits || num <= 0 || num >= 1<<(64-kindBits-limitBits) {
		return 0
	}
	return cacheKey(uint64(num)<<(kindBits+limitBits) | uint64(limit)<<kindBits | uint64(kind))
}

// rowCache keeps decoded rows of one store for as long as nothing is committed, up to a
// number of bytes, and forgets those used longest ago, as near as an eighth. Before it is half full nothing is about to
// be forgotten, and uses are not noted. Its values are shared: nobody changes them. It is safe for concurrent use.
type rowCache struct {
	limit int

	mu     sync.RWMutex
	at     uint64 // the version of all values
	used   int
	items  map[cacheKey]*cacheItem
	order  cacheItem                             // a ring: next is used latest, prev longest ago
	clock  uint64                                // uses and insertions so far
	named  map[string][]byte                     // small values by name, nil of one that is not there
	marked [marks]map[backend.Partition][]uint64 // numbers as bits
	words  int                                   // of marked
}

// mark is something that is known of most numbers. A bit tells it: an item for each number would push what else is kept out.
type mark uint8

const (
	lasting  mark = iota // nothing took the place of a version of a source
	undated              // no relation of a chunk has a time at which it was true
	factless             // a chunk has no relations
	marks
)

// eachMarked calls hit for each number of which a mark is known, with its place.
func (m *rowCache) eachMarked(v uint64, what mark, part backend.Partition, nums []int64, hit func(i int)) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.at != v {
		return
	}
	set := m.marked[what][part]
	for i, num := range nums {
		if w := uint64(num) / 64; w < uint64(len(set)) && set[w]>>(uint64(num)%64)&1 != 0 {
			hit(i)
		}
	}
}

// keepMarks marks numbers, as long as that takes little room.
func (m *rowCache) keepMarks(v uint64, what mark, part backend.Partition, nums []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.turn(v) {
		return
	}
	most, set := m.limit/64, m.marked[what][part] // an eighth of the bytes
	for _, num := range nums {
		w := uint64(num) / 64
		if more := int64(w) + 1 - int64(len(set)); more > 0 {
			if w >= uint64(most) || m.words+int(more) > most {
				continue
			}
			m.words += int(more)
			set = append(set, make([]uint64, more)...)
		}
		set[w] |= 1 << (uint64(num) % 64)
	}
	if len(set) > 0 {
		m.marked[what][part] = set
	}
}

// Bounds of the values that are kept by name.
const (
	maxNamed      = 32
	maxNamedBytes = 1 << 10
)

// value returns the value of a name of version v; false: it is not known.
func (m *rowCache) value(v uint64, name string) ([]byte, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.at != v {
		return nil, false
	}
	value, ok := m.named[name]
	return value, ok
}

// keep notes the value of a name of version v, if it is small.
func (m *rowCache) keep(v uint64, name string, value []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.turn(v) && len(m.named) < maxNamed && len(name)+len(value) <= maxNamedBytes {
		m.named[name] = value
	}
}

type cacheItem struct {
	next, prev *cacheItem
	key        cacheKey
	value      any
	size       int
	moved      uint64 // when it was put in front
}

// push puts an item into the ring before any other.
func (m *rowCache) push(it *cacheItem) {
	it.next, it.prev = m.order.next, &m.order
	it.next.prev, m.order.next = it, it
}

// drop takes an item out of the ring.
func (it *cacheItem) drop() { it.next.prev, it.prev.next = it.prev, it.next }

// empty forgets everything.
func (m *rowCache) empty() {
	clear(m.items)
	clear(m.named)
	for _, sets := range m.marked {
		clear(sets)
	}
	m.used, m.words = 0, 0
	m.order.next, m.order.prev = &m.order, &m.order
}

// cacheOverhead is about what an entry takes beside its value.
const cacheOverhead = 160

func newCache(limit int) *rowCache {
	m := &rowCache{limit: limit, items: make(map[cacheKey]*cacheItem), named: make(map[string][]byte)}
	for i := range m.marked {
		m.marked[i] = make(map[backend.Partition][]uint64)
	}
	m.empty()
	return m
}

// get calls hit for each number whose value of version v is known, with its place. It passes over 0.
func (m *rowCache) get(v uint64, kind cacheKind, limit int, nums []int64, hit func(i int, value any)) {
	m.mu.RLock()
	if m.at == v && m.used <= m.limit/2 {
		defer m.mu.RUnlock()
		for i, num := range nums {
			if num == 0 {
				continue
			}
			if it := m.items[newCacheKey(kind, limit, num)]; it != nil {
				hit(i, it.value)
			}
		}
		return
	}
	m.mu.RUnlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.turn(v) {
		return
	}
	for i, num := range nums {
		if it := m.items[newCacheKey(kind, limit, num)]; it != nil {
			m.clock++
			if m.clock-it.moved > uint64(len(m.items)/8) { // else it is still among the first
				it.moved = m.clock
				it.drop()
				m.push(it)
			}
			hit(i, it.value)
		}
	}
}

// put keeps a value of version v that takes about size bytes.
func (m *rowCache) put(v uint64, key cacheKey, value any, size int) {
	size += cacheOverhead
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.turn(v) || size > m.limit/8 || key == 0 {
		return
	}
	if _, ok := m.items[key]; ok {
		return // another call was first, with an equal value
	}
	m.clock++
	it := &cacheItem{key: key, value: value, size: size, moved: m.clock}
	m.items[key] = it
	m.push(it)
	for m.used += size; m.used > m.limit; {
		last := m.order.prev
		last.drop()
		delete(m.items, last.key)
		m.used -= last.size
	}
}

// turn forgets everything when v is newer than what is there; false when it is older.
// The caller holds mu.
func (m *rowCache) turn(v uint64) bool {
	if v > m.at {
		m.empty()
		m.at = v
	}
	return v == m.at
}

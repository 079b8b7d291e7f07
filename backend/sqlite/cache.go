package sqlite

import (
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// cacheKind is the kind of value of a cacheKey.
type cacheKind uint8

const (
	cachedChunk          cacheKind = iota // a visible chunk: *backend.Hydrated
	cachedEntity                          // an entity: *backend.Entity
	cachedChunkFacts                      // all relations with evidence in a chunk: *factList
	cachedEntityRelation                  // the first relations of an entity: *factList
	cachedEntityHistory                   // the same, including retired ones: *factList
	cachedSuccessions                     // successions in which a version is the earlier one: *successionList
	cachedEntitySketch                    // the first relations of an entity without their texts: *sketchList
	cachedRelation                        // a relation that is not retired: *factList with that one
	cachedText                            // the text of a visible chunk: *textRow
)

// cacheKey identifies a value: its kind, the limit of a list (0: all), and a number. A key of 0 is invalid.
type cacheKey uint64

const (
	kindBits  = 4
	limitBits = 13
)

func newCacheKey(kind cacheKind, limit int, num int64) cacheKey {
	if limit >= 1<<limitBits || num <= 0 || num >= 1<<(64-kindBits-limitBits) {
		return 0
	}
	return cacheKey(uint64(num)<<(kindBits+limitBits) | uint64(limit)<<kindBits | uint64(kind))
}

// rowCache is an approximate LRU cache of decoded rows of one store, bounded in bytes. A commit empties it. A use moves a
// value to the front only if it is beyond the first eighth of the ring, and only once the cache is half full. Callers
// share the values and must not change them. A rowCache is safe for concurrent use.
type rowCache struct {
	limit int

	mu     sync.RWMutex
	at     uint64 // store version of all values
	used   int
	items  map[cacheKey]*cacheItem
	order  cacheItem                             // head of a ring: next is the most recently used, prev the least recently used
	clock  uint64                                // number of insertions and counted uses so far
	named  map[string][]byte                     // small values by name; nil for a name without a value
	marked [marks]map[backend.Partition][]uint64 // bit sets of numbers
	words  int                                   // number of words in marked
}

// mark is a property that most numbers have. The cache stores it as one bit per number, since an item per number would evict other values.
type mark uint8

const (
	lasting  mark = iota // no succession has this version as the earlier one
	undated              // no relation of this chunk has a validity time
	factless             // this chunk has no relations
	marks
)

// eachMarked calls hit with the index of each number that has a mark.
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

// keepMarks marks numbers, unless the bit sets would take too much memory.
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

// Bounds of the values cached by name.
const (
	maxNamed      = 32
	maxNamedBytes = 1 << 10
)

// value returns the cached value of a name at version v, and reports whether it is cached.
func (m *rowCache) value(v uint64, name string) ([]byte, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.at != v {
		return nil, false
	}
	value, ok := m.named[name]
	return value, ok
}

// keep caches the value of a name at version v, if it is small.
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
	moved      uint64 // clock when the item was moved to the front
}

// push adds an item at the front of the ring.
func (m *rowCache) push(it *cacheItem) {
	it.next, it.prev = m.order.next, &m.order
	it.next.prev, m.order.next = it, it
}

// drop removes an item from the ring.
func (it *cacheItem) drop() { it.next.prev, it.prev.next = it.prev, it.next }

// empty removes all values.
func (m *rowCache) empty() {
	clear(m.items)
	clear(m.named)
	for _, sets := range m.marked {
		clear(sets)
	}
	m.used, m.words = 0, 0
	m.order.next, m.order.prev = &m.order, &m.order
}

// cacheOverhead estimates the bytes of an entry without its value.
const cacheOverhead = 160

func newCache(limit int) *rowCache {
	m := &rowCache{limit: limit, items: make(map[cacheKey]*cacheItem), named: make(map[string][]byte)}
	for i := range m.marked {
		m.marked[i] = make(map[backend.Partition][]uint64)
	}
	m.empty()
	return m
}

// get calls hit with the index and the value of each number that is cached at version v. It skips numbers of 0.
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
			if m.clock-it.moved > uint64(len(m.items)/8) { // otherwise the item is still near the front
				it.moved = m.clock
				it.drop()
				m.push(it)
			}
			hit(i, it.value)
		}
	}
}

// put caches a value at version v that takes about size bytes.
func (m *rowCache) put(v uint64, key cacheKey, value any, size int) {
	size += cacheOverhead
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.turn(v) || size > m.limit/8 || key == 0 {
		return
	}
	if _, ok := m.items[key]; ok {
		return // another call has cached an equal value
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

// turn empties the cache if v is newer than its version. It returns false if v is older. The caller
// holds mu.
func (m *rowCache) turn(v uint64) bool {
	if v > m.at {
		m.empty()
		m.at = v
	}
	return v == m.at
}

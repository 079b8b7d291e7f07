// Package readcache spares a store the reads of records that seldom change.
package readcache

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache holds the records used last. A record that was read before a Drop and arrives after it is not kept, so that a
// caller who changes a record and then drops it knows that nobody finds the old one from then on. It is safe for
// concurrent use.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[K, V]
	epoch uint64 // rises with every Drop
}

// New returns a cache of at most size records; size must be positive.
func New[K comparable, V any](size int) *Cache[K, V] {
	l, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // the size is not positive
	}
	return &Cache[K, V]{lru: l}
}

// Get returns the record of k, which read supplies when it is not held. Errors are not kept.
func (c *Cache[K, V]) Get(k K, read func() (V, error)) (V, error) {
	c.mu.Lock()
	v, ok := c.lru.Get(k)
	epoch := c.epoch
	c.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := read()
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch == epoch {
		c.lru.Add(k, v)
	}
	return v, nil
}

// Drop forgets the record of k.
func (c *Cache[K, V]) Drop(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	c.lru.Remove(k)
}

// Clear forgets all records.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	c.lru.Purge()
}

// Len is the number of records held.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Len()
}

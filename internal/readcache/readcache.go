// Package readcache caches records that seldom change, to save reads from a store.
package readcache

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache is an LRU cache of records. It does not cache a record whose read overlaps a Drop. So a caller who changes a record and
// then drops it knows that later calls do not return the old record. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[K, V]
	epoch uint64 // incremented by every Drop
}

// New returns a cache of at most size records; size must be positive.
func New[K comparable, V any](size int) *Cache[K, V] {
	l, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // the size is not positive
	}
	return &Cache[K, V]{lru: l}
}

// Get returns the cached record of k, or calls read and caches its result. Errors are not cached.
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

// Drop removes the record of k from the cache.
func (c *Cache[K, V]) Drop(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	c.lru.Remove(k)
}

// Clear removes all records.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	c.lru.Purge()
}

// Len returns the number of cached records.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Len()
}

package contextmem

import "sync"

// keyCache spares the registry a read for each request. Only keys that exist are
// kept, and revocation takes them out.
type keyCache struct {
	mu   sync.RWMutex
	keys map[string]storedKey
	gone map[string]bool // revoked while a read may be under way
}

// maxCachedKeys bounds the cache; when it is full it starts anew.
const maxCachedKeys = 10_000

func (c *keyCache) get(id string) (storedKey, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.keys[id]
	return k, ok
}

func (c *keyCache) put(id string, k storedKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone[id] {
		return
	}
	if c.keys == nil || len(c.keys) >= maxCachedKeys {
		c.keys = map[string]storedKey{}
	}
	c.keys[id] = k
}

// Delete takes a key out for good.
func (c *keyCache) Delete(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.keys, id)
	if c.gone == nil {
		c.gone = map[string]bool{}
	}
	c.gone[id] = true
}

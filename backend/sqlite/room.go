package sqlite

import (
	"fmt"
	"sync/atomic"
)

// Room is lent to one store of a deployment at a time, while many of its items wait. The batches of a large store write to pages all over its
// indexes: with all of them in memory a batch of 2,048 memories, into 250,000, takes an eighth less processor time.
const (
	// borrowFrom is the number of items from which on a store asks for room when a worker claims them.
	borrowFrom = 512
	// keepFrom is the number of items from which on a store keeps the room.
	keepFrom = 64
	// roomFactor is how much larger than Options.CacheBytes the page cache of the borrower may grow, 64 MiB by default.
	roomFactor = 8
	// roomyEntities is entityCacheSize of the borrower. An entity takes about 200 bytes.
	roomyEntities = 1 << 16
)

// room is what the stores of a deployment borrow.
type room struct{ borrower atomic.Pointer[store] }

// lend reports whether a store may use the room. It may not while another one does.
func (r *room) lend(s *store) bool { return r.borrower.CompareAndSwap(nil, s) }

// giveBack ends the use of the room by a store. It does nothing if the store does not use it.
func (r *room) giveBack(s *store) { r.borrower.CompareAndSwap(s, nil) }

// fit makes the caches of the writer fit the number of items that a worker has just found waiting.
func (t *tx) fit(waiting int) error {
	switch {
	case !t.roomy && waiting >= borrowFrom && t.room.lend(t.store):
		t.roomy = true
		t.entities.Resize(roomyEntities)
		return t.c.cachePages(t.cacheKiB * roomFactor)
	case t.roomy && waiting < keepFrom:
		t.roomy = false
		t.room.giveBack(t.store)
		t.entities.Resize(entityCacheSize)
		return t.c.cachePages(t.cacheKiB)
	}
	return nil
}

// cachePages bounds the page cache of a connection. SQLite frees at once what is above that.
func (c *conn) cachePages(kiB int) error { return c.script(fmt.Sprintf("PRAGMA cache_size=-%d", kiB)) }

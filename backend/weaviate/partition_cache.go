package weaviate

import (
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/contextmem/contextmem/backend"
)

const (
	// maxCachedPartitions is the maximum number of cached contents.
	maxCachedPartitions = 10_000
	// maxMissedRows is the maximum number of rows and changes kept for a running read. A read that misses more is not cached.
	maxMissedRows = 4000
	// idleContent is how long a content is unused before another one may be read in the background to take its place.
	idleContent = time.Minute
)

// partitionCache is an LRU cache of the terms and vectors of partitions, shared by all workspaces. An index brings
// its contents up to date with the changes that this process applies or sees, so that a search after a change need not
// read them again. Each content carries the number of the change up to which it is true. A search uses it only if that is
// not before the position of the index. It is safe for concurrent use.
type partitionCache struct {
	most   int           // approximate maximum size of all that is cached, in bytes; half of it for one content
	small  int           // maximum number of chunks of a partition that a search reads as a whole
	list   int           // number of chunks whose numbers are read at a time in the background, and
	page   int           // number of objects
	settle time.Duration // how long after a write the BM25 of the nodes may not find the best
	reads  chan struct{} // has an element for each running read in the background
	mu     sync.Mutex
	lru    *simplelru.LRU[partitionKey, *cached]
	of     map[*index]map[*cached]bool // all cached contents and running reads
	bytes  int
}

// partitionKey names a content: the terms, recent terms, dictionary or counts of a partition, or the vectors of one length in a lane of it.
type partitionKey struct {
	of   *index
	part backend.Partition
	lane backend.Lane
	dim  int // length of the vectors; 0: the terms; countsDim, recentDim, dictionaryDim: the counts, the terms of recent chunks, the dictionary
}

// cachedContent is the terms, recent terms, dictionary, counts or vectors of a partition. Its caller guards it.
type cachedContent interface {
	// apply carries out a plan. It returns false if it cannot; the content is then not usable any more.
	apply(p *plan) bool
	// size returns the approximate size in bytes.
	size() int
	// count returns the number of chunks.
	count() int
}

// cached is a content in the cache, or a read of one that has not ended.
type cached struct {
	key        partitionKey
	began      time.Time // when the read began
	mark       uint64    // of the rewrites that other processes had made before the read; see rewriteMarks
	incomplete uint64    // index.incomplete before the read
	bytes      int       // size as it is counted in the cache; guarded by partitionCache.mu
	used       time.Time // when it was last used or read; guarded by partitionCache.mu

	mu      sync.RWMutex  // guards the content and the fields below
	content cachedContent // nil: it is being read
	ended   time.Time     // when the read ended
	upto    uint64        // number of the last change that the content includes, or that missed has
	missed  [][]backend.Change
	rows    int  // size of missed
	dead    bool // the content must not be used or cached
}

// backgroundReads is the maximum number of concurrent reads in the background.
const backgroundReads = 2

func newPartitionCache(most int) *partitionCache {
	c := &partitionCache{most: most, small: smallPartition, list: maxResults, page: pageRows, settle: settleTime, reads: make(chan struct{}, backgroundReads), of: make(map[*index]map[*cached]bool)}
	c.lru, _ = simplelru.NewLRU(maxCachedPartitions, func(_ partitionKey, e *cached) { c.forget(e) }) // NewLRU only fails if the size is not positive
	return c
}

// forget removes a content that is not in the LRU list. The caller holds mu.
func (c *partitionCache) forget(e *cached) {
	c.bytes -= e.bytes
	e.bytes = 0
	all := c.of[e.key.of]
	if delete(all, e); len(all) == 0 {
		delete(c.of, e.key.of)
	}
}

// remove removes a content or a running read. The caller holds mu.
func (c *partitionCache) remove(e *cached) {
	if in, ok := c.lru.Peek(e.key); ok && in == e {
		c.lru.Remove(e.key)
		return
	}
	c.forget(e)
}

// find returns the cached content for a key, or nil.
func (c *partitionCache) find(k partitionKey) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.lru.Get(k)
	if !ok {
		return nil
	}
	e.used = time.Now()
	return e
}

// discard removes a content.
func (c *partitionCache) discard(e *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(e)
}

// use calls f with the content, if it includes all changes up to need. It reports whether it did.
func (e *cached) use(need uint64, f func(cachedContent)) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.dead || e.upto < need {
		return false
	}
	f(e.content)
	return true
}

// isDead reports whether the content will not be cached.
func (e *cached) isDead() bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.dead
}

// kept returns the approximate size of all cached contents, in bytes.
func (c *partitionCache) kept() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// hasRoom reports whether a content of some size fits beside those that are in use, in place of the one that has its key.
func (c *partitionCache) hasRoom(of partitionKey, size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	free := c.most - c.bytes
	if old, ok := c.lru.Peek(of); ok {
		free += old.bytes
	}
	for _, k := range c.lru.Keys() { // the least recently used first
		if free >= size {
			break
		}
		if k == of {
			continue
		}
		e, _ := c.lru.Peek(k)
		if time.Since(e.used) < idleContent {
			return false
		}
		free += e.bytes
	}
	return free >= size
}

// fits returns an error if a content of some size does not fit.
func (c *partitionCache) fits(k partitionKey, size int) error {
	switch {
	case size > c.most/2:
		return errTooLarge
	case !c.hasRoom(k, size):
		return errNoRoom
	}
	return nil
}

// begin registers a read of the content for a key. The caller then reads the content, and ends the read by calling end or
// abandon.
func (c *partitionCache) begin(k partitionKey) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &cached{key: k, began: time.Now(), mark: k.of.marks.last(), incomplete: k.of.incomplete.Load(), upto: k.of.applied.Load()}
	if c.of[k.of] == nil {
		c.of[k.of] = make(map[*cached]bool)
	}
	c.of[k.of][e] = true
	return e
}

// abandon ends a read without a content.
func (c *partitionCache) abandon(e *cached) { c.discard(e) }

// end ends a read and caches the content, brought up to date with the changes that were applied meanwhile. The caller does not
// use the content afterwards.
func (c *partitionCache) end(e *cached, of cachedContent) {
	e.mu.Lock()
	e.dead = e.dead || e.key.of.incomplete.Load() != e.incomplete
	for _, changes := range e.missed {
		for _, p := range planOf(changes) {
			e.dead = e.dead || !of.apply(p)
		}
	}
	if r, ok := of.(readContent); ok {
		r.readEnded()
	}
	e.content, e.missed, e.ended = of, nil, time.Now()
	dead, upto, size := e.dead, e.upto, of.size()
	e.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if dead || !c.of[e.key.of][e] || size > c.most/2 {
		c.remove(e)
		return
	}
	if old, ok := c.lru.Peek(e.key); ok {
		old.mu.RLock()
		newer := !old.dead && old.upto > upto
		old.mu.RUnlock()
		if newer {
			c.remove(e)
			return
		}
		c.remove(old)
	}
	e.used = time.Now()
	c.lru.Add(e.key, e)
	c.resize(e, size)
}

// resize records the size of a cached content, and removes the least recently used ones if all are too large. The caller holds mu.
func (c *partitionCache) resize(e *cached, size int) {
	c.bytes += size - e.bytes
	for e.bytes = size; c.bytes > c.most; {
		c.lru.RemoveOldest()
	}
}

// amend calls f with a cached content in order to add to it what was read while it included the changes up to number upto. It
// does nothing if changes have come since, or if the content is not cached any more.
func (c *partitionCache) amend(e *cached, upto uint64, f func(cachedContent)) {
	c.dropIf([]*cached{e}, func(e *cached) bool {
		if !e.dead && e.upto == upto {
			f(e.content)
		}
		return e.dead
	})
}

// all returns the contents and the running reads of an index.
func (c *partitionCache) all(of *index) []*cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*cached, 0, len(c.of[of]))
	for e := range c.of[of] {
		out = append(out, e)
	}
	return out
}

// drop removes the contents of an index. Running reads are not cached.
func (c *partitionCache) drop(of *index) { c.dropReadSince(of, time.Time{}) }

// dropReadSince removes the contents whose read had not ended at a time. It removes running reads too.
func (c *partitionCache) dropReadSince(of *index, since time.Time) {
	c.dropIf(c.all(of), func(e *cached) bool {
		e.dead = e.dead || e.content == nil || !e.ended.Before(since)
		return e.dead
	})
}

// dropIf removes the contents for which f returns true. f is called with the content locked.
func (c *partitionCache) dropIf(all []*cached, f func(*cached) bool) {
	for _, e := range all {
		e.mu.Lock()
		drop := f(e)
		size := 0
		if !drop && e.content != nil {
			size = e.content.size()
		}
		e.mu.Unlock()
		c.mu.Lock()
		if drop || size > c.most/2 {
			c.remove(e)
		} else if in, ok := c.lru.Peek(e.key); ok && in == e {
			c.resize(e, size)
		}
		c.mu.Unlock()
	}
}

// advance brings the contents of an index up to date. changes are all changes after number from, up to number upto. A content
// that lacks earlier changes is removed. alone reports whether only this process writes. Otherwise a read may have missed
// objects that another process was storing again with other tags or vectors, so such changes remove the contents of their
// partition.
func (c *partitionCache) advance(of *index, from, upto uint64, changes []backend.Change, alone bool) {
	all := slices.DeleteFunc(c.all(of), func(e *cached) bool {
		e.mu.RLock()
		defer e.mu.RUnlock()
		return e.upto >= upto
	})
	if len(all) == 0 {
		return
	}
	plans := planOf(changes)
	c.dropIf(all, func(e *cached) bool {
		if e.upto < upto {
			e.advance(from, upto, changes, plans, alone)
		}
		return e.dead
	})
}

// advance is partitionCache.advance for one content. plans are those of changes. The caller holds mu.
func (e *cached) advance(from, upto uint64, changes []backend.Change, plans []*plan, alone bool) {
	if e.dead || from > e.upto {
		e.dead = true
		return
	}
	if e.upto > from {
		changes = after(changes, e.upto)
		plans = planOf(changes)
	}
	if e.upto = upto; !alone && slices.ContainsFunc(plans, func(p *plan) bool { return p.storesAgain(e.key.part) }) {
		e.dead, e.missed = true, nil
		return
	}
	if e.content == nil {
		e.rows += len(changes)
		for i := range changes {
			e.rows += len(changes[i].Rows)
		}
		if e.rows > maxMissedRows {
			e.dead, e.missed = true, nil
			return
		}
		e.missed = append(e.missed, cloneChanges(changes))
		return
	}
	for _, p := range plans {
		if !e.content.apply(p) {
			e.dead = true
			return
		}
	}
}

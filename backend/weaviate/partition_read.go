package weaviate

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// smallPartition is partitionCache.small. Larger partitions are read in the background; see fill.
	smallPartition = 2000
	// countsTTL is how long counts are cached at most, and how old the mark of other processes' rewrites may be. Counts may have
	// been read while another process had deleted objects in order to store them again.
	countsTTL = 2 * time.Second
	// smallTTL is how long terms and vectors of small partitions are cached. Those of large ones are read again in the background
	// after largeTTL, and used meanwhile.
	smallTTL, largeTTL = time.Minute, 10 * time.Minute
	// maxReadVectorBytes is the maximum size of the vectors that a search reads as a whole, in bytes.
	maxReadVectorBytes = 8 << 20
)

// forget drops all that is cached of the tenant.
func (x *index) forget() {
	x.stats.clear()
	x.x.partitions.drop(x)
}

// saw brings what is cached of the tenant up to date. changes are all changes after number from, up to number upto. Changes
// that the cached contents include already are ignored.
func (x *index) saw(from, upto uint64, changes []backend.Change) {
	x.idle.add(from, upto, changes)
	x.x.partitions.advance(x, from, upto, changes, x.leading.Load())
}

// findCached returns the cached content for a key, or nil. It removes one that was read before rewrites by other processes.
func (x *index) findCached(ctx context.Context, k partitionKey) *cached {
	e := x.x.partitions.find(k)
	if e != nil && !x.leading.Load() && e.mark != x.currentMark(ctx) {
		x.x.partitions.discard(e)
		return nil
	}
	return e
}

// useCached calls f with cached terms or vectors that include all applied changes. It reports whether there are any.
func (x *index) useCached(ctx context.Context, k partitionKey, f func(cachedContent)) bool {
	e := x.findCached(ctx, k)
	if e == nil {
		return false
	}
	age, old, refill := time.Since(e.began), false, false
	used := e.use(x.applied.Load(), func(c cachedContent) {
		large := c.count() > x.x.partitions.small
		if old = !large && age > smallTTL; !old {
			refill = large && age > largeTTL
			f(c)
		}
	})
	if old {
		x.x.partitions.discard(e)
		return false
	}
	if refill {
		x.fill(k)
	}
	return used
}

// isLarge reports whether a partition has more than smallPartition chunks, by an earlier read or by the graph of the other
// Indexers.
func (x *index) isLarge(ctx context.Context, part backend.Partition) bool {
	if x.stats.wasLarge(spaceOf(part)) {
		return true
	}
	chunks, ok := x.chunksOf(ctx, part)
	return ok && chunks > x.x.partitions.small
}

// useTerms calls f with the terms of a partition, from the cache or the cluster. It returns false if the partition has more
// than smallPartition chunks and is not cached; it is then read in the background.
func (x *index) useTerms(ctx context.Context, part backend.Partition, f func(*partitionTerms)) (ok bool, err error) {
	k, sp, most := partitionKey{of: x, part: part}, spaceOf(part), x.x.partitions.small
	if x.useCached(ctx, k, func(c cachedContent) { f(c.(*partitionTerms)) }) {
		return true, nil
	}
	if x.isLarge(ctx, part) {
		x.fill(k)
		return false, nil
	}
	e := x.x.partitions.begin(k)
	found, err := x.get(ctx, searchRequest{collection: x.x.schema.chunks(), tenant: x.uid, where: equal(propSpace, string(sp)), limit: most + 1, fields: bagFields})
	if err != nil || len(found) > most {
		x.x.partitions.abandon(e)
		if err == nil {
			x.stats.setLarge(sp, true)
			x.fill(k)
		}
		return false, err
	}
	t := newPartitionTerms(part)
	return true, x.endRead(e, t, found, func() { f(t) })
}

// useVectors calls f with the vectors of one length in a lane of a partition, from the cache or the cluster. It returns false
// if there are too many for a search to read and they are not cached; they are then read in the background.
func (x *index) useVectors(ctx context.Context, k partitionKey, f func(*partitionVectors)) (ok bool, err error) {
	sp := space(fmt.Sprintf("%s %d", laneSpace(k.part, k.lane), k.dim)) // no partition is called so
	if x.useCached(ctx, k, func(c cachedContent) { f(c.(*partitionVectors)) }) {
		return true, nil
	}
	if x.stats.wasLarge(sp) || x.isLarge(ctx, k.part) {
		x.fill(k)
		return false, nil
	}
	collection := x.x.schema.vectors(k.dim)
	there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
	if err != nil {
		return false, err
	}
	if !there {
		f(newPartitionVectors(k))
		return true, nil
	}
	most := min(x.x.partitions.small, maxReadVectorBytes/(4*strideOf(k.dim)))
	e := x.x.partitions.begin(k)
	found, err := x.get(ctx, searchRequest{collection: collection, tenant: x.uid, where: equal(propSpace, laneSpace(k.part, k.lane)), limit: most + 1, fields: rowFields})
	if err != nil || len(found) > most {
		x.x.partitions.abandon(e)
		if err == nil {
			x.stats.setLarge(sp, true)
			x.fill(k)
		}
		return false, err
	}
	v := newPartitionVectors(k)
	return true, x.endRead(e, v, found, func() { f(v) })
}

// endRead fills an empty content with the objects of a read, calls f and caches the content.
func (x *index) endRead(e *cached, c readContent, found []object, f func()) error {
	for _, o := range found {
		if err := addObject(c, o); err != nil {
			x.x.partitions.abandon(e)
			return err
		}
	}
	f()
	x.x.partitions.end(e, c)
	return nil
}

// readContent is a content that consists of objects of the cluster.
type readContent interface {
	cachedContent
	// addObject adds an object of a chunk. tags are those of its source.
	addObject(c cachedChunk, tags []uint64, o object) error
	// readEnded is called when all objects, and the changes that the read missed, have been added.
	readEnded()
}

// addObject adds an object to a content, as the cluster returns it.
func addObject(to readContent, o object) error {
	c, err := o.cachedChunk()
	if err != nil {
		return err
	}
	tags, err := o.tags()
	if err != nil {
		return err
	}
	return to.addObject(c, tags, o)
}

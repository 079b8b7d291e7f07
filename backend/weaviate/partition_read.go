package weaviate

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// countsTTL is how long counts, terms and vectors are cached at most. They may have been read while another process had
	// deleted objects in order to store them again.
	countsTTL = 2 * time.Second
	// leaderTTL is the same for terms and vectors in the process that leads. No other process writes, and it drops what it has
	// read beside its own repairs.
	leaderTTL = time.Minute
	// maxCachedVectorBytes is the maximum size of the vectors of a partition that are cached, in bytes.
	maxCachedVectorBytes = maxPartitionCacheBytes / 8
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

// ttl returns how long terms and vectors are cached.
func (x *index) ttl() time.Duration {
	if x.leading.Load() {
		return leaderTTL
	}
	return countsTTL
}

// useCached calls f with a cached content that includes all applied changes. It reports whether there is one.
func (x *index) useCached(k partitionKey, f func(cachedContent)) bool {
	return x.x.partitions.use(k, x.applied.Load(), x.ttl(), f)
}

// useTerms calls f with the terms of a partition, from the cache or the cluster. It returns false if the partition has more
// than smallPartition chunks.
func (x *index) useTerms(ctx context.Context, part backend.Partition, f func(*partitionTerms)) (small bool, err error) {
	sp := spaceOf(part)
	if x.stats.wasLarge(sp) {
		return false, nil
	}
	k := partitionKey{of: x, part: part}
	if x.useCached(k, func(c cachedContent) { f(c.(*partitionTerms)) }) {
		return true, nil
	}
	e := x.x.partitions.begin(k)
	found, err := x.get(ctx, searchRequest{collection: x.x.schema.chunks(), tenant: x.uid, where: equal(propSpace, string(sp)), limit: smallPartition + 1, fields: bagFields})
	if err != nil || len(found) > smallPartition {
		x.x.partitions.abandon(e)
		if err == nil {
			x.stats.markLarge(sp)
		}
		return false, err
	}
	t := newPartitionTerms(part)
	for _, o := range found {
		if err := t.addObject(o); err != nil {
			x.x.partitions.abandon(e)
			return false, err
		}
	}
	f(t)
	x.x.partitions.end(e, t)
	return true, nil
}

// useVectors calls f with the vectors of one length in a lane of a partition, from the cache or the cluster. It returns false
// if there are too many to be cached. Whether it does so depends only on what is stored, so that the scores of successive
// searches agree to the last bit.
func (x *index) useVectors(ctx context.Context, k partitionKey, f func(*partitionVectors)) (small bool, err error) {
	sp := space(fmt.Sprintf("%s %d", laneSpace(k.part, k.lane), k.dim)) // no partition is called so
	most := min(smallPartition, maxCachedVectorBytes/(4*strideOf(k.dim)))
	if x.stats.wasLarge(spaceOf(k.part)) || x.stats.wasLarge(sp) {
		return false, nil
	}
	if x.useCached(k, func(c cachedContent) { f(c.(*partitionVectors)) }) {
		return true, nil
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
	e := x.x.partitions.begin(k)
	found, err := x.get(ctx, searchRequest{collection: collection, tenant: x.uid, where: equal(propSpace, laneSpace(k.part, k.lane)), limit: most + 1, fields: rowFields})
	if err != nil || len(found) > most {
		x.x.partitions.abandon(e)
		if err == nil {
			x.stats.markLarge(sp)
		}
		return false, err
	}
	v := newPartitionVectors(k)
	for _, o := range found {
		c, err := o.cachedChunk()
		vec := o.vector()
		if err == nil && len(vec) != k.dim {
			err = fmt.Errorf("weaviate: an object has a vector of %d numbers among those of %d: %w", len(vec), k.dim, backend.ErrCorrupt)
		}
		if err != nil {
			x.x.partitions.abandon(e)
			return false, err
		}
		v.add(c, o.texts(propTags), vec)
	}
	f(v)
	x.x.partitions.end(e, v)
	return true, nil
}

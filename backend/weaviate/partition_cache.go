package weaviate

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/contextmem/contextmem/backend"
)

const (
	// smallPartition is the maximum number of chunks of a partition whose terms are read as a whole and cached. Successive
	// searches need most of them again.
	smallPartition = 2000
	// maxPartitionCacheBytes is the approximate maximum size of all cached partitions, in bytes.
	maxPartitionCacheBytes = 64 << 20
	// maxCachedPartitions is the maximum number of cached partitions.
	maxCachedPartitions = 10_000
)

// partition holds the terms of all chunks of a small partition. It is immutable.
type partition struct {
	turn     uint64 // turn of the index's statistics when it was read
	chunks   []cachedChunk
	postings map[string][]posting // posting lists, by encoded term
	bytes    int
}

// cachedChunk is a chunk of a partition. length is its number of words, weighted.
type cachedChunk struct {
	chunk, source int64
	length        int
}

// posting is an entry of a posting list: the position of a chunk in partition.chunks and its weighted term frequency.
type posting struct{ at, tf int32 }

// partitionCache is an LRU cache of small partitions, shared by all workspaces. An entry is invalid once its index has applied a
// change or the entry has become too old. It is safe for concurrent use.
type partitionCache struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[partitionKey, *partition]
	bytes int
}

type partitionKey struct {
	of *index
	sp space
}

func newPartitionCache() *partitionCache {
	c := &partitionCache{}
	c.lru, _ = simplelru.NewLRU(maxCachedPartitions, func(_ partitionKey, p *partition) { c.bytes -= p.bytes }) // NewLRU only fails if the size is not positive
	return c
}

// get returns the cached partition if its turn is turn, else nil.
func (c *partitionCache) get(k partitionKey, turn uint64) *partition {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.lru.Get(k)
	if ok && p.turn != turn {
		c.lru.Remove(k)
		return nil
	}
	return p
}

func (c *partitionCache) put(k partitionKey, p *partition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(k)
	if p.bytes > maxPartitionCacheBytes {
		return
	}
	c.lru.Add(k, p)
	for c.bytes += p.bytes; c.bytes > maxPartitionCacheBytes; {
		c.lru.RemoveOldest()
	}
}

// drop removes the partitions of an index.
func (c *partitionCache) drop(of *index) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.lru.Keys() {
		if k.of == of {
			c.lru.Remove(k)
		}
	}
}

// readPartition returns the terms of a partition, from the cache or the cluster. docs is its number of chunks when they
// were last counted. The result is nil if the partition has more than smallPartition chunks.
func (x *index) readPartition(ctx context.Context, sp space, docs int) (*partition, error) {
	if docs > smallPartition {
		return nil, nil
	}
	turn, k := x.stats.currentTurn(), partitionKey{x, sp}
	if p := x.x.partitions.get(k, turn); p != nil {
		return p, nil
	}
	found, err := x.get(ctx, searchRequest{collection: x.x.schema.chunks(), tenant: x.uid, where: equal(propSpace, string(sp)), limit: smallPartition + 1, fields: bagFields})
	if err != nil || len(found) > smallPartition {
		return nil, err
	}
	p := &partition{turn: turn, postings: make(map[string][]posting)}
	for _, o := range found {
		if err := p.add(o); err != nil {
			return nil, err
		}
	}
	p.bytes = 100*len(p.postings) + 24*len(p.chunks)
	for _, list := range p.postings {
		p.bytes += 8 * cap(list)
	}
	x.x.partitions.put(k, p)
	return p, nil
}

func (p *partition) add(o object) error {
	c, err := o.cachedChunk()
	if err != nil {
		return err
	}
	tf := make(map[string]int)
	c.length, err = eachTerm(o.text(propBag), func(term string, weight, _, _ int) { tf[term] += weight })
	if err != nil {
		return err
	}
	for term, n := range tf {
		list, ok := p.postings[term]
		if !ok {
			term = strings.Clone(term) // copied, so that the text of the chunk's terms is not kept in memory
		}
		p.postings[term] = append(list, posting{int32(len(p.chunks)), int32(n)})
	}
	p.chunks = append(p.chunks, c)
	return nil
}

// df returns the number of chunks that have a term.
func (p *partition) df(term string) int { return len(p.postings[encodeTerm(term)]) }

// search returns the chunks that have any term of the query, in descending order of score. It reuses the memory of into.
func (p *partition) search(q *keywordQuery, c *counts, into []backend.Hit) []backend.Hit {
	scores, found := make([]float64, len(p.chunks)), make([]bool, len(p.chunks))
	for _, t := range q.terms {
		weight := float64(t.Weight) * c.idf(t.Term)
		for _, e := range p.postings[encodeTerm(t.Term)] {
			scores[e.at] += weight * c.saturation(int(e.tf), p.chunks[e.at].length)
			found[e.at] = true
		}
	}
	hits := slices.Grow(into[:0], len(p.chunks))
	for i, s := range p.chunks {
		if found[i] {
			hits = append(hits, backend.Hit{Chunk: s.chunk, Source: s.source, Score: float32(scores[i])})
		}
	}
	sortHits(hits)
	return hits
}

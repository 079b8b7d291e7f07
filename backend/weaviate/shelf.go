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
	// shelfBytes is the approximate maximum size of all cached partitions, in bytes.
	shelfBytes = 64 << 20
	// shelfMost is the maximum number of cached partitions.
	shelfMost = 10_000
)

// partition holds the terms of all chunks of a small partition. It is immutable.
type partition struct {
	turn     uint64 // turn of the index's statistics when it was read
	chunks   []shelved
	postings map[string][]posting // posting lists, by encoded term
	bytes    int
}

type shelved struct {
	chunk, source int64
	length        int
}

// posting is an entry of a posting list: the position of a chunk in partition.chunks and its weighted term frequency.
type posting struct{ at, tf int32 }

// shelf is an LRU cache of small partitions, shared by all workspaces. An entry is invalid once its index has applied a
// change or the entry has become too old. It is safe for concurrent use.
type shelf struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[shelfKey, *partition]
	bytes int
}

type shelfKey struct {
	of *index
	sp space
}

func newShelf() *shelf {
	s := &shelf{}
	s.lru, _ = simplelru.NewLRU(shelfMost, func(_ shelfKey, p *partition) { s.bytes -= p.bytes }) // NewLRU only fails if the size is not positive
	return s
}

// get returns the cached partition if its turn is turn, else nil.
func (s *shelf) get(k shelfKey, turn uint64) *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.lru.Get(k)
	if ok && p.turn != turn {
		s.lru.Remove(k)
		return nil
	}
	return p
}

func (s *shelf) put(k shelfKey, p *partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lru.Remove(k)
	if p.bytes > shelfBytes {
		return
	}
	s.lru.Add(k, p)
	for s.bytes += p.bytes; s.bytes > shelfBytes; {
		s.lru.RemoveOldest()
	}
}

// drop removes the partitions of an index.
func (s *shelf) drop(of *index) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.lru.Keys() {
		if k.of == of {
			s.lru.Remove(k)
		}
	}
}

// whole returns the terms of a partition, from the cache or the cluster. docs is its number of chunks when they were last
// counted. The result is nil if the partition has more than smallPartition chunks.
func (x *index) whole(ctx context.Context, sp space, docs int) (*partition, error) {
	if docs > smallPartition {
		return nil, nil
	}
	turn, k := x.stats.now(), shelfKey{x, sp}
	if p := x.x.shelf.get(k, turn); p != nil {
		return p, nil
	}
	found, err := x.get(ctx, ask{collection: x.x.schema.chunks(), tenant: x.uid, where: equal(propSpace, string(sp)), limit: smallPartition + 1, fields: bagFields})
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
	x.x.shelf.put(k, p)
	return p, nil
}

func (p *partition) add(o object) error {
	c, err := o.shelved()
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

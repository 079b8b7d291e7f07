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
	// smallPartition is up to how many chunks a partition's terms are read at once, and kept: more than one search asks for most of them.
	smallPartition = 2000
	// shelfBytes bounds what is kept of all partitions, about.
	shelfBytes = 64 << 20
	// shelfMost bounds how many partitions that are.
	shelfMost = 10_000
)

// partition is the terms of all chunks of a small partition. It does not change.
type partition struct {
	turn     uint64 // of the index, when it was read
	chunks   []shelved
	postings map[string][]posting // by encoded term
	bytes    int
}

type shelved struct {
	chunk, source int64
	length        int
}

// posting is a chunk that has a term, and how often it counts there.
type posting struct{ at, tf int32 }

// shelf keeps the small partitions that were searched last, of all workspaces, until something is applied to their index or they are too old. It is safe for concurrent use.
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
	s.lru, _ = simplelru.NewLRU(shelfMost, func(_ shelfKey, p *partition) { s.bytes -= p.bytes }) // fails where the size is not positive
	return s
}

// get returns a partition as of a turn of its index, nil when it is not kept.
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

// drop forgets the partitions of an index.
func (s *shelf) drop(of *index) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.lru.Keys() {
		if k.of == of {
			s.lru.Remove(k)
		}
	}
}

// whole returns the terms of a partition that has docs chunks, or had when they were counted; nil where it has turned out to be no small one.
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
			term = strings.Clone(term) // not the whole text
		}
		p.postings[term] = append(list, posting{int32(len(p.chunks)), int32(n)})
	}
	p.chunks = append(p.chunks, c)
	return nil
}

// df is how many chunks have a term.
func (p *partition) df(term string) int { return len(p.postings[encodeTerm(term)]) }

// search returns the chunks that have a term of a query, best first.
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

package weaviate

import "github.com/contextmem/contextmem/backend"

// bestHits collects the k best of many hits, in the order that package backend prescribes. Once there are k hits they are a
// heap whose root is the worst.
type bestHits struct {
	k    int
	hits []backend.Hit
}

func better(a, b backend.Hit) bool {
	return a.Score > b.Score || a.Score == b.Score && a.Chunk < b.Chunk
}

// wants reports whether add would keep a hit.
func (b *bestHits) wants(h backend.Hit) bool {
	return len(b.hits) < b.k || b.k > 0 && better(h, b.hits[0])
}

// add adds a hit that wants returned true for.
func (b *bestHits) add(h backend.Hit) {
	if len(b.hits) == b.k {
		b.hits[0] = h
		b.sink(0)
		return
	}
	if b.hits = append(b.hits, h); len(b.hits) == b.k {
		for i := b.k/2 - 1; i >= 0; i-- {
			b.sink(i)
		}
	}
}

// sink moves a hit down to its place in the heap.
func (b *bestHits) sink(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < b.k; child++ {
			if better(b.hits[worst], b.hits[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		b.hits[i], b.hits[worst] = b.hits[worst], b.hits[i]
		i = worst
	}
}

// sorted returns the hits, best first. No hit may be added afterwards.
func (b *bestHits) sorted() []backend.Hit {
	sortHits(b.hits)
	return b.hits
}

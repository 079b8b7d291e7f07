package weaviate

import (
	"context"
	"hash/maphash"
	"math/bits"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// partitionDictionary is what BM25 needs to know of a partition whose terms do not fit into the cache: in how many chunks each term
// is, and the names of the chunks. A term that it lacks is in none. It follows the changes, except that it goes on counting chunks that were removed, since a
// change does not tell their terms. See index.drifted.
type partitionDictionary struct {
	part   backend.Partition
	docs   int
	length float64 // total length of all chunks
	df     termCounts
	chunks chunkNames
	read   []int64  // chunks that were read, until the read ends: changes that it missed may have put them
	sorted bool     // whether read is in ascending order
	of     []uint64 // reused memory: the terms of a chunk
}

// dictionaryDim is partitionKey.dim of dictionaries.
const dictionaryDim = -3

// dictionaryOf returns the dictionary of terms that are being read.
func dictionaryOf(t *partitionTerms) *partitionDictionary {
	d := &partitionDictionary{part: t.part, docs: t.count(), length: float64(t.length)}
	for i := range t.chunks {
		d.read = append(d.read, t.chunks[i].chunk)
		d.chunks.add(t.chunks[i])
	}
	for term, list := range t.postings {
		d.df.add(hashOf(term), uint64(list.n))
	}
	return d
}

// size implements [cachedContent].
func (d *partitionDictionary) size() int {
	return 200 + 8*(cap(d.df.slots)+cap(d.read)+cap(d.of)) + namedBytes*cap(d.chunks.slots)
}

// count implements [cachedContent].
func (d *partitionDictionary) count() int { return d.docs }

// addObject implements [readContent].
func (d *partitionDictionary) addObject(c cachedChunk, _ []uint64, o object) error {
	d.read, d.sorted = append(d.read, c.chunk), false
	return d.add(c, o.text(propBag), true)
}

// add adds a chunk with a bag of terms. It counts the terms if counts is set.
func (d *partitionDictionary) add(c cachedChunk, bag string, counts bool) error {
	d.of = d.of[:0]
	length, err := eachTerm(bag, func(term string, _, _, _ int) { d.of = append(d.of, hashOf(term)) })
	if err != nil {
		return err
	}
	c.length = length
	if d.chunks.add(c); !counts {
		return nil
	}
	slices.Sort(d.of)
	for _, h := range slices.Compact(d.of) {
		d.df.add(h, 1)
	}
	d.docs++
	d.length += float64(length)
	return nil
}

// readEnded implements [readContent].
func (d *partitionDictionary) readEnded() { d.read = nil }

// wasRead reports whether the read that has not ended yet has found a chunk.
func (d *partitionDictionary) wasRead(chunk int64) bool {
	if !d.sorted {
		slices.Sort(d.read)
		d.sorted = true
	}
	_, ok := slices.BinarySearch(d.read, chunk)
	return ok
}

// apply implements [cachedContent]. Changes of tags and vectors do not concern counts.
func (d *partitionDictionary) apply(p *plan) bool {
	if p.sub != nil && *p.sub == d.part.Sub {
		return false
	}
	for source, v := range p.puts {
		if v.put.Part != d.part {
			continue
		}
		for i := range v.put.Rows {
			chunk := v.put.Rows[i].Chunk
			if d.add(cachedChunk{chunk: chunk, source: source}, v.bagOf(i), !d.wasRead(chunk)) != nil {
				return false
			}
		}
	}
	return true
}

// counts returns the statistics of the partition for terms.
func (d *partitionDictionary) counts(terms []string) *counts {
	c := &counts{docs: d.docs, length: d.length, df: make(map[string]int, len(terms))}
	for _, t := range terms {
		c.df[t] = d.df.of(hashOf(encodeTerm(t)))
	}
	return c
}

// dictionary returns the statistics of a large partition for terms, from its dictionary. It returns nil if that is not cached; it is
// then read in the background, if the terms were too large. A dictionary is read anew before it has become too old or too inexact.
func (x *index) dictionary(ctx context.Context, part backend.Partition, terms []string) (c *counts) {
	k := partitionKey{of: x, part: part, dim: dictionaryDim}
	e := x.findCached(ctx, k)
	if e == nil {
		x.fill(k)
		return nil
	}
	if !e.use(x.applied.Load(), func(of cachedContent) { c = of.(*partitionDictionary).counts(terms) }) {
		return nil
	}
	if x.drifted(ctx, part, c.docs, driftShare) {
		x.x.partitions.discard(e)
		c = nil
	}
	if c == nil || time.Since(e.began) > largeTTL || x.drifted(ctx, part, c.docs, 2*driftShare) {
		x.fill(k)
	}
	return c
}

// useDictionary calls f with the dictionary of a partition. It reports whether one is cached.
func (x *index) useDictionary(ctx context.Context, part backend.Partition, f func(*partitionDictionary)) bool {
	e := x.findCached(ctx, partitionKey{of: x, part: part, dim: dictionaryDim})
	return e != nil && e.use(x.applied.Load(), func(of cachedContent) { f(of.(*partitionDictionary)) })
}

// termCounts counts something by term, in a hash table. A slot has the upper bits of a term's hash, and in the lower countBits its
// count. In a table of a million terms one in a million others is taken for one of them.
type termCounts struct {
	slots []uint64
	used  int
}

const (
	countBits = 24
	maxCount  = 1<<countBits - 1
)

var termSeed = maphash.MakeSeed()

// hashOf returns the hash of an encoded term.
func hashOf(term string) uint64 { return maphash.String(termSeed, term) &^ maxCount }

// at returns the slot of a hash, or the empty one where it belongs. There is always an empty one.
func (t *termCounts) at(hash uint64) *uint64 {
	first, _ := bits.Mul64(hash, uint64(len(t.slots)))
	for i := int(first); ; i++ {
		if i == len(t.slots) {
			i = 0
		}
		if s := &t.slots[i]; *s == 0 || *s&^maxCount == hash {
			return s
		}
	}
}

// of returns the count of a term.
func (t *termCounts) of(hash uint64) int {
	if t.used == 0 {
		return 0
	}
	return int(*t.at(hash) & maxCount)
}

// add adds n, which is positive, to the count of a term.
func (t *termCounts) add(hash, n uint64) {
	if 5*t.used >= 4*len(t.slots) {
		old := t.slots
		t.slots = make([]uint64, max(64, len(old)/2*3))
		for _, s := range old {
			if s != 0 {
				*t.at(s &^ maxCount) = s
			}
		}
	}
	s := t.at(hash)
	if *s == 0 {
		t.used++
	}
	*s = hash | min(*s&maxCount+n, maxCount)
}

package weaviate

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
)

// partitionTerms is the terms of all chunks of a partition. Removed chunks keep their places until a quarter of all are removed.
type partitionTerms struct {
	part     backend.Partition
	chunks   []cachedChunk       // length is removedChunk for a removed chunk
	removed  int                 // number of removed chunks
	tags     map[int64][]uint64  // tags of each source that has chunks
	postings map[string]postings // posting lists, by encoded term
	room     int                 // memory of the posting lists, in bytes
	length   int                 // total length of all chunks
}

// cachedChunk is a chunk of a partition. length is its number of words, weighted.
type cachedChunk struct {
	chunk, source int64
	length        int
}

// removedChunk is the length of a removed chunk.
const removedChunk = -1

func newPartitionTerms(part backend.Partition) *partitionTerms {
	return &partitionTerms{part: part, tags: make(map[int64][]uint64), postings: make(map[string]postings)}
}

// size implements [cachedContent].
func (t *partitionTerms) size() int {
	return 100*len(t.postings) + t.room + 24*cap(t.chunks) + 64*len(t.tags)
}

// count implements [cachedContent].
func (t *partitionTerms) count() int { return len(t.chunks) - t.removed }

// addObject implements [readContent].
func (t *partitionTerms) addObject(c cachedChunk, tags []uint64, o object) error {
	return t.add(c, tags, o.text(propBag))
}

// add adds a chunk with a bag of terms. tags are those of its source.
func (t *partitionTerms) add(c cachedChunk, tags []uint64, bag string) error {
	tf := make(map[string]int)
	var err error
	c.length, err = eachTerm(bag, func(term string, weight, _, _ int) { tf[term] += weight })
	if err != nil {
		return err
	}
	for term, n := range tf {
		list, ok := t.postings[term]
		if !ok {
			term = strings.Clone(term) // copied, so that the bag is not kept in memory
		}
		room := cap(list.data)
		list.add(int32(len(t.chunks)), int32(n))
		t.room += cap(list.data) - room
		t.postings[term] = list
	}
	t.length += c.length
	t.chunks = append(t.chunks, c)
	t.tags[c.source] = tags
	return nil
}

// readEnded implements [readContent].
func (t *partitionTerms) readEnded() {}

// remove removes the chunks of sources.
func (t *partitionTerms) remove(gone map[int64]bool) {
	for i := range t.chunks {
		c := &t.chunks[i]
		if c.length == removedChunk || !gone[c.source] {
			continue
		}
		delete(t.tags, c.source)
		t.length -= c.length
		c.length = removedChunk
		t.removed++
	}
	if 4*t.removed > len(t.chunks) {
		t.compact()
	}
}

// compact gives up the places of removed chunks.
func (t *partitionTerms) compact() {
	moved := make([]int32, len(t.chunks)) // new position of each chunk; -1: none
	rest := t.chunks[:0]
	for i, c := range t.chunks {
		if moved[i] = -1; c.length != removedChunk {
			moved[i] = int32(len(rest))
			rest = append(rest, c)
		}
	}
	t.chunks, t.removed = rest, 0
	for term, list := range t.postings {
		// Positions only get smaller, so a posting takes no more memory than before and is written where it was read or before.
		short := postings{data: list.data[:0]}
		for at, tf := range list.all() {
			if at = moved[at]; at >= 0 {
				short.add(at, tf)
			}
		}
		if t.postings[term] = short; short.n == 0 {
			t.room -= cap(list.data)
			delete(t.postings, term)
		}
	}
}

// apply implements [cachedContent]. Changes of vectors do not concern terms.
func (t *partitionTerms) apply(p *plan) bool {
	if p.sub != nil && *p.sub == t.part.Sub {
		return false
	}
	for source := range p.gone {
		if _, ok := t.tags[source]; ok {
			t.remove(p.gone)
			break
		}
	}
	for source, c := range p.tags {
		if _, ok := t.tags[source]; ok {
			t.tags[source] = slices.Clone(c.Tags)
		}
	}
	for source, v := range p.puts {
		if v.put.Part != t.part {
			continue
		}
		tags := slices.Clone(v.tags)
		for i := range v.put.Rows {
			if t.add(cachedChunk{chunk: v.put.Rows[i].Chunk, source: source}, tags, v.bagOf(i)) != nil {
				return false
			}
		}
	}
	return true
}

// fieldsOf returns the analysed texts of a row of the version.
func (v *version) fieldsOf(row int) []field {
	r := &v.put.Rows[row]
	var extra backend.RowExtra
	// Bytes that cannot be decoded are not an error of the index: the chunk then has no facts.
	if len(r.Extra) > 0 && json.Unmarshal(r.Extra, &extra) != nil {
		extra = backend.RowExtra{}
	}
	return fieldsOf(v.put.Title, r, extra.Keywords)
}

func (v *version) bagOf(row int) string { return bagOf(v.fieldsOf(row)) }

// counts returns the statistics of the partition for terms.
func (t *partitionTerms) counts(terms []string) *counts {
	c := &counts{docs: t.count(), length: float64(t.length), df: make(map[string]int, len(terms))}
	for _, term := range terms {
		list := t.postings[encodeTerm(term)]
		n := list.n
		if t.removed > 0 {
			for at := range list.all() {
				if t.chunks[at].length == removedChunk {
					n--
				}
			}
		}
		c.df[term] = int(n)
	}
	return c
}

// search returns the k best chunks that pass a filter and have all required terms of the query, or any term if none is required. c
// has the statistics of the query's terms. It reuses the memory of into.
func (t *partitionTerms) search(q *keywordQuery, c *counts, f backend.Filter, k int, into []backend.Hit) []backend.Hit {
	scores, has := make([]float64, len(t.chunks)), make([]int32, len(t.chunks))
	for i, term := range q.required {
		list := t.postings[encodeTerm(term)]
		for at := range list.all() {
			if has[at] == int32(i) { // it has the required terms before this one
				has[at]++
			}
		}
	}
	least, average := int32(max(len(q.required), 1)), c.average()
	for _, term := range q.terms {
		weight := float64(term.Weight) * c.idf(term.Term)
		list := t.postings[encodeTerm(term.Term)]
		for at, tf := range list.all() {
			if len(q.required) == 0 {
				has[at] = 1
			}
			scores[at] += weight * saturation(int(tf), t.chunks[at].length, average)
		}
	}
	best := bestHits{k: k, hits: into[:0]}
	for i := range t.chunks {
		s := &t.chunks[i]
		if has[i] < least || s.length == removedChunk {
			continue
		}
		h := backend.Hit{Chunk: s.chunk, Source: s.source, Score: float32(scores[i])}
		if best.wants(h) && f.Matches(t.tags[s.source]) {
			best.add(h)
		}
	}
	return best.sorted()
}

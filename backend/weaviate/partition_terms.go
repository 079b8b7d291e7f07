package weaviate

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
)

// partitionTerms is the terms of all chunks of a small partition.
type partitionTerms struct {
	part     backend.Partition
	chunks   []cachedChunk
	sources  map[int64]bool       // sources that have chunks
	postings map[string][]posting // posting lists, by encoded term
	entries  int                  // number of postings
	length   int                  // total length of all chunks
}

// cachedChunk is a chunk of a partition. length is its number of words, weighted.
type cachedChunk struct {
	chunk, source int64
	length        int
}

// posting is an entry of a posting list: the position of a chunk in partitionTerms.chunks and its weighted term frequency.
type posting struct{ at, tf int32 }

func newPartitionTerms(part backend.Partition) *partitionTerms {
	return &partitionTerms{part: part, sources: make(map[int64]bool), postings: make(map[string][]posting)}
}

// size implements [cachedContent].
func (t *partitionTerms) size() int {
	return 100*len(t.postings) + 12*t.entries + 24*len(t.chunks) + 16*len(t.sources)
}

// addObject adds a chunk as the cluster returns it.
func (t *partitionTerms) addObject(o object) error {
	c, err := o.cachedChunk()
	if err != nil {
		return err
	}
	return t.add(c, o.text(propBag))
}

// add adds a chunk with a bag of terms.
func (t *partitionTerms) add(c cachedChunk, bag string) error {
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
		t.postings[term] = append(list, posting{int32(len(t.chunks)), int32(n)})
	}
	t.entries += len(tf)
	t.length += c.length
	t.chunks = append(t.chunks, c)
	t.sources[c.source] = true
	return nil
}

// remove removes the chunks of sources.
func (t *partitionTerms) remove(gone map[int64]bool) {
	kept := make([]int32, len(t.chunks)) // new position of each chunk; -1: none
	rest := t.chunks[:0]
	for i, c := range t.chunks {
		if gone[c.source] {
			kept[i] = -1
			t.length -= c.length
			delete(t.sources, c.source)
			continue
		}
		kept[i] = int32(len(rest))
		rest = append(rest, c)
	}
	t.chunks = rest
	for term, list := range t.postings {
		short := list[:0]
		for _, e := range list {
			if e.at = kept[e.at]; e.at >= 0 {
				short = append(short, e)
			}
		}
		t.entries -= len(list) - len(short)
		if t.postings[term] = short; len(short) == 0 {
			delete(t.postings, term)
		}
	}
}

// apply implements [cachedContent]. Changes of tags and vectors do not concern terms.
func (t *partitionTerms) apply(p *plan) bool {
	rows := len(t.chunks)
	for _, v := range p.puts {
		if v.put.Part == t.part {
			rows += len(v.put.Rows)
		}
	}
	if p.sub != nil && *p.sub == t.part.Sub || rows > 2*smallPartition {
		return false
	}
	for source := range p.gone {
		if t.sources[source] {
			t.remove(p.gone)
			break
		}
	}
	for source, v := range p.puts {
		if v.put.Part != t.part {
			continue
		}
		for i := range v.put.Rows {
			if t.add(cachedChunk{chunk: v.put.Rows[i].Chunk, source: source}, v.bagOf(i)) != nil {
				return false
			}
		}
	}
	return len(t.chunks) <= smallPartition
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
	c := &counts{docs: len(t.chunks), length: float64(t.length), df: make(map[string]int, len(terms))}
	for _, term := range terms {
		c.df[term] = len(t.postings[encodeTerm(term)])
	}
	return c
}

// search returns the chunks that have any term of the query, in descending order of score. It reuses the memory of into.
func (t *partitionTerms) search(q *keywordQuery, c *counts, into []backend.Hit) []backend.Hit {
	scores, found := make([]float64, len(t.chunks)), make([]bool, len(t.chunks))
	for _, term := range q.terms {
		weight := float64(term.Weight) * c.idf(term.Term)
		for _, e := range t.postings[encodeTerm(term.Term)] {
			scores[e.at] += weight * c.saturation(int(e.tf), t.chunks[e.at].length)
			found[e.at] = true
		}
	}
	hits := slices.Grow(into[:0], len(t.chunks))
	for i, s := range t.chunks {
		if found[i] {
			hits = append(hits, backend.Hit{Chunk: s.chunk, Source: s.source, Score: float32(scores[i])})
		}
	}
	sortHits(hits)
	return hits
}

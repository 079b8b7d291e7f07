package weaviate

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// BM25 parameters as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), the same
// as in package lexical.
const (
	k1 = 1.2
	b  = 0.75
)

// statistics are what BM25 needs to know of partitions. The cluster counts, exactly; what it counted is remembered until
// something is applied, and no longer than keptFor: another process may have been storing something anew, which is missing meanwhile.
type statistics struct {
	mu    sync.Mutex
	turn  uint64    // how often all was forgotten
	since time.Time // when it last was
	parts map[space]*counts
	dims  map[string][]int // lengths of the vectors of lanes of partitions, where that was looked for
	large map[space]bool   // partitions that were not small when they were last counted
}

// counts are statistics of a partition.
type counts struct {
	docs   int
	length float64        // of all documents
	df     map[string]int // by term; 0 is known too
}

// keptFor is for how long what the cluster counted is remembered, and the terms of partitions.
const keptFor = 2 * time.Second

func (s *statistics) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
}

// drop is forget while mu is held.
func (s *statistics) drop() {
	s.turn++
	s.parts, s.dims, s.since = nil, nil, time.Now()
}

// age forgets what is too old. The caller holds mu.
func (s *statistics) age() {
	if time.Since(s.since) > keptFor {
		s.drop()
	}
}

// now tells the state of the index that is asked about.
func (s *statistics) now() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age()
	return s.turn
}

// dimsOf returns what learnDims remembered.
func (s *statistics) dimsOf(lane string) ([]int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age()
	dims, ok := s.dims[lane]
	return dims, ok
}

// learnDims remembers the lengths of vectors, if nothing was applied since turn.
func (s *statistics) learnDims(lane string, dims []int, turn uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != turn {
		return
	}
	if s.dims == nil {
		s.dims = make(map[string][]int)
	}
	s.dims[lane] = dims
}

// maxKnown bounds the terms that are remembered of a partition.
const maxKnown = 20_000

// known returns what is remembered of a partition, and which terms it lacks.
func (s *statistics) known(sp space, terms []string) (c counts, lacks []string, fresh bool, turn uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age()
	c.df = make(map[string]int, len(terms))
	of := s.parts[sp]
	if of == nil {
		return c, terms, true, s.turn
	}
	c.docs, c.length = of.docs, of.length
	for _, t := range terms {
		if n, ok := of.df[t]; ok {
			c.df[t] = n
		} else {
			lacks = append(lacks, t)
		}
	}
	return c, lacks, false, s.turn
}

// wasLarge reports whether a partition was not small when it was last counted.
func (s *statistics) wasLarge(sp space) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.large[sp]
}

// learn remembers what the cluster counted, if nothing was applied since.
func (s *statistics) learn(sp space, c *counts, turn uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != turn {
		return
	}
	if c.docs <= smallPartition {
		delete(s.large, sp)
	} else if !s.large[sp] {
		if s.large == nil || len(s.large) >= maxKnown {
			s.large = make(map[space]bool)
		}
		s.large[sp] = true
	}
	of := s.parts[sp]
	if of == nil || len(of.df)+len(c.df) > maxKnown {
		of = &counts{docs: c.docs, length: c.length, df: make(map[string]int, len(c.df))}
		if s.parts == nil {
			s.parts = make(map[space]*counts)
		}
		s.parts[sp] = of
	}
	for t, n := range c.df {
		of.df[t] = n
	}
}

// countTerms is how many terms one query counts.
const countTerms = 64

// counts returns the statistics of a partition for terms.
func (x *index) counts(ctx context.Context, sp space, terms []string) (*counts, error) {
	c, lacks, fresh, turn := x.stats.known(sp, terms)
	if fresh && !x.stats.wasLarge(sp) {
		if err := x.count(ctx, sp, nil, true, &c); err != nil {
			return nil, err
		}
		fresh = false
	}
	if !fresh && len(lacks) > 0 {
		p, err := x.whole(ctx, sp, c.docs)
		if err != nil {
			return nil, err
		}
		if p != nil {
			for _, t := range lacks {
				c.df[t] = p.df(t)
			}
			lacks = nil
		}
	}
	for fresh || len(lacks) > 0 {
		some := lacks[:min(countTerms, len(lacks))]
		lacks = lacks[len(some):]
		if err := x.count(ctx, sp, some, fresh, &c); err != nil {
			return nil, err
		}
		fresh = false
	}
	x.stats.learn(sp, &c, turn)
	return &c, nil
}

// count has the cluster count terms, and with all the documents too.
func (x *index) count(ctx context.Context, sp space, terms []string, all bool, c *counts) error {
	var b strings.Builder
	collection := x.x.schema.chunks()
	from := func(alias string, w where, fields string) {
		fmt.Fprintf(&b, "%s:%s(tenant:%s,where:", alias, collection, quote(x.uid))
		w.write(&b)
		b.WriteString("){" + fields + "}")
	}
	b.WriteString("{Aggregate{")
	if all {
		from("all", equal(propSpace, string(sp)), "meta{count}"+propLength+"{sum}")
	}
	for i, t := range terms {
		from(fmt.Sprint("t", i), hasTerm(sp, t), "meta{count}")
	}
	b.WriteString("}}")
	query := b.String()
	return x.search(ctx, func(r route) error {
		counted, err := read(ctx, x.x.cluster, "count", r, func(ctx context.Context, n *node) (*counts, error) {
			data, err := n.graph(ctx, query)
			if err != nil {
				return nil, err
			}
			of := counts{df: make(map[string]int, len(terms))}
			if !of.read(data, terms, all) {
				return nil, errAgain
			}
			return &of, nil
		})
		if err != nil {
			return err
		}
		if all {
			c.docs, c.length = counted.docs, counted.length
		}
		maps.Copy(c.df, counted.df)
		return nil
	})
}

// read reads what the cluster counted.
func (c *counts) read(data map[string]any, terms []string, all bool) bool {
	groups, _ := data["Aggregate"].(map[string]any)
	if all {
		docs, ok := numberAt(groups, "all", "meta", "count")
		if !ok {
			return false
		}
		c.docs = int(docs)
		c.length, _ = numberAt(groups, "all", propLength, "sum") // none of no documents
	}
	for i, t := range terms {
		n, ok := numberAt(groups, fmt.Sprint("t", i), "meta", "count")
		if !ok {
			return false
		}
		c.df[t] = int(n)
	}
	return true
}

// numberAt returns a number of the only group of an aggregation.
func numberAt(groups map[string]any, alias, part, name string) (float64, bool) {
	list, _ := groups[alias].([]any)
	if len(list) != 1 {
		return 0, false
	}
	group, _ := list[0].(map[string]any)
	of, _ := group[part].(map[string]any)
	n, ok := of[name].(float64)
	return n, ok
}

// hasTerm is the filter for chunks with a term.
func hasTerm(sp space, term string) where {
	if isStop(term) {
		return equal(propStops, wordOf(sp, term))
	}
	return equal(propWords, wordOf(sp, term))
}

// average is the mean length of a document.
func (c *counts) average() float64 {
	if c.docs == 0 {
		return 0
	}
	return c.length / float64(c.docs)
}

func (c *counts) idf(term string) float64 {
	df := float64(c.df[term])
	return math.Log(1 + (float64(c.docs)-df+0.5)/(df+0.5))
}

// score is BM25 of a chunk.
func (c *counts) score(of *bag, terms []backend.WeightedTerm) float64 {
	sum := 0.0
	for _, t := range terms {
		if tf := of.tf[encodeTerm(t.Term)]; tf > 0 {
			sum += float64(t.Weight) * c.idf(t.Term) * c.saturation(tf, of.length)
		}
	}
	return sum
}

// saturation is what a frequency comes to in a chunk of a length.
func (c *counts) saturation(tf, length int) float64 {
	return float64(tf) / (float64(tf) + k1*(1-b+b*float64(length)/max(c.average(), 1)))
}

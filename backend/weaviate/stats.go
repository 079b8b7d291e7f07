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

// statistics remembers which partitions are large, and caches the vector lengths of lanes until a change is applied, for at most
// countsTTL. The limit is needed since another process may be deleting and storing objects again, which are missing meanwhile.
type statistics struct {
	mu    sync.Mutex
	turn  uint64           // number of times the cache was cleared; identifies a state of it
	since time.Time        // when the cache was last cleared
	dims  map[string][]int // by lane of a partition: its vector lengths, if known
	large map[space]bool   // partitions that had more than smallPartition chunks when last counted

	objects map[space]objectCounts // how many chunks there were when they were last counted for a partition
}

// objectCounts is how many chunks the cluster has.
type objectCounts struct {
	all   int // of all partitions
	every int // of a partition, with everyTerm
	at    time.Time
}

// haveEvery reports whether most chunks of a partition of some chunks have everyTerm. Those that an earlier release has stored lack it, and those without words.
func (n *objectCounts) haveEvery(docs int) bool { return 2*n.every > docs }

// counts is what BM25 needs to know of a partition.
type counts struct {
	docs   int
	length float64        // total length of all documents
	df     map[string]int // document frequency by term; 0 is cached too
}

func (s *statistics) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clearLocked()
}

// clearLocked is clear for a caller that holds mu.
func (s *statistics) clearLocked() {
	s.turn++
	s.dims, s.since = nil, time.Now()
}

// expire clears the cache if it is too old. The caller holds mu.
func (s *statistics) expire() {
	if time.Since(s.since) > countsTTL {
		s.clearLocked()
	}
}

// currentTurn returns the current turn, which identifies a state of the cache.
func (s *statistics) currentTurn() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	return s.turn
}

// dimsOf returns the cached vector lengths of a lane. It returns false if they are unknown.
func (s *statistics) dimsOf(lane string) ([]int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	dims, ok := s.dims[lane]
	return dims, ok
}

// storeDims caches the vector lengths of a lane, unless the cache was cleared since turn.
func (s *statistics) storeDims(lane string, dims []int, turn uint64) {
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

// wasLarge reports whether a partition had more than smallPartition chunks when it was last counted.
func (s *statistics) wasLarge(sp space) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.large[sp]
}

// setLarge records whether a partition has more than smallPartition chunks.
func (s *statistics) setLarge(sp space, large bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !large {
		delete(s.large, sp)
		return
	}
	if s.large == nil || len(s.large) >= maxCachedTerms {
		s.large = make(map[space]bool)
	}
	s.large[sp] = true
}

// count lets the cluster count terms, and if all is set the documents too. It stores the result in c.
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

// read decodes the counts of an answer. It returns false if one is missing.
func (c *counts) read(data map[string]any, terms []string, all bool) bool {
	groups, _ := data["Aggregate"].(map[string]any)
	if all {
		docs, ok := numberAt(groups, "all", "meta", "count")
		if !ok {
			return false
		}
		c.docs = int(docs)
		c.length, _ = numberAt(groups, "all", propLength, "sum") // no sum if there are no documents
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

// numberAt returns a number of the single group of an aggregation.
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

// objects returns how many chunks there are, for a partition, as of at most objectsTTL ago. It returns none if the cluster does not tell.
func (x *index) objects(ctx context.Context, sp space) objectCounts {
	s := &x.stats
	s.mu.Lock()
	n := s.objects[sp]
	s.mu.Unlock()
	if time.Since(n.at) < objectsTTL {
		return n
	}
	var where strings.Builder
	equal(propWords, tokenOf(sp, everyTerm)).write(&where)
	query := fmt.Sprintf("{Aggregate{all:%s(tenant:%s){meta{count}}every:%[1]s(tenant:%[2]s,where:%s){meta{count}}}}", x.x.schema.chunks(), quote(x.uid), where.String())
	err := x.search(ctx, func(r route) (err error) {
		n, err = read(ctx, x.x.cluster, "count", r, func(ctx context.Context, node *node) (objectCounts, error) {
			data, err := node.graph(ctx, query)
			if err != nil {
				return objectCounts{}, err
			}
			groups, _ := data["Aggregate"].(map[string]any)
			all, ok1 := numberAt(groups, "all", "meta", "count")
			every, ok2 := numberAt(groups, "every", "meta", "count")
			if !ok1 || !ok2 {
				return objectCounts{}, errAgain
			}
			return objectCounts{int(all), int(every), time.Now()}, nil
		})
		return err
	})
	if err != nil {
		return objectCounts{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil || len(s.objects) >= maxCachedTerms {
		s.objects = make(map[space]objectCounts)
	}
	s.objects[sp] = n
	return n
}

// objectsTTL is how long the numbers of chunks are cached. They only weigh the terms by which the cluster selects candidates.
const objectsTTL = time.Minute

// hasTerm returns the filter for chunks that have a term.
func hasTerm(sp space, term string) where {
	if isStop(term) {
		return equal(propStops, wordOf(sp, term))
	}
	return equal(propWords, wordOf(sp, term))
}

// average returns the mean length of a document.
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

// weights are terms with their weights by the statistics of a partition.
type weights struct {
	names   []string // encoded terms
	weights []float64
	average float64 // length of a chunk
}

// weigh returns the weights of terms.
func (c *counts) weigh(terms []backend.WeightedTerm) (w weights) {
	w.average = c.average()
	for _, t := range terms {
		w.names, w.weights = append(w.names, encodeTerm(t.Term)), append(w.weights, float64(t.Weight)*c.idf(t.Term))
	}
	return w
}

// score returns the BM25 score of a chunk.
func (w *weights) score(of *bag) float64 {
	sum := 0.0
	for i, name := range w.names {
		if tf := of.tf[name]; tf > 0 {
			sum += w.weights[i] * saturation(tf, of.length, w.average)
		}
	}
	return sum
}

// saturation returns the BM25 weight of a term frequency in a chunk of a length, without the IDF.
func saturation(tf, length int, average float64) float64 {
	return float64(tf) / (float64(tf) + halfSaturated(length, average))
}

// halfSaturated returns the term frequency whose saturation is .5 in a chunk of a length.
func halfSaturated(length int, average float64) float64 {
	return k1 * (1 - b + b*float64(length)/max(average, 1))
}

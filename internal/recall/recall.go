// Package recall ranks the chunks of a partition for a question. It asks the
// shadows for candidates, fuses their scores as weighted sums normalised by the
// best of each list, lifts what context, entities and the graph speak for, and
// keeps every part of every score.
//
// The formulas and their constants were fitted on development sets of
// conversations and of encyclopedic passages; docs/recall.md has the ablations.
package recall

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract/rules"
)

// Embedder is what recall needs of an embedder.
type Embedder interface {
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Alpha says how semantic and keyword search are weighed.
type Alpha struct {
	Auto  bool
	Value float64
}

// DefaultAlpha is the value at which the weight is exactly the embedder's strength.
const DefaultAlpha = 0.8

// Engine ranks. It is immutable and safe for concurrent use.
type Engine struct {
	Embedder Embedder
	// Coverage is the share of a text's content words that the embedder knows; nil: it knows all.
	Coverage func(text string) float64
	// Word appends the unit vector of a word; nil: there is no late interaction.
	Word func(dst []float32, word string) ([]float32, bool)
	// MemoryStrength and KnowledgeStrength are the dense shares at DefaultAlpha.
	MemoryStrength, KnowledgeStrength float64
}

// Space is what is searched.
type Space struct {
	Store    backend.Store
	Vectors  backend.Vectors
	Keywords backend.Keywords
	Graph    backend.Graph
	// DenseOff leaves the vectors out: they belong to another embedder.
	DenseOff bool
}

// Request is a question to one partition.
type Request struct {
	Part     backend.Partition
	Query    string
	K        int // results wanted; the answer has at least minHits where there are so many
	Thinking bool
	Auto     bool // choose Thinking from the question
	Alpha    Alpha
	Filter   backend.Filter
	Now      time.Time
	Deadline time.Time // thinking stops adding stages after it; zero: never
}

// Scored is a candidate with the parts of its score.
type Scored struct {
	Chunk, Source int64
	Score         float64
	Parts
}

// Parts of a score; see contextmem.Explain for their meaning.
type Parts struct {
	Semantic, Keyword, Context, Speaker, Time float64
	Entity, Graph, Bridge, Expansion, Late    float64
	RawDense, RawKeyword                      float64
}

// Answer is a ranking, best first, ties by smaller chunk.
type Answer struct {
	Hits     []Scored
	Thinking bool    // whether thinking ran
	Alpha    float64 // as the caller would name it
	Dense    float64 // the weight that semantic search got
	Degraded []string
	Entities []int64 // entities that the question names

	scratch *scratch // that Hits lie in
}

// Release gives the memory of the answer to later searches; Hits must not be used any
// more. An answer that is not released is garbage like any other value.
func (a *Answer) Release() {
	if s := a.scratch; s != nil {
		a.Hits, a.scratch = nil, nil
		s.release()
	}
}

// work is one question on its way.
type work struct {
	*Engine
	Space
	ctx   context.Context
	req   Request
	cues  rules.Cues
	terms []backend.TermInfo
	docs  int
	avg   float64 // mean terms of a chunk
	w     float64
	qvec  []float32

	*scratch
	out *Answer
}

// scratch is what a search needs and leaves clean for the next.
type scratch struct {
	cand  []cand
	index map[int64]int32 // chunk -> place in cand
	order []place

	chunks []int64
	places []int32
	around []backend.Around
	hits   []Scored
}

// place is a candidate with the value that it is ordered by.
type place struct {
	at int32
	v  float64
}

var scratches = sync.Pool{New: func() any {
	return &scratch{cand: make([]cand, 0, 1024), index: make(map[int64]int32, 1024)}
}}

// maxScratch keeps a rare large search from staying in memory.
const maxScratch = 1 << 14

func (s *scratch) release() {
	if cap(s.cand) > maxScratch {
		return
	}
	clear(s.cand)
	clear(s.index)
	clear(s.around)
	s.cand, s.order, s.around, s.hits = s.cand[:0], s.order[:0], s.around[:0], s.hits[:0]
	scratches.Put(s)
}

// cand is a candidate.
type cand struct {
	Scored
	b, d   float64 // normalised keyword and dense scores
	s0     float64
	around *backend.Around
}

// Search ranks the partition for the question. The caller releases the answer.
func (e *Engine) Search(ctx context.Context, sp Space, req Request) (*Answer, error) {
	q := &work{Engine: e, Space: sp, ctx: ctx, req: req, scratch: scratches.Get().(*scratch)}
	q.out = &Answer{scratch: q.scratch}
	q.cues = rules.QueryCues(req.Query, req.Now)
	var err error
	var avg float32
	if q.terms, q.docs, avg, err = sp.Keywords.Terms(ctx, req.Part, req.Query); err != nil {
		return nil, err
	}
	if q.docs == 0 && req.Part.Class != backend.Raw {
		q.plan()
		return q.out, nil
	}
	q.avg = float64(avg)
	q.plan()
	if err := q.candidates(); err != nil {
		return nil, err
	}
	pure := !req.Alpha.Auto && (req.Alpha.Value == 0 || req.Alpha.Value == 1)
	switch {
	case pure:
	case req.Part.Class == backend.Memory:
		err = q.memory()
	default:
		err = q.knowledge()
	}
	if err != nil {
		return nil, err
	}
	q.rank()
	return q.out, nil
}

// plan chooses the dense weight, alpha and the mode.
func (q *work) plan() {
	strength := q.KnowledgeStrength
	if q.req.Part.Class == backend.Memory {
		strength = q.MemoryStrength
	}
	coverage := 1.0
	if q.Coverage != nil {
		coverage = q.Coverage(q.req.Query)
	}
	fit := math.Min(1, coverage/0.6) // recipe: below .6 the model understands too little of the question
	alpha := q.req.Alpha.Value
	if q.req.Alpha.Auto {
		alpha = q.autoAlpha(coverage)
	}
	switch {
	case q.DenseOff:
		q.w = 0
	case !q.req.Alpha.Auto && alpha >= 1:
		q.w = 1
	case alpha <= DefaultAlpha:
		q.w = strength * alpha / DefaultAlpha * fit
	default:
		q.w = (strength + (1-strength)*(alpha-DefaultAlpha)/(1-DefaultAlpha)) * fit
	}
	q.out.Alpha, q.out.Dense = alpha, q.w
	q.out.Thinking = q.req.Thinking || q.req.Auto && q.deep()
}

// autoAlpha leans on keywords when the question holds literal tokens, or words that the model does not know.
func (q *work) autoAlpha(coverage float64) float64 {
	a := DefaultAlpha
	if len(q.cues.Quoted) > 0 || len(q.cues.Identifiers) > 0 {
		a = 0.4
	}
	return math.Round(a*math.Min(1, coverage/0.6)*100) / 100
}

// deep tells whether a question deserves thinking: it names several things, compares, or
// chains clauses.
func (q *work) deep() bool {
	return len(q.cues.Names) >= 2 || q.cues.Comparison || q.cues.List || len(q.terms) >= 8
}

// depth is how many candidates each list gives: all in a small partition, where the
// context of a memory may be what finds it; in a large one the sessions of the best
// bring their memories in.
func (q *work) depth() int {
	switch {
	case q.docs <= 2000:
		return 2000
	case q.out.Thinking:
		return max(1000, 2*q.req.K)
	}
	return max(256, 2*q.req.K)
}

// candidates fills the lists and their normalised sum.
func (q *work) candidates() error {
	k := q.depth()
	if q.w < 1 {
		hits, err := q.Keywords.SearchKeywords(q.ctx, backend.KeywordQuery{Part: q.req.Part, Text: q.req.Query, K: k, Filter: q.req.Filter})
		if err != nil {
			return err
		}
		for _, h := range hits {
			c := q.at(h)
			c.RawKeyword = float64(h.Score)
			c.b = float64(h.Score) / float64(hits[0].Score)
		}
	}
	if q.w > 0 {
		var err error
		if q.qvec, err = q.Embedder.EmbedQuery(q.ctx, q.req.Query); err != nil {
			if q.ctx.Err() != nil || q.w == 1 {
				return err
			}
			q.out.Degraded = append(q.out.Degraded, "the embedder failed: keywords alone were searched")
			q.w, q.out.Dense = 0, 0
		}
	}
	if q.w > 0 {
		hits, err := q.Vectors.SearchVectors(q.ctx, backend.VectorQuery{Part: q.req.Part, Vector: q.qvec, K: k, Filter: q.req.Filter})
		if err != nil {
			return err
		}
		for _, h := range hits {
			if h.Score <= 0 || hits[0].Score <= 0 {
				break
			}
			c := q.at(h)
			c.RawDense = float64(h.Score)
			c.d = float64(h.Score) / float64(hits[0].Score)
		}
	}
	for i := range q.cand {
		c := &q.cand[i]
		c.Keyword, c.Semantic = (1-q.w)*c.b, q.w*c.d
		c.s0 = c.Keyword + c.Semantic
		c.Score = c.s0
	}
	return nil
}

// at returns the candidate of a hit, making it when it is new. The pointer is
// good until the next call.
func (q *work) at(h backend.Hit) *cand {
	i, ok := q.index[h.Chunk]
	if !ok {
		i = int32(len(q.cand))
		q.index[h.Chunk] = i
		q.cand = append(q.cand, cand{Scored: Scored{Chunk: h.Chunk, Source: h.Source}})
	}
	return &q.cand[i]
}

// best returns the places of the n best candidates by f, best first.
func (q *work) best(n int, f func(c *cand) float64) []int32 {
	all := q.order[:0]
	for i := range q.cand {
		if v := f(&q.cand[i]); v > 0 {
			all = append(all, place{int32(i), v})
		}
	}
	q.order = all
	before := func(a, b place) int {
		if c := cmp.Compare(b.v, a.v); c != 0 {
			return c
		}
		return cmp.Compare(q.cand[a.at].Chunk, q.cand[b.at].Chunk)
	}
	if n < len(all)/4 {
		all = smallest(all, n, before)
	}
	slices.SortFunc(all, before)
	out := make([]int32, min(n, len(all)))
	for i := range out {
		out[i] = all[i].at
	}
	return out
}

// smallest moves the n first elements in the order of before to the front, in any
// order, with a heap whose root is the last of them.
func smallest(all []place, n int, before func(a, b place) int) []place {
	if n <= 0 {
		return nil
	}
	top := all[:n]
	down := func(i int) {
		for {
			c := 2*i + 1
			if c >= n {
				return
			}
			if c+1 < n && before(top[c], top[c+1]) < 0 {
				c++
			}
			if before(top[c], top[i]) <= 0 {
				return
			}
			top[i], top[c] = top[c], top[i]
			i = c
		}
	}
	for i := n/2 - 1; i >= 0; i-- {
		down(i)
	}
	for _, x := range all[n:] {
		if before(x, top[0]) < 0 {
			top[0] = x
			down(0)
		}
	}
	return top
}

// late tells whether the time for further stages is over, and notes it.
func (q *work) late(stage string) bool {
	if q.req.Deadline.IsZero() || time.Now().Before(q.req.Deadline) {
		return false
	}
	q.out.Degraded = append(q.out.Degraded, "the time budget ended before "+stage)
	return true
}

// rank takes the best candidates out: as many as were asked for, and at least minHits.
func (q *work) rank() {
	order := q.best(max(q.req.K, minHits), func(c *cand) float64 { return c.Score })
	q.hits = q.hits[:0]
	for _, at := range order {
		q.hits = append(q.hits, q.cand[at].Scored)
	}
	q.out.Hits = q.hits
}

const minHits = 50

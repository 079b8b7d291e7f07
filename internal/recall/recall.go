// Package recall ranks the chunks of a partition for a question. It asks the
// shadows for candidates, fuses their scores as weighted sums normalised by the
// best of each list, lifts what context, entities and the graph speak for, and
// keeps every part of every score.
//
// The formulas and their constants were fitted on development sets of
// conversations and of encyclopedic passages; docs/recall.md has the ablations.
package recall

import (
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
	Question *Question
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

	work *work // that the answer and Hits lie in
}

// Release gives the memory of the answer to later searches; nothing of it may be used
// any more. An answer that is not released is garbage like any other value.
func (a *Answer) Release() {
	if q := a.work; q != nil {
		a.work = nil
		q.release()
	}
}

// work is one question on its way. It is pooled with its scratch.
type work struct {
	*Engine
	Space
	ctx   context.Context
	req   Request
	asked *Question
	cues  *rules.Cues
	terms []backend.TermInfo
	docs  int
	avg   float64 // mean terms of a chunk
	w     float64
	qvec  []float32

	replies, asks bool // some candidate is the machine side of a chat, only asks

	scratch
	out Answer
}

// scratch is what a search needs and leaves clean for the next.
type scratch struct {
	cand  []cand
	index chunkIndex // of chunks in cand
	order []place
	found []backend.Hit

	chunks []int64
	places []int32
	around []backend.Around
	hits   []Scored
}

var works = sync.Pool{New: func() any { return new(work) }}

// maxScratch keeps a rare large search from staying in memory.
const maxScratch = 1 << 14

func (q *work) release() {
	s := q.scratch
	if cap(s.cand) > maxScratch {
		return
	}
	clear(s.around)
	s.index.clear()
	s.cand, s.order, s.around, s.hits = s.cand[:0], s.order[:0], s.around[:0], s.hits[:0]
	*q = work{scratch: s}
	works.Put(q)
}

// cand is a candidate. It holds no pointers, so that many cost the collector nothing.
type cand struct {
	Scored
	b, d   float64 // normalised keyword and dense scores
	s0     float64
	own    float64 // what the memory alone says, once its context is added
	around int32   // place in work.around plus 1; 0: not known yet
	reply  bool    // the machine side of a chat said it
}

// Search ranks the partition for the question. The caller releases the answer.
func (e *Engine) Search(ctx context.Context, sp Space, req Request) (*Answer, error) {
	q := works.Get().(*work)
	q.Engine, q.Space, q.ctx, q.req, q.out.work = e, sp, ctx, req, q
	q.asked, q.cues = req.Question, req.Question.Cues()
	var err error
	var avg float32
	if q.terms, q.docs, avg, err = sp.Keywords.Terms(ctx, req.Part, q.asked.text); err != nil {
		return nil, err
	}
	if q.docs == 0 && req.Part.Class != backend.Raw {
		q.plan()
		return &q.out, nil
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
	return &q.out, nil
}

// plan chooses the dense weight, alpha and the mode.
func (q *work) plan() {
	strength := q.KnowledgeStrength
	if q.req.Part.Class == backend.Memory {
		strength = q.MemoryStrength
	}
	fit := math.Min(1, q.asked.coverage/0.6) // recipe: below .6 the model understands too little of the question
	alpha := q.req.Alpha.Value
	if q.req.Alpha.Auto {
		alpha = q.autoAlpha(q.asked.coverage)
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
		hits, err := q.Keywords.SearchKeywords(q.ctx, backend.KeywordQuery{Part: q.req.Part, Text: q.asked.text, K: k, Filter: q.req.Filter, Answer: q.anyOrder()})
		if err != nil {
			return err
		}
		top := q.keep(hits)
		for _, h := range hits {
			c := q.at(h)
			c.RawKeyword = float64(h.Score)
			c.b = float64(h.Score) / top
		}
	}
	if q.w > 0 {
		var err error
		if q.qvec, err = q.asked.embed(q.ctx); err != nil {
			if q.ctx.Err() != nil || q.w == 1 {
				return err
			}
			q.out.Degraded = append(q.out.Degraded, "the embedder failed: keywords alone were searched")
			q.w, q.out.Dense = 0, 0
		}
	}
	if q.w > 0 {
		hits, err := q.Vectors.SearchVectors(q.ctx, backend.VectorQuery{Part: q.req.Part, Vector: q.qvec, K: k, Filter: q.req.Filter, Answer: q.anyOrder()})
		if err != nil {
			return err
		}
		top := q.keep(hits)
		for _, h := range hits {
			if h.Score <= 0 {
				continue
			}
			c := q.at(h)
			c.RawDense = float64(h.Score)
			c.d = float64(h.Score) / top
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

// anyOrder asks a search for hits in memory of this one.
func (q *work) anyOrder() backend.Answer { return backend.Answer{AnyOrder: true, Into: q.found} }

// keep keeps the memory of hits for the next search, and returns their best score.
func (q *work) keep(hits []backend.Hit) float64 {
	q.found = hits[:0]
	top := float32(0)
	for _, h := range hits {
		top = max(top, h.Score)
	}
	return float64(top)
}

// at returns the candidate of a hit, making it when it is new. The pointer is
// good until the next call.
func (q *work) at(h backend.Hit) *cand {
	i, fresh := q.index.add(h.Chunk, int32(len(q.cand)))
	if fresh {
		q.cand = append(q.cand, cand{Scored: Scored{Chunk: h.Chunk, Source: h.Source}})
	}
	return &q.cand[i]
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
	order := q.some(max(q.req.K, minHits), func(c *cand) float64 { return c.Score })
	slices.SortFunc(order, comparePlaces)
	q.hits = slices.Grow(q.hits[:0], len(order))
	for _, p := range order {
		q.hits = append(q.hits, q.cand[p.at].Scored)
	}
	q.out.Hits = q.hits
}

const minHits = 50

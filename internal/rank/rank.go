// Package rank ranks the chunks of a partition for a question. It searches the
// indexes for candidates and fuses their scores as weighted sums. It then adds
// scores for context, entities and the graph, and keeps every part of every score.
//
// The formulas and their constants were fitted on development sets of
// conversations and of encyclopedic passages; docs/recall.md has the ablations.
package rank

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/observe"
	"github.com/contextmem/contextmem/rerank/local"
)

// Embedder is the part of an embedder that ranking needs.
type Embedder interface {
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Alpha is the weight of semantic search against keyword search.
type Alpha struct {
	Auto  bool
	Value float64
}

// DefaultAlpha is the value at which the weight is exactly the embedder's strength.
const DefaultAlpha = 0.8

// Engine ranks chunks. It is immutable and safe for concurrent use.
type Engine struct {
	Embedder Embedder
	// Coverage returns the share of a text's content words that the embedder knows; nil: it knows all.
	Coverage func(text string) float64
	// Read does EmbedQuery and Coverage in one pass: it appends the vector to dst and returns the coverage. It is set if that is faster and needs no network; nil: EmbedQuery and Coverage are called.
	Read func(dst []float32, text string) (vec []float32, coverage float64)
	// MemoryQuery converts the vector of a question to the vector for searching memories; nil: they are the same.
	MemoryQuery func(query []float32) []float32
	// Words has the unit vectors of words for late interaction; nil: there is none.
	Words *local.Lexicon
	// MemoryStrength and KnowledgeStrength are the dense weights at DefaultAlpha.
	MemoryStrength, KnowledgeStrength float64
	// Fast ranks chunks that have no vector of this embedder yet; nil: all chunks have one.
	Fast *Engine
	// Refines reports whether the engine has or had a Fast engine. If so, Parts.Refined says which of the two scored a chunk.
	Refines bool
	// Memories is the engine with the embedder for memories; nil: this engine ranks memories too.
	Memories *Engine
	// Unrelated is set for an embedder with calibrated scores. MemoryStrength and KnowledgeStrength are then ignored.
	Unrelated *Spread
}

// Space holds the store and the indexes to search.
type Space struct {
	Store    backend.Store
	Vectors  backend.Vectors
	Keywords backend.Keywords
	Graph    backend.Graph
	// DenseOff disables the vector search, since the vectors are another embedder's.
	DenseOff bool
	// Lane has the vectors of the embedder, and FastLane those of Engine.Fast's.
	Lane, FastLane backend.Lane
}

// Request is a question to one partition.
type Request struct {
	Part     backend.Partition
	Question *Question
	K        int // expected maximal n of Answer.Best
	First    int // number of best hits that are final when Search returns; see Answer.Settle
	Thinking bool
	Auto     bool // choose Thinking from the question
	Alpha    Alpha
	Filter   backend.Filter
	Now      time.Time
	Deadline time.Time // thinking stops adding stages after it; zero: never
	Timed    bool      // measure the stages
}

// Scored is a candidate with its score; [Answer.Parts] explains the score.
type Scored struct {
	Chunk, Source int64
	Score         float64
	at            int32 // index in rows and cand of the work
}

// Parts of a score; see contextmem.Explain for their meaning.
type Parts struct {
	Semantic, Keyword, Context, Speaker, Time float64
	Entity, Graph, Bridge, Expansion, Late    float64
	RawDense, RawKeyword                      float64
	Refined                                   bool // RawDense is the score of Engine and not of its Fast engine
}

// Answer is a ranking; see [Answer.Best].
type Answer struct {
	Thinking bool    // whether thinking ran
	Alpha    float64 // the weight of semantic search on the caller's scale
	Dense    float64 // the weight of semantic search in the fusion
	Degraded []string
	Entities []int64 // entities that the question names
	Cut      bool    // a search returned as many candidates as were requested, so there may be more

	work *work // owns the memory of the answer
}

// Best returns the n best hits, best first, and of equal scores the smaller chunk first. If n is greater than Request.First, Settle has to be called before. The result
// is valid until the next call.
func (a *Answer) Best(n int) []Scored {
	q := a.work
	order := q.best(n, byScore)
	q.hits = slices.Grow(q.hits[:0], len(order))
	for _, p := range order {
		q.hits = append(q.hits, Scored{Chunk: p.chunk, Source: q.rows[p.at].Source, Score: p.v, at: p.at})
	}
	return q.hits
}

// Parts returns the parts of a hit's score.
func (a *Answer) Parts(h *Scored) Parts {
	q := a.work
	r, c := &q.rows[h.at], &q.cand[h.at]
	raw := r.Dense
	if c.fast {
		raw = c.raw
	}
	return Parts{
		Semantic: q.semantic(r.Dense), Keyword: q.perKeyword * float64(r.Keyword), Context: c.Context, Speaker: c.Speaker, Time: c.Time,
		Entity: c.Entity, Graph: c.Graph, Bridge: c.Bridge, Expansion: c.Expansion, Late: c.Late, RawDense: float64(raw), RawKeyword: float64(r.Keyword),
		Refined: q.Refines && r.Dense > 0 && !c.fast,
	}
}

// Talk returns the weight of exchanges in a chat with an assistant, [0,1]. It is 1 if the chat is stored message by message and messages are
// short. It is 0 if messages are long, if there are no replies, or if the question asks for the assistant's words.
func (a *Answer) Talk() float64 { return a.work.talk }

// Before returns the chunk of the memory before a hit in its session, or 0 if there is none or the filter may reject it.
func (a *Answer) Before(h *Scored) int64 {
	if q := a.work; q.rows[h.at].Chunk == h.Chunk {
		return q.before(h.at)
	}
	return 0
}

// Answered returns the source of the assistant's answer to a hit, or 0 if there is none.
func (a *Answer) Answered(h *Scored) int64 {
	q := a.work
	if q.talk == 0 || q.rows[h.at].Chunk != h.Chunk || q.cand[h.at].reply {
		return 0
	}
	if at := q.rows[h.at].Next[0]; at != 0 && q.cand[at-1].reply {
		return q.rows[at-1].Source
	}
	return 0
}

// Exchange returns the chunks of the user's message and of the assistant's answer to it, one of which is the hit, or 0, 0 if the hit is not a part of an
// exchange. The other side is 0 if there is none or the filter may reject it.
func (a *Answer) Exchange(h *Scored) (message, answer int64) {
	q := a.work
	r := &q.rows[h.at]
	if q.talk == 0 || r.Chunk != h.Chunk {
		return 0, 0
	}
	if q.cand[h.at].reply {
		return q.side(r.Prev[0], false), h.Chunk
	}
	return h.Chunk, q.side(r.Next[0], true)
}

// side returns the chunk of a row, counted from 1, if it is a reply or not as requested, and 0 otherwise.
func (q *work) side(at int32, reply bool) int64 {
	if at == 0 || q.cand[at-1].reply != reply || q.filtered() && !q.cand[at-1].in {
		return 0
	}
	return q.rows[at-1].Chunk
}

// Of returns the best candidate of each source, in the order of sources, which must be ascending. It leaves out sources without a candidate.
func (a *Answer) Of(sources []int64) []Scored {
	q := a.work
	best := make([]Scored, len(sources))
	for i := range q.cand {
		c := &q.cand[i]
		if !c.in || !(c.Score > 0) {
			continue
		}
		r := &q.rows[i]
		k, asked := slices.BinarySearch(sources, r.Source)
		if !asked {
			continue
		}
		if b := &best[k]; b.Source == 0 || c.Score > b.Score || c.Score == b.Score && r.Chunk < b.Chunk {
			*b = Scored{Chunk: r.Chunk, Source: r.Source, Score: c.Score, at: int32(i)}
		}
	}
	return slices.DeleteFunc(best, func(s Scored) bool { return s.Source == 0 })
}

// Stages returns the stages of the ranking and their times, if Request.Timed was set. They are valid until Release.
func (a *Answer) Stages() []observe.Stage { return a.work.stages }

// lap records the time since the last call of lap as a stage with this name.
func (q *work) lap(name string) {
	if !q.req.Timed {
		return
	}
	now := time.Now()
	q.stages = append(q.stages, observe.Stage{Name: name, Start: q.since, Took: now.Sub(q.since)})
	q.since = now
}

// Release lets later searches use the memory of the answer. The caller must not use the
// answer afterwards. Release is optional: the garbage collector frees an answer too.
func (a *Answer) Release() {
	if q := a.work; q != nil {
		a.work = nil
		q.release()
	}
}

// Search ranks the partition for the question. The caller releases the answer.
func (e *Engine) Search(ctx context.Context, sp Space, req Request) (*Answer, error) {
	e = e.Of(req.Part.Class)
	a, err := e.search(ctx, sp, req)
	if err != nil || e.Fast == nil || !a.work.bare() {
		return a, err
	}
	degraded, stages := a.Degraded, a.Stages()
	a.Release()
	sp.Lane, req.Question = sp.FastLane, req.Question.fast
	if a, err = e.Fast.search(ctx, sp, req); err == nil {
		a.Degraded = append(degraded, a.Degraded...)
		a.work.stages = append(stages, a.work.stages...)
	}
	return a, err
}

// Of returns the engine that ranks partitions of a class.
func (e *Engine) Of(class backend.Class) *Engine {
	if e.Memories != nil && class == backend.Memory {
		return e.Memories
	}
	return e
}

// Over returns a copy of the engine whose Fast engine is fast.
func (e *Engine) Over(fast *Engine) *Engine {
	out := *e
	out.Fast, out.Refines = fast, true
	if e.Memories != nil {
		out.Memories = e.Memories.Over(fast)
	}
	return &out
}

// search is Search with the vectors of this engine, and with those of e.Fast for chunks without a vector.
func (e *Engine) search(ctx context.Context, sp Space, req Request) (*Answer, error) {
	q := works.Get().(*work)
	q.Engine, q.Space, q.ctx, q.req, q.out.work = e, sp, ctx, req, q
	q.asked, q.cues = req.Question, req.Question.Cues()
	defer q.await()
	if req.Timed {
		q.since = time.Now()
	}
	q.weigh()
	counted := q.Coverage == nil
	if counted { // do not call an embedder, perhaps over the network, if there is nothing to search
		if err := q.count(); err != nil {
			return nil, err
		}
	}
	ok, err := q.survey(counted)
	if err != nil {
		return nil, err
	}
	if !ok && !counted {
		if err := q.count(); err != nil {
			return nil, err
		}
	}
	q.out.Thinking = req.Thinking || req.Auto && q.deep()
	if q.docs == 0 && req.Part.Class != backend.Raw {
		return &q.out, nil
	}
	if !ok {
		if err := q.lists(); err != nil {
			return nil, err
		}
	}
	if q.bare() {
		return &q.out, nil
	}
	if err := q.scoreByFast(); err != nil {
		return nil, err
	}
	if q.Fast != nil {
		q.lap("fast")
	}
	q.fuse()
	q.lap("fuse")
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
	if q.open > 0 || q.unlisted > 0 {
		defer q.lap("rest")
		if err := q.settle(req.First); err != nil {
			return nil, err
		}
	}
	return &q.out, nil
}

// weigh sets the dense weight and alpha.
func (q *work) weigh() {
	strength := q.KnowledgeStrength
	if q.req.Part.Class == backend.Memory {
		strength = q.MemoryStrength
	}
	if q.Unrelated != nil {
		strength = calibratedKnowledge
		if q.req.Part.Class == backend.Memory {
			strength = calibratedMemory
		}
	}
	fit := math.Min(1, q.asked.coverage/0.6) // below .6 the model understands too little of the question
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
}

// autoAlpha returns alpha for a question. It is lower if the question has literal tokens, or words that the model does not know.
func (q *work) autoAlpha(coverage float64) float64 {
	a := DefaultAlpha
	if len(q.cues.Quoted) > 0 || len(q.cues.Identifiers) > 0 {
		a = 0.4
	}
	return math.Round(a*math.Min(1, coverage/0.6)*100) / 100
}

// deep reports whether a question deserves thinking: it names several things, compares, or
// chains clauses.
func (q *work) deep() bool {
	return len(q.cues.Names) >= 2 || q.cues.Comparison || q.cues.List || len(q.terms) >= 8
}

// depth returns the number of hits to request from each search. In a small partition it is
// the number of all chunks, since a memory may be found by its context alone. In a large
// one the sessions of the best hits add such memories. Passages of knowledge are found by themselves, so fewer are enough; a calibrated
// embedder's scores are estimated from the list, so its length stays. docs/recall.md, "How many candidates", has the measurements.
func (q *work) depth() int {
	fast, thinking := 256, 1000
	if q.req.Part.Class == backend.Knowledge && q.Unrelated == nil {
		fast, thinking = 128, 512
	}
	switch {
	case q.docs <= surveyMost:
		return surveyMost
	case q.out.Thinking:
		return max(thinking, 2*q.req.K)
	}
	return max(fast, 2*q.req.K)
}

// embed sets the vector of the question. If there is none, only keywords are searched.
func (q *work) embed() (err error) {
	if q.w == 0 || q.qvec != nil {
		return nil
	}
	if !q.asked.read {
		defer q.lap("embed")
	}
	if q.qvec, err = q.asked.of(q.req.Part.Class).embed(q.ctx); err != nil {
		if q.ctx.Err() != nil || q.w == 1 && q.Fast == nil {
			return err
		}
		q.failed = true
		if q.Fast != nil {
			q.out.Degraded = append(q.out.Degraded, "the embedder failed: the fast one was used")
			return nil
		}
		q.out.Degraded = append(q.out.Degraded, "the embedder failed: keywords alone were searched")
		q.w, q.out.Dense = 0, 0
	}
	if q.MemoryQuery != nil && q.qvec != nil && q.req.Part.Class == backend.Memory {
		q.qvec = q.MemoryQuery(q.qvec)
	}
	return nil
}

// Package rank ranks the chunks of a partition for a question. It asks the
// indexes for candidates, fuses their scores as weighted sums normalised by the
// best of each list, lifts what context, entities and the graph speak for, and
// keeps every part of every score.
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

// Embedder is what ranking needs of an embedder.
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
	// Read is EmbedQuery and Coverage in one pass: it appends the vector and returns the coverage. It is set for an embedder where that costs less and that needs no network; nil: they are called one after the other.
	Read func(dst []float32, text string) (vec []float32, coverage float64)
	// MemoryQuery makes of the vector of a question the one by which memories are looked for; nil: it is the same.
	MemoryQuery func(query []float32) []float32
	// Words has the unit vectors of words; nil: there is no late interaction.
	Words *local.Lexicon
	// MemoryStrength and KnowledgeStrength are the dense shares at DefaultAlpha.
	MemoryStrength, KnowledgeStrength float64
	// Fast ranks chunks that have no vector of this embedder yet; nil: there are none such.
	Fast *Engine
	// Refines reports whether the engine has, or had, a fast one beside it: parts tell which of the two scored a chunk.
	Refines bool
	// Memories is the engine over the embedder that reads memories; nil: this one ranks memories too.
	Memories *Engine
	// Unrelated is set for an embedder whose scores are calibrated; the strengths are then the package's own.
	Unrelated *Spread
}

// Space is what is searched.
type Space struct {
	Store    backend.Store
	Vectors  backend.Vectors
	Keywords backend.Keywords
	Graph    backend.Graph
	// DenseOff leaves the vectors out: they belong to another embedder.
	DenseOff bool
	// Lane is where the vectors of the embedder stand, and FastLane those of Engine.Fast.
	Lane, FastLane backend.Lane
}

// Request is a question to one partition.
type Request struct {
	Part     backend.Partition
	Question *Question
	K        int // hits that will be asked for at most, as far as is known
	Thinking bool
	Auto     bool // choose Thinking from the question
	Alpha    Alpha
	Filter   backend.Filter
	Now      time.Time
	Deadline time.Time // thinking stops adding stages after it; zero: never
	Timed    bool      // measure the stages
}

// Scored is a candidate with its score; [Answer.Parts] explains it.
type Scored struct {
	Chunk, Source int64
	Score         float64
	at            int32 // in rows and cand of the work
}

// Parts of a score; see contextmem.Explain for their meaning.
type Parts struct {
	Semantic, Keyword, Context, Speaker, Time float64
	Entity, Graph, Bridge, Expansion, Late    float64
	RawDense, RawKeyword                      float64
	Refined                                   bool // RawDense is of Engine, where that has a Fast one
}

// Answer is a ranking; see [Answer.Best].
type Answer struct {
	Thinking bool    // whether thinking ran
	Alpha    float64 // as the caller would name it
	Dense    float64 // the weight that semantic search got
	Degraded []string
	Entities []int64 // entities that the question names
	Cut      bool    // a list gave as many candidates as it was asked for: there may be more

	work *work // whose memory holds the answer
}

// Best returns the n best hits, best first, ties by smaller chunk. They are good until the next
// call.
func (a *Answer) Best(n int) []Scored {
	q := a.work
	order := q.best(n, byScore)
	q.hits = slices.Grow(q.hits[:0], len(order))
	for _, p := range order {
		q.hits = append(q.hits, Scored{Chunk: p.chunk, Source: q.rows[p.at].Source, Score: p.v, at: p.at})
	}
	return q.hits
}

// Parts returns what the score of a hit consists of.
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

// Talk returns how much the exchanges of a chat with an assistant count, [0,1]: 1 where it is stored message by message and messages are
// short, 0 where they are long, where there are no replies, or where the question asks for what the assistant said.
func (a *Answer) Talk() float64 { return a.work.talk }

// Before returns the chunk of the memory before a hit in its session, 0 for none that the filter passes.
func (a *Answer) Before(h *Scored) int64 {
	if q := a.work; q.rows[h.at].Chunk == h.Chunk {
		return q.before(h.at)
	}
	return 0
}

// Answered returns the source of what the assistant answered to a hit, 0 for none.
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

// Of returns the best candidate of each of the given sources, whose numbers rise, in their order. Sources without a candidate are left out.
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

// Stages are what the ranking did, where Request.Timed was set. They are good until Release.
func (a *Answer) Stages() []observe.Stage { return a.work.stages }

// lap ends a stage: the time since the end of the last one is recorded under name.
func (q *work) lap(name string) {
	if !q.req.Timed {
		return
	}
	now := time.Now()
	q.stages = append(q.stages, observe.Stage{Name: name, Start: q.since, Took: now.Sub(q.since)})
	q.since = now
}

// Release gives the memory of the answer to later searches; nothing of it may be used
// any more. An answer that is not released is garbage like any other value.
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

// Over returns the engine with the vectors of another one where a chunk lacks its own.
func (e *Engine) Over(fast *Engine) *Engine {
	out := *e
	out.Fast, out.Refines = fast, true
	if e.Memories != nil {
		out.Memories = e.Memories.Over(fast)
	}
	return &out
}

// search is Search with the vectors of the engine, and those of the fast one where a chunk lacks them.
func (e *Engine) search(ctx context.Context, sp Space, req Request) (*Answer, error) {
	q := works.Get().(*work)
	q.Engine, q.Space, q.ctx, q.req, q.out.work = e, sp, ctx, req, q
	q.asked, q.cues = req.Question, req.Question.Cues()
	if req.Timed {
		q.since = time.Now()
	}
	q.weigh()
	counted := q.Coverage == nil
	if counted { // an embedder that may be far away is not asked for nothing
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
	if err := q.beside(); err != nil {
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
	return &q.out, nil
}

// weigh chooses the dense weight and alpha.
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
}

// autoAlpha leans on keywords when the question holds literal tokens, or words that the model does not know.
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

// depth is how many candidates each list gives: all in a small partition, where the
// context of a memory may be what finds it; in a large one the sessions of the best
// bring their memories in.
func (q *work) depth() int {
	switch {
	case q.docs <= surveyMost:
		return surveyMost
	case q.out.Thinking:
		return max(1000, 2*q.req.K)
	}
	return max(256, 2*q.req.K)
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

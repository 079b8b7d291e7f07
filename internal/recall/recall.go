// Package recall turns the candidates of a question into a result: it ranks the partitions that are searched, reads the
// rows of the best chunks and checks each again, orders them by what depends on rows (recency, the app lane, feedback, the
// reranker), and puts beside them what was asked for: neighbours, forcefully related sources, the graph, dated facts.
//
// A result refers to rows of the Store and copies none. The caller turns it into what users see.
package recall

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/rank"
	"github.com/contextmem/contextmem/internal/usage"
	"github.com/contextmem/contextmem/judge"
	"github.com/contextmem/contextmem/observe"
)

// Reranker scores texts for a query, a higher score for a better one.
type Reranker interface {
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Engine answers recalls. It is immutable and safe for concurrent use.
type Engine struct {
	Ranker   *rank.Engine
	Model    string        // of the embedder of Ranker
	Reranker Reranker      // of thinking; nil: none
	Judge    judge.Judge   // of the relevance of hits; nil: their scores tell it
	Budget   time.Duration // of the stages that thinking adds, from Request.Now on
	Boosts   bool          // apply what feedback taught
	UserKey  string        // key of the entity that stands for the user of memories
	Logger   *slog.Logger
}

// Workspace is an open tenant.
type Workspace struct {
	Store    backend.Store
	Vectors  backend.Vectors
	Keywords backend.Keywords
	Graph    backend.Graph
	DenseOff bool         // the vectors belong to another embedder: keywords alone are searched
	Lane     backend.Lane // of the vectors of Engine's embedder
	FastLane backend.Lane // of those of its fast one
	Docs     Docs
	Uses     Uses // by which memories fade; nil: none does
}

// Uses tells how much versions of sources were used.
type Uses interface {
	// Uses returns the use of each version, in their order.
	Uses(ctx context.Context, nums []int64) ([]usage.Use, error)
}

// Docs holds the records of sources.
type Docs interface {
	// Doc returns the record of a source, which nobody may change.
	Doc(src *backend.Source) (*item.Doc, error)
}

// Mode is how much work a recall does.
type Mode uint8

// Modes.
const (
	Fast     Mode = iota // one pass
	Thinking             // more stages, see package rank; forceful relations
	Auto                 // decided by the question
)

// Scope is a partition that is searched, with the relative weight of its scores.
type Scope struct {
	Part   backend.Partition
	Weight float64
}

// Request is a question that was checked and completed.
type Request struct {
	Query         string
	Hint          string // put in front of the query for ranking
	Scopes        []Scope
	MaxResults    int
	Mode          Mode
	Alpha         rank.Alpha
	RecencyBias   float64         // 0 to 1
	Graph         bool            // fill Result.Graph
	Apps          bool            // run the app lane
	AskedForceful bool            // a fast recall warns that it does not use forceful relations
	SkipForceful  bool            // leave forcefully related sources out in thinking
	MinRelevance  float64         // hits of less are left out, [0,1]
	PerSource     int             // places that a source may take; 0: one for memories, any number for knowledge
	RelatedChunks int             // neighbours of a hit on each side
	Filter        backend.Filter  // of the hits
	Visible       backend.Filter  // the part of it that says what the caller may see at all
	AsOf          time.Time       // as of backend.RelationQuery
	Superseded    Superseded      // what becomes of memories that another took the place of
	KnownAt       time.Time       // without what was learnt later; zero: now
	Temporal      *facts.Temporal // nil: no dated facts
	Asked         *Asked          // nil: nothing is told of what is not in the result
	Laps          *observe.Laps   // measures the stages; nil: nobody does
	Now           time.Time
}

// Parts explain a score.
type Parts = content.Explain

// Hit is a chunk that was found.
type Hit struct {
	Row   *backend.Hydrated
	Score float64
	// Relevance is the probability that the hit answers the question, [0,1].
	Relevance float64
	Parts     *Parts
	AlsoFrom  []string // of an inferred statement: ids of other sources from which the same follows
	// Statements follow from a memory and matched the question beside its words.
	Statements []string
	Extra      []string // keys of chunks in Result.Extra
	// SupersededBy is what took the place of a memory; nil: nothing did, as far as is known at the time asked for.
	SupersededBy *Supersession
	First        bool    // no hit before it is of the same source
	Passage      Passage // where it matches the words of the question

	ranked  rank.Scored
	scope   *scope
	recency float64 // what recency took from the score
}

// scope is a Scope with its ranking.
type scope struct {
	Scope
	answer *rank.Answer // explains the hits of the scope; nil for a boolean search
}

// Related is a neighbour of a hit in its source.
type Related struct {
	Row *backend.Hydrated
	Hit int // place of the hit in Result.Hits
}

// Result is what was found. It is good until it is released.
type Result struct {
	Hits     []*Hit // best first
	Sources  int    // of the hits
	Related  []Related
	Extra    []*backend.Hydrated   // chunks of forcefully related sources; nil where they were not looked for
	Graph    *graph.Context        // nil unless asked for
	Temporal *facts.TemporalResult // nil unless asked for
	Thinking bool                  // the mode that ran
	Alpha    float64               // the weight of semantic search, as the caller would name it
	Warnings []fault.Warning
	Rejected []Rejected              // by their places, as Request.Asked says
	Newer    map[int64]backend.State // by version of a row that was replaced: the state of the version that is not found yet

	run *run
}

// run is one recall on its way.
type run struct {
	*Engine
	*Workspace
	*Request
	ctx      context.Context
	res      Result
	cues     *language.Cues // of the query without its hint, as of Now; nil: not read
	question *rank.Question
	said     statements // inferred ones among the hits
	most     int        // hits of a scope that are looked at
	reader   *graph.Reader
	sight    *graph.Sight // of the graph; nil: the caller may see everything
	own      Workspace    // the caller's, over store
	store    sound
	around   graph.Context
	verdicts map[int64]verdict // by chunk, where Request.Asked is set
	scratch
}

// scratch is the memory of a recall, which the next one uses again.
type scratch struct {
	scopes []scope
	room   []Hit  // that hits point to
	hits   []*Hit // ranked; see gather
	live   []*Hit // of hits, those that are there
	nums   []int64
	parts  []Parts
	counts tally
	known  []graph.Hit
	named  []graph.Named

	passage passageRoom
	words   *rank.Question // asked last
}

// runs saves a recall of a small tenant a tenth of its processor time.
var runs = sync.Pool{New: func() any { return new(run) }}

// maxScratch keeps the memory of a rare large recall from being kept.
const maxScratch = 1 << 12

// Search answers a request. The caller releases the result.
func (e *Engine) Search(ctx context.Context, ws *Workspace, req *Request) (*Result, error) {
	r := newRun(ctx, e, ws, req)
	if err := r.look(); err != nil {
		return nil, err
	}
	if err := r.search(); err != nil {
		return nil, err
	}
	r.Laps.Lap("rank")
	if err := r.finish(); err != nil {
		return nil, err
	}
	if err := r.replaced(); err != nil {
		return nil, err
	}
	if err := r.tellRejected(); err != nil {
		return nil, err
	}
	r.tellDamage()
	return &r.res, nil
}

// tellDamage warns when something of the result was left out because its bytes are damaged.
func (r *run) tellDamage() {
	if n := r.store.damaged.Load(); n > 0 {
		r.warn("damaged", "", "%d stored rows are damaged and were left out: verify the deployment", n)
	}
}

func newRun(ctx context.Context, e *Engine, ws *Workspace, req *Request) *run {
	r := runs.Get().(*run)
	r.own = *ws
	r.store.Store, r.store.settled, r.own.Store = backend.Peek(ws.Store), ws.Store, &r.store
	r.Engine, r.Workspace, r.Request, r.ctx, r.res.run = e, &r.own, req, ctx, r
	for _, s := range req.Scopes {
		r.scopes = append(r.scopes, scope{Scope: s})
	}
	return r
}

// look finds out what the caller may see of the graph, which ranking goes by too.
func (r *run) look() (err error) {
	if len(r.Visible.All)+len(r.Visible.Not) == 0 {
		return nil
	}
	r.sight = graph.NewSight(r.Store, r.Now, r.Visible)
	parts := make([]backend.Partition, len(r.Scopes))
	for i, s := range r.Scopes {
		parts[i] = s.Part
	}
	r.own.Graph, err = r.sight.Graph(r.ctx, r.own.Graph, parts)
	return err
}

// Release gives the memory of a result to later recalls. Nothing of it may be used any more. A recall that fails lets
// its memory go.
func (res *Result) Release() {
	r := res.run
	for i := range r.scopes {
		if a := r.scopes[i].answer; a != nil {
			a.Release()
		}
	}
	if r.reader != nil {
		r.reader.Release()
	}
	s := r.scratch
	if max(cap(s.room), cap(s.hits), cap(s.live), cap(s.parts)) > maxScratch {
		return
	}
	if s.words != nil {
		s.words.Forget()
	}
	clear(s.scopes)
	clear(s.room)
	clear(s.hits)
	clear(s.live)
	clear(s.known)
	clear(s.named)
	*r = run{scratch: scratch{scopes: s.scopes[:0], room: s.room[:0], hits: s.hits[:0], live: s.live[:0], nums: s.nums[:0], parts: s.parts[:0], counts: s.counts,
		known: s.known[:0], named: s.named[:0], passage: s.passage, words: s.words}}
	runs.Put(r)
}

func (r *run) warn(code, field, format string, args ...any) {
	r.res.Warnings = append(r.res.Warnings, fault.Warning{Code: code, Field: field, Message: fmt.Sprintf(format, args...)})
}

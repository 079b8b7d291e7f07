// Package recall answers a question with chunks. It ranks the chunks of the partitions searched, and reads the rows of the
// best ones and checks them. It then applies the steps that need rows: recency, the app lane, feedback and the reranker.
// Last it adds the context asked for: neighbours, forcefully related sources, the graph and dated facts.
//
// A result refers to rows of the Store and does not copy them. The caller converts it to the public types.
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
	"github.com/contextmem/contextmem/internal/intact"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/rank"
	"github.com/contextmem/contextmem/internal/slot"
	"github.com/contextmem/contextmem/internal/usage"
	"github.com/contextmem/contextmem/judge"
	"github.com/contextmem/contextmem/observe"
)

// Reranker scores texts for a query; a higher score is better.
type Reranker interface {
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Engine answers recalls. It is immutable and safe for concurrent use.
type Engine struct {
	Ranker   *rank.Engine
	Model    string         // model of Ranker's embedder
	Reranker Reranker       // used in thinking; nil: none
	Judge    judge.Judge    // rates the relevance of hits; nil: it is computed from their scores
	Budget   time.Duration  // time for the stages that thinking adds, from Request.Now on
	Boosts   bool           // apply feedback
	Slots    *slot.Taxonomy // names what questions ask about; nil: the standard slots
	UserKey  string         // key of the entity that represents the user whose memories these are
	Logger   *slog.Logger
}

// Workspace is an open tenant.
type Workspace struct {
	Store    backend.Store
	Vectors  backend.Vectors
	Keywords backend.Keywords
	Graph    backend.Graph
	DenseOff bool         // the vectors are another embedder's, so only keywords are searched
	Lane     backend.Lane // lane of the vectors of Engine's embedder
	FastLane backend.Lane // lane of the vectors of its fast embedder
	Docs     Docs
	Uses     Uses           // makes memories fade; nil: none does
	Notice   intact.Noticer // is told of damaged rows that were left out; nil: nobody is
}

// Uses returns how often versions of sources were used.
type Uses interface {
	// Uses returns the use of each version, in their order.
	Uses(ctx context.Context, nums []int64) ([]usage.Use, error)
}

// Docs holds the records of sources.
type Docs interface {
	// Doc returns the record of a source. The caller must not change it.
	Doc(src *backend.Source) (*item.Doc, error)
}

// Mode is the amount of work that a recall does.
type Mode uint8

// Modes.
const (
	Fast     Mode = iota // one pass
	Thinking             // more stages, see package rank; forceful relations
	Auto                 // Fast or Thinking, depending on the question
)

// Scope is a partition that is searched, with the relative weight of its scores.
type Scope struct {
	Part   backend.Partition
	Weight float64
}

// Request is a question whose fields were checked and have their defaults filled in.
type Request struct {
	Query         string
	Hint          string // ranking prepends it to the query
	Scopes        []Scope
	MaxResults    int
	Mode          Mode
	Alpha         rank.Alpha
	RecencyBias   float64         // 0 to 1
	Graph         bool            // fill Result.Graph
	Apps          bool            // run the app lane
	AskedForceful bool            // the caller asked for forceful relations, so a fast recall warns that it does not use them
	SkipForceful  bool            // do not add forcefully related sources in thinking
	MinRelevance  float64         // leave out less relevant hits, [0,1]
	PerSource     int             // maximal number of hits of one source; 0: one for memories, any number for knowledge
	RelatedChunks int             // neighbours of a hit on each side
	Filter        backend.Filter  // which sources may be in the result
	Visible       backend.Filter  // the part of Filter that is the caller's access
	AsOf          time.Time       // see backend.RelationQuery
	Superseded    Superseded      // how to treat superseded memories
	KnownAt       time.Time       // leave out what was learnt later; zero: now
	Temporal      *facts.Temporal // nil: no dated facts
	Asked         *Asked          // which rejected candidates to report; nil: none
	Laps          *observe.Laps   // measures the stages; nil: they are not measured
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
	AlsoFrom  []string // for an inferred statement: ids of other sources from which the same was inferred
	// Statements were inferred from the memory and matched the question too.
	Statements []string
	Extra      []string // keys of this hit's chunks in Result.Extra
	// SupersededBy describes the memory that supersedes this one; nil: none does, as far as is known at KnownAt.
	SupersededBy *Supersession
	ToldLater    bool    // it was told after AsOf
	First        bool    // it is the first hit of its source
	Passage      Passage // the sentences that match the question best

	ranked  rank.Scored
	scope   *scope
	recency float64 // change of the score by recency; 0 or less
}

// scope is a Scope with its ranking.
type scope struct {
	Scope
	answer *rank.Answer // the ranking; nil for a boolean search
	hinted []*Hit       // see succession.hinted; nil unless the question asks what happened
}

// Related is a neighbour of a hit in its source.
type Related struct {
	Row *backend.Hydrated
	Hit int // index of the hit in Result.Hits
}

// Result is the answer to a request. It is valid until it is released.
type Result struct {
	Hits     []*Hit // best first
	Sources  int    // number of distinct sources of the hits
	Related  []Related
	Extra    []*backend.Hydrated   // chunks of forcefully related sources; nil if these were not searched
	Graph    *graph.Context        // nil unless asked for
	Temporal *facts.TemporalResult // nil unless asked for
	Thinking bool                  // the mode that ran
	Alpha    float64               // the weight of semantic search on the caller's scale
	Warnings []fault.Warning
	Rejected []Rejected              // the candidates that Request.Asked asks for, by rank
	Newer    map[int64]backend.State // version of a row -> state of a newer version that search does not find yet

	run *run
}

// run is the state of one recall.
type run struct {
	*Engine
	*Workspace
	*Request
	ctx      context.Context
	res      Result
	cues     *language.Cues // cues of the query without its hint, as of Now; nil: not read yet
	question *rank.Question
	askedOf  time.Time     // see askedOf
	said     statements    // inferred statements among the hits
	most     int           // number of ranked hits of a scope to consider
	view     *graph.View   // what the caller may see of the graph; nil: everything
	own      Workspace     // the caller's workspace with its store replaced by store
	store    intact.Store  // does not wait for commits in flight, since the indexes were searched before
	settled  backend.Store // waits for them
	around   aroundHits
	verdicts map[int64]verdict // verdict on each chunk, if Request.Asked is set
	scratch
}

// scratch holds the buffers of a recall that the next recall uses again.
type scratch struct {
	scopes []scope
	room   []Hit  // hits point into it
	hits   []*Hit // ranked hits; see gather
	live   []*Hit // those of hits that passed the checks
	nums   []int64
	parts  []Parts
	counts tally
	known  []graph.Hit
	named  []graph.Named

	passage passageRoom
	words   *rank.Question // the last question, whose memory is used again
}

// runs pools runs. It saves a tenth of the processor time of a recall of a small tenant.
var runs = sync.Pool{New: func() any { return new(run) }}

// maxScratch bounds the buffers that stay in the pool.
const maxScratch = 1 << 12

// Search answers a request. The caller releases the result.
func (e *Engine) Search(ctx context.Context, ws *Workspace, req *Request) (*Result, error) {
	r := newRun(ctx, e, ws, req)
	defer r.await()
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
	if err := r.reportRejected(); err != nil {
		return nil, err
	}
	r.warnDamaged()
	return &r.res, nil
}

// warnDamaged adds a warning if damaged rows were left out of the result.
func (r *run) warnDamaged() {
	r.res.Warnings = append(r.res.Warnings, r.store.Warnings()...)
}

func newRun(ctx context.Context, e *Engine, ws *Workspace, req *Request) *run {
	r := runs.Get().(*run)
	r.own = *ws
	r.store.Store, r.store.Notice, r.settled, r.own.Store = backend.Peek(ws.Store), ws.Notice, ws.Store, &r.store
	r.Engine, r.Workspace, r.Request, r.ctx, r.res.run = e, &r.own, req, ctx, r
	for _, s := range req.Scopes {
		r.scopes = append(r.scopes, scope{Scope: s})
	}
	return r
}

// settledSources is Sources, but waits for commits in flight.
func (r *run) settledSources(part backend.Partition, ids []string) ([]*backend.Source, error) {
	out, err := r.settled.Sources(r.ctx, part, ids)
	return out, r.store.LeaveOut(err)
}

// look sets r.view, what the caller may see of the graph. Ranking uses it too.
func (r *run) look() (err error) {
	if len(r.Visible.All)+len(r.Visible.Not) == 0 {
		return nil
	}
	r.view = graph.NewView(r.Store, r.Now, r.Visible)
	parts := make([]backend.Partition, len(r.Scopes))
	for i, s := range r.Scopes {
		parts[i] = s.Part
	}
	r.own.Graph, err = r.view.Graph(r.ctx, r.own.Graph, parts)
	return err
}

// Release lets later recalls use the memory of a result. The caller must not use the result afterwards. The memory of a
// failed recall is not used again.
func (res *Result) Release() {
	r := res.run
	for i := range r.scopes {
		if a := r.scopes[i].answer; a != nil {
			a.Release()
		}
	}
	if reader := r.around.reader; reader != nil {
		reader.Release()
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

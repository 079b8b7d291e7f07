package rank

import (
	"context"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/numtable"
	"github.com/contextmem/contextmem/observe"
	"github.com/contextmem/contextmem/rerank/local"
)

// work is the state of one ranking. It is pooled together with its scratch.
type work struct {
	*Engine
	Space
	ctx   context.Context
	req   Request
	asked *Question
	cues  *language.Cues
	docs  int
	avg   float64 // mean terms of a chunk
	w     float64
	// lookup is how surely the question looks up a rare word; see lookupOf.
	lookup float64
	qvec   []float32

	perKeyword, perDense float64 // factors for keyword and dense scores
	// For a calibrated embedder: the score at which the dense part is about 0, the weight of the dense part, and the share of the context that counts.
	denseFrom, denseShare, near float64

	whole         bool    // rows has all chunks of the partition, from a survey
	vague         bool    // the neighbours of some rows may not be known
	settled       *Spread // spread of the engine's scores before scores of the fast engine were added
	failed        bool    // the question has no vector, so only keywords are searched
	replies, asks bool    // some candidate is an assistant's message; some only asks a question
	talk          float64 // see Answer.Talk
	open, final   int     // number of candidates that lack a dense score, and of the best hits that are final nevertheless
	most          float32 // the highest dense score that these may have
	waits         bool    // candidates that only keywords find lack their dense scores until settle
	unlisted      float32 // the highest keyword score of a chunk that is not in the first part of the keyword list; 0: the list is whole

	beside   *sync.WaitGroup // searches that run beside others; nil: none
	topical  []backend.Hit   // the best sessions for the question's words, best first; see bestSessions
	sought   bool            // topical and unsought are set, or will be when beside ends
	unsought error           // the error of the search for topical

	speakers  []string         // indexed by Beside.Speaker
	speakerAt map[string]int32 // name from Neighbours -> index in speakers

	scratch
	saw backend.Survey
	out Answer

	stages []observe.Stage
	since  time.Time // the start of the current stage
}

// scratch holds the buffers of a search, which the next search uses again.
type scratch struct {
	rows    []backend.Surveyed // chunks; Prev and Next are indexes in rows, counted from 1
	cand    []cand             // scores of rows, with the same indexes
	column  []int64            // the chunks of rows, as far as they are in index or below rising
	index   numtable.Table     // index in rows, by chunk
	rising  int                // the first rising rows are not in index, since they are few and their chunks ascend
	order   []place            // used by best
	sorted  []place
	values  []float64 // score of each row; set by upper
	buckets []uint8
	kept    []int32
	found   []backend.Hit
	dense   []backend.Hit      // the last hits of the vector search in Lane
	terms   []backend.TermInfo // terms of the question

	chunks   []int64
	grams    []language.Gram // grams of the question
	keys     []string        // keys of grams
	places   []int32
	around   []backend.Neighbours
	sessions []session
	// sessionNums has the numbers of sessions, at the same indexes.
	sessionNums numbers
	hits        []Scored
	scored      *local.Scorer // for late interaction
}

var works = sync.Pool{New: func() any { return new(work) }}

// maxScratch bounds the candidates of a work that returns to the pool.
const maxScratch = 1 << 14

func (q *work) release() {
	s := q.scratch
	if cap(s.cand) > maxScratch {
		return
	}
	clear(s.around)
	clear(s.terms)
	clear(s.grams)
	clear(s.keys)
	s.index.Clear()
	s.sessionNums.empty()
	s.scored.Forget()
	s.terms, s.grams, s.keys = s.terms[:0], s.grams[:0], s.keys[:0]
	s.rows, s.cand, s.column, s.rising, s.order, s.around, s.sessions, s.hits = s.rows[:0], s.cand[:0], s.column[:0], 0, s.order[:0], s.around[:0], s.sessions[:0], s.hits[:0]
	*q = work{scratch: s}
	works.Put(q)
}

// cand holds the scores of a row, which is a candidate or a neighbour of one. It has no pointers, so
// the garbage collector need not scan it.
type cand struct {
	Score float64
	s0    float64 // fused score of the searches
	own   float64 // score of the memory without its context; set by context
	// Parts of Score; see Parts.
	Context, Speaker, Time, Entity, Graph, Bridge, Expansion, Late float64

	session int32 // index in work.sessions, counted from 1; 0: none
	in      bool  // the row is a candidate
	known   bool  // the neighbours of the row are known
	fast    bool  // the dense score is from Engine.Fast, converted to the scale of Engine
	raw     float32
	reply   bool // the speaker is an assistant
	open    bool // the dense score is missing; see settle
}

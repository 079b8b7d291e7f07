package rank

import (
	"context"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/observe"
	"github.com/contextmem/contextmem/rerank/local"
)

// work is one question on its way. It is pooled with its scratch.
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
	qvec  []float32

	perKeyword, perDense float64 // of a score to what it counts
	// Of a calibrated embedder: where its scores begin to count, what the dense part weighs, and how much of the context counts.
	denseFrom, denseShare, near float64

	whole         bool    // rows are the partition, as a survey saw it
	vague         bool    // some of rows may not be described
	settled       *Spread // of the engine's scores, before those of the fast one came in
	failed        bool    // the question has no vector: keywords alone are searched
	replies, asks bool    // some candidate is the machine side of a chat, only asks
	talk          float64 // how much the exchanges of a chat count, see Answer.Talk

	speakers  []string         // by Beside.Speaker
	sessionAt map[int64]int32  // places of sessions, counted from 1; nil: none
	speakerAt map[string]int32 // where Neighbours named them

	scratch
	saw backend.Survey
	out Answer

	stages []observe.Stage
	since  time.Time // the start of the current stage
}

// scratch is what a search needs and leaves clean for the next.
type scratch struct {
	rows    []backend.Surveyed // chunks; Prev and Next are places in it, counted from 1
	cand    []cand             // their scores, by the same places
	index   map[int64]int32    // places in rows, by chunk
	indexed int                // rows that index knows, or does without: the first
	rising  int                // rows that index does without, as few with rising chunks: the first
	order   []place            // see best
	sorted  []place
	values  []float64 // by candidate; see upper
	buckets []uint8
	kept    []int32
	found   []backend.Hit
	terms   []backend.TermInfo // of the question

	chunks   []int64
	grams    []language.Gram // of the question
	keys     []string        // of grams
	places   []int32
	around   []backend.Neighbours
	sessions []session
	hits     []Scored
	scored   *local.Scorer // of late interaction
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
	clear(s.terms)
	clear(s.grams)
	clear(s.keys)
	clear(s.index)
	s.scored.Forget()
	s.terms, s.grams, s.keys = s.terms[:0], s.grams[:0], s.keys[:0]
	s.rows, s.cand, s.indexed, s.rising, s.order, s.around, s.sessions, s.hits = s.rows[:0], s.cand[:0], 0, 0, s.order[:0], s.around[:0], s.sessions[:0], s.hits[:0]
	*q = work{scratch: s}
	works.Put(q)
}

// cand is the score of a chunk that may be among the best, or stands beside one that may. It
// holds no pointers, so that many cost the collector nothing.
type cand struct {
	Score float64
	s0    float64 // what the searches say
	own   float64 // what the memory alone says, once its context is added
	// Parts of Score; see Parts.
	Context, Speaker, Time, Entity, Graph, Bridge, Expansion, Late float64

	session int32 // place in work.sessions, counted from 1; 0: none
	in      bool  // it may be among the best
	known   bool  // its row says what is beside it
	fast    bool  // its dense score is that of Engine.Fast, put into the scale of Engine
	raw     float32
	reply   bool // the machine side of a chat said it
}

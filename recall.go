package contextmem

import (
	"context"
	"encoding/json"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/rank"
	"github.com/contextmem/contextmem/internal/recall"
	"github.com/contextmem/contextmem/internal/search"
)

// Mode is how much work recall does.
type Mode string

// Modes of recall.
const (
	ModeFast     Mode = "fast"     // one pass; the default
	ModeThinking Mode = "thinking" // sub-queries, reranking, graph walk, forceful relations
	ModeAuto     Mode = "auto"     // decided by the query, reported in Result.Mode
)

var recallModes = map[Mode]recall.Mode{"": recall.Fast, ModeFast: recall.Fast, ModeThinking: recall.Thinking, ModeAuto: recall.Auto}

// Superseded says how recall treats superseded memories.
type Superseded string

// Treatments of superseded memories.
const (
	// SupersededDemote puts the current memory at the place of the superseded one, and the superseded one behind it; the default. Recall
	// finds the current memory this way even if it shares no word with the question.
	SupersededDemote Superseded = "demote"
	SupersededMark   Superseded = "mark" // superseded memories keep their places and have Chunk.SupersededBy
	// SupersededDrop is as SupersededDemote, but leaves out superseded memories. One that is superseded only in part stays (Supersession.Partly).
	SupersededDrop Superseded = "drop"
)

var supersededModes = map[Superseded]recall.Superseded{"": recall.Demote, SupersededDemote: recall.Demote, SupersededMark: recall.Mark, SupersededDrop: recall.Drop}

// Alpha weighs semantic against keyword search. The zero value is the default of
// 0.8; see FixedAlpha and AutoAlpha.
type Alpha struct {
	set   bool
	auto  bool
	value float64
}

// FixedAlpha is a weight in [0,1]: 0 is keywords alone, 1 is semantics alone, exactly.
func FixedAlpha(v float64) Alpha { return Alpha{set: true, value: v} }

// AutoAlpha lets recall choose the weight by the query and its candidates. Result.Alpha reports the choice.
func AutoAlpha() Alpha { return Alpha{set: true, auto: true} }

// MarshalJSON implements json.Marshaler: a number, "auto", or null for the default.
func (a Alpha) MarshalJSON() ([]byte, error) {
	switch {
	case !a.set:
		return []byte("null"), nil
	case a.auto:
		return []byte(`"auto"`), nil
	}
	return json.Marshal(a.value)
}

// Dated facts beside a result are declared in package facts.
type (
	// Temporal asks for dated facts beside the chunks: facts.Temporal.
	Temporal = facts.Temporal
	// TemporalFact is a dated statement: facts.TemporalFact.
	TemporalFact = facts.TemporalFact
	// TemporalDuration is a span between two dated facts: facts.TemporalDuration.
	TemporalDuration = facts.TemporalDuration
	// TemporalResult is the temporal side of a recall: facts.TemporalResult.
	TemporalResult = facts.TemporalResult
)

// Recall asks for the chunks most relevant to a query.
type Recall struct {
	Query                 string             // required, at most 8000 characters
	Class                 Class              // default ClassKnowledge
	MaxResults            int                // chunks to return, 1 to 1001; default 10
	Mode                  Mode               // default ModeFast
	Alpha                 Alpha              // default 0.8
	RecencyBias           float64            // preference for newer content, [0,1]; the factor is 1 - r (1 - 2^(-age / 30 days)); default 0
	GraphContext          bool               // fill Result.Graph
	Apps                  bool               // also run the search for app items; knowledge only
	ForcefulRelations     bool               // the caller expects forcefully related sources: a fast recall, which does not use them, adds a warning
	SkipForcefulRelations bool               // leave forcefully related sources out in thinking mode
	Hint                  string             // extra guidance, put in front of the query ("additional_context" on the wire)
	Filters               Filters            // only sources whose metadata matches
	IDs                   []string           // only these source ids; nil: all
	Titles                []string           // only sources with one of these titles, without case
	MinRelevance          float64            // chunks of a lower Relevance are left out, [0,1]; default 0
	PerSource             int                // most hits of one source in the result, 1 to 1001; default 1 for memories, no bound for knowledge
	RelatedChunks         int                // neighbours in its source returned with each hit, 0 to 50 on each side
	Subs                  map[string]float64 // search these sub-tenants with these relative weights instead of the handle's own, 1 to 100
	Principals            []string           // only sources that one of these may see; nil: all
	Superseded            Superseded         // default SupersededDemote
	AsOf                  time.Time          // what was true at this time, even if superseded since. Memories told later may speak of it: they come last, with Chunk.ToldLater. Zero: as believed at KnownAt
	KnownAt               time.Time          // only what had been told by this time, for chunks, facts and paths; zero: now
	Temporal              *Temporal          // nil: no temporal facts in the result
	Rejected              int                // how many of the best candidates outside the result Result.Rejected reports, 0 to 200
	Missing               string             // id of an item for which Result.Rejected reports why it is not in the result
	RequestID             string             // a new UUID for Result.RequestID; default a random one
}

// Recall returns the chunks most relevant to a query. See type [Recall] for the parameters.
func (s scope) Recall(ctx context.Context, q Recall) (*Result, error) {
	const op = "recall"
	mode, ok := recallModes[q.Mode]
	if !ok {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Search, "Mode", "must be fast, thinking or auto")
	}
	superseded, ok := supersededModes[q.Superseded]
	if !ok {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Search, "Superseded", "must be mark, demote or drop")
	}
	if !q.Alpha.set {
		q.Alpha = FixedAlpha(rank.DefaultAlpha)
	}
	m := resultMemoryFor(ctx)
	found, err := s.svc().search.Recall(ctx, op, s.place(), search.Query{RequestID: q.RequestID, Class: q.Class, Subs: q.Subs, Filters: q.Filters, IDs: q.IDs, Titles: q.Titles, Principals: q.Principals,
		Request: recall.Request{Query: q.Query, Hint: q.Hint, MaxResults: q.MaxResults, Mode: mode, Alpha: rank.Alpha{Auto: q.Alpha.auto, Value: q.Alpha.value}, RecencyBias: q.RecencyBias,
			Graph: q.GraphContext, Apps: q.Apps, AskedForceful: q.ForcefulRelations, SkipForceful: q.SkipForcefulRelations, MinRelevance: q.MinRelevance, PerSource: q.PerSource,
			RelatedChunks: q.RelatedChunks, Superseded: superseded, AsOf: q.AsOf, KnownAt: q.KnownAt, Temporal: q.Temporal, Asked: recall.Ask(q.Rejected, q.Missing)}}, m.search)
	return m.shapeResult(ctx, op, found, err)
}

func (s scope) place() search.Place { return search.Place{Org: s.org, Tenant: s.tenant, Sub: s.sub} }

// Operator joins the words of a boolean query.
type Operator string

// Operators of a boolean query.
const (
	OperatorOr     Operator = "or"
	OperatorAnd    Operator = "and"
	OperatorPhrase Operator = "phrase"
)

var operators = map[Operator]backend.Operator{"": backend.Or, OperatorOr: backend.Or, OperatorAnd: backend.And, OperatorPhrase: backend.Phrase}

// BooleanRecallRequest asks for exact words.
type BooleanRecallRequest struct {
	Query      string   // required, at most 8000 characters
	Class      Class    // default as of Recall
	Operator   Operator // default OperatorOr
	MaxResults int      // 1 to 1000; default 10
	Filters    Filters  // this and what follows: as of Recall
	IDs        []string
	Titles     []string
	Subs       map[string]float64
	Principals []string
	RequestID  string // a new UUID for Result.RequestID; default a random one
}

// BooleanRecall is full-text search with AND, OR or PHRASE. Scores are BM25.
func (s scope) BooleanRecall(ctx context.Context, q BooleanRecallRequest) (*Result, error) {
	const op = "boolean recall"
	words, ok := operators[q.Operator]
	if !ok {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Search, "Operator", "must be or, and or phrase")
	}
	m := resultMemoryFor(ctx)
	found, err := s.svc().search.Boolean(ctx, op, s.place(), search.Query{RequestID: q.RequestID, Class: q.Class, Subs: q.Subs, Filters: q.Filters, IDs: q.IDs, Titles: q.Titles, Principals: q.Principals,
		Request: recall.Request{Query: q.Query, MaxResults: q.MaxResults}}, words, m.search)
	return m.shapeResult(ctx, op, found, err)
}

package backend

import (
	"context"
	"time"
)

// Index follows the change feed. Apply is called with rising sequence numbers,
// by one goroutine at a time; searches go on meanwhile. Applying a change again
// changes nothing. Flush is called by one goroutine at a time, which may be beside one
// that calls Apply: recalls wait for Apply, so it should wait for a Flush no longer than
// moments.
type Index interface {
	// Applied is the last sequence number whose effect survives a restart or is
	// in memory now. It does no I/O.
	Applied() uint64
	// Apply takes changes in, in the order of their sequence numbers.
	Apply(ctx context.Context, changes []Change) error
	// Flush makes all changes applied before the call survive a restart, if the index is
	// persistent.
	Flush(ctx context.Context) error
	// Reset forgets everything; Applied is 0 afterwards.
	Reset(ctx context.Context) error
}

// Hit is a chunk found.
type Hit struct {
	Chunk  int64
	Source int64
	Score  float32
}

// VectorQuery is a query for the chunks nearest to a vector by inner product, best
// first, then smaller Chunk. A lane of a partition may have vectors of two lengths; only
// those of the query's length are searched. If it has only vectors of another length, the
// search returns an error with both lengths.
type VectorQuery struct {
	Part   Partition
	Lane   Lane
	Vector []float32
	K      int
	Filter Filter
	// Recall is the share of the K nearest that an approximate index is to find on average, in (0, 1]; 1 is exact, up to the
	// rounding of float32 scores. 0: the index's default. An index that is always exact ignores it.
	Recall float32
	Answer Answer
}

// Answer holds options for the hits of a search. The zero value is the default; an index
// may ignore other values.
type Answer struct {
	// AnyOrder allows the same hits in any order, for a caller that ranks them itself.
	AnyOrder bool
	// Into is memory that the hits may be written to, from its start.
	Into []Hit
}

// Vectors is the dense index.
type Vectors interface {
	Index
	// SearchVectors returns at most K hits. Scores are inner products of float32
	// vectors. An unknown partition has no hits.
	SearchVectors(ctx context.Context, q VectorQuery) ([]Hit, error)
}

// Operator joins the terms of a keyword query.
type Operator uint8

// Operators.
const (
	Or     Operator = 0 // any of the words that say something; stop words are never looked for
	And    Operator = 1 // every word, stop words included, and every phrase in double quotes
	Phrase Operator = 2 // the words in a row, stop words included
)

// WeightedTerm is an analysed term with a weight.
type WeightedTerm struct {
	Term   string
	Weight float32
}

// KeywordQuery asks for the best chunks by BM25, best first, then smaller Chunk.
type KeywordQuery struct {
	Part     Partition
	Text     string         // analysed by the index; question words do not count under Or, but "I", "me" and "my" do in memories
	Terms    []WeightedTerm // used instead of Text when not nil (Or only)
	Operator Operator
	K        int
	Filter   Filter
	Answer   Answer
}

// TermInfo is a term of a text as the index knows it.
type TermInfo struct {
	Term string
	DF   int // chunks of the partition with it
	IDF  float32
}

// Keywords is the keyword index. Title terms count three times, Heading and Extra
// keywords once.
type Keywords interface {
	Index
	// SearchKeywords returns the best chunks by BM25.
	SearchKeywords(ctx context.Context, q KeywordQuery) ([]Hit, error)
	// SearchSessions scores whole sessions (all chunks that share a session in
	// the sense of Graph.Neighbours) as one document each. Hit.Chunk is any chunk of
	// the session, Hit.Source the session number that Neighbours shows.
	SearchSessions(ctx context.Context, q KeywordQuery) ([]Hit, error)
	// Terms analyses a text as a query and looks its terms up; docs is the number
	// of chunks in the partition, avgTerms their mean number of terms.
	Terms(ctx context.Context, part Partition, text string) (terms []TermInfo, docs int, avgTerms float32, err error)
}

// Neighbours describes a chunk and the chunks before and after it. The order is by
// (time, source, ordinal) in a session; for chunks without a session it is the order in
// the source.
type Neighbours struct {
	Chunk      int64
	Source     int64
	Ordinal    int
	Session    int64 // 0: none. Chunks of memories with one explicit session, or with known times in a run without a gap of SessionGap
	Time       time.Time
	Prev, Next [2]int64 // nearest first; 0: none
	Speaker    string
	Question   bool
	HasTime    bool
	Asks       bool
	First      bool
	Second     bool
}

// SessionGap ends a session: memories of a sub-tenant, in order of time, whose
// times lie further apart belong to different sessions.
const SessionGap = 30 * time.Minute

// EntityMatch is an entity named in a text.
type EntityMatch struct {
	Entity int64
	Key    string
	DF     int // chunks that mention it
}

// EntityRef is an edge between a chunk and an entity.
type EntityRef struct {
	Chunk, Entity int64
	Weight        float32
	DF            int
}

// GraphInfo describes a partition's graph.
type GraphInfo struct {
	Chunks   int
	Entities int
	Shared   int // entities mentioned by two chunks or more
	Links    int // pairs of a chunk and an entity with two mentions or more
}

// Graph is the index of what connects chunks: order, sessions, entities.
type Graph interface {
	Index
	// Neighbours describes chunks, in the order asked; a zero Chunk where unknown.
	Neighbours(ctx context.Context, part Partition, chunks []int64) ([]Neighbours, error)
	// SessionChunks lists the chunks of a session in order, at most limit.
	SessionChunks(ctx context.Context, part Partition, session int64, limit int) ([]int64, error)
	// MatchEntities returns the entities that have one of keys.
	MatchEntities(ctx context.Context, part Partition, keys []string) ([]EntityMatch, error)
	// Mentions lists the entities of chunks.
	Mentions(ctx context.Context, part Partition, chunks []int64) ([]EntityRef, error)
	// MentionedIn lists the chunks of entities, at most perEntity each, smallest Chunk first.
	MentionedIn(ctx context.Context, part Partition, entities []int64, perEntity int) ([]EntityRef, error)
	// Info describes the partition.
	Info(ctx context.Context, part Partition) (GraphInfo, error)
}

package backend

import (
	"context"
	"time"
)

// Index follows the change feed. One goroutine at a time calls Apply, with ascending
// sequence numbers. Searches can run meanwhile. Applying a change again has no effect. One
// goroutine at a time calls Flush, possibly while another one calls Apply. Recalls wait for
// Apply, so Apply should wait only moments for a running Flush.
type Index interface {
	// Applied returns the last sequence number that the index has applied, on disk or only
	// in memory. It does no I/O.
	Applied() uint64
	// Apply applies changes, which are in the order of their sequence numbers.
	Apply(ctx context.Context, changes []Change) error
	// Flush makes all changes applied before the call survive a restart, if the index is
	// persistent.
	Flush(ctx context.Context) error
	// Reset deletes all data of the index. Applied is 0 afterwards.
	Reset(ctx context.Context) error
}

// Hit is a chunk that a search found.
type Hit struct {
	Chunk  int64
	Source int64
	Score  float32
}

// VectorQuery asks for the chunks nearest to a vector by inner product, best first, then
// smaller Chunk. A lane of a partition may have vectors of two lengths. The search uses
// those of the query's length. If the lane has only vectors of another length, the search
// returns an error with both lengths.
type VectorQuery struct {
	Part   Partition
	Lane   Lane
	Vector []float32
	K      int
	Filter Filter
	// Recall is the share of the K nearest chunks that an approximate index should find on average, in (0, 1]. 1 is exact, up to the
	// rounding of float32 scores. 0: the index's default. An index that is always exact ignores it.
	Recall float32
	Answer Answer
}

// Answer has options for how a search returns hits. The zero value is the default. An
// index may ignore other values.
type Answer struct {
	// AnyOrder allows the same hits in any order, for a caller that ranks them itself.
	AnyOrder bool
	// Into is memory to which the index may write the hits, from its start.
	Into []Hit
	// Unlisted, if not nil, is set by SearchKeywords to an upper bound of the scores of all chunks that it leaves out, if one may have a higher score than
	// the last hit: an index that lets others select may miss such a chunk.
	Unlisted *float32
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
	Or     Operator = 0 // any of the words other than stop words
	And    Operator = 1 // every word, stop words included, and every phrase in double quotes
	Phrase Operator = 2 // the words one directly after the other, stop words included
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
	Terms    []WeightedTerm // used instead of Text if not nil; only with Or
	Operator Operator
	K        int
	Filter   Filter
	Answer   Answer
}

// TermInfo has the statistics of a term in a partition.
type TermInfo struct {
	Term string
	DF   int // number of chunks with the term
	IDF  float32
}

// Keywords is the keyword index. Title terms count three times, Heading and Extra
// keywords once.
type Keywords interface {
	Index
	// SearchKeywords returns the best chunks by BM25.
	SearchKeywords(ctx context.Context, q KeywordQuery) ([]Hit, error)
	// SearchSessions scores each session as one document. A session is all chunks with
	// the same Neighbours.Session. Hit.Chunk is any chunk of the session, and Hit.Source
	// is the session number.
	SearchSessions(ctx context.Context, q KeywordQuery) ([]Hit, error)
	// Terms analyses a text as a query and returns its terms with their statistics. docs
	// is the number of chunks in the partition, avgTerms their mean number of terms.
	Terms(ctx context.Context, part Partition, text string) (terms []TermInfo, docs int, avgTerms float32, err error)
}

// Neighbours describes a chunk and the chunks before and after it. In a session the order
// is by (time, source, ordinal). For chunks without a session it is the order in the source.
type Neighbours struct {
	Chunk      int64
	Source     int64
	Ordinal    int
	Session    int64 // 0: none. Memories share one if they have the same explicit session, or none and known times without a gap above SessionGap
	Time       time.Time
	Prev, Next [2]int64 // chunks before and after, nearest first; 0: none
	Speaker    string
	Question   bool
	HasTime    bool
	Asks       bool
	First      bool
	Second     bool
}

// SessionGap is the longest gap in a session. Successive memories of a sub-tenant whose
// times are further apart are in different sessions.
const SessionGap = 30 * time.Minute

// EntityMatch is an entity named in a text.
type EntityMatch struct {
	Entity int64
	Key    string
	DF     int // number of chunks that mention it
}

// EntityRef is an edge between a chunk and an entity.
type EntityRef struct {
	Chunk, Entity int64
	Weight        float32
	DF            int // number of chunks that mention the entity
}

// GraphInfo describes a partition's graph.
type GraphInfo struct {
	Chunks   int
	Entities int
	Shared   int // entities mentioned by two chunks or more
	Links    int // pairs of a chunk and a shared entity that it mentions
}

// Graph is the index of the connections between chunks: their order, sessions and entities.
type Graph interface {
	Index
	// Neighbours describes chunks, in the order of chunks. An unknown chunk has the field Chunk 0.
	Neighbours(ctx context.Context, part Partition, chunks []int64) ([]Neighbours, error)
	// SessionChunks lists the chunks of a session in order, at most limit.
	SessionChunks(ctx context.Context, part Partition, session int64, limit int) ([]int64, error)
	// MatchEntities returns the entities that have one of keys.
	MatchEntities(ctx context.Context, part Partition, keys []string) ([]EntityMatch, error)
	// Mentions lists the entities that chunks mention.
	Mentions(ctx context.Context, part Partition, chunks []int64) ([]EntityRef, error)
	// MentionedIn lists the chunks that mention entities, at most perEntity each, smallest Chunk first.
	MentionedIn(ctx context.Context, part Partition, entities []int64, perEntity int) ([]EntityRef, error)
	// Info describes the partition.
	Info(ctx context.Context, part Partition) (GraphInfo, error)
}

package contextmem

import (
	"context"
	"time"
)

// Class selects a store of a tenant.
type Class uint8

// Classes. The zero value is ClassKnowledge where one class is meant.
const (
	ClassKnowledge Class = 1 // files and app content
	ClassMemory    Class = 2 // user facts and conversations
	ClassAll       Class = 9 // both, merged by score; recall only
)

// Mode is how much work recall does.
type Mode string

// Modes.
const (
	ModeFast     Mode = "fast"     // one pass; the default
	ModeThinking Mode = "thinking" // sub-queries, reranking, graph walk, forceful relations
	ModeAuto     Mode = "auto"     // decided by the query, reported in Result.Mode
)

// Alpha weighs semantic against keyword search. The zero value is the default of
// 0.8; see FixedAlpha and AutoAlpha.
type Alpha struct {
	set   bool
	auto  bool
	value float64
}

// FixedAlpha is a weight in [0,1]: 0 is keywords alone, 1 is semantics alone, exactly.
func FixedAlpha(v float64) Alpha { return Alpha{set: true, value: v} }

// AutoAlpha lets the query and its candidates decide; the choice is reported.
func AutoAlpha() Alpha { return Alpha{set: true, auto: true} }

// Filters limit recall by equality. All conditions hold together.
type Filters struct {
	// Metadata matches tenant-level fields declared with Match. A []any value matches
	// any of its values (VARCHAR fields). Other fields are ignored, and
	// reported in Result.Warnings.
	Metadata map[string]any
	// Additional matches document-level metadata; no declaration is needed.
	Additional map[string]any
	// Strict turns ignored fields into ErrInvalid.
	Strict bool
}

// Recall asks for the chunks most relevant to a query.
type Recall struct {
	Query         string             // required, at most 8000 characters
	Class         Class              // default ClassKnowledge
	MaxResults    int                // chunks to return, 1 to 1001; default 10
	Mode          Mode               // default ModeFast
	Alpha         Alpha              // default 0.8
	RecencyBias   float64            // preference for newer content, [0,1]; see the package's recall notes; default 0
	GraphContext  bool               // fill Result.Graph
	Apps          bool               // run the app-aware lane beside (knowledge)
	Relations     bool               // forcefully related sources were asked for by name: a fast recall warns that it does not use them
	SkipRelations bool               // leave forcefully related sources out in thinking mode
	Hint          string             // extra guidance, put in front of the query ("additional_context" on the wire)
	Filters       Filters            //
	IDs           []string           // only these source ids; nil: all
	Titles        []string           // only sources with one of these titles, without case
	RelatedChunks int                // neighbours in its source returned with each hit, 0 to 50 on each side
	Subs          map[string]float64 // search these sub-tenants with these relative weights instead of the handle's own, 1 to 100
	Principals    []string           // only sources that one of these may see; nil: all
	AsOf          time.Time          // facts as they held then, retired since or not; zero: what is believed at KnownAt
	KnownAt       time.Time          // by what was known then: without facts and sources that were learnt later; zero: now
	Temporal      *Temporal          // nil: no temporal facts in the result
	RequestID     string             // a new UUID for Result.RequestID; default a random one
}

// Temporal asks for dated facts beside the chunks; it never changes their ranking.
type Temporal struct {
	Now    time.Time // anchors "today" and durations; zero: the clock
	Mode   string    // current, as_of, range, upcoming; anything else: from the query
	Start  time.Time // of the window
	End    time.Time // of the window, or the moment for as_of
	Events []string  // phrases whose facts are wanted
	// DurationToNow asks for the span from a fact until Now, whatever the query's words are.
	DurationToNow bool
}

// Result is what recall found, best first.
type Result struct {
	RequestID  string // names the query for feedback
	Chunks     []Chunk
	Sources    []SourceInfo     // the chunks' sources, each once, in order of their best chunk
	Graph      *GraphContext    // nil unless asked for
	Additional map[string]Chunk // chunks of forcefully related sources by chunk id
	Mode       Mode             // the mode that ran
	Alpha      float64          // the weight of semantic search that was applied, as the caller would name it
	Warnings   []Warning
	Temporal   *TemporalResult

	memory *resultMemory // of Chunks and Sources, for Release
}

// Warning says that recall did less or other than asked.
type Warning struct {
	Code    string // stable, lower_snake: ignored_filter, ignored_flag, degraded, resolved, hint
	Field   string
	Message string
}

// Chunk is a piece of a source.
type Chunk struct {
	ID              string // chunk_uuid
	SourceID        string
	Sub             string
	Class           Class
	Text            string
	Title           string // of the source
	Kind            string // of the source
	Heading         string // headings above the chunk
	CreatedAt       time.Time
	UpdatedAt       time.Time
	Time            time.Time // the content's own time; zero unknown
	Layout          string    // JSON: {"offsets":{"document_level_start_index":n,...},"page":n}
	Score           float64   // higher is more relevant; comparable inside one result
	Metadata        map[string]any
	Additional      map[string]any
	ExtraContextIDs []string // keys of Result.Additional
	Explain         *Explain // nil for chunks that were added as context
	Related         bool     // added by RelatedChunks
	Inferred        bool     // an inferred statement, not the original
	AlsoFrom        []string // of an inferred statement: ids of other sources of its sub-tenant from which the same follows
}

// Explain holds the parts of a score. Parts that did not apply are 0; Score is
// their sum before recency, boosts and weights of sub-tenants are applied.
type Explain struct {
	Semantic   float64 // weighted dense part, in [0,1]
	Keyword    float64 // weighted keyword part, in [0,1]
	Context    float64 // neighbours, reply and session
	Speaker    float64
	Time       float64
	Entity     float64 // entities shared with the query
	Graph      float64 // walk over the entity graph
	Bridge     float64 // second hop
	Expansion  float64 // feedback terms
	Late       float64 // late interaction
	Rerank     float64
	App        float64
	Recency    float64 // factor-like: what recency added or took
	Feedback   float64
	RawDense   float64 // inner product
	RawKeyword float64 // BM25
}

// SourceInfo describes a source.
type SourceInfo struct {
	ID          string
	Sub         string
	Class       Class
	Title       string
	Kind        string
	Description string
	Note        string
	URL         string
	Timestamp   time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ExpiresAt   time.Time
	Filename    string
	ContentType string
	SizeBytes   int64
	Status      Status
	Metadata    map[string]any
	Additional  map[string]any
	Relations   *Relations
	App         *AppInfo
	Infer       bool
	Content     string // only where asked for
	Inferred    string // inferred statements, one a line; only where asked for
	Partial     string // why the text may be incomplete
}

// AppInfo is what is special about a source from an application.
type AppInfo struct {
	Kind        AppKind
	Provider    string
	ExternalID  string
	ParentID    string // external id of the parent
	ThreadID    string
	Attachments []map[string]any
}

// Recall searches. See [Recall] for what can be asked.
func (s Sub) Recall(ctx context.Context, q Recall) (*Result, error) {
	return s.svc.recall(ctx, s, q)
}

// Operator joins the words of a boolean query.
type Operator string

// Operators.
const (
	OperatorOr     Operator = "or"
	OperatorAnd    Operator = "and"
	OperatorPhrase Operator = "phrase"
)

// TextQuery asks for exact words.
type TextQuery struct {
	Query      string
	Class      Class    // default ClassKnowledge
	Operator   Operator // default OperatorOr
	MaxResults int      // 1 to 1000; default 10
	Filters    Filters
	IDs        []string
	Titles     []string
	Subs       map[string]float64
	Principals []string
	RequestID  string // a new UUID for Result.RequestID; default a random one
}

// BooleanRecall is full-text search with AND, OR or PHRASE. Scores are BM25.
func (s Sub) BooleanRecall(ctx context.Context, q TextQuery) (*Result, error) {
	return s.svc.booleanRecall(ctx, s, q)
}

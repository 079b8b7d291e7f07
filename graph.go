package contextmem

import "time"

// GraphContext is the knowledge graph around a result.
type GraphContext struct {
	QueryPaths     []Path              // chains anchored at the query
	ChunkRelations []Path              // relations anchored at returned chunks
	ChunkGroups    map[string][]string // chunk id -> ids of the groups in ChunkRelations
	Synthesis      string              // thinking mode: the paths as text
}

// Path is a chain of relations.
type Path struct {
	Triplets []Triplet
	Score    float64
	Context  string // the evidence sentences, joined
	GroupID  string
	ChunkIDs []string // evidence
}

// Triplet is one relation between two entities.
type Triplet struct {
	Source   Entity
	Relation Evidence
	Target   Entity
}

// Entity is a node of the graph.
type Entity struct {
	ID         string
	Name       string
	Type       string // PERSON, ORGANIZATION, LOCATION, ...
	Namespace  string // default "default"
	Identifier string
	Provider   string
}

// Evidence proves a relation.
type Evidence struct {
	ID         string
	Canonical  string // canonical predicate
	Raw        string
	Context    string // the sentence
	Confidence float64
	Temporal   string
	Timestamp  time.Time
	ChunkID    string
	SourceID   string // entity id
	TargetID   string // entity id
	Origin     string // "byog" for supplied graphs
	ValidFrom  time.Time
	ValidTo    time.Time
	Superseded bool // a newer fact retired it
}

// RelationGroup is the evidence for one pair of entities.
type RelationGroup struct {
	Source, Target Entity
	Relations      []Evidence
	ChunkID        string
}

// RelationsRequest asks for relations of a source or of a whole sub-tenant.
type RelationsRequest struct {
	Class      Class  // default ClassKnowledge
	SourceID   string // empty: the whole sub-tenant
	Limit      int    // groups, 1 to 10000; default 5000
	Cursor     int64  // from the previous page; 0: the start
	Principals []string
}

// RelationsPage is a page of relations.
type RelationsPage struct {
	Groups    []RelationGroup
	Truncated bool
	Next      int64 // cursor of the next page; 0 none
}

// SubgraphRequest asks for the sources linked with one, by forceful relations,
// threads, parents and typed links, in both directions.
type SubgraphRequest struct {
	Class      Class
	SourceID   string
	Depth      int // 1 to 10; default 5
	MaxSources int // 1 to 1000; default 200
	Principals []string
}

// SubgraphMember is a source of a subgraph.
type SubgraphMember struct {
	Source   SourceInfo
	Depth    int    // 0 is the seed
	Via      string // id of the member it was reached from
	Relation string // same_thread, parent, child, relates_to, ...
}

// SubgraphEdge is a link between two members.
type SubgraphEdge struct {
	Source, Target string // source ids
	Predicate      string
}

// Subgraph is what [Sub.Subgraph] returns; an unknown seed has no members.
type Subgraph struct {
	Seed            string
	Members         []SubgraphMember
	Edges           []SubgraphEdge
	Truncated       bool
	MaxDepthReached int
}

// TemporalFact is a dated statement.
type TemporalFact struct {
	Subject, Relation, Object string
	Type                      string // fact kind
	Status                    string // current, past, upcoming, superseded
	Start, End                time.Time
	Precision                 string // day, month, year
	Phrase                    string
	ChunkID, SourceID         string
	RelationID                string
}

// TemporalDuration is a span between two dated facts, or one and now; nil stands for now.
type TemporalDuration struct {
	Days             int           // whole days, rounded
	From, To         *TemporalFact // at FromDate and ToDate
	FromDate, ToDate time.Time     // FromDate is never after ToDate
	Approximate      bool          // an end is known to the month or year only
	Confidence       float64       // share of a fact's words that the question has, 0 to 1
}

// TemporalResult is the temporal side of a recall.
type TemporalResult struct {
	Facts     []TemporalFact
	Duration  *TemporalDuration
	Mode      string // current, as_of, range, upcoming, none
	Applied   bool
	Truncated bool
	Degraded  bool // the lookup failed, so absence proves nothing
}

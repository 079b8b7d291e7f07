package facts

import (
	"time"

	"github.com/contextmem/contextmem/content"
)

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
	Score    float64 // higher is more relevant; comparable inside one result
	Context  string  // the evidence sentences, joined
	GroupID  string
	ChunkIDs []string // evidence
}

// Triplet is one relation between two entities.
type Triplet struct {
	Source   Entity
	Relation Evidence
	Target   Entity
}

// Evidence proves a relation.
type Evidence struct {
	ID         string
	Canonical  string    // canonical predicate
	Raw        string    // the predicate in the words of the source
	Context    string    // the sentence
	Confidence float64   // 0 to 1
	Temporal   string    // the words that date it
	Timestamp  time.Time // of the source
	ChunkID    string
	SourceID   string // entity id
	TargetID   string // entity id
	Origin     string // "byog" for supplied graphs
	ValidFrom  time.Time
	ValidTo    time.Time
	Superseded bool // a newer fact retired it
	ToldLater  bool // in a recall with AsOf: it was told after that time. Without a ValidFrom it may not have been true then.
}

// RelationGroup is the evidence for one pair of entities.
type RelationGroup struct {
	Source, Target Entity
	Relations      []Evidence
	ChunkID        string
}

// GraphRelationsRequest asks for relations of a source or of a whole sub-tenant.
type GraphRelationsRequest struct {
	Class      content.Class // default ClassKnowledge
	SourceID   string        // empty: the whole sub-tenant
	Limit      int           // groups, 1 to 10000; default 5000
	Cursor     int64         // from the previous page; 0: the start
	Principals []string      // only evidence that one of these may see; nil: all
}

// GraphRelationsPage is a page of relations.
type GraphRelationsPage struct {
	Groups    []RelationGroup
	Truncated bool
	Next      int64             // cursor of the next page; 0 none
	Warnings  []content.Warning // what the page lacks: rows that are damaged (code "damaged")
}

// SubgraphRequest asks for the sources linked with one, by forceful relations,
// threads, parents and typed links, in both directions.
type SubgraphRequest struct {
	Class      content.Class // default ClassKnowledge
	SourceID   string        // the seed
	Depth      int           // 1 to 10; default 5
	MaxSources int           // 1 to 1000; default 200
	Principals []string      // only sources that one of these may see; nil: all
}

// SubgraphMember is a source of a subgraph.
type SubgraphMember struct {
	Source   content.SourceInfo
	Depth    int    // 0 is the seed
	Via      string // id of the member it was reached from
	Relation string // same_thread, parent, child, relates_to, ...
}

// SubgraphEdge is a link between two members.
type SubgraphEdge struct {
	Source, Target string // source ids
	Predicate      string
}

// Subgraph is what Subgraph returns; an unknown seed has no members.
type Subgraph struct {
	Seed            string
	Members         []SubgraphMember
	Edges           []SubgraphEdge
	Truncated       bool              // MaxSources was reached
	MaxDepthReached int               // steps from the seed to the furthest member
	Warnings        []content.Warning // what the subgraph lacks: rows that are damaged (code "damaged")
}

// MergeEntitiesRequest folds one entity of a sub-tenant's graph into another.
type MergeEntitiesRequest struct {
	Class      content.Class // default ClassKnowledge; the graphs of knowledge and memories are apart
	From, Into string        // names in upper or lower case; earlier merges are followed. Required, at most 256 bytes each
	Reason     string        // kept with the record, at most 1024 bytes
}

// LookupRequest asks for entities by their names.
type LookupRequest struct {
	Class      content.Class // default content.ClassKnowledge
	Names      []string      // in any case, 1 to 1000
	Principals []string      // only entities in sources that one of these may see, with the names and types that these sources give them; empty: no access control
}

// MergesRequest asks for the records of merges.
type MergesRequest struct {
	Class content.Class // default content.ClassKnowledge
	// Principals limit the list to what sources that one of them may see show: merges by a caller of two names that they mention, and stated
	// merges that they state. From, Into and Reason are as these sources have them. Empty: no access control.
	Principals []string
	After      int64 // only with an ID above; 0: from the first
	Limit      int   // 1 to 1000; default 100
}

// MergePage is a list of merges, by ID.
type MergePage struct {
	Merges   []Merge
	Warnings []content.Warning // what the list lacks: rows that are damaged (code "damaged")
}

// Merge is the record of a merge.
type Merge struct {
	ID         int64
	Class      content.Class
	From, Into string // normal forms of the names
	Reason     string
	At         time.Time
	Undone     bool // undone by a caller, or because no source states it any more
	// Stated says that sources state the merge ("Robert Smith, also known as Bob"; in memories also a first name for the only
	// full name that has it). It lasts until the last such source is deleted, or until another source contradicts it. After a
	// caller has undone it, it is not made again.
	Stated bool
}

package backend

import (
	"context"
	"time"
)

// Feed is the half of a [Store] that indexes follow: every change of what searches
// see has a sequence number, rising over the life of the workspace.
type Feed interface {
	// LastSeq is the last sequence number of the change feed. It does no I/O.
	LastSeq() uint64
	// Changes returns changes after a sequence number, in ascending order, with about
	// limit rows of content at most. It leaves out damaged rows, vectors and mentions, so
	// that indexes have the rest. It returns [ErrFeedGone] if after is before the feed's
	// start and is not 0.
	Changes(ctx context.Context, after uint64, limit int) ([]Change, error)
	// CompactFeed drops the oldest tombstones (Drop, DropSub and DropVectors) up to seq, at most
	// limit of them, and returns how many it dropped. An index that has not applied
	// them must start again from zero.
	CompactFeed(ctx context.Context, seq uint64, limit int) (int, error)
}

// ChangeKind is the kind of a Change.
type ChangeKind uint8

// Kinds of change.
const (
	// Mark: nothing changed; the index only remembers the sequence number.
	Mark ChangeKind = 0
	// PutChunks: the chunks of a source version became visible. Rows are all rows
	// of the version: they replace those that an index has of it.
	PutChunks ChangeKind = 1
	// PutTags: the tags of a source version changed.
	PutTags ChangeKind = 2
	// PutGraph: mentions of a source version were stored (replacing any before).
	PutGraph ChangeKind = 3
	// Drop: a source version was removed with all its data.
	Drop ChangeKind = 4
	// DropSub: everything of a sub-tenant is gone; Part.Sub names it, all classes.
	DropSub ChangeKind = 5
	// PutVectors: the vectors of a source version in Lane, which replace those that an
	// index has there. Rows have only Chunk, Ordinal and Vector. An index ignores a
	// version that it does not know.
	PutVectors ChangeKind = 6
	// DropVectors: all vectors in Lane were removed, except those of class Raw.
	DropVectors ChangeKind = 7
)

// Row is a chunk as indexes index it.
type Row struct {
	Chunk   int64
	Ordinal int
	Key     string
	Text    string
	Heading string
	Vector  []float32 // nil: keywords alone
	Extra   []byte    // see RowExtra
}

// RowExtra is what Extra holds, as JSON: text that is indexed beside Text and
// facts about the chunk that recall asks of the Graph.
type RowExtra struct {
	Keywords []string `json:"k,omitempty"` // further text for the keyword index, weight 1 (dates as words, sparse fields)
	Speaker  string   `json:"s,omitempty"`
	Question bool     `json:"q,omitempty"` // the text ends with a question mark
	HasTime  bool     `json:"t,omitempty"` // the text names a date or a time
	Asks     bool     `json:"a,omitempty"` // at least half of the words stand in questions
	First    bool     `json:"f,omitempty"` // the text speaks in the first person
	Second   bool     `json:"y,omitempty"` // the text speaks to somebody
}

// MentionRef ties a chunk to an entity in a Change.
type MentionRef struct {
	Chunk  int64
	Entity int64
	Key    string
	Weight float32
}

// Change is one step of the feed. A version's Drop comes after its puts; puts of
// a version that is gone are no longer in the feed.
type Change struct {
	Seq      uint64
	Kind     ChangeKind
	Part     Partition
	Source   int64
	SourceID string
	Title    string
	Time     time.Time // the content's own time; zero: unknown
	Session  string
	Lane     Lane         // PutChunks: of the vectors of Rows; PutVectors, DropVectors
	Rows     []Row        // PutChunks, PutVectors
	Tags     []uint64     // PutChunks, PutTags, PutVectors
	Mentions []MentionRef // PutGraph
}

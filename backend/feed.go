package backend

import (
	"context"
	"time"
)

// Feed is the part of a [Store] that indexes follow. Every change of searchable data has a
// sequence number. Sequence numbers ascend over the life of the workspace.
type Feed interface {
	// LastSeq returns the last sequence number of the change feed. It does no I/O.
	LastSeq() uint64
	// Changes returns the changes after a sequence number, in ascending order. They have at
	// most about limit rows of content. Changes leaves out damaged rows, vectors and
	// mentions, so that indexes get all others. It returns [ErrFeedGone] if after is before
	// the feed's start and is not 0.
	Changes(ctx context.Context, after uint64, limit int) ([]Change, error)
	// CompactFeed drops the oldest tombstones (Drop, DropSub and DropVectors) up to seq, at
	// most limit of them, and returns how many it dropped. An index that has not applied
	// them has to be rebuilt from the start of the feed.
	CompactFeed(ctx context.Context, seq uint64, limit int) (int, error)
}

// ChangeKind is the kind of a Change.
type ChangeKind uint8

// Kinds of change.
const (
	// Mark: no data changed; the index only stores the sequence number.
	Mark ChangeKind = 0
	// PutChunks: the chunks of a source version became visible. Rows has all rows of
	// the version. They replace the rows of the version that an index has.
	PutChunks ChangeKind = 1
	// PutTags: the tags of a source version changed.
	PutTags ChangeKind = 2
	// PutGraph: the mentions of a source version were replaced.
	PutGraph ChangeKind = 3
	// Drop: a source version was removed with all its data.
	Drop ChangeKind = 4
	// DropSub: all data of the sub-tenant Part.Sub was removed, in all classes.
	DropSub ChangeKind = 5
	// PutVectors: the vectors of a source version in Lane were replaced. Rows have only
	// Chunk, Ordinal and Vector. An index ignores a version that it does not have.
	PutVectors ChangeKind = 6
	// DropVectors: all vectors in Lane were removed, except those of class Raw.
	DropVectors ChangeKind = 7
	// FoldEntity: the mentions of the entity From in Part are mentions of the entity Into. A feed does not have it: only the Placement of a
	// [FinishReporter] does, in place of the PutGraph changes of the versions that mention From. Only a [Folder] applies it.
	FoldEntity ChangeKind = 8
)

// Row is the data of a chunk that indexes use.
type Row struct {
	Chunk   int64
	Ordinal int
	Key     string
	Text    string
	Heading string
	Vector  []float32 // nil: only the keyword index has the row
	Extra   []byte    // JSON of a RowExtra
}

// RowExtra is the content of [Row].Extra, as JSON: additional text for the keyword index,
// and facts about the chunk that recall reads from the Graph.
type RowExtra struct {
	Keywords []string `json:"k,omitempty"` // further text for the keyword index, weight 1 (dates as words, sparse fields)
	Speaker  string   `json:"s,omitempty"`
	Question bool     `json:"q,omitempty"` // the text ends with a question mark
	HasTime  bool     `json:"t,omitempty"` // the text names a date or a time
	Asks     bool     `json:"a,omitempty"` // at least half of the words are in questions
	First    bool     `json:"f,omitempty"` // the text speaks in the first person
	Second   bool     `json:"y,omitempty"` // the text addresses somebody
}

// MentionRef is a mention of an entity by a chunk, in a Change.
type MentionRef struct {
	Chunk  int64
	Entity int64
	Key    string
	Weight float32
}

// Change is one entry of the feed. The Drop of a version comes after its puts. The feed no
// longer has the puts of a version that was removed.
type Change struct {
	Seq      uint64
	Kind     ChangeKind
	Part     Partition
	Source   int64
	SourceID string
	Title    string
	Time     time.Time // the content's own time; zero: unknown
	Session  string
	Lane     Lane         // PutChunks (lane of the vectors of Rows), PutVectors, DropVectors
	Rows     []Row        // PutChunks, PutVectors
	Tags     []uint64     // PutChunks, PutTags, PutVectors
	Mentions []MentionRef // PutGraph
	From     int64        // FoldEntity
	Into     int64        // FoldEntity
}

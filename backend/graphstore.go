package backend

import (
	"context"
	"time"
)

// GraphStore is the part of a [Store] with entities, relations and merges. Workers
// store them with [Work].Finish. Reads leave out damaged rows, like those of [Read].
type GraphStore interface {
	// Entities returns entities by Num, nil where gone. The rows of this and the
	// next two methods may be shared with other calls and must not be changed; the
	// slices are the caller's.
	Entities(ctx context.Context, nums []int64) ([]*Entity, error)
	// EntitiesByKey returns entities of a partition by key, following aliases, with nil
	// for missing ones.
	EntitiesByKey(ctx context.Context, part Partition, keys []string) ([]*Entity, error)
	// OwnEntities returns the entities of keys without following merges, with nil for
	// missing ones.
	OwnEntities(ctx context.Context, part Partition, keys []string) ([]*Entity, error)
	// ListEntities returns entities of a partition by key.
	ListEntities(ctx context.Context, q EntityQuery) ([]*Entity, error)
	// Mentioned returns the names and types that sources give keys, in the order of
	// MentionQuery.Keys, and for one key by Key and Source.
	Mentioned(ctx context.Context, q MentionQuery) ([]Mentioned, error)
	// MentionsOf returns the mentions of keys without following merges. For each key, in
	// the order of keys, it returns the mentions in the oldest source versions, at most
	// versions of them, by Chunk.
	MentionsOf(ctx context.Context, part Partition, keys []string, versions int) ([]KeyMention, error)
	// Stated returns what sources state of keys of a partition, by Source, From, Into and Likely.
	Stated(ctx context.Context, q StatedQuery) ([]Stated, error)
	// Relations returns relations by Num, rising.
	Relations(ctx context.Context, q RelationQuery) ([]*Relation, error)
	// MergeEntities folds from into to: an alias that also catches later
	// mentions. It is recorded and can be undone. [ErrNotFound] when either is absent.
	MergeEntities(ctx context.Context, part Partition, from, into, reason string, now time.Time) (int64, error)
	// UndoMerge takes a merge back.
	UndoMerge(ctx context.Context, num int64) error
	// Merges lists merges of a partition by Num, after a Num.
	Merges(ctx context.Context, part Partition, after int64, limit int) ([]Merge, error)
}

// Mention ties a chunk to an entity.
type Mention struct {
	Chunk  int    // index in the source's chunks
	Key    string // normal form, unique in the partition
	Name   string // as written
	Type   string
	Weight float32
}

// Relation is one piece of evidence for an edge between two entities.
//
// Relations of one subject and predicate are rivals. They are ordered by Asserted,
// then Source, then Num. A functional one is retired by the next functional one in
// this order, any relation by the next retraction of its object, whichever comes
// first; KnownTo is then the later of the two KnownFrom. What was learnt late but
// speaks of earlier times therefore comes in retired and retires nothing.
// Without any KnownFrom on both sides nothing is retired.
type Relation struct {
	Num          int64 // assigned by the Store
	Source       int64
	Chunk        int64 // Num of the evidence chunk; in Indexed and Finished: index in the source's chunks
	From, To     int64 // entity Nums, assigned by the Store from the keys
	FromKey      string
	ToKey        string
	Predicate    string // canonical
	Raw          string
	Context      string
	Confidence   float32
	Temporal     string
	Origin       string    // "", "byog", "inferred"
	Kind         string    // "" for relations; fact kinds: preference, fact, event, ...
	Object       string    // literal object of a fact when it is no entity
	Precision    string    // day, month, year
	ValidFrom    time.Time // when true in the world
	ValidTo      time.Time
	KnownFrom    time.Time // when we learnt it
	Asserted     time.Time // the moment that it speaks of, by which rivals are ordered; zero: KnownFrom
	KnownTo      time.Time // when it was retired, never before KnownFrom; zero: still believed
	SupersededBy int64     // Num of the one that retired it
	Functional   bool      // a later one of the same subject and predicate retires it
	Retracts     bool      // it retires earlier ones of the same subject, predicate and object without being one
	Words        []uint64  // of Predicate and Context: set by a [WordKeeper] of what it remembers, else nil
}

// Entity is a node of the graph.
type Entity struct {
	Num       int64
	Key       string
	Name      string
	Type      string
	Namespace string
	Mentions  int // live mentions
}

// RelationQuery asks for relations with live evidence.
//
// With AsOf and without AllTime a relation counts from ValidFrom until ValidTo, or
// until what retired it began to hold, if that was known at KnownAt. It began at its
// ValidFrom, else at its Asserted (of a retraction first its ValidTo counts). A
// functional relation without ValidFrom counts from its Asserted on when an earlier
// rival was known at KnownAt, else from ever. So a relation that is retired now is
// found again at a time at which it held.
type RelationQuery struct {
	Part     Partition
	Sources  []int64 // only with evidence in these versions; nil: any
	Entities []int64 // only touching these; nil: any
	// Predicates limits the answer to relations with one of these; nil: any. With Entities only those that these are the subject of are returned.
	Predicates []string
	Chunks     []int64   // only with evidence in these; nil: any
	After      int64     // only Nums above, for paging
	AsOf       time.Time // only those that held then, see below; zero: those believed at KnownAt
	KnownAt    time.Time // by what was known then; zero: now; see AllTime
	AllTime    bool      // retired ones and retractions too; AsOf then only compares ValidFrom and ValidTo
	Dated      bool      // only those with a ValidFrom or a ValidTo
	Own        bool      // From and To are the entities of the keys themselves, whatever they were folded into, and Entities asks for those
	Limit      int
}

// EntityQuery asks for entities by key.
type EntityQuery struct {
	Part   Partition
	After  string // only keys above
	Prefix string // only keys that begin with it
	Type   string // only of this type; empty: any
	Folded bool   // also entities that were folded into another, each under its own key
	Limit  int
}

// MentionQuery asks which versions of sources mention keys of a partition.
type MentionQuery struct {
	Part    Partition
	Keys    []string
	Sources []int64 // of each key the one version that is asked for, which is then asked for the key itself alone; nil: all versions, and also what mentions a key that was folded into this one
	Oldest  int     // above 0, where Sources is nil: only so many versions of each key, those that came first, and the key itself alone
}

// Mentioned is the name and the type that a version of a source gives a key.
type Mentioned struct {
	At     int    // in MentionQuery.Keys
	Key    string // itself, or one folded into it
	Source int64
	Type   string // as the source's first mention has it; empty: none, or stored before Stores kept it
	Count  int    // mentions; 1 where stored before Stores counted them
}

// KeyMention is a mention of a key.
type KeyMention struct {
	At            int // of the key in the call
	Source, Chunk int64
	Weight        float32 // of all mentions of the key in the chunk
}

// StatedQuery asks for what sources state of the keys of a partition.
type StatedQuery struct {
	Part    Partition
	Limited bool // only what versions state that not everybody may read: without the tag [Everybody], or replaced. A Store may add others
}

// Stated is an Alias with the version of a source that states it.
type Stated struct {
	Alias
	Source int64
}

// Alias is a statement of a source that two keys name one entity. A Store keeps it with
// the source; Into must be among the source's Mentions, else it is left out.
//
// While some live source states what From stands for, and none states it otherwise, From is folded into Into as
// by MergeEntities, with Stated set, and with it into what Into stands for at any time; when that changes the merge is undone. Statements that are not
// Likely outweigh those that are. Nothing is folded while From has no entity, or where From is folded already, and
// a pair whose merge the caller undid stays apart. This is weighed at the end of each call that adds or removes
// statements about From, or makes the entity of From.
type Alias struct {
	From, Into string // keys
	Likely     bool   // the statement is only implied
	Reason     string // for the record of the merge; of several statements that of the oldest source counts
	At         time.Time
}

// Merge records that one entity was folded into another.
type Merge struct {
	Num        int64
	Part       Partition
	From, Into string // keys
	Reason     string
	At         time.Time
	Undone     bool
	Stated     bool // by sources, see Alias
	ByCaller   bool // a call undid it
	// AskedFrom and AskedInto are what the call, or the Alias, named: From and Into are what these stood for then.
	AskedFrom, AskedInto string
}

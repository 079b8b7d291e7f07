package backend

import (
	"context"
	"time"
)

// GraphStore is the part of a [Store] with entities, relations and merges. Workers
// store them with [Work].Finish. Its reads leave out damaged rows, like those of [Read].
type GraphStore interface {
	// Entities returns the entities with these Nums, in the order of nums, with nil for
	// missing ones. The rows that this and the next two methods return may be shared with
	// other calls and must not be changed. The slices belong to the caller.
	Entities(ctx context.Context, nums []int64) ([]*Entity, error)
	// EntitiesByKey returns the entities of keys in a partition, in the order of keys,
	// with nil for missing ones. For the key of a merged entity it returns the entity
	// that it was merged into.
	EntitiesByKey(ctx context.Context, part Partition, keys []string) ([]*Entity, error)
	// OwnEntities returns the entities of keys without following merges, in the order of
	// keys, with nil for missing ones.
	OwnEntities(ctx context.Context, part Partition, keys []string) ([]*Entity, error)
	// ListEntities returns entities of a partition, sorted by key.
	ListEntities(ctx context.Context, q EntityQuery) ([]*Entity, error)
	// Mentioned returns the types that source versions give keys, and how often they
	// mention them. The result is in the order of MentionQuery.Keys, and for one key it
	// is sorted by Key and Source.
	Mentioned(ctx context.Context, q MentionQuery) ([]Mentioned, error)
	// MentionsOf returns the mentions of keys without following merges. The result is in
	// the order of keys. For each key it has the mentions in the oldest source versions,
	// at most versions of them, sorted by Chunk.
	MentionsOf(ctx context.Context, part Partition, keys []string, versions int) ([]KeyMention, error)
	// Stated returns the aliases that sources of a partition state, sorted by Source, From,
	// Into and Likely.
	Stated(ctx context.Context, q StatedQuery) ([]Stated, error)
	// Relations returns relations, ascending by Num.
	Relations(ctx context.Context, q RelationQuery) ([]*Relation, error)
	// MergeEntities merges the entity of the key from into the entity of the key into.
	// Later mentions of from count for into as well. It records the merge, which can be
	// undone, and returns its Num. It returns [ErrNotFound] when either entity is missing.
	MergeEntities(ctx context.Context, part Partition, from, into, reason string, now time.Time) (int64, error)
	// UndoMerge undoes a merge.
	UndoMerge(ctx context.Context, num int64) error
	// Merges lists the merges of a partition with Nums above after, by Num, at most limit.
	Merges(ctx context.Context, part Partition, after int64, limit int) ([]Merge, error)
}

// Mention is a mention of an entity by a chunk.
type Mention struct {
	Chunk  int    // index in the source's chunks
	Key    string // normal form, unique in the partition
	Name   string // as written in the text
	Type   string
	Weight float32
}

// Relation is one piece of evidence for an edge between two entities.
//
// Relations of one subject and predicate are rivals. They are ordered by Asserted, then
// Source, then Num. Two kinds of later rivals retire a relation: the next functional one
// retires a functional relation, and the next retraction of the same object retires any
// relation. The first of them in the order counts. KnownTo of the retired relation is then
// the later one of the two KnownFrom. A relation that is stored late but speaks of an
// earlier time is therefore retired from the start and does not retire the current one.
// Nothing is retired when neither relation has a KnownFrom.
type Relation struct {
	Num          int64 // assigned by the Store
	Source       int64
	Chunk        int64 // Num of the evidence chunk; in Finished: index in the source's chunks
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
	ValidFrom    time.Time // from when it is true in the world; zero: unknown
	ValidTo      time.Time // until when it is true in the world; zero: unknown
	KnownFrom    time.Time // when the workspace learnt it
	Asserted     time.Time // the time that it speaks of, by which rivals are ordered; zero: KnownFrom
	KnownTo      time.Time // when it was retired, never before KnownFrom; zero: it is not retired
	SupersededBy int64     // Num of the relation that retired it; 0: none
	Functional   bool      // a later functional relation of the same subject and predicate retires it
	Retracts     bool      // a retraction: it retires earlier relations of the same subject, predicate and object, and states none itself
	Words        []uint64  // hashes of the words of Predicate and Context, set by a [WordHasher] for relations in its cache; else nil
	// Sketch tells that only Num, Source, Chunk, From, To, Predicate, Confidence, Origin, Functional and Apart are set; see [RelationSketcher].
	Sketch bool
	Apart  bool // of a sketch: Context is not a part of the chunk's text
}

// Entity is a node of the graph.
type Entity struct {
	Num       int64
	Key       string
	Name      string
	Type      string
	Namespace string
	Mentions  int // number of live mentions
}

// RelationQuery asks for relations with live evidence.
//
// With AsOf and without AllTime the query returns relations that held at AsOf, as far as was
// known at KnownAt. A relation holds from ValidFrom until ValidTo. If a relation that was
// known at KnownAt retired it, it ends when that one began. The retiring relation began at its
// ValidFrom, or at its Asserted if it has none; for a retraction its ValidTo comes first. A
// functional relation without ValidFrom holds from its Asserted on if an earlier rival was
// known at KnownAt, else since ever. So a query finds a retired relation for times at which
// it held.
type RelationQuery struct {
	Part     Partition
	Sources  []int64 // only relations with evidence in these versions; nil: any
	Entities []int64 // only relations with one of these as From or To; nil: any
	// Predicates limits the result to relations with one of these predicates; nil: any. With Entities it also limits the result to relations
	// whose subject is one of Entities.
	Predicates []string
	Chunks     []int64   // only relations with evidence in these chunks; nil: any
	After      int64     // only relations with a larger Num, for paging
	AsOf       time.Time // only relations that held then, see above; zero: those that were not retired at KnownAt
	KnownAt    time.Time // only knowledge up to then counts; zero: now; see AllTime
	AllTime    bool      // include retired relations and retractions; AsOf then only compares ValidFrom and ValidTo
	Dated      bool      // only relations with a ValidFrom or a ValidTo
	Own        bool      // ignore merges: From, To and Entities are the entities of the keys themselves, even if they were merged into others
	Limit      int
}

// EntityQuery asks for entities by key.
type EntityQuery struct {
	Part   Partition
	After  string // only keys that sort after this one, for paging
	Prefix string // only keys that begin with it
	Type   string // only entities of this type; empty: any
	Folded bool   // include entities that were merged into another, each under its own key
	Limit  int
}

// MentionQuery asks which source versions mention keys of a partition.
type MentionQuery struct {
	Part Partition
	Keys []string
	// Sources has one version for each key: only that version is searched, and only for the key itself. If it is nil, all versions are
	// searched, and also for keys that were merged into this one.
	Sources []int64
	// Oldest, if above 0, limits the result to the oldest versions of each key, at most so many, and to the key itself. Sources is then nil.
	Oldest int
}

// Mentioned tells that a source version mentions a key.
type Mentioned struct {
	At     int    // index in MentionQuery.Keys
	Key    string // that key, or a key that was merged into it
	Source int64
	Type   string // type in the version's first mention; empty: none, or stored by a release that did not store it
	Count  int    // number of mentions; 1 if stored by a release that did not count them
}

// KeyMention is a mention of a key.
type KeyMention struct {
	At            int // index of the key in the call
	Source, Chunk int64
	Weight        float32 // sum over all mentions of the key in the chunk
}

// StatedQuery asks for the aliases that sources of a partition state.
type StatedQuery struct {
	Part Partition
	// Limited asks only for aliases of versions that not everybody may read: those without the tag [Everybody], or replaced ones. A Store may
	// return others too.
	Limited bool
}

// Stated is an Alias and the source version that states it.
type Stated struct {
	Alias
	Source int64
}

// Alias is a statement of a source that two keys name one entity. A Store stores it with
// the source. It ignores an Alias whose Into is not among the source's Mentions.
//
// The Store merges From into Into, like MergeEntities and with Stated set, while live sources state one Into for From
// and none states another. If Into is itself merged, From follows it. The Store undoes the merge when the condition no
// longer holds. Statements that are not Likely outweigh statements that are. The Store does not merge From while it has
// no entity or is merged already, nor a pair whose merge a caller undid. It checks all this at the end of each call that
// adds or removes statements about From, or creates the entity of From.
type Alias struct {
	From, Into string // keys
	Likely     bool   // the source only implies the statement
	Reason     string // stored in the Merge; of several statements the reason of the oldest source counts
	At         time.Time
}

// Merge records that one entity was merged into another.
type Merge struct {
	Num        int64
	Part       Partition
	From, Into string // keys
	Reason     string
	At         time.Time
	Undone     bool
	Stated     bool // sources state it, see Alias
	ByCaller   bool // a caller undid it
	// AskedFrom and AskedInto are the keys in the call or the Alias. From and Into are the keys that they were merged into at that time.
	AskedFrom, AskedInto string
}

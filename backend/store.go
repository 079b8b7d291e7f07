package backend

import (
	"context"
	"time"
)

// Class separates the stores of a workspace.
type Class uint8

// Classes of content.
const (
	Knowledge Class = 1 // files and app content
	Memory    Class = 2 // user facts and conversations
	Raw       Class = 3 // vectors supplied by the caller (embeddings tenants)
)

// Partition is what one search covers: a class of a sub-tenant.
type Partition struct {
	Class Class
	Sub   string
}

// State is where a source stands on its way to being searchable.
type State uint8

// States of a source. Chunks of a source are visible from GraphCreation on.
const (
	Queued        State = 1
	Processing    State = 2
	GraphCreation State = 3
	Completed     State = 4
	Errored       State = 5
)

// Terminal tells whether the state is final.
func (s State) Terminal() bool { return s == Completed || s == Errored }

// Source is one version of one ingested item. (Part, ID) names the item; Num
// names the version. The newest version is the one that lists, reads and status
// speak of; an older one that was indexed stays visible to search until the newer
// one is indexed, and goes in the same transaction.
type Source struct {
	Num          int64 // assigned by the Store, rising over the workspace, never reused
	Part         Partition
	ID           string
	State        State
	ErrorCode    string // may be set while a retry waits
	ErrorMessage string
	Attempts     int // claims so far
	Title        string
	Kind         string // category shown to users, as given
	Filename     string
	MediaType    string
	SizeBytes    int64 // of the original content
	Infer        bool
	CreatedAt    time.Time // when the item was first accepted; kept over versions
	UpdatedAt    time.Time // when this version was accepted or its metadata last edited
	Time         time.Time // the content's own time; zero: unknown
	ExpiresAt    time.Time // zero: never
	Session      string    // explicit session of a memory; empty: none
	Metadata     []byte    // compact JSON object or nil
	Additional   []byte    // compact JSON object or nil
	Doc          []byte    // the caller's record of everything else
	Tags         []uint64  // what filters match on, see Filter
	NotBefore    time.Time // earliest next claim while a retry waits
	Token        string    // who holds the claim
	LeaseUntil   time.Time
}

// ContentKind names a blob of a source.
type ContentKind uint8

// Blobs of a source. Each carries a checksum that is verified when it is read;
// damage is [ErrCorrupt].
const (
	Original ContentKind = 1 // the bytes as they came
	Text     ContentKind = 2 // parsed text, when it differs from the original
	Inferred ContentKind = 3 // inferred statements
	Supplied ContentKind = 4 // a graph supplied with the source
	Usage    ContentKind = 5 // what a model was paid for the source
)

// Blob is the content of a source.
type Blob struct {
	Kind ContentKind
	Data []byte
}

// Incoming is an item to accept.
type Incoming struct {
	Source   // Num, State and claim fields are the Store's
	Blobs    []Blob
	IfAbsent bool // fail the item when its id exists
}

// Accepted is the fate of one Incoming.
type Accepted struct {
	Num    int64
	Exists bool // IfAbsent and the id is taken: nothing was stored
}

// Placed is an item that needs no work, because its chunks come with it.
type Placed struct {
	Incoming // with IfAbsent an existing id fails the whole call
	Chunks   []Chunk
	Event    bool // put an Event into the outbox
}

// Placement is what a call of Place did.
type Placement struct {
	Nums    []int64  // versions, in the order of the items
	After   uint64   // where the feed stood before
	Changes []Change // what the call added to the feed; shares memory with its items
}

// Chunk is the unit that is embedded and recalled.
type Chunk struct {
	Num     int64  // assigned by the Store, rising over the workspace, never reused
	Source  int64  // Num of its source version
	Ordinal int    // place in the source, from 0
	Key     string // chunk_uuid on the wire, unique in the workspace's partition
	Text    string // what recall returns
	Heading string // headings above it
	Layout  []byte // JSON: offsets and page
	Vector  []float32
	Extra   []byte // the caller's index hints (fields, speaker), handed to shadows verbatim
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
	Words        []uint64  // hashes of the words of Predicate and Context, rising: set by a [WordKeeper] of what it remembers, else nil
}

// Relations of one subject and predicate are rivals. They are ordered by Asserted, then
// Source, then Num. A functional one is retired by the next functional one in
// this order, any relation by the next retraction of its object, whichever comes
// first; KnownTo is then the later of the two KnownFrom. What was learnt late but
// speaks of earlier times therefore comes in retired and retires nothing.
// Without any KnownFrom on both sides nothing is retired.

// Entity is a node of the graph.
type Entity struct {
	Num       int64
	Key       string
	Name      string
	Type      string
	Namespace string
	Mentions  int // live mentions
}

// Indexed is what the worker made of a claimed source: its chunks become
// searchable.
type Indexed struct {
	Num    int64
	Token  string // the claim; a source claimed by another or replaced meanwhile is left alone
	Title  string // empty: keep
	Time   time.Time
	Chunks []Chunk
	Blobs  []Blob
}

// Event is a row of the outbox.
type Event struct {
	Seq          int64 // assigned by the Store
	ItemID       string
	Part         Partition
	Source       int64
	Status       State
	ErrorCode    string
	ErrorMessage string
	At           time.Time
}

// Finished ends the work on a claimed source.
type Finished struct {
	Num          int64
	Token        string
	State        State // Completed or Errored
	ErrorCode    string
	ErrorMessage string
	Mentions     []Mention
	Relations    []Relation
	Aliases      []Alias
	Blobs        []Blob
	Event        bool // put an Event into the outbox
}

// Deferred gives a claimed source back for a later try.
type Deferred struct {
	Num          int64
	Token        string
	State        State // state to show meanwhile: Queued or Processing
	NotBefore    time.Time
	ErrorCode    string
	ErrorMessage string
}

// Claim is a source taken for work, with its blobs and, when it was indexed
// before (State GraphCreation), its chunks.
type Claim struct {
	Source
	Blobs  []Blob
	Chunks []Chunk
}

// DeleteResult is the fate of one id.
type DeleteResult struct {
	Found    bool
	Indexing bool // found, not yet terminal; with KeepIndexing it was left alone
}

// DeleteOptions changes what Delete does.
type DeleteOptions struct {
	KeepIndexing bool // leave sources alone that are not terminal
}

// Filter limits a search to chunks whose source has, for each group of All, at
// least one tag of the group, and none of Not. A tag is a 64-bit hash that the
// caller makes of a field and a value, an id or a title; every backend matches
// tags alone and never looks into metadata.
type Filter struct {
	All [][]uint64
	Not []uint64
}

// ListQuery asks for newest versions of a partition, newest UpdatedAt first,
// then ID.
type ListQuery struct {
	Part   Partition
	IDs    []string // only these; nil: all
	Filter Filter   // with no [IDTag] in All
	Offset int
	Limit  int
	Now    time.Time // sources expired by now are left out
}

// SubInfo counts what a sub-tenant holds. Sources that are deleted or expired
// do not count.
type SubInfo struct {
	Sub       string
	Knowledge int
	Memory    int
	Raw       int
}

// Stats counts visible chunks and live sources of a class over all sub-tenants.
type Stats struct {
	Chunks, Sources int
}

// Hydrated is a chunk with the version it belongs to.
type Hydrated struct {
	Chunk
	Src *Source
}

// RelationQuery asks for relations with live evidence.
type RelationQuery struct {
	Part     Partition
	Sources  []int64 // only with evidence in these versions; nil: any
	Entities []int64 // only touching these; nil: any
	Chunks   []int64 // only with evidence in these; nil: any
	Kinds    []string
	After    int64     // only Nums above, for paging
	AsOf     time.Time // only those that held then, see below; zero: those believed at KnownAt
	KnownAt  time.Time // by what was known then; zero: now; see AllTime
	AllTime  bool      // retired ones and retractions too; AsOf then only compares ValidFrom and ValidTo
	Dated    bool      // only those with a ValidFrom or a ValidTo
	Limit    int
}

// With AsOf and without AllTime a relation counts from ValidFrom until ValidTo, or
// until what retired it began to hold, if that was known at KnownAt. It began at its
// ValidFrom, else at its Asserted (of a retraction first its ValidTo counts). A
// functional relation without ValidFrom counts from its Asserted on when an earlier rival
// was known at KnownAt, else from ever. So of what is retired now, what held then is found again.

// Alias is a statement of a source that two keys name one entity. A Store keeps it with
// the source; Into must be among the source's Mentions, else it is left out.
//
// While some live source states what From stands for, and none states it otherwise, From is folded into Into as
// by MergeEntities, with Stated set; when that changes the merge is undone. Statements that are not
// Likely outweigh those that are. Nothing is folded while From has no entity, or where From is folded already, and
// a pair whose merge the caller undid stays apart. This is weighed at the end of each call that adds or removes
// statements about From, or makes the entity of From.
type Alias struct {
	From, Into string // keys
	Likely     bool   // not said in so many words
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
}

// Store is the truth of a workspace.
type Store interface {
	// Accept stores items as Queued, all in one transaction, with their content.
	// A newer version of an id cancels an older one that was not indexed yet.
	Accept(ctx context.Context, items []Incoming) ([]Accepted, error)
	// Place stores items as Completed with their chunks, all in one transaction: what
	// Accept, Claim, Index and Finish do in turn, without a graph. A shadow that has
	// applied everything up to After may apply Changes without reading the feed.
	// [ErrExists] when an id is taken and IfAbsent set, or when a chunk's key belongs
	// to another item; nothing is stored then. The ids of a call differ.
	Place(ctx context.Context, items []Placed) (*Placement, error)
	// Claim takes up to limit sources for work, oldest first: newest versions in
	// a state that is not terminal, past NotBefore, and under no live lease. It
	// sets Queued to Processing (others keep their state), counts the attempt, and sets the lease.
	// It stops early, with at least one, where the next would take the sum of
	// SizeBytes over maxBytes (0: no such bound).
	Claim(ctx context.Context, token string, now, leaseUntil time.Time, limit int, maxBytes int64) ([]Claim, error)
	// Renew moves the lease of the claims that token still holds.
	Renew(ctx context.Context, token string, nums []int64, leaseUntil time.Time) error
	// Index stores chunks and sets GraphCreation; the older version of the item
	// goes in the same transaction. ok[i] is false when the claim was lost, and
	// then nothing of item i was stored.
	Index(ctx context.Context, items []Indexed) (ok []bool, err error)
	// Finish stores the graph of sources and their terminal state. ok as in Index.
	Finish(ctx context.Context, items []Finished) (ok []bool, err error)
	// Defer gives claims back. Claims lost meanwhile are left alone.
	Defer(ctx context.Context, items []Deferred) error
	// Backlog counts newest versions by state, and says when the earliest
	// waiting source can be claimed (zero: nothing waits).
	Backlog(ctx context.Context) (map[State]int, time.Time, error)
	// Requeue sets an errored source back to Queued with no attempts;
	// [ErrConflict] in another state.
	Requeue(ctx context.Context, part Partition, id string) error

	// Delete removes items: all versions, chunks, blobs, and graph rows that
	// nothing else uses. A claim on them is lost.
	Delete(ctx context.Context, part Partition, ids []string, o DeleteOptions) ([]DeleteResult, error)
	// DeleteSub removes up to limit sources of a sub-tenant in all classes and
	// returns how many; the caller repeats until 0.
	DeleteSub(ctx context.Context, sub string, limit int) (int, error)
	// Expire removes up to limit sources that expired by now and returns how many,
	// and the next expiry (zero: none).
	Expire(ctx context.Context, now time.Time, limit int) (int, time.Time, error)
	// UpdateMetadata replaces the two maps and the tags of the newest version;
	// the version's Num stays. chunks is the number of visible chunks touched.
	UpdateMetadata(ctx context.Context, part Partition, id string, metadata, additional []byte, tags []uint64, now time.Time) (chunks int, err error)
	// UpdateDoc replaces the caller's record of the newest version.
	UpdateDoc(ctx context.Context, part Partition, id string, doc []byte) error

	// Sources returns the newest versions of ids, nil where there is none.
	Sources(ctx context.Context, part Partition, ids []string) ([]*Source, error)
	// SourcesByNum returns versions, nil where gone.
	SourcesByNum(ctx context.Context, nums []int64) ([]*Source, error)
	// FindSubs returns the sub-tenants in which id exists in a class.
	FindSubs(ctx context.Context, class Class, id string) ([]string, error)
	// Content reads a blob.
	Content(ctx context.Context, source int64, kind ContentKind) ([]byte, error)
	// List returns a page and the total over all pages.
	List(ctx context.Context, q ListQuery) ([]*Source, int, error)
	// Chunks returns visible chunks in the order asked, without those that are
	// gone, not yet visible, or expired by now. Vectors are left out. The rows that it, Entities
	// and Relations return may be shared with other calls and must not be changed; the slices are the caller's.
	Chunks(ctx context.Context, nums []int64, now time.Time) ([]*Hydrated, error)
	// SourceChunks returns chunks of a version with ordinals in [from, to), by
	// ordinal, whatever its state; vectors when asked.
	SourceChunks(ctx context.Context, source int64, from, to int, vectors bool) ([]Chunk, error)
	// ChunkNums maps chunk keys of a partition to visible Nums, 0 where there is none.
	ChunkNums(ctx context.Context, part Partition, keys []string) ([]int64, error)
	// Subs lists the sub-tenants that hold sources, by name.
	Subs(ctx context.Context) ([]SubInfo, error)
	// Stats counts a class.
	Stats(ctx context.Context, class Class) (Stats, error)

	// Entities returns entities by Num, nil where gone.
	Entities(ctx context.Context, nums []int64) ([]*Entity, error)
	// EntitiesByKey returns entities of a partition by key, aliases followed,
	// nil where there is none.
	EntitiesByKey(ctx context.Context, part Partition, keys []string) ([]*Entity, error)
	// Relations returns relations by Num, rising.
	Relations(ctx context.Context, q RelationQuery) ([]*Relation, error)
	// MergeEntities folds from into to: an alias that also catches later
	// mentions. It is recorded and can be undone. [ErrNotFound] when either is absent.
	MergeEntities(ctx context.Context, part Partition, from, into, reason string, now time.Time) (int64, error)
	// UndoMerge takes a merge back.
	UndoMerge(ctx context.Context, num int64) error
	// Merges lists merges of a partition by Num, after a Num.
	Merges(ctx context.Context, part Partition, after int64, limit int) ([]Merge, error)

	// Events returns outbox rows by Seq; Acknowledge drops those up to seq.
	Events(ctx context.Context, limit int) ([]Event, error)
	Acknowledge(ctx context.Context, seq int64) error

	// LastSeq is the last sequence number of the change feed. It does no I/O.
	LastSeq() uint64
	// Changes returns changes after a sequence number, rising, at most about
	// limit rows of content. [ErrFeedGone] when after lies before the feed's start
	// and is not 0.
	Changes(ctx context.Context, after uint64, limit int) ([]Change, error)
	// CompactFeed drops tombstones up to seq; shadows that were not there yet
	// start again from zero.
	CompactFeed(ctx context.Context, seq uint64) error

	// Get and Set keep small values of the workspace (embedding identity).
	// Get of a missing name is nil, nil.
	Get(ctx context.Context, name string) ([]byte, error)
	Set(ctx context.Context, name string, value []byte) error
	Close() error
}

// WordKeeper is a Store that remembers relations, and with those of entities their words. Recall looks at
// these for every question that names the entity.
type WordKeeper interface {
	// KeepWords sets what makes Relation.Words. The service calls it before it reads relations; f is safe for
	// concurrent use.
	KeepWords(f func(predicate, context string) []uint64)
}

// LeaseVoider is a Store or a Registry that can end every lease at once: of items, or of
// deliveries. Only one whose deployment belongs to one process is a LeaseVoider. The service calls it when it
// opens the registry and when it first opens a workspace, so that what a dead predecessor
// held can be claimed without waiting for its leases.
type LeaseVoider interface {
	VoidLeases(ctx context.Context) error
}

package backend

import (
	"context"
	"time"
)

// The interfaces in this file are optional. A backend implements one if it can do better
// than the fallback of the callers, which the comment of the interface states. Callers find
// the implementation by type assertion.

// Surveyor is an index that describes a small partition in one call: the scores of all its
// chunks, and their neighbours. Its results equal those of the separate searches.
//
// If Vectors, Keywords and Graph are not one value that implements Surveyor, recall calls
// each of them separately.
type Surveyor interface {
	// Survey fills s. It may overwrite the slices of s from their start. It returns false,
	// and s then has no usable content, if the partition is unknown or has more chunks
	// than q.Most.
	Survey(ctx context.Context, q SurveyQuery, s *Survey) (ok bool, err error)
}

// IndexReporter is a [Store] that returns the changes that Index put into the feed, as Place does. An index that has applied
// all changes before them can then apply them without reading the new chunks from the Store.
//
// If a Store does not implement IndexReporter, indexes read the feed.
type IndexReporter interface {
	// IndexAndReport does what Index does, and returns a Placement whose Nums is nil. An index that has applied all changes up to
	// Placement.After may apply Placement.Changes without reading the feed. The Placement is nil if the Store cannot return it.
	IndexAndReport(ctx context.Context, items []Indexed) (ok []bool, placed *Placement, err error)
}

// FinishReporter is a [Store] that returns the changes that Finish put into the feed. An index that has applied all changes before them can
// then apply them without reading the new mentions from the Store.
//
// If a Store does not implement FinishReporter, indexes read the feed.
type FinishReporter interface {
	// FinishAndReport does what Finish does. The Placement is like that of IndexAndReport, but may have FoldEntity changes for the merges that
	// the call made. Only a [Folder] may then apply Placement.Changes.
	FinishAndReport(ctx context.Context, items []Finished) (ok []bool, placed *Placement, err error)
}

// Consumer is an [Index] that can free the rows of changes while it applies them. The rows of a large document and the index's data made from
// them are then not in memory at the same time.
//
// If an Index does not implement Consumer, the rows stay until Apply returns.
type Consumer interface {
	// Consume does what Apply does. The caller does not read the changes afterwards, even after an error. Consume may clear all
	// fields of their rows except the numbers. It does not change the memory that these fields point to.
	Consume(ctx context.Context, changes []Change) error
}

// Folder is an [Index] that applies FoldEntity changes. A merge of two entities that many versions mention then does not put the mentions of all of
// them into the index again.
//
// If an Index does not implement Folder, it gets these mentions from the feed.
type Folder interface {
	// FoldsEntities reports whether Apply accepts FoldEntity changes.
	FoldsEntities() bool
}

// Peeker is a [Store] whose reads normally wait until LastSeq includes all changes that they return. So a caller that searches the indexes
// after a read finds these changes there. A recall searches the indexes first and does not need to wait for a running commit.
//
// If a Store does not implement Peeker, recall waits like other callers.
type Peeker interface {
	// Peek returns the Store without that wait: Sources, SourcesByNum and Subs may return changes that LastSeq does not include yet.
	Peek() Store
}

// Peek returns s.Peek() if s is a [Peeker], else s.
func Peek(s Store) Store {
	if p, ok := s.(Peeker); ok {
		return p.Peek()
	}
	return s
}

// Remote is a [Vectors] whose searches mostly wait for another machine. Recall therefore searches it and the [Keywords] at the same time.
//
// If a Vectors does not implement Remote, recall may search it after the Keywords.
type Remote interface {
	// Remote does nothing. It marks the implementation.
	Remote()
}

// Exact is a [Vectors] whose searches miss no near vector in partitions that are not too large. If it implements [ChunkScorer] too, recall asks it only for the scores of
// those chunks that may be among the best, since it knows that a vector which a search did not return is not nearer than the last one that it did.
//
// It then also asks the [Keywords] for half as many hits first where keywords weigh most, and for the others only if these may be among the best.
//
// If a Vectors does not implement Exact, recall asks a ChunkScorer for the scores of all chunks that only the keyword index found.
type Exact interface {
	// ExactUpTo returns the number of chunks of a partition up to which SearchVectors returns exactly the nearest vectors, whatever Recall is.
	ExactUpTo() int
}

// Troubled is an [Index] on other machines that reports whether these work. The service applies changes to it in the background, and goes on
// when a caller gives up. While the machines are in trouble, a search that can report an incomplete result does not wait for all changes.
type Troubled interface {
	// Trouble returns two values. slow reports whether applying a change may take long now, because a machine is down, does not answer or lacks
	// changes. lacks reports whether searches may miss changes that were applied. Trouble does no I/O and waits for no call that does.
	Trouble() (slow, lacks bool)
}

// Led is an [Index] that several processes share. All of them follow the same feed. They can agree on a leader, which is then the only process
// that applies changes. The other processes learn from the index which changes it has applied.
type Led interface {
	Index
	// Lead makes this process the leader if still is not nil, and a follower if it is nil. The function still reports whether this process is certainly
	// the leader at that moment; it does no I/O. A new leader takes over the unfinished work of the previous one, so that Applied may become less. A
	// process that stops leading leaves its unfinished work to the next leader. If Lead is never called, every process applies changes.
	Lead(ctx context.Context, still func() bool) error
	// Refresh reads which changes the leader has applied. It raises Applied to them if searches of this process find them all.
	Refresh(ctx context.Context) error
}

// NeighbourAppender is a [Graph] that can append neighbours to a slice of the caller. That
// saves a large allocation for each recall.
//
// If a Graph does not implement NeighbourAppender, recall calls Neighbours.
type NeighbourAppender interface {
	// AppendNeighbours appends to dst what Neighbours returns.
	AppendNeighbours(ctx context.Context, dst []Neighbours, part Partition, chunks []int64) ([]Neighbours, error)
}

// WordHasher is a [Store] that caches the relations of entities together with the hashes of
// their words. Recall compares these hashes with each question that names the entity.
//
// If a Store does not implement WordHasher, Relation.Words is nil and recall hashes
// the words itself.
type WordHasher interface {
	// SetWordHash sets the function that computes Relation.Words. The service calls SetWordHash
	// before it reads relations. f is safe for concurrent use.
	SetWordHash(f func(predicate, context string) []uint64)
}

// RelationSketcher is a [Store] that can read the relations of entities without their texts. Recall weighs hundreds of relations
// and shows few.
//
// If a Store does not implement RelationSketcher, recall reads all of them whole.
type RelationSketcher interface {
	// SketchRelations returns what Relations returns for a query with Entities and, besides, at most After and Limit. Relations with Sketch lack
	// most of their fields. A Store may return whole ones too. Sketches are read without a check for damage.
	SketchRelations(ctx context.Context, q RelationQuery) ([]*Relation, error)
	// RelationsByNum returns the relations with nums in a partition, ascending, without those that were retired.
	RelationsByNum(ctx context.Context, part Partition, nums []int64) ([]*Relation, error)
}

// TextReader is a [Store] that can read the texts of chunks without their other fields. Late interaction compares two hundred texts with a question.
//
// If a Store does not implement TextReader, recall reads the chunks whole.
type TextReader interface {
	// ChunkTexts returns the texts of the chunks that Read.Chunks returns, in the order of nums. They are read without a check for damage.
	ChunkTexts(ctx context.Context, nums []int64, now time.Time) ([]ChunkText, error)
}

// ChunkText is the text of a chunk.
type ChunkText struct {
	Num  int64
	Text string
}

// WordFinder is a [Keywords] that can tell which chunks have a word.
//
// If a Keywords does not implement WordFinder, recall reads the texts of the chunks.
type WordFinder interface {
	// FindWords sets has[i] for each of chunks that has one of terms, which are as the index analyses texts. It also sets has[i] for a chunk that
	// the index does not know. has is as long as chunks.
	FindWords(ctx context.Context, part Partition, terms []string, chunks []int64, has []bool) error
}

// AheadChecker is a [Store] that can find sources whose own time is later than their
// acceptance. If a partition has none, most new memories cannot be superseded by earlier
// ones, and the service needs no search to compare them.
//
// If a Store does not implement AheadChecker, the service compares each memory with the nearest ones.
type AheadChecker interface {
	// AnyAhead reports whether a source of a partition has a Time that is later than both
	// its CreatedAt and after.
	AnyAhead(ctx context.Context, part Partition, after time.Time) (bool, error)
}

// LeaseVoider is a [Store] or a [Registry] that can end every lease at once: of
// sources, or of deliveries. Only a backend whose deployment belongs to one process
// implements it. The service calls it when it opens the registry and when it first
// opens a workspace. Sources and deliveries that a crashed process had claimed can then be
// claimed at once.
//
// If a Store or Registry does not implement LeaseVoider, these sources and deliveries can be
// claimed when their leases end.
type LeaseVoider interface {
	// VoidLeases ends all leases.
	VoidLeases(ctx context.Context) error
}

// ClaimEnder is a [Store] that can end claims before their leases end. The service does so for workers of which it knows that they are gone: when it takes
// over the work on a workspace from a process that has died, and when an error has cut off a step of its own.
//
// If a Store does not implement ClaimEnder, these sources can be claimed when their leases end.
type ClaimEnder interface {
	// Claimants returns the tokens under which sources that are not terminal are claimed, each once, in any order. It may include tokens whose leases have ended.
	Claimants(ctx context.Context) ([]string, error)
	// EndClaims ends the claims of tokens and returns how many. Their holders have lost them, as if another worker had claimed the sources. The
	// sources keep their NotBefore. Claims of sources that were claimed attempts times or more stay: such a source may be what
	// its workers die of.
	EndClaims(ctx context.Context, tokens []string, attempts int) (int, error)
}

// ChunkScorer is a [Vectors] that can score given chunks. In large partitions recall uses
// it for chunks that the keyword index found and the vector search did not.
//
// If a Vectors does not implement ChunkScorer, these chunks count as not similar to the
// question, which ranks some of them too low.
type ChunkScorer interface {
	// ScoreChunks returns hits for q.Chunks, in their order, with the scores that
	// SearchVectors gives. It leaves out chunks without a vector of the length of q.Vector
	// in the lane. It may write the hits to q.Into.
	ScoreChunks(ctx context.Context, q ScoreQuery) ([]Hit, error)
}

// ScoreQuery asks for the scores of chunks for a vector.
type ScoreQuery struct {
	Part   Partition
	Lane   Lane
	Vector []float32
	Chunks []int64
	Into   []Hit // memory to which the index may write the hits, from its start
}

// Shared is a [Backend] or [Stores] whose deployment other processes may have open at the same time. The service then takes
// leases for work that only one process may do at a time. It clears its cache of the registry when the registry may have changed.
//
// If neither implements Shared, the service assumes that no other process has the deployment open.
type Shared interface {
	// Shares reports whether other processes may have the deployment open.
	Shares() bool
	// Watch calls changed after changes, until ctx ends: with the uid of the changed workspace, or with an empty uid for the registry.
	// It calls changed from one goroutine at a time, possibly also for changes of this process. It reports a change of the registry
	// within a second. It may miss changes of workspaces.
	Watch(ctx context.Context, changed func(uid string))
}

// Guarder is a [Store] that can make changes of vectors conditional on a value of the workspace. A process that does not know yet that
// another process has changed the value then cannot write vectors of the wrong model.
//
// If a Store does not implement Guarder, the service assumes that no other process has the workspace open.
type Guarder interface {
	// Guard returns a view of the Store. Its Index, PutVectors and DropLane change nothing and return [ErrConflict] unless the value
	// that Get(name) returns equals value at their commit.
	Guard(name string, value []byte) Store
}

// FeedRetainer is a [Store] whose feed indexes of other processes may follow.
//
// If a Store does not implement FeedRetainer, the service compacts the feed up to the last change that all indexes of this process have applied.
type FeedRetainer interface {
	// RetainedFeed returns how many sequence numbers before the end of the feed its tombstones are kept for other processes.
	RetainedFeed() uint64
}

// FeedCounter is a [Store] that can count the changes after a sequence number. If indexes lack many changes when a workspace is
// opened, searches then use the indexes as they are and report that the result is incomplete.
//
// If a Store does not implement FeedCounter, searches wait until the indexes have applied all changes.
type FeedCounter interface {
	// ChangesAfter returns an upper bound of the number of changes after a sequence number that an index has applied. It may count
	// changes that are no longer in the feed. It does no I/O.
	ChangesAfter(after uint64) uint64
}

// Walker is a [Store] that lists the newest versions of all its items in the order in
// which they were accepted. A tenant can be exported only when its Store is a Walker.
type Walker interface {
	// Walk returns newest versions with a Num above after, by Num, at most limit, expired
	// ones included. An item that gets a newer version during a walk gets a larger Num.
	// So a walk to the end returns every item that existed at its start and was not
	// deleted since.
	Walk(ctx context.Context, after int64, limit int) ([]*Source, error)
}

// LossTeller is a [Store] that notices when it is opened that it lacks changes which it had acknowledged, because its files were cut,
// damaged or replaced by older ones.
type LossTeller interface {
	// Lost describes what was noticed, at this opening and at earlier ones, until an operator has dealt with it.
	Lost() []string
}

// Epochs is a [Store] that distinguishes its openings. Each opening that writes something is
// an epoch with a random number above 0. After an older copy of a store is restored, it
// assigns the same sequence numbers again, but in another epoch. A sequence number together
// with its epoch is therefore unique, and so is an [Event].Seq together with its Epoch.
//
// If a Store does not implement Epochs, the service detects an index of another history only
// by a sequence number above the Store's, and ids of events may repeat.
type Epochs interface {
	// EpochOf returns the epoch in which the change with a sequence number was written. It
	// is 0 if an earlier release wrote it or the Store no longer knows. It does no I/O.
	EpochOf(seq uint64) uint64
}

// EpochKeeper is an [Index] that stores the epoch of the last change that it applied, with
// the same durability as the change. The service rebuilds an index whose epoch differs from
// the Store's epoch of that change.
//
// If an Index does not implement EpochKeeper, the service compares only its sequence number
// with the Store's.
type EpochKeeper interface {
	// Epoch returns the last value of SetEpoch, or 0 after Reset. ok is false when the
	// index does not know the epoch.
	Epoch() (epoch uint64, ok bool)
	// SetEpoch sets the epoch of the changes that are applied next. The goroutine that
	// calls Apply calls it.
	SetEpoch(epoch uint64)
}

// HistoryChecker is an [EpochKeeper] that several processes write to. It may have parts of changes after
// Applied, from a process that ended before it recorded them as applied.
type HistoryChecker interface {
	// SameHistory reports whether all changes that the index may have belong to the history
	// of the Store whose last change is last, as far as both know. If it returns false, the
	// service rebuilds the index. The service calls it after it opened the index and before
	// Apply. It does no I/O. The index may call of until it is closed.
	SameHistory(last uint64, of Epochs) bool
}

// Verifier is a [Store], a [Registry] or an [Index] that can check all its data for damage.
//
// If one does not implement Verifier, its data is not checked.
type Verifier interface {
	// Verify reads all data and calls report for each problem. It returns how many rows, or
	// bytes of files, it has compared with their checksums. It returns an error only when
	// it cannot continue. Other calls can read and write meanwhile. Verify changes no data,
	// but a damaged index is rebuilt afterwards.
	Verify(ctx context.Context, report func(Finding)) (read int64, err error)
}

// Finding is a problem that a Verifier found.
type Finding struct {
	Part   Partition // partition of the damaged data; zero: none
	ItemID string    // id of the item that the damaged data belongs to; empty: none or unknown
	What   string    // description of the problem, never with content
}

// TenantLister is a [Registry] that lists the tenants of all organisations.
type TenantLister interface {
	// AllTenants lists tenants in any state with UIDs above afterUID, by UID, at most limit.
	AllTenants(ctx context.Context, afterUID string, limit int) ([]Tenant, error)
}

// Purger is a [Store], a [Registry] or an [Index] that can rewrite its files, so that no
// byte of data deleted before stays in any of them. Items of a tenant can be erased, and
// not just deleted, only when its Store and the Registry implement Purger. An Index that
// does not implement it is rebuilt.
type Purger interface {
	// Purge rewrites the files and returns when they have no deleted data. Reads can run
	// meanwhile; writes may wait.
	Purge(ctx context.Context) error
}

// Remainer is a [Purger] whose Purge cannot remove deleted data from all places. The receipt of an erasure names these places.
//
// If a Purger does not implement Remainer, Purge leaves no deleted data.
type Remainer interface {
	// Remains returns descriptions of the places, and of how to remove the data there.
	Remains() []string
}

// EventEraser is a [Store] or a [Registry] that can remove the events of items: those in the
// outbox of a Store, and the deliveries in a Registry. Erasing items needs both.
type EventEraser interface {
	// EraseEvents removes the events or deliveries of items of a sub-tenant of the workspace
	// uid, in any state, and returns how many it removed. If ids is nil, it does so for
	// all items.
	EraseEvents(ctx context.Context, uid, sub string, ids []string) (int, error)
}

// ErrorCounter is a [Store] that can count errored items by error code, for metrics.
//
// If a Store does not implement ErrorCounter, metrics count errored items without a reason.
type ErrorCounter interface {
	// ErrorCodes returns the number of newest versions in state [Errored], by error code.
	ErrorCodes(ctx context.Context) (map[string]int, error)
}

// Maintainer is a [Store] or an [Index] with background upkeep that can wait until the workspace is idle, such
// as freeing the space of deleted rows. For an index the service calls Maintain when its workspace has been idle for some seconds.
//
// If one does not implement Maintainer, it needs no upkeep.
type Maintainer interface {
	// Maintain does a small part of the upkeep, in some hundredths of a second, and reports
	// whether there is more. The service makes one call at a time.
	Maintain(ctx context.Context) (more bool, err error)
}

// Compacter is a [Store] that can rewrite its files without the free space that deleted rows left between others. The service calls
// Compact when the workspace has been idle for some seconds.
//
// If a Store does not implement Compacter, this space stays free until new rows fill it.
type Compacter interface {
	// Compact rewrites the files if that frees enough space. Reads and writes can run meanwhile and wait at most some hundredths of a
	// second. A write cancels the attempt. again reports whether the attempt was cancelled or not possible, so that the caller should
	// repeat the call later.
	Compact(ctx context.Context) (again bool, err error)
}

// Measurer is a [Backend] or [Indexers] that can measure the memory of its indexes.
//
// If neither implements Measurer, metrics leave these values out.
type Measurer interface {
	// Measure returns the current values.
	Measure() IndexMeasures
}

// IndexMeasures are the memory that the indexes of a deployment take now, and counts of loads and evictions.
type IndexMeasures struct {
	MemoryBytes, LimitBytes int64 // LimitBytes 0: no limit; negative: not measured
	Loads, Evictions        int64 // partitions loaded from files, and partitions evicted from memory, since the start
	Sizes                   []IndexSize
}

// IndexSize is the size of one kind of index in the files of all open workspaces.
type IndexSize struct {
	Index string // keyword, vector, graph, or columns (the data for filters and orders)
	Bytes int64
	Rows  int64 // number of live chunks in the index; deleted chunks that are not merged away yet do not count
}

// TenantRenamer is a [Registry] that can change the id of a tenant.
type TenantRenamer interface {
	// RenameTenant changes the id of a tenant that is not deleting. It returns [ErrConflict] when rev is not the stored revision, and
	// [ErrExists] when a tenant of the same organisation that is not deleting has the id.
	RenameTenant(ctx context.Context, uid string, rev int64, id string) error
}

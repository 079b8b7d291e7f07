package backend

import (
	"context"
	"time"
)

// The interfaces of this file are optional: a backend implements one where it can do
// better than the callers' fallback, and what depends on it is speed, a wait, how much trouble
// is noticed or, where it says so, the order of hits.
// Callers find them by type assertion.

// Surveyor is an index that describes a small partition in one step: the scores of
// all its chunks and what stands around them. Its answers are those of the single
// calls.
//
// If the value that serves as Vectors, Keywords and Graph is not one and the same
// Surveyor, recall asks each of them by itself.
type Surveyor interface {
	// Survey fills s, whose slices it may write to from their start. ok is false, and s as
	// good as empty, for an unknown partition and one of more chunks than q.Most.
	Survey(ctx context.Context, q SurveyQuery, s *Survey) (ok bool, err error)
}

// IndexTeller is a [Store] that tells what Index put into the feed, as Place does, so that an index that has applied
// everything before it need not have chunks read back that were just written.
//
// If a Store does not implement IndexTeller, indexes read the feed.
type IndexTeller interface {
	// IndexTold does what Index does. An index that has applied everything up to Placement.After may apply
	// Placement.Changes without reading the feed; Nums is nil. The Placement is nil where the Store cannot tell.
	IndexTold(ctx context.Context, items []Indexed) (ok []bool, told *Placement, err error)
}

// FinishTeller is a [Store] that tells what Finish put into the feed, so that an index that has applied everything before it need not have
// mentions read back that were just written.
//
// If a Store does not implement FinishTeller, indexes read the feed.
type FinishTeller interface {
	// FinishTold does what Finish does. The Placement is like that of IndexTold.
	FinishTold(ctx context.Context, items []Finished) (ok []bool, told *Placement, err error)
}

// Taker is an [Index] that lets go of what it has taken from changes while it applies them. Of a large document the rows that are told and
// what the index makes of them need not stand in memory side by side then.
//
// If an Index does not implement Taker, the rows stay until Apply returns.
type Taker interface {
	// ApplyTaken is Apply of changes that nobody reads afterwards, whatever it returns: it may clear all fields of their rows but the
	// numbers, and changes nothing that they point to.
	ApplyTaken(ctx context.Context, changes []Change) error
}

// Peeker is a [Store] whose reads wait until LastSeq counts what they tell, lest a caller who reads on misses it in the indexes.
// A recall has searched the indexes already: it need not wait until a commit that is under way is over.
//
// If a Store does not implement Peeker, recall waits where the Store does.
type Peeker interface {
	// Peek returns the Store without that wait: Sources, SourcesByNum and Subs may tell of changes that LastSeq does not count yet.
	Peek() Store
}

// Peek returns what a [Peeker] tells without a wait, else s.
func Peek(s Store) Store {
	if p, ok := s.(Peeker); ok {
		return p.Peek()
	}
	return s
}

// Remote is a [Vectors] whose searches wait for another machine more than they compute here: recall asks it beside the [Keywords], and
// not after it.
type Remote interface {
	// Remote does nothing.
	Remote()
}

// Troubled is an [Index] on other machines that tells whether these are in trouble. Changes are then applied to it beside the calls that wait for
// them, and go on when a caller gives up; a search that can say that it does not know all does not wait for as long as it takes.
type Troubled interface {
	// Trouble reports whether it may take long to apply a change now, because a machine is away, does not answer or lacks something, and whether
	// searches may not find all that was applied. It does no I/O and waits for no call that does.
	Trouble() (slow, lacks bool)
}

// Led is an [Index] that several processes share, each of which follows the same feed. Where they agree on one that leads, this one alone applies
// changes, and the others hear how far it has come.
type Led interface {
	Index
	// Lead says whether this process applies changes from now on: still is not nil then, and reports at any moment whether it certainly does, without
	// I/O. One that begins to takes over what others have left by halves, so that Applied may become less; one that ends leaves what it has so to who
	// comes after it. Where Lead is never called every process applies changes.
	Lead(ctx context.Context, still func() bool) error
	// Hear finds out how far the one that leads has come, and raises Applied to that where all of it is found here.
	Hear(ctx context.Context) error
}

// NeighbourAppender is a [Graph] that appends what Neighbours returns to a slice of
// the caller, which spares a large allocation for each recall.
//
// If a Graph does not implement NeighbourAppender, recall calls Neighbours.
type NeighbourAppender interface {
	AppendNeighbours(ctx context.Context, dst []Neighbours, part Partition, chunks []int64) ([]Neighbours, error)
}

// WordKeeper is a [Store] that caches relations, and with those of entities the
// hashes of their words, which recall compares with every question that names the
// entity.
//
// If a Store does not implement WordKeeper, Relation.Words is nil and recall hashes
// the words itself.
type WordKeeper interface {
	// KeepWords sets what makes Relation.Words. The service calls it before it reads
	// relations; f is safe for concurrent use.
	KeepWords(f func(predicate, context string) []uint64)
}

// AheadTeller is a [Store] that knows the sources that were told ahead of their time: most
// memories that are not cannot be changed by what was told before them, and need no search.
//
// If a Store does not implement AheadTeller, each memory is compared with those nearest to it.
type AheadTeller interface {
	// AnyAhead reports whether a source of a partition has a time of its own that is later
	// than both its acceptance and a given time.
	AnyAhead(ctx context.Context, part Partition, after time.Time) (bool, error)
}

// LeaseVoider is a [Store] or a [Registry] that can end every lease at once: of
// sources, or of deliveries. Only a backend whose deployment belongs to one process
// implements it. The service calls it when it opens the registry and when it first
// opens a workspace, so that sources and deliveries that a dead predecessor had
// claimed can be claimed at once.
//
// If a Store or Registry does not implement LeaseVoider, those claims wait until
// their leases end.
type LeaseVoider interface {
	VoidLeases(ctx context.Context) error
}

// ChunkScorer is a [Vectors] that scores chunks by name. Recall asks it for the
// chunks of a large partition that only the keyword index found among the best.
//
// If a Vectors does not implement ChunkScorer, those chunks count as if they were not
// similar to the question at all, which ranks some of them too low.
type ChunkScorer interface {
	// ScoreChunks returns those of q.Chunks that the partition has with a vector of
	// the length of q.Vector in the lane, in the order asked, with the scores that
	// SearchVectors gives. Filters do not matter. The hits may be written to q.Into.
	ScoreChunks(ctx context.Context, q ScoreQuery) ([]Hit, error)
}

// ScoreQuery asks how near chunks are to a vector.
type ScoreQuery struct {
	Part   Partition
	Lane   Lane
	Vector []float32
	Chunks []int64
	Into   []Hit // memory that the hits may be written to, from its start
}

// Shared is a [Backend] or [Stores] whose deployment other processes may have open at the same time. The service then takes
// leases for what one process does at a time, and forgets what it remembers of the registry when that may have changed.
//
// If neither implements it, one process has the deployment open.
type Shared interface {
	// Shares reports whether that is so.
	Shares() bool
	// Watch calls heard when something may have changed, until ctx ends: with the name of a workspace, or with an
	// empty one for the registry. Calls come one at a time, maybe for what this process did, and within a second of a change of the registry; for workspaces they may
	// be missing.
	Watch(ctx context.Context, heard func(uid string))
}

// Guarder is a [Store] whose changes of vectors can depend on a value of the workspace, so that a process that has not heard that another
// has changed the value writes no vectors that nobody looks for.
//
// If a Store does not implement Guarder, one process has the workspace open.
type Guarder interface {
	// Guard returns the Store as one whose Index, PutVectors and DropLane do nothing and return [ErrConflict] unless
	// Get(name) is value when they are committed.
	Guard(name string, value []byte) Store
}

// FeedSaver is a [Store] whose feed the indexes of other processes may be following.
//
// If a Store does not implement it, the feed is compacted as far as the indexes of this process have come.
type FeedSaver interface {
	// SaveFeed returns how far behind the end of the feed tombstones are kept for others, in sequence numbers.
	SaveFeed() uint64
}

// FeedCounter is a [Store] that tells how many changes follow a sequence number. Where indexes lack many when a workspace is
// opened, searches then answer from what is indexed and say so.
//
// If a Store does not implement it, searches wait until the indexes have applied everything.
type FeedCounter interface {
	// ChangesAfter is how many changes follow a sequence number that an index has come to, at most: those that were taken back
	// since may count. It does no I/O.
	ChangesAfter(after uint64) uint64
}

// Walker is a [Store] that lists the newest versions of all its items in the order in
// which they were accepted. A tenant can be exported only when its Store is one.
type Walker interface {
	// Walk returns newest versions with a Num above after, by Num, at most limit,
	// expired ones too. An item that gets a newer version while a caller walks has a
	// larger Num then, so that a walk to the end meets every item that was there when
	// it began and was not deleted since.
	Walk(ctx context.Context, after int64, limit int) ([]*Source, error)
}

// Epochs is a [Store] that tells its openings apart. Each that writes something is an
// epoch, with a random number above 0. After an older copy of a store was put back,
// numbers are given out again, each in another epoch: a sequence number and its epoch
// name a history, and an [Event].Seq and its Epoch an event.
//
// If a Store does not implement Epochs, only an index with a larger number than the
// Store's is known to have followed another history, and ids of events may repeat.
type Epochs interface {
	// EpochOf returns the epoch in which the change with a sequence number was
	// written; 0: of an earlier release, or too long ago. It does no I/O.
	EpochOf(seq uint64) uint64
}

// EpochKeeper is an [Index] that remembers the epoch of the last change that it
// applied, as long as that change. An index that was kept over restarts and whose
// epoch is not that of the Store is built anew.
//
// If an Index does not implement EpochKeeper, it is compared with its Store by
// numbers alone.
type EpochKeeper interface {
	// Epoch returns what SetEpoch was given, 0 after Reset; ok is false when the
	// index does not know.
	Epoch() (epoch uint64, ok bool)
	// SetEpoch says of which epoch the changes are that are applied next. It is
	// called by the goroutine that calls Apply.
	SetEpoch(epoch uint64)
}

// HistoryTeller is an [EpochKeeper] that several processes write to. It may have something of changes
// beyond Applied, of a process that ended before it had said that they were applied.
type HistoryTeller interface {
	// SameHistory reports whether all that the index may have is of the history of a
	// Store whose last change is last, as far as both can tell; it is built anew when
	// not. It is called when the index was opened, before Apply, and does no I/O. The
	// index may ask of for epochs until it is closed.
	SameHistory(last uint64, of Epochs) bool
}

// Verifier is a [Store], a [Registry] or an [Index] that can look for damage in all that
// it keeps. What does not implement it is not looked at.
type Verifier interface {
	// Verify reads everything while others read and write, calls report with each
	// problem, and returns how many rows it compared with their checksums, or bytes of
	// files. It is an error only when it could not go on. It changes nothing, but an
	// index that is damaged is built anew from then on.
	Verify(ctx context.Context, report func(Finding)) (read int64, err error)
}

// Finding is a problem that a Verifier found.
type Finding struct {
	Part   Partition // zero where it is of none
	ItemID string    // of the item that it belongs to; empty: of none that is known
	What   string    // never content
}

// TenantLister is a [Registry] that lists the tenants of all organisations.
type TenantLister interface {
	// AllTenants lists tenants in any state by UID, from the first after the given one.
	AllTenants(ctx context.Context, afterUID string, limit int) ([]Tenant, error)
}

// Purger is a [Store], a [Registry] or an [Index] that can rewrite its files, so that
// no byte of what was deleted before stays in any of them. Items of a tenant can be
// erased, and not just deleted, only when its Store and the Registry are; an Index that is
// not is built anew.
type Purger interface {
	// Purge returns when that is so. Reads go on meanwhile; writes may wait.
	Purge(ctx context.Context) error
}

// Remainer is a [Purger] whose Purge leaves something in places that it cannot reach. A receipt of an erasure names them.
//
// If a Purger does not implement Remainer, Purge leaves nothing.
type Remainer interface {
	// Remains names the places, and what removes it there.
	Remains() []string
}

// EventEraser is a [Store] or a [Registry] that forgets what happened to items: events
// in the outbox of a Store, deliveries in a Registry. Erasing needs both.
type EventEraser interface {
	// EraseEvents removes those of items of a sub-tenant of the workspace uid, whatever
	// state they are in, and returns how many; nil ids are all items.
	EraseEvents(ctx context.Context, uid, sub string, ids []string) (int, error)
}

// ErrorCounter is a [Store] that tells why items are errored, for metrics.
//
// If a Store does not implement ErrorCounter, metrics count errored items without a reason.
type ErrorCounter interface {
	// ErrorCodes counts the newest versions that are [Errored] by their code.
	ErrorCodes(ctx context.Context) (map[string]int, error)
}

// Tender is a [Store] or an [Index] with upkeep that can wait until nothing else is to be done, such
// as giving the room of deleted rows back. An index is asked once its workspace has been quiet for some seconds.
//
// If one does not implement Tender, it has none.
type Tender interface {
	// Tend does a small piece of it, some hundredths of a second long, and reports
	// whether there is more. It is one call at a time.
	Tend(ctx context.Context) (more bool, err error)
}

// Compacter is a [Store] whose files can be made anew without the room that deleted rows left between others. It is asked once its
// workspace has been quiet for some seconds.
//
// If a Store does not implement Compacter, such room stays until new rows fill it.
type Compacter interface {
	// Compact does that where it is worth it. Reads and writes go on meanwhile: neither waits for longer than some hundredths of a second,
	// and a write makes the attempt void. again reports that it was, or that it could not be made: the call is to be repeated later.
	Compact(ctx context.Context) (again bool, err error)
}

// Measurer is a [Backend] or [Indexers] that tells how much memory its indexes take.
//
// If neither implements it, metrics leave that out.
type Measurer interface {
	Measure() IndexMeasures
}

// IndexMeasures is how much memory the indexes of a deployment take now, and how often parts of them came and went.
type IndexMeasures struct {
	MemoryBytes, LimitBytes int64 // LimitBytes 0: no bound
	Loads, Evictions        int64 // partitions read from files, and partitions that left memory to make room
	Sizes                   []IndexSize
}

// IndexSize is what a kind of index takes in the files of the workspaces that are open.
type IndexSize struct {
	Index string // keyword, vector, graph, or columns: what filters and orders by
	Bytes int64
	Rows  int64 // chunks that it has something of; those that are gone but not yet merged away are not counted
}

// TenantRenamer is a Registry whose tenants can get another id.
type TenantRenamer interface {
	// RenameTenant changes the id of a tenant that is not deleting; rev must be the stored revision, else [ErrConflict].
	// [ErrExists] when a tenant of the same organisation that is not deleting has the id.
	RenameTenant(ctx context.Context, uid string, rev int64, id string) error
}

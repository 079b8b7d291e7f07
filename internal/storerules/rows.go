package storerules

import (
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Rows executes the SQL of a store. Each method runs one or a few statements in the transaction of the current call, and makes no decisions.
type Rows interface {
	feedRows
	versionRows
	laneRows
	successionRows
	entityRows
	aliasRows
	statedRows
	relationRows
	mendRows
}

type feedRows interface {
	// AddChange adds an entry about a version. kind is a [backend.ChangeKind], plus its lane times [KindLane].
	AddChange(seq int64, kind backend.ChangeKind, source int64) error
	RemoveChange(seq int64) error
	// AddTombstone adds an entry that contains what it is about.
	AddTombstone(seq int64, kind backend.ChangeKind, source int64, class int64, sub, id string) error
	// RemoveTombstones removes the tombstones of a sub-tenant's versions, and of its earlier removals.
	RemoveTombstones(sub string) error
	RemoveLaneTombstone(lane backend.Lane) error
	// Tombstones returns the oldest entries of tombstones up to the entry until, in ascending order.
	Tombstones(until int64, limit int) ([]int64, error)
	RemoveChanges(seqs []int64) error
}

type versionRows interface {
	// PartID returns the number of a partition, or 0 if there is none.
	PartID(p backend.Partition) (int64, error)
	PartName(part int64) (backend.Partition, error)
	// MakePart returns the number of a partition, and makes it if there is none.
	MakePart(p backend.Partition) (int64, error)
	// Parts returns the partitions of a sub-tenant.
	Parts(sub string) ([]int64, error)
	// RemovePart removes an empty partition with its entities, aliases and merges.
	RemovePart(part int64) error
	CountPart(part int64, sum PartSum) error
	// ForgetAll empties the caches of the store, which call [Tx.Forget] too.
	ForgetAll()

	// LoadVersions prefetches versions for calls of Version, if one read for all is faster. Each prefetched version is used for one call only.
	LoadVersions(n int, num func(i int) int64) error
	// Version returns a version, or nil if it is gone.
	Version(num int64) (*Head, error)
	// Item returns the newest version of an id, or nil if there is none.
	Item(part int64, id string) (*Head, error)
	// Source returns a version with all that is stored of it, or nil if it is gone. It returns [backend.ErrCorrupt] if any of that is damaged.
	Source(num int64) (*backend.Source, error)
	// LoadItems prefetches newest versions for calls of Incoming, if one read for all is faster.
	LoadItems(n int, of func(i int) *backend.Source) error
	// Incoming is Item for an item that the caller is about to replace.
	Incoming(part int64, id string) (*Head, error)
	// Newest returns up to limit newest versions of a partition.
	Newest(part int64, limit int) ([]*Head, error)
	// Expired returns versions that have expired, the earliest first.
	Expired(now time.Time, limit int) ([]int64, error)
	// NextExpiry returns the time at which the next version expires, or the zero time if none does.
	NextExpiry() (time.Time, error)
	// MoveState updates the counts of newest versions for a move from one state to another. 0 is no state.
	MoveState(from, to backend.State)
	// SetReplaced marks a version as no longer the newest of its item.
	SetReplaced(v *Head) error
	// AddTags indexes a newest version by those of its tags for which [Leads] is true.
	AddTags(part, num int64, id string, tags []uint64) error
	RemoveTags(v *Head) error
	SetMetadata(v *Head, m *Metadata) error
	// AddChunks stores the chunks of a version with their vectors, under the chunk numbers of the version. If a key is taken, it or the end of
	// the call returns [backend.ErrExists].
	AddChunks(v *Head, chunks []backend.Chunk) error
	// RemoveChunks removes the chunks of a version and their vectors.
	RemoveChunks(v *Head) error
	RemoveBlobs(num int64) error
	// AddSource stores a version of an item that is to be processed.
	AddSource(v *Head, in *backend.Source) error
	// NumberPlaced assigns the numbers and the feed entry of a version stored by Place, and counts the version.
	NumberPlaced(v *Head) error
	// AddPlaced stores a version with its chunks. dense reports whether their ordinals are 0, 1, 2 and so on.
	AddPlaced(v *Head, in *backend.Source, dense bool) error
	// SetIndexed stores the changes of a version by [Tx.Index].
	SetIndexed(v *Head, in *backend.Indexed, dense bool) error
	SetQueued(v *Head) error
	RemoveSource(num int64) error
	StoreBlobs(num int64, blobs []backend.Blob, replace bool) error
	// EndSource stores the final state, Graph and SeqGraph of a version.
	EndSource(v *Head, state backend.State, code, message string) error
	// AddEvent adds a final state to the outbox.
	AddEvent(num int64, p backend.Partition, v *Head, state backend.State, code, message string) error
}

type laneRows interface {
	// ChunksInOrder returns the numbers of a version's chunks in order of their ordinals.
	ChunksInOrder(v *Head) ([]int64, error)
	// AddVector stores the vector of a chunk in a lane above 0.
	AddVector(chunk int64, lane backend.Lane, vector []float32) error
	// RemoveVectors removes the vectors of a version in a lane.
	RemoveVectors(v *Head, lane backend.Lane) error
	// SetLanes stores Lanes and SeqLane of a version.
	SetLanes(v *Head) error
	// Filled returns up to limit versions after the number after that have vectors in a lane. It leaves out raw ones.
	Filled(lane backend.Lane, after int64, limit int) ([]*Head, error)
}

type successionRows interface {
	// RemoveFound removes the successions that the comparison of a version found, except undone ones.
	RemoveFound(num int64) error
	// AddSuccession stores a succession that the comparison of a version found, or that a caller stated if compared is 0. If replace is set, it
	// overwrites an existing succession of the two versions, unless that was undone or a caller stated it.
	AddSuccession(part, compared int64, s *backend.Succession, replace bool) error
	SetCompared(num, generation int64) error
	// SuccessionOf returns the number of the succession of two versions, or 0 if there is none.
	SuccessionOf(earlier, later int64) (int64, error)
	RemoveSuccession(earlier, later int64) error
	// RemoveSuccessions removes the successions of which a version is a side.
	RemoveSuccessions(num int64) error
	// UndoSuccession undoes a succession. found reports whether it exists.
	UndoSuccession(num int64, now time.Time) (found bool, err error)
}

type entityRows interface {
	// Entity returns the entity of a key itself; Num is 0 if there is none. The store caches the result.
	Entity(part int64, key string) (EntityRef, error)
	// LoadEntities prefetches entities for calls of Entity, if one read for all is faster.
	LoadEntities(part int64, n int, key func(i int) string) error
	KeepEntity(k EntityKey, ref EntityRef)
	ForgetEntity(k EntityKey)
	// Crowded reports whether the store's cache could evict entities that are not written yet. unwritten is their number.
	Crowded(unwritten int) bool
	// Relieved tells a store for which Crowded returned true that all entities are written.
	Relieved()

	// AddEntities stores new entities. Each has a number of its own, in ascending order.
	AddEntities(all []NewEntity) error
	NameEntity(num int64, u *Use) error
	CountEntity(num, mentions, uses int64) error
	// RemoveUnused removes an entity if it has no uses, and reports whether it did.
	RemoveUnused(num int64) (bool, error)
	RemoveEntity(num int64) error
	// Counted returns the entity of a key itself with its counters; Num is 0 if nothing uses the key.
	Counted(part int64, key string) (Counted, error)
	KeyOf(num int64) (string, error)
	// RootOf returns the root of an entity.
	RootOf(num int64) (int64, error)
	SetRoot(g Group, root int64) error
	// Members returns a root entity and the entities merged into it.
	Members(root int64) (Group, error)
	// SourcesOf returns the versions that mention an entity of a group, each once and in ascending order.
	SourcesOf(g Group) ([]int64, error)
	SetGraphSeq(num, seq int64) error

	AddMentions(source int64, said []MentionCount, packed []byte) error
	Mentions(source int64) ([]Mention, error)
	// RemoveMentions removes the mentions of a version. If damaged is set, ms is not known, or there is none although
	// the feed has some.
	RemoveMentions(source int64, ms []Mention, damaged bool) error
}

type aliasRows interface {
	Aliases(part int64, add func(key, into string)) error
	AddAlias(part int64, key, into string) error
	RemoveAlias(part int64, key string) error
	AddMerge(num, part int64, from, into, reason string, at time.Time, askedFrom, askedInto string) error
	// Merge returns the partition and the merged key of a merge, and whether it was undone. found is false if there is no merge with the number.
	Merge(num int64) (part int64, from string, undone, found bool, err error)
	SetUndone(num int64, by Undone) error
	// StatedMerge returns the number of the merge of a key that sources state and that is in force, and the key into which it leads. num is 0 if there is none.
	StatedMerge(k EntityKey) (num int64, into string, err error)
	SetStated(num int64, into string) error
	// Parted reports whether a caller has undone a merge of a key into another.
	Parted(k EntityKey, into string) (bool, error)
}

type statedRows interface {
	AddStated(v *Head, a *backend.Alias) error
	// StatedKeys calls add with each key for which sources state an alias.
	StatedKeys(part int64, add func(key string)) error
	// StatedBy calls f with the key of each alias that a version states.
	StatedBy(num int64, f func(key string)) error
	RemoveStated(num int64) error
	// StandIns returns the aliases of a key that the oldest sources state: at most two with different Into, in order of Into.
	StandIns(k EntityKey, likely bool) ([]backend.Alias, error)
}

type relationRows interface {
	// AddRelation stores a relation with the columns of f, and sets f.Predicate.
	AddRelation(v *Head, r *backend.Relation, f *Fact) error
	// FactsOf returns the relations of a version, and the keys of their ends.
	FactsOf(source int64) (fs []Fact, keys [][2]string, err error)
	RemoveRelations(source int64) error
	// RetiredBy returns the relations that are retired by one of the given ones.
	RetiredBy(nums []int64) ([]Fact, error)
	// FactsAt returns the relations that have an end in a group.
	FactsAt(g Group) ([]Fact, error)
	// FunctionalBefore returns, for each entity of a group, the last functional relation with f's predicate before f.
	FunctionalBefore(g Group, f *Fact) ([]Fact, error)
	// FunctionalAfter returns the first functional relation of a group with f's predicate after f, or nil if there is none.
	FunctionalAfter(g Group, f *Fact) (*Fact, error)
	// Retraction returns a retraction of f's predicate and one of objects by a group: the last one before f if back is set, else the first one after
	// f. It returns nil if there is none.
	Retraction(g, objects Group, f *Fact, back bool) (*Fact, error)
	// Retractable returns the relations of a group with f's predicate and object from since on and before f, except retractions.
	Retractable(g Group, f, since *Fact) ([]Fact, error)
	SetRetired(num int64, knownTo any, by int64) error
}

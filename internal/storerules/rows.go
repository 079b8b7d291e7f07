package storerules

import (
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Rows is the SQL of a store: each method is a statement or a few, in the transaction of the call under way, and decides nothing.
type Rows interface {
	feedRows
	versionRows
	laneRows
	successionRows
	entityRows
	aliasRows
	statedRows
	relationRows
}

type feedRows interface {
	// AddChange adds an entry about a version. kind is a [backend.ChangeKind], plus its lane times [KindLane].
	AddChange(seq int64, kind backend.ChangeKind, source int64) error
	RemoveChange(seq int64) error
	// AddTombstone adds an entry that says what it is about itself.
	AddTombstone(seq int64, kind backend.ChangeKind, source int64, class int64, sub, id string) error
	// RemoveTombstones removes those of the versions and of the earlier removals of a sub-tenant.
	RemoveTombstones(sub string) error
	RemoveLaneTombstone(lane backend.Lane) error
	// Tombstones returns the oldest entries of tombstones up to one, rising.
	Tombstones(until int64, limit int) ([]int64, error)
	RemoveChanges(seqs []int64) error
}

type versionRows interface {
	// PartID returns 0 when the partition is absent.
	PartID(p backend.Partition) (int64, error)
	PartName(part int64) (backend.Partition, error)
	// MakePart finds a partition or makes it.
	MakePart(p backend.Partition) (int64, error)
	// Parts returns the partitions of a sub-tenant.
	Parts(sub string) ([]int64, error)
	// RemovePart removes an empty partition with its entities, aliases and merges.
	RemovePart(part int64) error
	CountPart(part int64, sum PartSum) error
	// ForgetAll empties the caches of the store, which call [Tx.Forget] too.
	ForgetAll()

	// LoadVersions reads versions that Version will be asked for, where one read for all is faster. What it read stands for one question each.
	LoadVersions(n int, num func(i int) int64) error
	// Version returns nil when it is gone.
	Version(num int64) (*Head, error)
	// Item returns the newest version of an id, nil when there is none.
	Item(part int64, id string) (*Head, error)
	// LoadItems reads the newest versions that Incoming will be asked for, where one read for all is faster.
	LoadItems(n int, of func(i int) *backend.Source) error
	// Incoming is Item for an item that the caller is about to replace.
	Incoming(part int64, id string) (*Head, error)
	// Newest returns some newest versions of a partition.
	Newest(part int64, limit int) ([]*Head, error)
	// Expired returns versions that have expired, the earliest first.
	Expired(now time.Time, limit int) ([]int64, error)
	// NextExpiry returns when the next version expires, the zero time when none does.
	NextExpiry() (time.Time, error)
	// MoveState counts a newest version out of one state and into another; 0 is outside.
	MoveState(from, to backend.State)
	// SetReplaced notes that a version is not the newest of its item any more.
	SetReplaced(v *Head) error
	// AddTags makes a newest version findable by those of some tags that lists are led by, see [Leads].
	AddTags(part, num int64, id string, tags []uint64) error
	RemoveTags(v *Head) error
	SetMetadata(v *Head, m *Metadata) error
	// AddChunks stores the chunks of a version by its numbers, with their vectors. A key that is taken is [backend.ErrExists], at the latest
	// when the call ends.
	AddChunks(v *Head, chunks []backend.Chunk) error
	// RemoveChunks removes the chunks of a version and their vectors.
	RemoveChunks(v *Head) error
	RemoveBlobs(num int64) error
	// AddSource stores a version of an item that is to be worked on.
	AddSource(v *Head, in *backend.Source) error
	// NumberPlaced gives a version that comes with its chunks its numbers and its place in the feed, and counts it.
	NumberPlaced(v *Head) error
	// AddPlaced stores a version that comes with its chunks. dense reports whether their ordinals are 0, 1, 2 in this order.
	AddPlaced(v *Head, in *backend.Source, dense bool) error
	// SetIndexed stores what a version is after [Tx.Index].
	SetIndexed(v *Head, in *backend.Indexed, dense bool) error
	SetQueued(v *Head) error
	RemoveSource(num int64) error
	StoreBlobs(num int64, blobs []backend.Blob, replace bool) error
	// EndSource stores a final state, and Graph and SeqGraph of a version.
	EndSource(v *Head, state backend.State, code, message string) error
	// AddEvent puts a final state into the outbox.
	AddEvent(num int64, p backend.Partition, v *Head, state backend.State, code, message string) error
}

type laneRows interface {
	// ChunksInOrder returns the chunks of a version by ordinal.
	ChunksInOrder(v *Head) ([]int64, error)
	// AddVector stores the vector of a chunk in a lane above 0.
	AddVector(chunk int64, lane backend.Lane, vector []float32) error
	// RemoveVectors removes the vectors of a version in a lane.
	RemoveVectors(v *Head, lane backend.Lane) error
	// SetLanes stores Lanes and SeqLane of a version.
	SetLanes(v *Head) error
	// Filled returns versions behind a number, but no raw ones, that have a lane.
	Filled(lane backend.Lane, after int64, limit int) ([]*Head, error)
}

type successionRows interface {
	// RemoveFound removes what the comparison of a version found and nobody undid.
	RemoveFound(num int64) error
	// AddSuccession stores what the comparison of a version found, or with compared 0 what a caller says. With replace it
	// overwrites what the two versions have, unless that was undone or comes from a caller.
	AddSuccession(part, compared int64, s *backend.Succession, replace bool) error
	SetCompared(num, generation int64) error
	// SuccessionOf returns 0 when the two versions have none.
	SuccessionOf(earlier, later int64) (int64, error)
	RemoveSuccession(earlier, later int64) error
	// RemoveSuccessions removes those that a version is a side of.
	RemoveSuccessions(num int64) error
	// UndoSuccession reports whether there is one with the number.
	UndoSuccession(num int64, now time.Time) (found bool, err error)
}

type entityRows interface {
	// Entity finds the entity of a key itself, Num 0 when there is none. The store remembers what it found.
	Entity(part int64, key string) (EntityRef, error)
	// LoadEntities reads what Entity will be asked for, where one read for all is faster.
	LoadEntities(part int64, n int, key func(i int) string) error
	KeepEntity(k EntityKey, ref EntityRef)
	ForgetEntity(k EntityKey)
	// Crowded reports whether entities that are not written yet, of which there are so many, could fall out of the store's cache.
	Crowded(unwritten int) bool
	// Relieved tells a store that was crowded that all entities are written.
	Relieved()

	AddEntity(num int64, u *Use) error
	NameEntity(num int64, u *Use) error
	CountEntity(num, mentions, uses int64) error
	// RemoveUnused removes an entity without uses and reports whether it did.
	RemoveUnused(num int64) (bool, error)
	RemoveEntity(num int64) error
	// Counted reads the entity of a key itself, Num 0 when nothing uses the key.
	Counted(part int64, key string) (Counted, error)
	KeyOf(num int64) (string, error)
	// RootOf returns what an entity was folded into, or itself.
	RootOf(num int64) (int64, error)
	SetRoot(g Group, root int64) error
	// Members returns an entity that stands for itself and those folded into it.
	Members(root int64) (Group, error)
	// SourcesOf returns the versions that mention one of some entities, rising, each once.
	SourcesOf(g Group) ([]int64, error)
	SetGraphSeq(num, seq int64) error

	AddMentions(source int64, said []Said, packed []byte) error
	Mentions(source int64) ([]Mention, error)
	// RemoveMentions removes the mentions of a version, which are not known when they are damaged.
	RemoveMentions(source int64, ms []Mention, damaged bool) error
}

type aliasRows interface {
	Aliases(part int64, add func(key, into string)) error
	AddAlias(part int64, key, into string) error
	RemoveAlias(part int64, key string) error
	AddMerge(num, part int64, from, into, reason string, at time.Time, askedFrom, askedInto string) error
	// Merge reports what was folded and whether that was undone; found is false when there is no merge with the number.
	Merge(num int64) (part int64, from string, undone, found bool, err error)
	SetUndone(num int64, by Undone) error
	// StatedMerge returns the merge in force of a key that sources stated, and into what; 0 for none.
	StatedMerge(k EntityKey) (num int64, into string, err error)
	SetStated(num int64, into string) error
	// Parted reports whether a caller took a merge of a key into another back.
	Parted(k EntityKey, into string) (bool, error)
}

type statedRows interface {
	AddStated(v *Head, a *backend.Alias) error
	// StatedKeys calls add with each key about which something is stated.
	StatedKeys(part int64, add func(key string)) error
	// StatedBy calls f with each key about which a version states something, as often as it does.
	StatedBy(num int64, f func(key string)) error
	RemoveStated(num int64) error
	// StandIns returns what the oldest sources say that a key stands for, at most two different things, in the order of Into.
	StandIns(k EntityKey, likely bool) ([]backend.Alias, error)
}

type relationRows interface {
	// AddRelation stores a relation with what f says of it, and sets f.Predicate.
	AddRelation(v *Head, r *backend.Relation, f *Fact) error
	// FactsOf returns the relations of a version with the keys of their ends.
	FactsOf(source int64) (fs []Fact, keys [][2]string, err error)
	RemoveRelations(source int64) error
	// RetiredBy returns what is retired by one of some relations.
	RetiredBy(nums []int64) ([]Fact, error)
	// FactsAt returns the relations that have an end in a group.
	FactsAt(g Group) ([]Fact, error)
	// FunctionalBefore returns of each entity of a group the last functional relation with f's predicate before f.
	FunctionalBefore(g Group, f *Fact) ([]Fact, error)
	// FunctionalAfter returns the first functional relation of a group with f's predicate behind f, nil when there is none.
	FunctionalAfter(g Group, f *Fact) (*Fact, error)
	// Retraction returns the retraction by a group of f's predicate with one of some objects that is nearest to f: before it with
	// back, else behind it; nil when there is none.
	Retraction(g, objects Group, f *Fact, back bool) (*Fact, error)
	// Retractable returns the relations of a group with f's predicate and literal that are no retractions, from since to before f.
	Retractable(g Group, f, since *Fact) ([]Fact, error)
	SetRetired(num int64, knownTo any, by int64) error
}

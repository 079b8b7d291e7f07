package backend

import (
	"context"
	"time"
)

// Intake is the part of a [Store] that adds and removes items. Every method is one
// transaction.
//
// A caller that writes a value derived from a source passes the [Version] that it has
// read. The Store compares the version and writes in one step. A write with an
// expected version therefore never overwrites a change that its caller has not seen.
type Intake interface {
	// Accept stores items as Queued with their content. A newer version of an id cancels
	// an older version that is not indexed yet. An indexed older version stays searchable
	// until the newer one is indexed. Accept does not store an item whose Expect or
	// IfAbsent fails, and reports that in its Accepted. It stores the other items. It
	// stores items with the same id in the order of the call.
	Accept(ctx context.Context, items []Incoming) ([]Accepted, error)
	// Place stores items as Completed with their chunks. It has the effect of Accept,
	// Claim, Index and Finish, without a graph. An index that has applied all changes up
	// to Placement.After may apply Placement.Changes without reading the feed. The ids in
	// a call must differ. It returns [ErrExists] when an id with IfAbsent exists, or when
	// a chunk's key belongs to another item. It returns [ErrConflict] when an Expect is
	// not the newest version. It stores nothing when it returns an error.
	Place(ctx context.Context, items []Placed) (*Placement, error)
	// UpdateMetadata replaces Metadata, Additional and Tags of the newest version, and its
	// Doc unless doc is nil. The version's Num does not change; its Rev rises by one.
	// chunks is the number of visible chunks whose tags changed. It returns [ErrNotFound]
	// when the item does not exist, and [ErrConflict] when expect is not its newest version.
	UpdateMetadata(ctx context.Context, part Partition, id string, expect Version, metadata, additional, doc []byte, tags []uint64, now time.Time) (chunks int, err error)
	// Delete removes items with all versions, chunks and blobs, and the graph rows that
	// no other item uses. It ends claims on them. It does not remove an item whose newest
	// version is not the expected one, unless that version meets o.Still.
	Delete(ctx context.Context, part Partition, ids []string, o DeleteOptions) ([]DeleteResult, error)
	// DeleteSub removes up to limit sources of a sub-tenant in all classes and returns how
	// many it removed. The caller repeats it until it returns 0.
	DeleteSub(ctx context.Context, sub string, limit int) (int, error)
	// Expire removes up to limit sources that have expired by now. It returns how many it
	// removed, and the time of the next expiry (zero: none).
	Expire(ctx context.Context, now time.Time, limit int) (int, time.Time, error)
}

// Incoming is an item to accept.
type Incoming struct {
	Source   // the Store sets Num, State and the claim fields
	Blobs    []Blob
	IfAbsent bool    // do not store the item when its id exists
	Expect   Version // unless zero: do not store the item when this is not the newest version of its id
}

// Accepted is the result for one Incoming.
type Accepted struct {
	Num      int64
	Exists   bool // the item was not stored, because IfAbsent is set and the id exists
	Conflict bool // the item was not stored, because Expect is not the newest version or the item is missing
}

// Placed is an item with its chunks, which no worker has to process.
type Placed struct {
	Incoming // if IfAbsent or Expect does not hold, the whole call fails
	Chunks   []Chunk
	Lane     Lane // lane of the chunks' vectors
	Event    bool // put an Event into the outbox
}

// Placement is the result of a call of Place.
type Placement struct {
	Nums    []int64  // Nums of the stored versions, in the order of the items
	After   uint64   // last sequence number of the feed before the call
	Changes []Change // changes that the call added to the feed; they share memory with its items
}

// DeleteOptions changes what Delete does.
type DeleteOptions struct {
	KeepIndexing bool      // do not delete sources that are not in a terminal state
	Expect       []Version // the newest version that each id must have; nil, or zero for an id: any
	// Still is the condition by which the caller has chosen the items. An item whose newest version is not the expected one is deleted in spite of that
	// if this version meets the condition. nil: it is not deleted.
	Still *Condition
}

// Condition selects items by their newest version.
type Condition struct {
	Filter  Filter
	Session string // empty: of any session, or of none
	Until   int64  // the largest Num of a version that meets the condition; 0: any
}

// Meets reports whether a version meets the condition.
func (c *Condition) Meets(src *Source) bool {
	return (c.Session == "" || c.Session == src.Session) && (c.Until == 0 || src.Num <= c.Until) && c.Filter.Matches(src.Tags)
}

// Conflicts reports whether newest, the newest version of the id at i, is not the expected one.
func (o *DeleteOptions) Conflicts(i int, newest Version) bool {
	return o.Expect != nil && o.Expect[i] != Version{} && o.Expect[i] != newest
}

// DeleteResult is the result for one id.
type DeleteResult struct {
	Found    bool
	Indexing bool // the item was not in a terminal state; with KeepIndexing it was not deleted
	Conflict bool // the item was not deleted, because Expect is not its newest version, which does not meet Still
}

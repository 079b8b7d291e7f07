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
// expectation therefore never overwrites a change that its caller has not seen.
type Intake interface {
	// Accept stores items as Queued with their content. A newer version of an id
	// cancels an older one that was not indexed yet; one that was indexed stays
	// searchable until the newer version is. An item whose Expect or IfAbsent does
	// not hold is left alone, and so says its Accepted; the others are stored. Items
	// of one id in a call follow one another.
	Accept(ctx context.Context, items []Incoming) ([]Accepted, error)
	// Place stores items as Completed with their chunks: what Accept, Claim, Index
	// and Finish do in turn, without a graph. An index that has applied everything
	// up to Placement.After may apply Placement.Changes without reading the feed.
	// The ids of a call differ. [ErrExists] when an id is taken and IfAbsent set,
	// or when a chunk's key belongs to another item; [ErrConflict] when an Expect
	// does not hold; nothing is stored then.
	Place(ctx context.Context, items []Placed) (*Placement, error)
	// UpdateMetadata replaces the two maps and the tags of the newest version, and its
	// Doc unless doc is nil; the version's Num stays and its Rev rises by one. chunks is the number of visible
	// chunks whose tags changed. [ErrNotFound] when there is no such item,
	// [ErrConflict] when expect is not its newest version.
	UpdateMetadata(ctx context.Context, part Partition, id string, expect Version, metadata, additional, doc []byte, tags []uint64, now time.Time) (chunks int, err error)
	// Delete removes items: all versions, chunks, blobs, and graph rows that
	// nothing else uses. A claim on them is lost. Items whose expectation does not
	// hold are left alone.
	Delete(ctx context.Context, part Partition, ids []string, o DeleteOptions) ([]DeleteResult, error)
	// DeleteSub removes up to limit sources of a sub-tenant in all classes and
	// returns how many it removed; the caller repeats until 0.
	DeleteSub(ctx context.Context, sub string, limit int) (int, error)
	// Expire removes up to limit sources that expired by now and returns how many
	// it removed, and the next expiry (zero: none).
	Expire(ctx context.Context, now time.Time, limit int) (int, time.Time, error)
}

// Incoming is an item to accept.
type Incoming struct {
	Source   // Num, State and claim fields are the Store's
	Blobs    []Blob
	IfAbsent bool    // fail the item when its id exists
	Expect   Version // unless zero: fail the item when this is not the newest version of its id
}

// Accepted is the fate of one Incoming.
type Accepted struct {
	Num      int64
	Exists   bool // IfAbsent and the id is taken: nothing was stored
	Conflict bool // Expect is not the newest version, or the item is gone: nothing was stored
}

// Placed is an item that needs no work, because its chunks come with it.
type Placed struct {
	Incoming // if IfAbsent or Expect does not hold, the whole call fails
	Chunks   []Chunk
	Lane     Lane // of the vectors of the chunks
	Event    bool // put an Event into the outbox
}

// Placement is the result of a call of Place.
type Placement struct {
	Nums    []int64  // versions, in the order of the items
	After   uint64   // last sequence number of the feed before the call
	Changes []Change // changes that the call added to the feed; they share memory with its items
}

// DeleteOptions changes what Delete does.
type DeleteOptions struct {
	KeepIndexing bool      // leave sources alone that are not terminal
	Expect       []Version // by id: the version to delete; nil, or zero for an id: whichever there is
}

// Conflicts reports whether the newest version of the id at i is not the expected one.
func (o *DeleteOptions) Conflicts(i int, newest Version) bool {
	return o.Expect != nil && o.Expect[i] != Version{} && o.Expect[i] != newest
}

// DeleteResult is the fate of one id.
type DeleteResult struct {
	Found    bool
	Indexing bool // found, not yet terminal; with KeepIndexing it was left alone
	Conflict bool // found, but Expect is not its newest version: it was left alone
}

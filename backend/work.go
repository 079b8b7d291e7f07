package backend

import (
	"context"
	"time"
)

// Work is the part of a [Store] that workers use: a queue of sources with leases, the
// results of the workers' steps, and the outbox of events.
//
// A claim belongs to a token until its lease ends. A claim is lost when its lease ended and
// another worker claimed the source, or when the source was replaced or deleted. A step of
// a lost claim stores nothing.
type Work interface {
	// Claim claims up to limit sources for work, oldest first. These are newest versions in a
	// state that is not terminal, past NotBefore, and without a live lease. It sets the state
	// of Queued sources to Processing, counts the attempt, and sets the lease. After the
	// first source it stops before one that would make the sum of SizeBytes exceed maxBytes
	// (0: no limit).
	Claim(ctx context.Context, token string, now, leaseUntil time.Time, limit int, maxBytes int64) ([]Claim, error)
	// Renew sets a new end of the lease of those claims that token still holds.
	Renew(ctx context.Context, token string, nums []int64, leaseUntil time.Time) error
	// Index stores the chunks of sources and sets their state to GraphCreation. The same
	// transaction removes the older version of the item. ok[i] is false when the claim was
	// lost.
	Index(ctx context.Context, items []Indexed) (ok []bool, err error)
	// Finish stores the graph of sources and their terminal state. ok[i] is false when the
	// claim was lost.
	Finish(ctx context.Context, items []Finished) (ok []bool, err error)
	// Defer gives claims back for a later try. It ignores lost claims.
	Defer(ctx context.Context, items []Deferred) error
	// Backlog returns the number of newest versions in each state, and the earliest time at
	// which a waiting source can be claimed (zero: no source waits).
	Backlog(ctx context.Context) (map[State]int, time.Time, error)
	// Requeue sets an errored source to Queued and its attempts to 0. It returns
	// [ErrConflict] in any other state.
	Requeue(ctx context.Context, part Partition, id string) error
	// Events returns up to limit outbox rows, by Seq.
	Events(ctx context.Context, limit int) ([]Event, error)
	// Acknowledge removes the outbox rows up to seq.
	Acknowledge(ctx context.Context, seq int64) error
}

// Claim is a claimed source with its blobs. If it was indexed before (State GraphCreation),
// it also has its chunks.
type Claim struct {
	Source
	Blobs  []Blob
	Chunks []Chunk
}

// Indexed is the result of a worker for a claimed source: chunks, which become searchable.
type Indexed struct {
	Num    int64
	Token  string   // token of the claim; nothing is stored if the claim was lost
	Title  string   // empty: the title does not change
	Doc    []byte   // the caller's record; nil: it does not change
	Tags   []uint64 // tags to add to those of the source
	Time   time.Time
	Chunks []Chunk
	Lane   Lane // lane of the chunks' vectors
	Blobs  []Blob
	// Compared marks the source as compared under this generation, like [Successions].Compare without successions. It has an effect only
	// on a source that was never compared. 0: the source still has to be compared.
	Compared int64
}

// Finished is the final result of a worker for a claimed source.
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

// Deferred describes a claimed source that is given back for a later try.
type Deferred struct {
	Num          int64
	Token        string
	State        State // state until the next claim: Queued or Processing
	NotBefore    time.Time
	ErrorCode    string
	ErrorMessage string
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
	Epoch        uint64 // see [Epochs]; 0: stored by an earlier release
}

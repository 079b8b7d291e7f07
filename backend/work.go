package backend

import (
	"context"
	"time"
)

// Work is the half of a [Store] that workers use: a queue of sources with leases,
// the results of their steps, and the outbox of events.
//
// A claim belongs to a token until its lease ends. A step of a claim that was lost,
// because the lease ended and another worker took the source, or because the source
// was replaced or deleted, stores nothing.
type Work interface {
	// Claim takes up to limit sources for work, oldest first: newest versions in
	// a state that is not terminal, past NotBefore, and under no live lease. It
	// sets Queued to Processing (others keep their state), counts the attempt, and sets the lease.
	// It stops early, with at least one, where the next would take the sum of
	// SizeBytes over maxBytes (0: no such bound).
	Claim(ctx context.Context, token string, now, leaseUntil time.Time, limit int, maxBytes int64) ([]Claim, error)
	// Renew moves the lease of the claims that token still holds.
	Renew(ctx context.Context, token string, nums []int64, leaseUntil time.Time) error
	// Index stores chunks and sets GraphCreation; the older version of the item
	// goes in the same transaction. ok[i] is false when the claim was lost.
	Index(ctx context.Context, items []Indexed) (ok []bool, err error)
	// Finish stores the graph of sources and their terminal state. ok as in Index.
	Finish(ctx context.Context, items []Finished) (ok []bool, err error)
	// Defer gives claims back. Claims lost meanwhile are left alone.
	Defer(ctx context.Context, items []Deferred) error
	// Backlog counts newest versions by state, and returns when the earliest
	// waiting source can be claimed (zero: nothing waits).
	Backlog(ctx context.Context) (map[State]int, time.Time, error)
	// Requeue sets an errored source back to Queued with no attempts;
	// [ErrConflict] in another state.
	Requeue(ctx context.Context, part Partition, id string) error
	// Events returns up to limit outbox rows, by Seq.
	Events(ctx context.Context, limit int) ([]Event, error)
	// Acknowledge drops outbox rows up to seq.
	Acknowledge(ctx context.Context, seq int64) error
}

// Claim is a source taken for work, with its blobs and, when it was indexed
// before (State GraphCreation), its chunks.
type Claim struct {
	Source
	Blobs  []Blob
	Chunks []Chunk
}

// Indexed is what the worker made of a claimed source: its chunks become
// searchable.
type Indexed struct {
	Num    int64
	Token  string   // the claim; a source claimed by another or replaced meanwhile is left alone
	Title  string   // empty: keep
	Doc    []byte   // the caller's record; nil: keep
	Tags   []uint64 // that the source gets besides those it has
	Time   time.Time
	Chunks []Chunk
	Lane   Lane // of the vectors of the chunks
	Blobs  []Blob
	// Compared is the generation under which the source needs no comparison, as [Successions].Compare with nothing found. It counts for
	// a source that was never compared; 0: it is to be compared.
	Compared int64
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
	Epoch        uint64 // see [Epochs]; 0: of an earlier release
}

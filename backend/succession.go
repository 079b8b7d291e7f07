package backend

import (
	"context"
	"time"
)

// Succession says that a statement of a later memory supersedes or retracts a statement of an earlier one. It is removed
// with either of its versions: when one is deleted, expires, or is replaced by a newer version of its item.
type Succession struct {
	Num          int64 // assigned by the Store, rising over the workspace, never reused
	Later        int64 // the version that holds
	Earlier      int64 // the version that no longer does
	LaterID      string
	EarlierID    string
	LaterChunk   int       // ordinal of the chunk that says it; below 0: none in particular
	EarlierChunk int       // ordinal of the chunk that no longer holds; below 0: all of them
	Retracts     bool      // Later takes back what Earlier says, and says nothing in its place
	Matter       string    // the words of Earlier that no longer hold; empty: all of them
	Evidence     string    // the words of Later that show it, or the reason that a caller gave
	Decider      string    // who found it out
	Confidence   float64   // probability in [0,1]
	Extra        []byte    // the deciders' own, handed back verbatim
	ByCaller     bool      // stored with PutSuccession
	Created      time.Time // when it was found
	Undone       time.Time // when it was taken back; zero: it counts
}

// SuccessionQuery asks for successions of a partition. Of Earlier and Later one at most is set.
type SuccessionQuery struct {
	Part    Partition
	Earlier []int64 // only with one of these versions as Earlier; nil: any
	Later   []int64 // only with one of these as Later; nil: any
	Undone  bool    // include undone ones
	After   int64   // only Nums above
	Limit   int     // 0: no bound
}

// Compared is a version that was compared with earlier and later memories.
type Compared struct {
	Source Version
	// Found are the successions that it is a side of: Later or Earlier is Source.Num.
	Found []Succession
}

// Successions is the part of a [Store] that remembers which memory took the place of which, and which were compared.
// Of two versions there is one succession at most.
type Successions interface {
	// Uncompared returns indexed versions of class [Memory] that were not compared under a generation, by Num, above a
	// Num, at most limit. It visits versions in order of Num, so that a caller who passes on the last Num that he got
	// reads each version once.
	Uncompared(ctx context.Context, generation, after int64, limit int) ([]int64, error)
	// Compare marks versions as compared under a generation and stores what was found, in place of what an earlier
	// comparison of the version found. ok[i] is false, and nothing of item i stored, when the version is gone, has no
	// chunks yet, or was changed since it was read. A succession is left out where its other side is gone, belongs to
	// another partition, or where the two have one that a caller stored or that was undone.
	Compare(ctx context.Context, generation int64, items []Compared) (ok []bool, err error)
	// PutSuccession stores what a caller says of two versions, in place of what was known of them.
	// [ErrNotFound] when one of the versions is gone or not the newest of its item, [ErrConflict] when they are one or
	// belong to different partitions.
	PutSuccession(ctx context.Context, s Succession) (num int64, err error)
	// UndoSuccession lets a succession count no more; undoing it again changes nothing. [ErrNotFound] when there is none.
	UndoSuccession(ctx context.Context, num int64, now time.Time) error
	// Successions returns successions by Num.
	Successions(ctx context.Context, q SuccessionQuery) ([]Succession, error)
}

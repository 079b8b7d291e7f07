package backend

import (
	"context"
	"time"
)

// Succession records that a statement of a later memory supersedes or retracts a statement of an earlier one. The Store
// removes it when either version is deleted, expires, or is replaced by a newer version of its item.
type Succession struct {
	Num          int64 // assigned by the Store, ascending in the workspace, never reused
	Later        int64 // Num of the later version, which holds
	Earlier      int64 // Num of the earlier version, which no longer holds
	LaterID      string
	EarlierID    string
	LaterChunk   int       // ordinal of the chunk of Later with the new statement; below 0: no particular chunk
	EarlierChunk int       // ordinal of the chunk of Earlier that no longer holds; below 0: all its chunks
	Retracts     bool      // Later retracts the statement of Earlier and does not replace it
	Matter       string    // the words of Earlier that no longer hold; empty: all of them
	Evidence     string    // the words of Later that show it, or the reason that a caller gave
	Decider      string    // name of the component that found it
	Confidence   float64   // probability in [0,1]
	Extra        []byte    // data of the decider, returned verbatim
	ByCaller     bool      // stored with PutSuccession
	Created      time.Time // when it was found
	Undone       time.Time // when it was undone; zero: it counts
}

// SuccessionQuery asks for successions of a partition. At most one of Earlier and Later is set.
type SuccessionQuery struct {
	Part    Partition
	Earlier []int64 // only successions with one of these versions as Earlier; nil: any
	Later   []int64 // only successions with one of these versions as Later; nil: any
	Undone  bool    // include undone ones
	After   int64   // only successions with a larger Num, for paging
	Limit   int     // 0: no limit
}

// Compared is the result of comparing a version with earlier and later memories.
type Compared struct {
	Source Version
	// Found are the successions that were found. Later or Earlier of each is Source.Num.
	Found []Succession
}

// Successions is the part of a [Store] that stores which memory superseded which, and which memories were compared.
// Two versions have at most one succession.
type Successions interface {
	// Uncompared returns the Nums, above after, of indexed versions of class [Memory] that were not compared under a
	// generation, ascending, at most limit. A caller that passes the last Num of one call as after of the next one
	// reads each version once.
	Uncompared(ctx context.Context, generation, after int64, limit int) ([]int64, error)
	// Compare marks versions as compared under a generation, and stores the successions that were found. They replace
	// those of an earlier comparison of the version. ok[i] is false, and nothing of item i is stored, when the version
	// is missing, has no chunks yet, or has changed since the caller read it. Compare ignores a succession whose other
	// version is missing or in another partition. It also ignores one whose two versions have a succession that a caller
	// stored or that was undone.
	Compare(ctx context.Context, generation int64, items []Compared) (ok []bool, err error)
	// PutSuccession stores the succession of two versions that a caller states, and replaces an existing one. It returns
	// [ErrNotFound] when one of the versions is missing or not the newest of its item, and [ErrConflict] when both are
	// the same version or belong to different partitions.
	PutSuccession(ctx context.Context, s Succession) (num int64, err error)
	// UndoSuccession marks a succession as undone. Undoing it again changes nothing. It returns [ErrNotFound] when the
	// succession does not exist.
	UndoSuccession(ctx context.Context, num int64, now time.Time) error
	// Successions returns successions, ascending by Num.
	Successions(ctx context.Context, q SuccessionQuery) ([]Succession, error)
}

package backend

import (
	"context"
	"fmt"
)

// Lane numbers the vectors that a chunk can have at the same time, one per lane: those of
// the model in use, and those of a model that will replace or refine it.
type Lane uint8

// LaneCount is how many lanes there are: 0 to LaneCount-1.
const LaneCount Lane = 4

// Check returns an error if a lane is not allowed for chunks of a class.
func (l Lane) Check(class Class) error {
	if l >= LaneCount || l != 0 && class == Raw {
		return fmt.Errorf("chunks of class %d have no lane %d", class, l)
	}
	return nil
}

// Lanes is the part of a [Store] that fills and drops lanes in the background.
//
// Index and Place store the vectors of a version in one lane, which they name: 0
// unless said otherwise. PutVectors fills lanes 1 to 3. Which lane recall searches is
// the caller's to remember, for example by Set. Vectors of class [Raw] stand in lane
// 0 alone, and no method of Lanes looks at them.
type Lanes interface {
	// PutVectors stores the vectors of versions in a lane, in place of those that
	// they have there. ok[i] is false, and nothing of item i stored, when the
	// version is gone, has no chunks yet, or was changed since it was read. It does
	// not change Rev.
	PutVectors(ctx context.Context, lane Lane, items []LaneVectors) (ok []bool, err error)
	// MissingVectors returns versions with chunks that have no vectors in a lane, by
	// Num, above a Num, at most limit. It visits versions in order of Num, so that
	// a caller who passes on the last Num that he got reads each version once.
	MissingVectors(ctx context.Context, lane Lane, after int64, limit int) ([]int64, error)
	// HasVectors reports which versions have their vectors in a lane, in the order asked. One that is gone has none.
	HasVectors(ctx context.Context, lane Lane, nums []int64) ([]bool, error)
	// DropLane drops the vectors that up to limit versions above a Num have in a
	// lane, and returns the Num to go on above, 0 at the end. The first step, above
	// 0, puts DropVectors into the feed. Nobody searches or fills a lane between the
	// first step and the end, and lane 0 is never used again: an index may keep what
	// it has of that.
	DropLane(ctx context.Context, lane Lane, after int64, limit int) (next int64, err error)
}

// LaneVectors are the vectors of a version in a lane.
type LaneVectors struct {
	Source  Version
	Vectors [][]float32 // of the chunks in the order of SourceChunks, all of them; nil: the chunk has none
}

package backend

import (
	"context"
	"fmt"
)

// Lane is the number of a set of vectors. A chunk can have one vector in each lane, such as
// the vector of the model in use and that of a model that will replace or refine it.
type Lane uint8

// LaneCount is the number of lanes. Lanes are 0 to LaneCount-1.
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
// Index and Place store the vectors of a version in the lane that their items name; the
// default is 0. PutVectors fills lanes 1 to 3. The caller has to store which lane recall
// searches, for example with Set. Vectors of class [Raw] are only in lane 0, and no method
// of Lanes reads or changes them.
type Lanes interface {
	// PutVectors replaces the vectors of versions in a lane. ok[i] is false, and nothing
	// of item i is stored, when the version is missing, has no chunks yet, or has changed
	// since the caller read it. PutVectors does not change Rev.
	PutVectors(ctx context.Context, lane Lane, items []LaneVectors) (ok []bool, err error)
	// MissingVectors returns the Nums, above after, of versions that have chunks but no
	// vectors in a lane, ascending, at most limit. A caller that passes the last Num of
	// one call as after of the next one reads each version once.
	MissingVectors(ctx context.Context, lane Lane, after int64, limit int) ([]int64, error)
	// HasVectors reports for each version whether it has vectors in a lane, in the order of nums. It is false for a missing version.
	HasVectors(ctx context.Context, lane Lane, nums []int64) ([]bool, error)
	// DropLane drops the vectors in a lane of up to limit versions with Nums above after.
	// next is the after of the next call, or 0 when all are dropped. The call with after 0
	// puts DropVectors into the feed. The caller neither searches nor fills the lane until
	// all are dropped. After a DropLane of lane 0 the caller never uses lane 0 again, so
	// that an index may keep the vectors of lane 0.
	DropLane(ctx context.Context, lane Lane, after int64, limit int) (next int64, err error)
}

// LaneVectors are the vectors of a version in a lane.
type LaneVectors struct {
	Source  Version
	Vectors [][]float32 // one for each chunk, in the order of SourceChunks; nil: the chunk has none
}

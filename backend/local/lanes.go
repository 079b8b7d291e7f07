package local

import (
	"cmp"
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// Vectors of lane 0 are stored in the partition of their chunks, together with the text.
// Each lane above 0 is stored in a partition of its own, whose rows have no text. Its class
// contains the lane number. It is flushed, merged, evicted and dropped like any partition.

// laneShift is the bit at which the lane number begins in a class.
const laneShift = 4

// inLane returns the name of the partition that holds the vectors of a lane.
func inLane(part backend.Partition, lane backend.Lane) backend.Partition {
	part.Class |= backend.Class(lane) << laneShift
	return part
}

// laneOf returns the lane whose vectors a partition holds. It is 0 for the partition with the text.
func laneOf(part backend.Partition) backend.Lane { return backend.Lane(part.Class >> laneShift) }

// fills reports whether a change of the run names the lane, which is above 0, and so may put vectors into it.
func fills(run []backend.Change, lane backend.Lane) bool {
	for i := range run {
		if run[i].Lane == lane {
			return true
		}
	}
	return false
}

// laneSteps returns the steps for a lane above 0 that follow from the changes of a run. base has the steps of the same changes in lane 0.
func laneSteps(base []step, run []backend.Change, lane backend.Lane) (out []step) {
	for i := range run {
		c := &run[i]
		change := &backend.Change{Kind: c.Kind, Part: inLane(c.Part, lane), Source: c.Source, Tags: c.Tags}
		switch {
		case c.Kind == backend.PutVectors && base[i].unknown:
			continue
		case c.Kind == backend.PutChunks && c.Lane == lane, c.Kind == backend.PutVectors && c.Lane == lane:
			change.Kind, change.Rows = backend.PutChunks, withVectors(c.Rows)
		case c.Kind == backend.PutChunks:
			change.Kind = backend.Drop
		case c.Kind != backend.PutTags && c.Kind != backend.Drop:
			continue
		}
		out = append(out, step{at: i, Change: change})
	}
	return out
}

// withVectors returns the rows that have a vector, without their text.
func withVectors(rows []backend.Row) []backend.Row {
	var out []backend.Row
	for i := range rows {
		if len(rows[i].Vector) > 0 {
			out = append(out, backend.Row{Chunk: rows[i].Chunk, Ordinal: rows[i].Ordinal, Vector: rows[i].Vector})
		}
	}
	return out
}

// withoutVectors returns a copy of c whose rows have no vectors.
func withoutVectors(c *backend.Change) *backend.Change {
	out := *c
	out.Rows = slices.Clone(c.Rows)
	for i := range out.Rows {
		out.Rows[i].Vector = nil
	}
	return &out
}

// dropLane drops the vectors of a lane above 0 in all partitions. The vectors of lane 0
// stay until their chunks are removed; searches no longer use them.
func (x *index) dropLane(lane backend.Lane) {
	if lane == 0 {
		return
	}
	x.emptyWhere(func(part backend.Partition) bool { return laneOf(part) == lane })
}

// surveyLane sets the dense scores of surveyed rows from their vectors in a lane above 0.
func (x *index) surveyLane(ctx context.Context, q *backend.SurveyQuery, s *backend.Survey) error {
	hits, err := x.SearchVectors(ctx, backend.VectorQuery{
		Part: q.Part, Lane: q.Lane, Vector: q.Vector, K: len(s.Rows), Filter: q.Filter, Answer: backend.Answer{AnyOrder: true},
	})
	if err != nil {
		return err
	}
	byChunk := func(a, b backend.Hit) int { return cmp.Compare(a.Chunk, b.Chunk) }
	slices.SortFunc(hits, byChunk)
	for i := range s.Rows {
		if at, ok := slices.BinarySearchFunc(hits, backend.Hit{Chunk: s.Rows[i].Chunk}, byChunk); ok {
			s.Rows[i].Dense = hits[at].Score
		}
	}
	return nil
}

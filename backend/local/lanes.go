package local

import (
	"cmp"
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// Vectors of lane 0 stand in the partition of their chunks, beside the text. Each
// further lane of a partition is a partition of its own, of rows without text, whose
// class is marked with the lane: so it is flushed, merged, evicted and dropped like any.

// laneShift is where the lane stands in the class of such a partition.
const laneShift = 4

// inLane names the partition that has the vectors of a lane.
func inLane(part backend.Partition, lane backend.Lane) backend.Partition {
	part.Class |= backend.Class(lane) << laneShift
	return part
}

// laneOf returns the lane that a partition has the vectors of; 0: it has the text.
func laneOf(part backend.Partition) backend.Lane { return backend.Lane(part.Class >> laneShift) }

// fills reports whether a change may put vectors into a lane above 0.
func fills(run []backend.Change, lane backend.Lane) bool {
	for i := range run {
		if run[i].Lane == lane {
			return true
		}
	}
	return false
}

// laneSteps returns what the changes of a run, made in base, change in a lane above 0.
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

// withVectors returns the rows that have a vector, with nothing else to index.
func withVectors(rows []backend.Row) []backend.Row {
	var out []backend.Row
	for i := range rows {
		if len(rows[i].Vector) > 0 {
			out = append(out, backend.Row{Chunk: rows[i].Chunk, Ordinal: rows[i].Ordinal, Vector: rows[i].Vector})
		}
	}
	return out
}

// withoutVectors returns a change whose rows have no vectors.
func withoutVectors(c *backend.Change) *backend.Change {
	out := *c
	out.Rows = slices.Clone(c.Rows)
	for i := range out.Rows {
		out.Rows[i].Vector = nil
	}
	return &out
}

// dropLane forgets the vectors of a lane above 0 in all partitions. Those of lane 0
// stay until their chunks go: nobody searches them again.
func (x *index) dropLane(lane backend.Lane) {
	if lane == 0 {
		return
	}
	x.emptyWhere(func(part backend.Partition) bool { return laneOf(part) == lane })
}

// surveyLane sets the scores of surveyed rows by a vector of a lane above 0.
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

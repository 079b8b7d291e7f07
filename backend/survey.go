package backend

import (
	"math"
	"time"
)

// SurveyQuery asks about all chunks of a partition.
type SurveyQuery struct {
	Part   Partition
	Text   string    // as in a [KeywordQuery] with Or
	Lane   Lane      // lane of the vectors to score
	Vector []float32 // as in a [VectorQuery]; nil: no dense scores
	Filter Filter
	Most   int // greatest number of chunks of a partition that is surveyed
}

// Survey is the description of a partition for a recall.
type Survey struct {
	Rows     []Surveyed // every chunk that passes the filter
	Speakers []string   // speakers by Beside.Speaker; callers must not change them
	Terms    []TermInfo // terms of the text, as Keywords.Terms returns them
	Docs     int        // number of chunks in the partition
	AvgTerms float32    // mean number of terms of these chunks
}

// Surveyed is a chunk with its scores.
type Surveyed struct {
	Chunk, Source int64
	Keyword       float32 // score as in SearchKeywords; 0: not found
	Dense         float32 // score as in SearchVectors; 0: not found, or a score of 0
	NeighbourPlaces
}

// NeighbourPlaces is a compact form of [Neighbours], which names chunks by their places in the survey. It is zero
// in partitions of other classes than Memory.
type NeighbourPlaces struct {
	Session    int64
	Time       Micros   // NoTime: unknown
	Prev, Next [2]int32 // places of chunks in Survey.Rows, counted from 1, nearest first; 0: none, or it does not pass the filter
	Speaker    int32    // index in Survey.Speakers
	Marks      Marks
}

// Micros is a time in microseconds since 1970.
type Micros int64

// NoTime is the unknown time. It sorts before all others.
const NoTime Micros = math.MinInt64

// MicrosOf returns a time as Micros, the zero time as NoTime.
func MicrosOf(t time.Time) Micros {
	if t.IsZero() {
		return NoTime
	}
	return Micros(t.UnixMicro())
}

// Time returns the time, in UTC; the zero time for NoTime.
func (m Micros) Time() time.Time {
	if m == NoTime {
		return time.Time{}
	}
	return time.UnixMicro(int64(m)).UTC()
}

// Marks are facts about a chunk; see [Neighbours].
type Marks uint8

// Facts about a chunk.
const (
	MarkQuestion Marks = 1 << iota
	MarkHasTime
	MarkAsks
	MarkFirst
	MarkSecond
	MarkOpens // the chunk is the first of several chunks of a session
)

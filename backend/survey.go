package backend

import (
	"math"
	"time"
)

// SurveyQuery asks about all chunks of a partition.
type SurveyQuery struct {
	Part   Partition
	Text   string    // as of a [KeywordQuery] under Or
	Lane   Lane      // of the vectors
	Vector []float32 // as of a [VectorQuery]; nil: no scores by vectors
	Filter Filter
	Most   int // chunks that the partition may have
}

// Survey is a partition as a recall sees it.
type Survey struct {
	Rows     []Surveyed // every chunk that passes the filter
	Speakers []string   // what Beside.Speaker refers to; nobody may change them
	Terms    []TermInfo // of the text, as of Terms
	Docs     int        // chunks of the partition
	AvgTerms float32    // their mean number of terms
}

// Surveyed is a chunk with its scores.
type Surveyed struct {
	Chunk, Source int64
	Keyword       float32 // as of SearchKeywords; 0: not found
	Dense         float32 // as of SearchVectors; 0: not found, or a score of 0
	Beside
}

// Beside is what [Neighbours] says of a chunk, in little room and by places. It is zero in partitions of
// other classes than Memory.
type Beside struct {
	Session    int64
	Time       Micros   // NoTime: not known
	Prev, Next [2]int32 // places of chunks in the survey, counted from 1, nearest first; 0: none that passes
	Speaker    int32    // place in the names
	Marks      Marks
}

// Micros is a time in microseconds since 1970.
type Micros int64

// NoTime is a time that is not known. It sorts before all others.
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
	MarkOpens // it is the first of several chunks of a session
)

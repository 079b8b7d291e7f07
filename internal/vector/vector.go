// Package vector searches float32 vectors by inner product or cosine.
//
// A part is a numbered set of rows: a Mem grows in memory, a Segment is a
// finished, immutable file that is mapped and read in place. A partition is some
// segments and one tail; each is searched with the same Query and the caller
// merges the hits.
//
// Every row exists twice: quantised to signed 8 bits with one scale, padded to a
// cache line, and as the float32 it was given as. A search scans the 8-bit rows
// with one kernel call per block and scores the best candidates again in
// float32, so the score of a hit is always the float32 one and does not depend
// on the machine. A segment of many rows adds an inverted file: rows grouped
// around centroids, of which a search visits only the promising ones.
package vector

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/contextmem/contextmem/internal/bitset"
)

// MaxDim is the largest number of dimensions of a part.
const MaxDim = 4096

// MaxRows is the largest number of rows of a part.
const MaxRows = 1<<31 - 1

// Errors of this package, matched with errors.Is.
var (
	// ErrDimension is returned for a vector whose length is not the part's.
	ErrDimension = errors.New("vector: wrong number of dimensions")
	// ErrFormat is returned for bytes that are not a segment, are cut or damaged,
	// or were written by another version of the format.
	ErrFormat = errors.New("vector: not a readable segment")
)

// Metric says what the score of two vectors is; higher is closer.
type Metric int

const (
	// InnerProduct scores the vectors as they are given; nothing is normalised.
	InnerProduct Metric = iota
	// Cosine scores the angle: rows and queries are normalised as they come in,
	// and Vector returns the normalised row. A zero vector scores 0 with all.
	Cosine
)

// valid reports whether m is a metric of this package.
func (m Metric) valid() bool { return m == InnerProduct || m == Cosine }

// Hit is a row and its score, the float32 inner product or cosine.
type Hit struct {
	Row   uint32
	Score float32
}

// Compare orders hits by score, highest first, then by row, lowest first.
func Compare(a, b Hit) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	case a.Row < b.Row:
		return -1
	case a.Row > b.Row:
		return 1
	}
	return 0
}

// DefaultRecall is the share of the true top K that a search of a large segment
// aims for when the query does not say.
const DefaultRecall = 0.98

// Query is one search. It is only read, and may be used for many parts at once.
type Query struct {
	// Vector has the part's number of dimensions. A vector whose squared
	// length is not a finite float32 finds nothing.
	Vector []float32
	// K is the number of hits wanted; 0 or less wants none.
	K int
	// Accept is the set of rows that may be returned; rows it does not speak of
	// may not. Nil accepts all.
	Accept *bitset.Set
	// Recall is the expected share of the true top K to find, in (0,1), where the
	// part is large enough to be searched approximately. 0 is DefaultRecall; 1 or
	// more searches exactly.
	Recall float32
	// Floor, if above 0, is a score below which hits are not wanted: rows that score
	// less may be left out. It says what other parts have found.
	Floor float32
	// AnyOrder says that the order of the hits does not matter.
	AnyOrder bool
}

// checkShape returns an error unless dim and metric can make a part.
func checkShape(dim int, metric Metric) error {
	if dim < 1 || dim > MaxDim {
		return fmt.Errorf("%w: %d is not in 1..%d", ErrDimension, dim, MaxDim)
	}
	if !metric.valid() {
		return fmt.Errorf("vector: unknown metric %d", metric)
	}
	return nil
}

// normalise scales v to length 1, in place. A zero vector, and one whose length
// is not finite, stays as it is.
func normalise(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
		return
	}
	f := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * f)
	}
}

// appendHits appends the best hits of a search to dst.
func (s *search) appendHits(dst []Hit) []Hit {
	if s.anyOrder {
		return append(dst, s.best.hits...)
	}
	return appendTop(dst, s.best.hits, s.k)
}

// appendTop appends the best k hits of found to dst in order. It reorders found.
func appendTop(dst, found []Hit, k int) []Hit {
	slices.SortFunc(found, Compare)
	return append(dst, found[:min(k, len(found))]...)
}

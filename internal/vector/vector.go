// Package vector searches float32 vectors by inner product or cosine.
//
// A part is a numbered set of rows. There are two kinds: a Mem is in memory and can grow, a
// Segment is an immutable file that is mapped and read in place. A partition consists of
// several segments and one Mem. The caller searches each with the same Query and merges
// the hits.
//
// A part stores every row twice: as float32, and quantised to signed 8 bits with one scale.
// A search scans the 8-bit rows with one kernel call per block, and scores the best
// candidates again in float32. The score of a hit is therefore always its float32 score and
// does not depend on the machine. A segment of many rows also has an inverted file: it groups
// rows around centroids into lists, and a search visits only the most promising lists.
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
	// ErrDimension is returned for a vector whose length is not the part's Dim.
	ErrDimension = errors.New("vector: wrong number of dimensions")
	// ErrFormat is returned for bytes that are not a segment, are cut or damaged,
	// or were written by another version of the format.
	ErrFormat = errors.New("vector: not a readable segment")
)

// Metric defines the score of two vectors; a higher score is closer.
type Metric int

const (
	// InnerProduct scores the inner product of the vectors, without normalising them.
	InnerProduct Metric = iota
	// Cosine scores the cosine of the angle. Parts normalise rows and queries, and Vector
	// returns the normalised row. A zero vector has score 0 with every vector.
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

// DefaultRecall is the expected share of the true top K that a search of a large segment
// finds if Query.Recall is 0.
const DefaultRecall = 0.98

// Query is one search. Searches do not change it, so several parts can be searched with it concurrently.
type Query struct {
	// Vector has the part's number of dimensions. If its squared length is not a
	// finite float32, a search finds nothing.
	Vector []float32
	// K is the maximal number of hits; with 0 or less there are none.
	K int
	// Accept is the set of rows that may be returned. Rows beyond its end may not. Nil
	// accepts all rows.
	Accept *bitset.Set
	// Recall is the expected share of the true top K to find, in (0,1), where the
	// part is large enough to be searched approximately. 0 is DefaultRecall; 1 or
	// more searches exactly.
	Recall float32
	// Floor, if above 0, allows a search to leave out rows that score less. A caller sets it
	// to the worst of the K hits that it has found in other parts.
	Floor float32
	// AnyOrder allows hits in any order.
	AnyOrder bool
}

// checkShape returns an error unless dim and metric are valid for a part.
func checkShape(dim int, metric Metric) error {
	if dim < 1 || dim > MaxDim {
		return fmt.Errorf("%w: %d is not in 1..%d", ErrDimension, dim, MaxDim)
	}
	if !metric.valid() {
		return fmt.Errorf("vector: unknown metric %d", metric)
	}
	return nil
}

// normalise scales v to length 1, in place. It does not change a zero vector, or one whose length
// is not finite.
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

// appendTop appends the best k hits of found to dst in order. It changes the order of found.
func appendTop(dst, found []Hit, k int) []Hit {
	slices.SortFunc(found, Compare)
	return append(dst, found[:min(k, len(found))]...)
}

package weaviate

import (
	"math"

	"github.com/contextmem/contextmem/backend"
)

// A node whose memory held only deletions when it wrote that to a segment has an average length that is no number from then on, for good: up
// to 1.35.2 it divides 0 by 0. It goes on to score, as if all chunks were equally long, and each segment that it writes has 0 for the
// highest scores in it. A BM25 search with a limit then finds the chunks that were stored first, in place of the best. The scores of these are
// consistent. So an answer is only used if it shows that the node weighs lengths.

const (
	// lengthsOf is the maximum number of candidates by which lengths are checked.
	lengthsOf = 64
	// minOff is how far scores without an average length have to be off from the node's, relative to these, to show that the node has one:
	// more than rounding makes.
	minOff = .0003
	// averages and averagesPerOctave say which average lengths of a node come into question: from 1/8 of that of the partition to 8 times that. The
	// node's is that of all partitions.
	averages, averagesPerOctave = 25, 4
)

// weighsLengths reports whether the scores of a node depend on lengths as they should: whether those by an average length that comes
// into question are at most half as far off from the node's as scores without an average length are. What each term weighs at the node
// follows from the scores, since the node may count chunks that are gone. average is the average length of the partition.
func weighsLengths(terms []backend.WeightedTerm, average float64, found []candidate) bool {
	found = found[:min(lengthsOf, len(found))]
	seen := map[string]bool{}
	var names []string
	for _, t := range terms {
		if name := encodeTerm(t.Term); !seen[name] && !isStop(t.Term) {
			seen[name], names = true, append(names, name)
		}
	}
	scores, tfs := make([]float64, len(found)), make([][]int, len(found))
	for i := range found {
		scores[i], tfs[i] = found[i].own, make([]int, len(names))
		for j, name := range names {
			tfs[i][j] = found[i].tf[name]
		}
	}
	rows := make([][]float64, len(found))
	for i := range rows {
		rows[i] = make([]float64, len(names)+1)
	}
	off := func(average float64) float64 {
		for i, row := range rows {
			for j, tf := range tfs[i] {
				row[j] = saturation(tf, found[i].tokens, average)
			}
			row[len(names)] = scores[i]
		}
		return residual(rows)
	}
	least := math.Inf(1)
	for i := range averages {
		least = min(least, off(max(average, 1)*math.Exp2(float64(i-averages/2)/averagesPerOctave)))
	}
	without := min(off(0), off(math.Inf(1)))
	return without > minOff && 2*least < without // false if one is no number
}

// residual returns how far the last column of a matrix is from the closest sum of multiples of the others, relative to its own length. It changes the
// matrix. The columns are made orthogonal one after the other, as by Gram and Schmidt.
func residual(rows [][]float64) float64 {
	if len(rows) == 0 {
		return 0
	}
	last := len(rows[0]) - 1
	square := func(k int) (sum float64) {
		for _, row := range rows {
			sum += row[k] * row[k]
		}
		return sum
	}
	whole := square(last)
	first := make([]float64, last)
	for k := range last {
		first[k] = square(k)
	}
	for k := range last {
		of := square(k)
		if of <= 1e-12*first[k] {
			continue // it depends on the columns before
		}
		for j := k + 1; j <= last; j++ {
			dot := 0.0
			for _, row := range rows {
				dot += row[k] * row[j]
			}
			for _, row := range rows {
				row[j] -= dot / of * row[k]
			}
		}
	}
	return math.Sqrt(square(last) / whole)
}

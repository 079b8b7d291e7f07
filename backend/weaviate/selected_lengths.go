package weaviate

import "math"

// A node whose memory held only deletions when it wrote that to a segment has an average length that is no number from then on, for good: up
// to 1.35.2 it divides 0 by 0. It goes on to score, as if all chunks were equally long, and each segment that it writes has 0 for the
// highest scores in it. A BM25 search with a limit then finds the chunks that were stored first, in place of the best. The scores of these are
// consistent. So an answer is only used if it shows that the node weighs lengths.

const (
	// lengthsOf is the maximum number of candidates by which lengths are checked.
	lengthsOf = 64
	// minVariation is the standard deviation of what scores without an average length are off from the node's, above which it shows that
	// the node has one: more than rounding makes.
	minVariation = .001
	// averages and averagesPerOctave say which average lengths of a node come into question: from 1/8 of that of the partition to 8 times that. The
	// node's is that of all partitions.
	averages, averagesPerOctave = 25, 4
)

// weighsLengths reports whether the scores of a node depend on lengths as they should: whether those by an average length that comes
// into question vary at most half as much from the node's, apart from a factor, as scores without an average length do. weigh is what
// terms weigh in the cluster, and average the average length of the partition. What the node counts may be off, so they vary in any case.
func weighsLengths(weigh map[string]float64, average float64, found []candidate) bool {
	found = found[:min(lengthsOf, len(found))]
	type part struct {
		weight float64
		tf     int
	}
	parts := make([][]part, len(found))
	for i := range found {
		for term, tf := range found[i].tf {
			if w := weigh[term]; w > 0 {
				parts[i] = append(parts[i], part{w, tf})
			}
		}
	}
	// varies returns the standard deviation of the logarithms of the factors between the scores and those by an average length.
	varies := func(average float64) float64 {
		sum, squares, n := 0.0, 0.0, float64(len(found))
		for i := range found {
			by := 0.0
			for _, p := range parts[i] {
				by += p.weight * saturation(p.tf, found[i].tokens, average)
			}
			x := math.Log(found[i].own / by)
			sum, squares = sum+x, squares+x*x
		}
		return math.Sqrt(max(squares/n-sum*sum/n/n, 0))
	}
	least := math.Inf(1)
	for i := range averages {
		least = min(least, varies(max(average, 1)*math.Exp2(float64(i-averages/2)/averagesPerOctave)))
	}
	without := min(varies(0), varies(math.Inf(1)))
	return without > minVariation && 2*least < without // false if one is no number
}

package weaviate

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
)

// A node whose memory held only deletions when it wrote that to a segment has an average length that is no number from then on, for good: up
// to 1.35.2 it divides 0 by 0. It goes on to score, as if all chunks were equally long, and each segment that it writes has 0 for the
// highest scores in it. A BM25 search with a limit then finds the chunks that were stored first, in place of the best. The scores of these are
// consistent. So an answer is only used if it shows that the node weighs lengths.
//
// A node goes on counting chunks that were deleted or stored again, so a term may weigh much less than by the statistics of the partition. What it weighs
// follows from the scores too. If a chunk that the node left out may be among the best because of that, the node is asked again with other repeats.

const (
	// lengthsOf is the maximum number of candidates by which lengths are checked.
	lengthsOf = 64
	// minOff is how far scores without an average length have to be off from the node's, relative to these, to show that the node has one:
	// more than rounding makes. maxOff is how far the scores by which weights are known may be off.
	minOff, maxOff = .0003, .02
	// averages and averagesPerOctave say which average lengths of a node come into question: from 1/8 of that of the partition to 8 times that. The
	// node's is that of all partitions. averageSteps is the number of steps in which the best of them is made more exact.
	averages, averagesPerOctave, averageSteps = 25, 4, 6
	// expectedShare says how much the weights that a node should have count beside what the scores show. Some terms cannot be told apart by these, or
	// are in no candidate.
	expectedShare = 1e-5
	// leftOutShare is how many times as good as the last hit a chunk may be at most that the node has left out.
	leftOutShare = 1.03
)

// askedTerm is a term of a BM25 search of the cluster.
type askedTerm struct {
	term, name string  // name: encoded
	df         int     // number of chunks that have it, or more
	inAll      bool    // whether all chunks have it
	recent     []int64 // recent chunks that have it, if the cluster may select all others
	weight     float64 // by the statistics of the partition
	once       float64 // what it should weigh at the node if it is not repeated
	times      int     // how often it is repeated
}

// weighing is how a node weighs: by which average length, and how much each term.
type weighing struct {
	average float64
	terms   []float64
	unasked float64 // how much terms weigh together, by the statistics of the partition, by which the node does not score
}

// weighingOf returns how a node weighs, as its scores of candidates show. It returns false if the scores do not depend on lengths as they should: those by an
// average length that comes into question have to be at most half as far off from the node's as scores without an average length are. What each term weighs at
// the node follows from the scores, since the node may count chunks that are gone. average is the average length of the partition. before is that of the node as an
// earlier answer has shown it, or 0: only if it is another one now, all that come into question are tried.
func weighingOf(terms []askedTerm, average, before float64, found []candidate) (weighing, bool) {
	m := newScoreMatrix(terms, found[:min(lengthsOf, len(found))])
	without := min(m.fit(0), m.fit(math.Inf(1)))
	if !(without > minOff) { // not if it is no number
		return weighing{}, false
	}
	w, known := weighing{}, false
	if before > 0 {
		w.average = m.closest(before)
		known = math.Abs(math.Log2(w.average/before)) < .5/averagesPerOctave && 2*m.fit(w.average) < without
	}
	if !known {
		best, least := 0.0, math.Inf(1)
		for i := range averages {
			at := max(average, 1) * math.Exp2(float64(i-averages/2)/averagesPerOctave)
			if o := m.fit(at); o < least {
				best, least = at, o
			}
		}
		if !(2*least < without) {
			return weighing{}, false
		}
		w.average = m.closest(best)
	}
	m = newScoreMatrix(terms, found)
	for _, t := range terms {
		m.expected = append(m.expected, t.once*float64(t.times))
	}
	_ = m.fit(w.average)
	w.terms = m.solve()
	return w, m.off(&w) <= maxOff
}

// closest returns an average length near another one by which the scores are closest to the node's.
func (m *scoreMatrix) closest(near float64) float64 {
	from, to := -1./averagesPerOctave, 1./averagesPerOctave
	off := func(octaves float64) float64 { return m.fit(near * math.Exp2(octaves)) }
	for range averageSteps {
		third := (to - from) / 3
		if off(from+third) < off(to-third) {
			to -= third
		} else {
			from += third
		}
	}
	return near * math.Exp2((from+to)/2)
}

// leftOut returns how many times as good as the last of k hits a chunk may be at most that a node has left out, except by its length. found is what the node has selected,
// in its order.
func (w *weighing) leftOut(terms []askedTerm, found []candidate, k int) float64 {
	scores := make([]float64, len(found))
	for i := range found {
		for _, t := range terms {
			scores[i] += t.weight * saturation(found[i].tf[t.name], found[i].tokens, w.average)
		}
	}
	slices.Sort(scores)
	// At most this much of the node's score has a chunk that it has left out. The terms that weigh least at the node, for what they weigh here, give the highest score for it.
	rest, most := found[len(found)-1].own, w.unasked
	var order []int
	for i := range terms {
		if t := &terms[i]; t.inAll { // it has that too, at least once
			once := saturation(1, int(w.average), w.average)
			rest, most = rest-w.terms[i]*once, most+t.weight*once
		}
		if terms[i].name != everyTerm && !terms[i].allIn(found) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Compare(max(w.terms[i], 0)*terms[j].weight, max(w.terms[j], 0)*terms[i].weight)
	})
	for _, i := range order {
		share := 1.0
		if w.terms[i] > rest {
			share = max(rest, 0) / w.terms[i]
		}
		most += share * terms[i].weight
		rest -= share * w.terms[i]
	}
	return most / scores[max(len(scores)-k, 0)]
}

// allIn reports whether found and the recent chunks are all that have a term.
func (t *askedTerm) allIn(found []candidate) bool {
	if len(found)+len(t.recent) < t.df {
		return false
	}
	in := make(map[int64]bool, t.df)
	for _, c := range t.recent {
		in[c] = true
	}
	for i := range found {
		if found[i].tf[t.name] > 0 {
			in[found[i].chunk] = true
		}
	}
	return len(in) >= t.df
}

// correct sets repeats of terms by what they weigh at the node. It returns false if the node takes off for one that matters.
func (w *weighing) correct(terms []askedTerm) bool {
	heaviest := 0.0
	for _, t := range terms {
		heaviest = max(heaviest, t.weight)
	}
	for i := range scoringOf(terms) {
		t := &terms[i]
		if once := w.terms[i] / float64(t.times); once > 0 {
			t.once = once
		} else if t.weight > minMatter*heaviest {
			return false
		}
	}
	setRepeats(terms, 0)
	return true
}

// atomicFloat is a number that several goroutines load and store.
type atomicFloat struct{ bits atomic.Uint64 }

func (f *atomicFloat) load() float64   { return math.Float64frombits(f.bits.Load()) }
func (f *atomicFloat) store(v float64) { f.bits.Store(math.Float64bits(v)) }

// scoreMatrix is the linear equations for the weights of terms: a row for each candidate with its saturations, and its score in the last column. It is stored by columns.
type scoreMatrix struct {
	tfs      [][]int
	tokens   []int
	scores   []float64
	expected []float64 // weights; nil: any weights will do
	columns  [][]float64
	upper    [][]float64 // shares of earlier columns that were taken from later ones
	left     []bool      // columns that do not depend on earlier ones
}

func newScoreMatrix(terms []askedTerm, found []candidate) *scoreMatrix {
	m := &scoreMatrix{scores: make([]float64, len(found)), tokens: make([]int, len(found)), tfs: make([][]int, len(found))}
	for i := range found {
		m.scores[i], m.tokens[i], m.tfs[i] = found[i].own, found[i].tokens, make([]int, len(terms))
		for j, t := range terms {
			m.tfs[i][j] = found[i].tf[t.name]
		}
	}
	m.upper, m.left = make([][]float64, len(terms)), make([]bool, len(terms))
	for k := range m.upper {
		m.upper[k] = make([]float64, len(terms)+1)
	}
	return m
}

// off returns how far the scores are from those by some weights of terms, relative to the scores.
func (m *scoreMatrix) off(w *weighing) float64 {
	sum, whole := 0.0, 0.0
	for i, tfs := range m.tfs {
		rest := m.scores[i]
		for j, tf := range tfs {
			rest -= w.terms[j] * saturation(tf, m.tokens[i], w.average)
		}
		sum, whole = sum+rest*rest, whole+m.scores[i]*m.scores[i]
	}
	return math.Sqrt(sum / whole)
}

// fit fills in the matrix for an average length and returns how far the scores are from the closest sum of multiples of the columns, relative to
// their own length. The columns are made orthogonal one after the other, as by Gram and Schmidt.
func (m *scoreMatrix) fit(average float64) float64 {
	last, rows := len(m.upper), len(m.tfs)+len(m.expected)
	for len(m.columns) <= last {
		m.columns = append(m.columns, make([]float64, rows))
	}
	for i, tfs := range m.tfs {
		half := halfSaturated(m.tokens[i], average)
		for j, tf := range tfs {
			m.columns[j][i] = float64(tf) / (float64(tf) + half)
		}
		m.columns[last][i] = m.scores[i]
	}
	share := math.Sqrt(expectedShare * float64(len(m.tfs)))
	for i, e := range m.expected {
		at := len(m.tfs) + i
		for j := range last {
			m.columns[j][at] = 0
		}
		m.columns[i][at], m.columns[last][at] = share, share*e
	}
	return m.residual()
}

// residual makes the columns orthogonal and returns what is left of the last one.
func (m *scoreMatrix) residual() float64 {
	last := len(m.columns) - 1
	square := func(k int) (sum float64) {
		for _, v := range m.columns[k] {
			sum += v * v
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
		if m.left[k] = of > 1e-12*first[k]; !m.left[k] {
			continue
		}
		column := m.columns[k]
		for j := k + 1; j <= last; j++ {
			dot, other := 0.0, m.columns[j][:len(column)]
			for i, v := range column {
				dot += v * other[i]
			}
			share := dot / of
			m.upper[k][j] = share
			for i, v := range column {
				other[i] -= share * v
			}
		}
	}
	return math.Sqrt(square(last) / whole)
}

// solve returns the weights of the terms after fit.
func (m *scoreMatrix) solve() []float64 {
	last := len(m.upper)
	out := make([]float64, last)
	for k := last - 1; k >= 0; k-- {
		if !m.left[k] {
			continue
		}
		out[k] = m.upper[k][last]
		for j := k + 1; j < last; j++ {
			out[k] -= m.upper[k][j] * out[j]
		}
	}
	return out
}

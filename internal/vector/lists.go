package vector

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"
)

const (
	// adaptFrom is a divisor: the lists of an earlier segment are used again if it has at least 1/adaptFrom of the
	// rows of the new one.
	adaptFrom = 2
	// smallList is a divisor: lists shorter than 1/smallList of the mean are dissolved.
	smallList = 8
	// largeList is a factor: a list longer than largeList times the mean is split, and a small one dissolved for it.
	largeList = 2
	// adaptRounds is the number of k-means rounds over all lists after splitting and dissolving.
	adaptRounds = 2
	// splitRounds is the number of 2-means rounds that split a list.
	splitRounds = 4
)

// inverted reports whether a segment has lists whose centroids have dim dimensions.
func (s *Segment) inverted(dim int) bool {
	return s != nil && s.h.kind != kindExact && s.h.dim == dim && s.h.lists > 1
}

// codebook returns a copy of the centroids.
func (s *Segment) codebook() *codebook {
	c := newCodebook(s.h.dim, s.h.lists)
	v := make([]float32, s.h.dim)
	stride := codeStride(s.h.dim)
	for i := range c.scales {
		dequantise(v, s.ivf.centroids[i*stride:], s.ivf.scales[i])
		c.set(i, v)
	}
	return c
}

// listSplitter adapts lists to changed rows, as SPFresh does (Xu et al. 2023): it splits lists that have grown and
// dissolves lists that have shrunk. Two rounds of k-means then adjust all centroids.
type listSplitter struct {
	sample  *sample
	r       *rand.Rand
	rows    [][]int     // rows of the sample in each list
	centres [][]float32 // centroid of each list; nil: the list is dissolved
	large   []int       // a heap of lists, the largest first
}

// adapt returns a codebook with the given number of lists, computed from the codebook of an earlier segment.
func adapt(old *codebook, sample *sample, lists, workers int, r *rand.Rand, check func() error) (*codebook, error) {
	n := len(sample.scales)
	owner := make([]int, n)
	g, err := newGroups(old, workers, r, check)
	if err != nil {
		return nil, err
	}
	if err := g.own(sample, owner, workers, check); err != nil {
		return nil, err
	}
	old = g.book
	s := &listSplitter{sample: sample, r: r, rows: make([][]int, len(old.scales)), centres: make([][]float32, len(old.scales))}
	for i, list := range owner {
		s.rows[list] = append(s.rows[list], i)
	}
	left := 0
	for i := range s.rows {
		if len(s.rows[i])*smallList*lists < n {
			continue // k-means assigns its rows to the nearest other lists
		}
		s.centres[i] = make([]float32, sample.dim)
		old.get(i, s.centres[i])
		s.large = append(s.large, i)
		left++
	}
	small := slices.SortedFunc(slices.Values(s.large), func(a, b int) int { return cmp.Or(len(s.rows[a])-len(s.rows[b]), a-b) })
	for left > lists {
		s.centres[small[0]], small = nil, small[1:]
		left--
	}
	s.large = slices.Clone(small)
	heap.Init(s)
	for left < lists {
		s.split()
		left++
	}
	for len(small) > lists/2 && len(s.rows[s.large[0]])*lists > largeList*n {
		s.split()
		s.centres[small[0]], small = nil, small[1:]
	}
	c := newCodebook(sample.dim, lists)
	at := 0
	for _, centre := range s.centres {
		if centre != nil {
			c.set(at, centre)
			at++
		}
	}
	return c.improve(sample, owner, adaptRounds, workers, r, check)
}

// split divides the largest list by 2-means. If no list has two rows, it adds a random row as a centroid.
func (s *listSplitter) split() {
	dim := s.sample.dim
	second := make([]float32, dim)
	if len(s.large) == 0 || len(s.rows[s.large[0]]) < 2 {
		s.sample.get(s.r.IntN(len(s.sample.scales)), second)
		s.centres, s.rows = append(s.centres, second), append(s.rows, nil)
		heap.Push(s, len(s.rows)-1)
		return
	}
	list := heap.Pop(s).(int)
	rows := s.rows[list]
	first := s.centres[list]
	a := s.r.IntN(len(rows))
	b := s.r.IntN(len(rows) - 1)
	if b >= a {
		b++
	}
	s.sample.get(rows[a], first)
	s.sample.get(rows[b], second)
	v, sums := make([]float32, dim), [2][]float32{make([]float32, dim), make([]float32, dim)}
	var parts [2][]int
	for range splitRounds {
		parts = [2][]int{}
		clear(sums[0])
		clear(sums[1])
		for _, row := range rows {
			s.sample.get(row, v)
			var x float32 // difference of the squared distances from first and second
			for j := range v {
				d, e := v[j]-first[j], v[j]-second[j]
				x += float32(d*d) - float32(e*e)
			}
			k := 0
			if x > 0 {
				k = 1
			}
			parts[k] = append(parts[k], row)
			for j := range v {
				sums[k][j] += v[j]
			}
		}
		if len(parts[0]) == 0 || len(parts[1]) == 0 { // all rows are equal
			half := len(rows) / 2
			parts = [2][]int{rows[:half], rows[half:]}
			break
		}
		for j := range v {
			first[j], second[j] = sums[0][j]/float32(len(parts[0])), sums[1][j]/float32(len(parts[1]))
		}
	}
	s.rows[list] = parts[0]
	s.centres, s.rows = append(s.centres, second), append(s.rows, parts[1])
	heap.Push(s, list)
	heap.Push(s, len(s.rows)-1)
}

// Len implements heap.Interface.
func (s *listSplitter) Len() int { return len(s.large) }

// Less implements heap.Interface.
func (s *listSplitter) Less(i, j int) bool {
	a, b := s.large[i], s.large[j]
	return len(s.rows[a]) > len(s.rows[b]) || len(s.rows[a]) == len(s.rows[b]) && a < b
}

// Swap implements heap.Interface.
func (s *listSplitter) Swap(i, j int) { s.large[i], s.large[j] = s.large[j], s.large[i] }

// Push implements heap.Interface.
func (s *listSplitter) Push(x any) { s.large = append(s.large, x.(int)) }

// Pop implements heap.Interface.
func (s *listSplitter) Pop() any {
	last := s.large[len(s.large)-1]
	s.large = s.large[:len(s.large)-1]
	return last
}

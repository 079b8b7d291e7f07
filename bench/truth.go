package bench

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"
)

// TopK is the number of hits that every search requests.
const TopK = 10

// Truth holds the exact answer to each query among the rows that pass a filter.
type Truth struct {
	v     *Vectors
	allow func(row int) bool
	kth   []float32 // score of the last true hit of each query
	count []int     // number of true hits, below TopK if fewer rows pass the filter
	lid   float64
}

// tie is the difference of scores below which two rows count as equally near, since engines
// sum floats in different orders.
const tie = 1e-5

// Exact scans all rows for each query; allow may be nil.
func Exact(v *Vectors, allow func(row int) bool) *Truth { return exactEach(v, allow)[0] }

// exactEach computes Exact for several filters in one scan.
func exactEach(v *Vectors, allows ...func(row int) bool) []*Truth {
	out := make([]*Truth, len(allows))
	lids := make([][]float64, len(allows))
	for f, allow := range allows {
		out[f] = &Truth{v: v, allow: allow, kth: make([]float32, len(v.Queries)), count: make([]int, len(v.Queries))}
		lids[f] = make([]float64, len(v.Queries))
	}
	each(len(v.Queries), func(q int) {
		best := make([][]float32, len(allows)) // ascending
		for i := range v.N {
			x := vek32.Dot(v.Row(i), v.Queries[q])
			for f, allow := range allows {
				if len(best[f]) == TopK && x <= best[f][0] || allow != nil && !allow(i) {
					continue
				}
				at, _ := slices.BinarySearch(best[f], x)
				best[f] = slices.Insert(best[f], at, x)
				if len(best[f]) > TopK {
					best[f] = best[f][1:]
				}
			}
		}
		for f, t := range out {
			t.count[q] = len(best[f])
			if len(best[f]) > 0 {
				t.kth[q] = best[f][0]
			}
			lids[f][q] = intrinsicDimension(best[f])
		}
	})
	for f, t := range out {
		for _, l := range lids[f] {
			t.lid += l / float64(len(lids[f]))
		}
	}
	return out
}

// LID returns the mean local intrinsic dimension at the queries, estimated by maximum likelihood
// from the distances of the true hits. Higher is harder to search. Text embeddings have 10 to 30.
func (t *Truth) LID() float64 { return t.lid }

func intrinsicDimension(rising []float32) float64 {
	if len(rising) < 2 {
		return 0
	}
	distance := func(s float32) float64 { return math.Sqrt(max(2-2*float64(s), 1e-12)) }
	far, sum := distance(rising[0]), 0.0
	for _, s := range rising[1:] {
		sum += math.Log(far / distance(s))
	}
	if sum <= 0 {
		return 0
	}
	return float64(len(rising)-1) / sum
}

// each calls f for 0..n-1 on all processors.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}

// Recall returns the share of the true hits of query q that are among rows. Rows that the
// filter excludes, that do not exist or that are repeated do not count. A row whose score
// equals that of the last true hit counts as a true hit.
func (t *Truth) Recall(q int, rows []int) float64 {
	if t.count[q] == 0 {
		return 1
	}
	good := 0
	seen := make(map[int]bool, len(rows))
	for _, r := range rows {
		if r < 0 || r >= t.v.N || seen[r] || t.allow != nil && !t.allow(r) {
			continue
		}
		seen[r] = true
		if vek32.Dot(t.v.Row(r), t.v.Queries[q]) >= t.kth[q]-tie {
			good++
		}
	}
	return float64(min(good, t.count[q])) / float64(t.count[q])
}

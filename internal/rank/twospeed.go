package rank

import (
	"math"

	"github.com/contextmem/contextmem/backend"
)

// While the vectors of an embedder are being made, chunks that have none yet are scored by those of Engine.Fast, put
// into the scale of the engine: as many standard deviations above unrelated texts as the fast embedder says, by a factor,
// since a weaker embedder's word means less.
const (
	fastTrust  = .8
	leastDense = 1e-6 // dense score of a chunk that has a vector, where that says less than nothing
	fastRows   = 10   // rows from which the spread of the fast embedder's scores is estimated
)

// bare reports whether no candidate has a vector of the engine: then the fast engine ranks alone, as it does
// where there is no other.
func (q *work) bare() bool {
	if q.Fast == nil {
		return false
	}
	if q.failed {
		return true
	}
	if q.w == 0 {
		return false
	}
	for i := range q.rows {
		if q.rows[i].Dense > 0 {
			return false
		}
	}
	return true
}

// beside scores the candidates that have no vector of the engine by those of the fast one.
func (q *work) beside() error {
	if q.Fast == nil || q.w == 0 {
		return nil
	}
	lacking := 0
	for i := range q.rows {
		if q.rows[i].Dense == 0 {
			lacking++
		}
	}
	if q.whole && lacking == 0 {
		return nil
	}
	k := q.depth()
	if q.whole {
		k = max(q.docs, 1)
	}
	vec, err := q.asked.fast.embed(q.ctx)
	if err != nil {
		if q.ctx.Err() == nil { // those chunks are found by keywords
			q.out.Degraded = append(q.out.Degraded, "the fast embedder failed: what is not refined yet was searched by keywords alone")
			return nil
		}
		return err
	}
	hits, err := q.Vectors.SearchVectors(q.ctx, backend.VectorQuery{Part: q.req.Part, Lane: q.FastLane, Vector: vec, K: k, Filter: q.req.Filter, Answer: q.anyOrder()})
	if err != nil {
		return err
	}
	q.found = hits[:0]
	from, to := q.fastSpread(hits, len(hits) >= k), q.spreadOfRows()
	if !q.whole && len(hits) >= k { // the list of the best ended
		rest, err := q.scoreOthers(q.FastLane, vec, nil)
		if err != nil {
			return err
		}
		hits = append(hits, rest...)
		q.found = hits[:0]
	}
	lacks, err := q.lacking(hits)
	if err != nil || lacks == nil {
		return err
	}
	if q.Unrelated != nil && !q.whole && q.docs > surveyMost {
		to = *q.Unrelated // of how many chunks the engine's list has the best is not known
	}
	if from.Std <= 0 {
		return nil
	}
	q.settled = &to
	trust := fastTrust * math.Min(1, q.asked.fast.coverage/.6)
	for _, h := range hits {
		if h.Score <= 0 || !lacks[h.Source] {
			continue
		}
		i := q.at(h)
		if r, c := &q.rows[i], &q.cand[i]; r.Dense == 0 {
			r.Dense = float32(math.Max(leastDense, to.Mean+trust*to.Std*(float64(h.Score)-from.Mean)/from.Std))
			c.fast, c.raw = true, h.Score
		}
	}
	return nil
}

// lacking returns the sources of hits that have no vectors of the engine, nil for none. A survey has seen every vector that
// there is; what a list of the best does not name may have one that is far off.
func (q *work) lacking(hits []backend.Hit) (map[int64]bool, error) {
	out := map[int64]bool{}
	if q.whole {
		for i := range q.rows {
			if q.rows[i].Dense == 0 {
				out[q.rows[i].Source] = true
			}
		}
		return out, nil
	}
	var nums []int64
	for _, h := range hits {
		if i := q.get(h.Chunk); (i < 0 || q.rows[i].Dense == 0) && !out[h.Source] {
			out[h.Source] = true
			nums = append(nums, h.Source)
		}
	}
	if len(nums) == 0 {
		return nil, nil
	}
	has, err := q.Store.HasVectors(q.ctx, q.Lane, nums)
	if err != nil {
		return nil, err
	}
	for i, num := range nums {
		if has[i] {
			delete(out, num)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// spreadOfRows returns the distribution of the engine's scores for texts that have nothing to do with the question, as it was before
// the scores of the fast engine were added.
func (q *work) spreadOfRows() Spread {
	if q.settled != nil {
		return *q.settled
	}
	if q.Unrelated == nil {
		s, _ := moments(q.rows, func(r *backend.Surveyed) float64 { return float64(r.Dense) })
		return s
	}
	return q.unrelated()
}

// fastSpread is the spread of the fast engine's scores: of all rows of a small partition, by the list of the best of a large one.
func (q *work) fastSpread(hits []backend.Hit, cut bool) Spread {
	s, n := moments(hits, func(h *backend.Hit) float64 { return float64(h.Score) })
	if n < fastRows || !cut || q.whole {
		if q.Fast.Unrelated != nil && n < fastRows {
			return *q.Fast.Unrelated
		}
		return s
	}
	low, high := math.Inf(1), 0.0
	for i := range hits {
		low, high = math.Min(low, float64(hits[i].Score)), math.Max(high, float64(hits[i].Score))
	}
	far, near := quantile(float64(n)/float64(q.docs)), quantile(1/float64(q.docs))
	if near <= far || high <= low {
		return s
	}
	std := (high - low) / (near - far)
	return Spread{low - far*std, std}
}

// moments returns mean and standard deviation of the values above 0, and how many these are.
func moments[T any](all []T, of func(*T) float64) (Spread, int) {
	n, mean, square := 0, 0.0, 0.0
	for i := range all {
		if v := of(&all[i]); v > 0 { // Welford 1962
			n++
			d := v - mean
			mean += d / float64(n)
			square += d * (v - mean)
		}
	}
	if n < 2 {
		return Spread{Mean: mean}, n
	}
	return Spread{mean, math.Sqrt(square / float64(n))}, n
}

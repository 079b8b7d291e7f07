package rank

import (
	"math"

	"github.com/contextmem/contextmem/backend"
)

// While a slow embedder computes vectors, chunks without one are scored by the vectors of Engine.Fast. The score is
// converted to the scale of the engine: it is as many standard deviations above unrelated texts, times a factor below 1,
// since the fast embedder is less reliable.
const (
	fastTrust  = .8
	leastDense = 1e-6 // least dense score of a chunk that has a vector; 0 means that it has none
	fastRows   = 10   // least number of rows for estimating the spread of the fast embedder's scores
)

// bare reports whether no candidate has a vector of the engine. If so, the fast engine ranks alone.
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

// scoreByFast scores candidates without a vector of the engine by the vectors of the fast engine.
func (q *work) scoreByFast() error {
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
		if q.ctx.Err() == nil { // keywords can still find these chunks
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
	if !q.whole && len(hits) >= k { // there may be more hits
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
		to = *q.Unrelated // the list is no basis: the number of chunks with vectors is not known
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

// lacking returns those sources of hits that have no vectors of the engine, or nil. After a survey, rows without a dense score
// have no vector. Otherwise lacking asks the Store, since a search does not return chunks with low scores.
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

// spreadOfRows returns the spread of the engine's scores of unrelated texts, without the scores of the fast engine.
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

// fastSpread returns the spread of the fast engine's scores of unrelated texts. It uses all rows of a small partition, and the result list in a large one.
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

// moments returns the mean and the standard deviation of the values above 0, and their number.
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

package rank

import "github.com/contextmem/contextmem/backend"

// mayWait reports whether candidates that only keywords found get their dense scores after all others have been ranked, and only as far as these matter. Then
// a score must be a sum of parts that do not depend on other candidates, and the vector search must have missed nothing that is nearer than what it found.
func (q *work) mayWait() bool {
	x, ok := q.Vectors.(backend.Exact)
	return ok && q.docs <= x.ExactUpTo() && q.req.Part.Class != backend.Memory && !q.out.Thinking && q.Fast == nil
}

// keywordsLead is the maximum weight of dense scores with which half of the keyword list is asked for first. With more weight, chunks that only vectors find are
// among the best so often that the rest of the list is mostly asked for too.
const keywordsLead = .35

// fewOf is how many times as many chunks the keyword list has at least as hits that have to be final, if half of it is asked for first. Of more hits, mostly the rest of the
// list is asked for too.
const fewOf = 4

// fewWillDo reports whether the second half of a keyword list of k chunks may wait until it is known whether it matters. With a filter, only listed chunks are lifted
// by their entities, so the list has to be whole then.
func (q *work) fewWillDo(k int) bool {
	_, scores := q.Vectors.(backend.ChunkScorer)
	return q.mayWait() && scores && q.w > 0 && q.w <= keywordsLead && fewOf*q.req.First <= k && !q.filtered()
}

// Settle makes the n best hits final: until then a hit may lack its dense or its keyword score, and be ranked too low or be missing. It searches the index for those
// that may be among the n best. Search has done so for Request.First hits.
func (a *Answer) Settle(n int) error {
	if q := a.work; (q.open > 0 || q.unlisted > 0) && n > q.final {
		return q.settle(n)
	}
	return nil
}

// roundingSlack is more than rounding makes of a sum of parts.
const roundingSlack = 1e-9

// settle makes the n best hits final.
func (q *work) settle(n int) error {
	if err := q.settleDense(n); err != nil {
		return err
	}
	if q.unlisted > 0 && q.listMatters(n) {
		if err := q.listRest(); err != nil {
			return err
		}
		if err := q.settleDense(n); err != nil {
			return err
		}
	}
	q.final = n
	return nil
}

// last returns the score of the last of the n best hits, or 0 if there are fewer.
func (q *work) last(n int) float64 {
	if top := q.best(n, byScore); n > 0 && len(top) == n {
		return top[n-1].v
	}
	return 0
}

// settleDense scores those candidates that may be among the n best, whatever the dense scores of the others are. A candidate whose dense score is missing has one of at
// most q.most, and counts without it until then.
func (q *work) settleDense(n int) error {
	if q.open == 0 {
		return nil
	}
	last := q.last(n)
	chunks, at := q.chunks[:0], q.places[:0]
	for i := range q.cand {
		if q.cand[i].open && q.fused(i, q.most)+q.cand[i].Entity+roundingSlack >= last {
			chunks, at = append(chunks, q.rows[i].Chunk), append(at, int32(i))
		}
	}
	q.chunks, q.places = chunks, at
	if len(chunks) > 0 {
		hits, err := q.Vectors.(backend.ChunkScorer).ScoreChunks(q.ctx, backend.ScoreQuery{Part: q.req.Part, Lane: q.Lane, Vector: q.qvec, Chunks: chunks, Into: q.found})
		if err != nil {
			return err
		}
		q.setDense(hits)
	}
	for _, i := range at {
		q.cand[i].open = false
		q.sum(i)
	}
	q.open -= len(at)
	return nil
}

// sum sets the score of a candidate to the sum of its parts.
func (q *work) sum(i int32) {
	c := &q.cand[i]
	c.s0 = q.fused(int(i), q.rows[i].Dense)
	c.Score = c.s0 + c.Entity
}

// listMatters reports whether a chunk that is not in the first part of the keyword list may be among the n best: one that vectors or entities found, or one that only
// the rest of the list has.
func (q *work) listMatters(n int) bool {
	last, keyword := q.last(n), q.perKeyword*float64(q.unlisted)+roundingSlack
	matters := keyword+q.semantic(q.most) >= last
	for i := range q.cand {
		if c, r := &q.cand[i], &q.rows[i]; c.in && r.Keyword == 0 {
			matters = matters || keyword+q.semantic(max(r.Dense, q.most))+c.Entity >= last
		}
	}
	return matters
}

// listRest asks for the whole keyword list, and adds what its first part lacks.
func (q *work) listRest() error {
	k := q.depth()
	hits, err := q.searchKeywords(k, nil)
	if err != nil {
		return err
	}
	q.unlisted, q.out.Cut = 0, len(hits) >= k || q.waits
	for _, h := range hits {
		i := q.at(h)
		if r, c := &q.rows[i], &q.cand[i]; r.Keyword == 0 {
			r.Keyword = h.Score
			if q.waits && r.Dense == 0 {
				c.open = true
				q.open++
			}
			q.sum(i)
		}
	}
	return nil
}

// fused returns the score of a candidate by its searches if it had a dense score.
func (q *work) fused(i int, dense float32) float64 {
	return q.perKeyword*float64(q.rows[i].Keyword) + q.semantic(dense)
}

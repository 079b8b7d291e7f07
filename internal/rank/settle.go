package rank

import "github.com/contextmem/contextmem/backend"

// mayWait reports whether candidates that only keywords found get their dense scores after all others have been ranked, and only as far as these matter. Then
// a score must be a sum of parts that do not depend on other candidates, and the vector search must have missed nothing that is nearer than what it found.
func (q *work) mayWait() bool {
	x, ok := q.Vectors.(backend.Exact)
	return ok && q.docs <= x.ExactUpTo() && q.req.Part.Class != backend.Memory && !q.out.Thinking && q.Fast == nil
}

// Settle makes the n best hits final: until then a hit may lack its dense score, and be ranked too low. It searches the index for those that may be among the n
// best. Search has done so for Request.First hits.
func (a *Answer) Settle(n int) error {
	if q := a.work; q.open > 0 && n > q.final {
		return q.settle(n)
	}
	return nil
}

// roundingSlack is more than rounding makes of a sum of parts.
const roundingSlack = 1e-9

// settle scores those candidates that may be among the n best, whatever the dense scores of the others are. A candidate whose dense score is missing has one of at
// most q.most, and counts without it until then.
func (q *work) settle(n int) error {
	last := 0.0
	if top := q.best(n, byScore); n > 0 && len(top) == n {
		last = top[n-1].v
	}
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
		c := &q.cand[i]
		c.open, c.s0 = false, q.fused(int(i), q.rows[i].Dense)
		c.Score = c.s0 + c.Entity
	}
	q.open -= len(at)
	q.final = n
	return nil
}

// fused returns the score of a candidate by its searches if it had a dense score.
func (q *work) fused(i int, dense float32) float64 {
	return q.perKeyword*float64(q.rows[i].Keyword) + q.semantic(dense)
}

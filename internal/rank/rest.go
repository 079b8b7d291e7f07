package rank

import "github.com/contextmem/contextmem/backend"

// scoreRest sets the dense scores of candidates that only keywords found, if the index implements [backend.ChunkScorer]. least is the least score that the
// vector search found. If no other chunk can have a higher one, the scores may wait for settle.
func (q *work) scoreRest(least float32) error {
	if _, ok := q.Vectors.(backend.ChunkScorer); !ok {
		return nil
	}
	at := q.spreadOfRows() // before more scores are added
	q.settled = &at
	if q.mayWait() {
		q.most, q.waits = max(least, 0), true
		for i := range q.rows {
			if c := &q.cand[i]; c.in && q.rows[i].Dense == 0 {
				c.open = true
				q.open++
			}
		}
		return nil
	}
	hits, err := q.scoreOthers(q.Lane, q.qvec, q.found)
	if err != nil {
		return err
	}
	q.setDense(hits)
	return nil
}

// setDense sets the dense scores of candidates that only keywords found.
func (q *work) setDense(hits []backend.Hit) {
	q.found = hits[:0]
	for _, h := range hits {
		r := &q.rows[q.at(h)]
		if r.Dense = h.Score; h.Score <= 0 {
			r.Dense = 0
			if q.Fast != nil { // not 0: the chunk has a vector
				r.Dense = leastDense
			}
		}
	}
}

// scoreOthers scores the candidates that have no dense score by their vectors in a lane. It appends to the memory of into.
func (q *work) scoreOthers(lane backend.Lane, vec []float32, into []backend.Hit) ([]backend.Hit, error) {
	x, ok := q.Vectors.(backend.ChunkScorer)
	if !ok {
		return nil, nil
	}
	q.chunks = q.chunks[:0]
	for i := range q.rows {
		if r := &q.rows[i]; q.cand[i].in && r.Dense == 0 {
			q.chunks = append(q.chunks, r.Chunk)
		}
	}
	if len(q.chunks) == 0 {
		return nil, nil
	}
	return x.ScoreChunks(q.ctx, backend.ScoreQuery{Part: q.req.Part, Lane: lane, Vector: vec, Chunks: q.chunks, Into: into})
}

package rank

import (
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// largeDocs is the number of chunks from which on vectors are searched beside keywords and sessions. In a smaller partition the searches take
// about as long as it takes to wake another thread.
const largeDocs = 20_000

// atOnce reports whether the vectors are searched at the same time as the keywords and the sessions: if the partition is large, or the vectors
// are on another machine.
func (q *work) atOnce() bool {
	if !(q.w > 0 && q.w < 1) {
		return false
	}
	_, remote := q.Vectors.(backend.Remote)
	return remote || q.docs >= largeDocs
}

// nearest returns a function that returns the k nearest chunks, in any order. If searches run at once, the vector search starts right away, and
// wait waits for its end.
func (q *work) nearest(k int) (hits func() ([]backend.Hit, error), wait func()) {
	search := func() (err error) {
		q.dense, err = q.Vectors.SearchVectors(q.ctx, backend.VectorQuery{Part: q.req.Part, Lane: q.Lane, Vector: q.qvec, K: k, Filter: q.req.Filter,
			Recall: q.poolRecall(), Answer: backend.Answer{AnyOrder: true, Into: q.dense}})
		return err
	}
	if !q.atOnce() {
		return func() ([]backend.Hit, error) {
			err := search()
			return q.dense, err
		}, func() {}
	}
	var beside sync.WaitGroup
	var failed error
	beside.Go(func() { failed = fault.Guard(search) })
	return func() ([]backend.Hit, error) {
		beside.Wait()
		return q.dense, failed
	}, beside.Wait
}

// poolRecall returns the share of the nearest chunks that a search for candidates should find. Those that an index misses are mostly the far ones
// of the list, which hardly ever become hits, and keywords find others. A calibrated embedder's scores are estimated from the list, so it is
// found as well as the index does by default. docs/recall.md, "How many candidates", has the measurements.
func (q *work) poolRecall() float32 {
	if q.Unrelated != nil {
		return 0
	}
	return .8
}

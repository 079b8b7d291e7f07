package rank

import (
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// largeDocs is the number of chunks from which on vectors and sessions are searched beside keywords. In a smaller partition the searches take
// about as long as it takes to wake another thread.
const largeDocs = 20_000

// atOnce reports whether the vectors and the sessions are searched beside the keywords: if the partition is large, or the vectors
// are on another machine.
func (q *work) atOnce() bool {
	if !(q.w > 0 && q.w < 1) {
		return false
	}
	_, remote := q.Vectors.(backend.Remote)
	return remote || q.docs >= largeDocs
}

// nearest returns a function that returns the k nearest chunks, in any order. If searches run at once, the vector search starts right away, and
// after it that of sessions, which is needed last. await waits for both.
func (q *work) nearest(k int) func() ([]backend.Hit, error) {
	vectors := func() (err error) {
		q.dense, err = q.Vectors.SearchVectors(q.ctx, backend.VectorQuery{Part: q.req.Part, Lane: q.Lane, Vector: q.qvec, K: k, Filter: q.req.Filter,
			Recall: q.poolRecall(), Answer: backend.Answer{AnyOrder: true, Into: q.dense}})
		return err
	}
	if !q.atOnce() {
		return func() ([]backend.Hit, error) {
			err := vectors()
			return q.dense, err
		}
	}
	found := make(chan struct{})
	var failed error
	q.beside, q.sought = new(sync.WaitGroup), q.req.Part.Class == backend.Memory
	q.beside.Go(func() {
		failed = fault.Guard(vectors)
		close(found)
		if failed == nil && q.sought {
			q.unsought = fault.Guard(q.searchSessions)
		}
	})
	return func() ([]backend.Hit, error) {
		<-found
		return q.dense, failed
	}
}

// await waits for the searches that run beside others.
func (q *work) await() {
	if q.beside != nil {
		q.beside.Wait()
	}
}

// searchSessions sets topical.
func (q *work) searchSessions() (err error) {
	q.topical, err = q.Keywords.SearchSessions(q.ctx, backend.KeywordQuery{Part: q.req.Part, Text: q.words(), K: 200, Filter: q.req.Filter})
	return err
}

// bestSessions returns topical. It searches the sessions unless they were searched beside the vectors.
func (q *work) bestSessions() ([]backend.Hit, error) {
	q.await()
	if !q.sought {
		q.sought, q.unsought = true, q.searchSessions()
	}
	return q.topical, q.unsought
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

package weaviate

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// partitionRecent is the terms of the chunks of a large partition that were put in the last minutes. A node has these in memory
// alone, and its BM25 with a limit skips the best ones there: 1.35.2 takes the maximum score of what it has in memory for 0.
// A node writes what it has in memory to a segment after a minute by default, where its BM25 works.
type partitionRecent struct {
	part       backend.Partition
	settle     time.Duration
	young, old *partitionTerms
	began      time.Time // when young began
	unsure     time.Time // when a node last stored chunks anew whose terms are not here
}

// recentDim is partitionKey.dim of recent terms.
const recentDim = -2

// settleTime is partitionCache.settle.
const settleTime = 3 * time.Minute

func newPartitionRecent(part backend.Partition, settle time.Duration) *partitionRecent {
	return &partitionRecent{part: part, settle: settle, young: newPartitionTerms(part), old: newPartitionTerms(part), began: time.Now()}
}

// size implements [cachedContent].
func (r *partitionRecent) size() int { return 500 + r.young.size() + r.old.size() }

// count implements [cachedContent].
func (r *partitionRecent) count() int { return r.young.count() + r.old.count() }

// apply implements [cachedContent]. It forgets chunks that were put longer ago than settle, but not all at once.
func (r *partitionRecent) apply(p *plan) bool {
	if time.Since(r.began) > r.settle {
		r.young, r.old, r.began = newPartitionTerms(r.part), r.young, time.Now()
	}
	for source, c := range p.tags {
		_, young := r.young.tags[source]
		_, old := r.old.tags[source]
		if c.Part == r.part && !young && !old {
			r.unsure = time.Now()
		}
	}
	rest := *p
	rest.puts = nil
	return r.old.apply(&rest) && r.young.apply(p)
}

// search returns the k best of the chunks, by the statistics of the whole partition.
func (r *partitionRecent) search(q *keywordQuery, c *counts, f backend.Filter, k int) []backend.Hit {
	return append(r.young.search(q, c, f, k, nil), r.old.search(q, c, f, k, nil)...)
}

// useRecent calls f with the recent terms of a partition. It reports whether all others are where the BM25 of the nodes works, so that it
// can be asked for the best. Recent terms are collected from the first call on.
func (x *index) useRecent(ctx context.Context, part backend.Partition, f func(*partitionRecent)) bool {
	k, cache := partitionKey{of: x, part: part, dim: recentDim}, x.x.partitions
	e := x.findCached(ctx, k)
	if e == nil {
		if !x.leading.Load() && x.currentMark(ctx) == 0 {
			return false
		}
		cache.end(cache.begin(k), newPartitionRecent(part, cache.settle))
		return false
	}
	settled := time.Since(e.began) > cache.settle
	return e.use(x.applied.Load(), func(of cachedContent) {
		r := of.(*partitionRecent)
		if settled = settled && time.Since(r.unsure) > cache.settle; settled {
			f(r)
		}
	}) && settled
}

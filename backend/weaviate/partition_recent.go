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
	whole      bool      // whether chunks that were put before began are here too
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

// having returns the chunks that have an encoded term.
func (r *partitionRecent) having(term string) (chunks []int64) {
	for _, t := range []*partitionTerms{r.young, r.old} {
		list := t.postings[term]
		for at := range list.all() {
			if c := &t.chunks[at]; c.length != removedChunk {
				chunks = append(chunks, c.chunk)
			}
		}
	}
	return chunks
}

// recentShare is the share of the cache, one in recentShare, that recent terms which a read finds may take.
const recentShare = 4

// recentRead collects the recent terms among the objects of a partition that are being read. A nil one collects nothing.
type recentRead struct {
	e     *cached
	since time.Time // chunks that were stored before are not recent
	found *partitionRecent
}

// readRecent begins to collect recent terms.
func (x *index) readRecent(part backend.Partition) *recentRead {
	cache := x.x.partitions
	e := cache.begin(partitionKey{of: x, part: part, dim: recentDim})
	return &recentRead{e, e.began.Add(-cache.settle), newPartitionRecent(part, cache.settle)}
}

// add adds an object if it is recent. It gives up if there are too many.
func (r *recentRead) add(o object) error {
	if r == nil || r.found == nil || !o.storedSince(r.since) {
		return nil
	}
	if err := addObject(r.found.young, o); err != nil {
		return err
	}
	if cache := r.e.key.of.x.partitions; r.found.size() > cache.most/recentShare {
		r.abandon()
	}
	return nil
}

// end caches what was collected.
func (r *recentRead) end() {
	if r != nil && r.found != nil {
		r.found.whole = true
		r.e.key.of.x.partitions.end(r.e, r.found)
	}
}

// abandon ends the read without a content.
func (r *recentRead) abandon() {
	if r != nil && r.found != nil {
		r.e.key.of.x.partitions.abandon(r.e)
		r.found = nil
	}
}

// unsettledTimes is how many times settleTime no node selects candidates after one came back or replicas were mended. A busy node may write what it
// reads from its log, or gets once more, to a segment much later than after a minute.
const unsettledTimes = 5

// settled reports whether what the nodes have in memory was put in the last minutes. That is not so after a node came back, which has again
// in memory what it had there when it died, and after this process or another one has stored on replicas what they lacked.
func (x *index) settled() bool {
	for _, since := range []time.Time{x.x.cluster.lastUp(), x.repaired.last(), x.marks.changed()} {
		if time.Since(since) <= unsettledTimes*x.x.partitions.settle {
			return false
		}
	}
	return true
}

// useRecent calls f with the recent terms of a partition. It reports whether all others are where the BM25 of the nodes works, so that it
// can be asked for the best. Recent terms are collected from the first call on. Those of before are known once a dictionary was read.
func (x *index) useRecent(ctx context.Context, part backend.Partition, f func(*partitionRecent)) bool {
	k, cache := partitionKey{of: x, part: part, dim: recentDim}, x.x.partitions
	e := x.findCached(ctx, k)
	if !x.settled() {
		return false
	}
	if e == nil {
		if !x.leading.Load() && x.currentMark(ctx) == 0 {
			return false
		}
		cache.end(cache.begin(k), newPartitionRecent(part, cache.settle))
		return false
	}
	followed, settled := time.Since(e.began) > cache.settle, false
	return e.use(x.applied.Load(), func(of cachedContent) {
		r := of.(*partitionRecent)
		if settled = (followed || r.whole) && time.Since(r.unsure) > cache.settle; settled {
			f(r)
		}
	}) && settled
}

package contextmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// reorder applies what depends on rows: recency, the app lane, feedback, the reranker.
func (r *recallRun) reorder(ctx context.Context, hits []*scopeHit) ([]*scopeHit, error) {
	if r.q.RecencyBias > 0 {
		for i := range hits {
			before := hits[i].Score
			hits[i].Score *= 1 - r.q.RecencyBias*(1-freshness(hits[i].row.Src, r.now))
			hits[i].parts.Recency = hits[i].Score - before
		}
	}
	if r.q.Apps {
		if err := r.apps(ctx, &hits); err != nil {
			return nil, err
		}
	}
	if r.svc.opts.FeedbackBoosts {
		if err := r.boost(ctx, hits); err != nil {
			return nil, err
		}
	}
	if r.res.Mode == ModeThinking && r.svc.opts.Reranker != nil {
		r.rerank(ctx, hits)
	}
	slices.SortStableFunc(hits, func(a, b *scopeHit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Compare(a.Chunk, b.Chunk)
	})
	return hits, nil
}

// freshness halves every 30 days of age; a source without a time counts by when it was
// accepted, and one from the future as new.
func freshness(src *backend.Source, now time.Time) float64 {
	t := src.Time
	if t.IsZero() {
		t = src.CreatedAt
	}
	age := max(now.Sub(t), 0)
	return math.Exp2(-float64(age) / float64(recencyHalfLife))
}

// rerank asks the Reranker for new scores. One that fails or is late leaves the order as it was.
func (r *recallRun) rerank(ctx context.Context, hits []*scopeHit) {
	if len(hits) == 0 {
		return
	}
	n := min(len(hits), 50)
	texts := make([]string, n)
	for i := range texts {
		texts[i] = hits[i].row.Text
	}
	ctx, cancel := context.WithDeadline(ctx, r.now.Add(r.svc.opts.RecallBudget))
	defer cancel()
	var scores []float64
	err := guarded(func() (err error) {
		scores, err = r.svc.opts.Reranker.Rerank(ctx, r.q.Query, texts)
		return err
	})
	if err == nil && len(scores) != n {
		err = errors.New("another number of scores")
	}
	if err != nil {
		r.svc.opts.Logger.Warn("reranking failed", "err", err)
		r.warn("degraded", "mode", "the reranker failed or was late: its order was left out")
		return
	}
	lo, hi := slices.Min(scores), slices.Max(scores)
	if hi == lo || math.IsNaN(hi) || math.IsNaN(lo) || math.IsInf(hi-lo, 0) {
		return
	}
	top := hits[0].Score
	for i := range texts {
		hits[i].parts.Rerank = top * (scores[i] - lo) / (hi - lo)
		hits[i].Score += hits[i].parts.Rerank
	}
}

// guarded runs a plug-in and turns its panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a plug-in panicked (%T)", p)
		}
	}()
	return f()
}

// floods tells whether a source has more of the hits than unflood lets it have among the first n.
func floods(hits []*scopeHit, n int) bool {
	share := shareOf(n)
	if len(hits) <= share {
		return false
	}
	var seen sourceCount
	for _, h := range hits {
		if seen.add(h.Source) > share {
			return true
		}
	}
	return false
}

// shareOf returns how many of the first n places a source may hold while others wait.
func shareOf(n int) int { return max(floodFloor, (n+floodShare-1)/floodShare) }

// unflood keeps one source from taking the first n places while others wait: what
// it has over its share comes behind the rest.
func unflood(hits []*scopeHit, n int) []*scopeHit {
	share := shareOf(n)
	if len(hits) <= share {
		return hits
	}
	var seen sourceCount
	var over []*scopeHit
	kept := hits[:0]
	for _, h := range hits {
		if seen.add(h.Source) > share {
			over = append(over, h)
		} else {
			kept = append(kept, h)
		}
	}
	return append(kept, over...)
}

// sourceCount counts sources. A few take no memory of their own: they stand in a hash
// table with linear probing.
type sourceCount struct {
	few   [128]int64
	times [128]uint8
	n     int
	many  map[int64]int // all of them, once they are no longer few
}

// add counts a source, and returns how often it was counted.
func (c *sourceCount) add(num int64) int {
	if c.many == nil && c.n < len(c.few)/2 {
		c.n++
		i := uint64(num) * 0x9e3779b97f4a7c15 >> 57
		for c.times[i] > 0 && c.few[i] != num {
			i = (i + 1) % uint64(len(c.few))
		}
		c.few[i] = num
		c.times[i]++
		return int(c.times[i])
	}
	if c.many == nil {
		c.many = make(map[int64]int, len(c.few))
		for i, n := range c.times {
			if n > 0 {
				c.many[c.few[i]] = int(n)
			}
		}
	}
	c.many[num]++
	return c.many[num]
}

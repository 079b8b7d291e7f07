package weaviate

import (
	"context"
	"maps"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// partitionCounts is what BM25 needs to know of a partition of which neither the terms nor a dictionary are cached: counts that the cluster has made. It
// follows the changes, except that it goes on counting chunks that were removed, since a change does not tell their terms, and
// that it may count a chunk twice that was being stored while the cluster counted. See index.drifted.
type partitionCounts struct {
	part backend.Partition
	counts
}

// countsDim is partitionKey.dim of counts.
const countsDim = -1

// maxCachedTerms is the maximum number of cached counts of a partition, and of partitions remembered as large.
const maxCachedTerms = 20_000

func newPartitionCounts(part backend.Partition, c *counts) *partitionCounts {
	out := &partitionCounts{part, counts{docs: c.docs, length: c.length, df: make(map[string]int, len(c.df))}}
	out.amend(c.df)
	return out
}

// size implements [cachedContent].
func (p *partitionCounts) size() int { return 200 + 100*len(p.df) }

// count implements [cachedContent].
func (p *partitionCounts) count() int { return p.docs }

// apply implements [cachedContent]. Changes of tags and vectors do not concern counts.
func (p *partitionCounts) apply(of *plan) bool {
	if of.sub != nil && *of.sub == p.part.Sub {
		return false
	}
	for _, v := range of.puts {
		if v.put.Part != p.part {
			continue
		}
		for i := range v.put.Rows {
			seen := make(map[string]bool)
			length, err := eachTerm(v.bagOf(i), func(term string, _, _, _ int) { seen[term] = true })
			if err != nil {
				return false
			}
			p.docs++
			p.length += float64(length)
			for term := range seen {
				if n, ok := p.df[term]; ok {
					p.df[term] = n + 1
				}
			}
		}
	}
	return true
}

// of returns the counts of terms. lacks are the terms that were not counted.
func (p *partitionCounts) of(terms []string) (c counts, lacks []string) {
	c = counts{docs: p.docs, length: p.length, df: make(map[string]int, len(terms))}
	for _, t := range terms {
		if n, ok := p.df[encodeTerm(t)]; ok {
			c.df[t] = n
		} else {
			lacks = append(lacks, t)
		}
	}
	return c, lacks
}

// amend adds counts, by term.
func (p *partitionCounts) amend(df map[string]int) {
	if len(p.df)+len(df) > maxCachedTerms {
		clear(p.df)
	}
	for t, n := range df {
		p.df[encodeTerm(t)] = n
	}
}

// driftShare is the share of a partition's chunks, one in driftShare, by which its cached counts may be wrong.
const driftShare = 200

// countTerms is the maximum number of terms that one query counts.
const countTerms = 64

// counts returns the statistics of a partition for terms. Without cached terms or a dictionary the cluster counts them, and reads
// each chunk that has one of them for that. So what it has counted is cached.
func (x *index) counts(ctx context.Context, part backend.Partition, terms []string) (*counts, error) {
	var c counts
	if ok, err := x.useTerms(ctx, part, func(t *partitionTerms) { c = *t.counts(terms) }); ok || err != nil {
		return &c, err
	}
	if c := x.dictionary(ctx, part, terms); c != nil {
		return c, nil
	}
	k, cache := partitionKey{of: x, part: part, dim: countsDim}, x.x.partitions
	var lacks []string
	var upto uint64
	incomplete := x.incomplete.Load()
	e := x.findCached(ctx, k)
	if e != nil && !e.use(x.applied.Load(), func(of cachedContent) {
		c, lacks = of.(*partitionCounts).of(terms)
		upto = e.upto
	}) {
		e = nil
	}
	if e != nil && (time.Since(e.began) > largeTTL || x.drifted(ctx, part, c.docs, driftShare)) {
		cache.discard(e)
		e = nil
	}
	if e == nil {
		e = cache.begin(k)
		c = counts{df: make(map[string]int, len(terms))}
		if err := x.countAll(ctx, part, terms, true, &c); err != nil {
			cache.abandon(e)
			return nil, err
		}
		x.stats.setLarge(spaceOf(part), c.docs > cache.small)
		cache.end(e, newPartitionCounts(part, &c))
		return &c, nil
	}
	if len(lacks) == 0 {
		return &c, nil
	}
	more := counts{df: make(map[string]int, len(lacks))}
	if err := x.countAll(ctx, part, lacks, false, &more); err != nil {
		return nil, err
	}
	maps.Copy(c.df, more.df)
	if x.incomplete.Load() == incomplete {
		cache.amend(e, upto, func(of cachedContent) { of.(*partitionCounts).amend(more.df) })
	}
	return &c, nil
}

// drifted reports whether the cached counts of a partition, which count docs chunks, may be wrong by more than 1 in share, by the
// number of chunks that the graph has. Nobody knows that while the graph lacks changes.
func (x *index) drifted(ctx context.Context, part backend.Partition, docs, share int) bool {
	chunks, ok := x.chunksOf(ctx, part)
	return ok && max(chunks-docs, docs-chunks)*share > chunks
}

// chunksOf returns the number of chunks of a partition, by the graph of the other Indexers. It returns false while the graph lacks
// changes that the cluster has.
func (x *index) chunksOf(ctx context.Context, part backend.Partition) (int, bool) {
	if x.near == nil || x.near.Applied() < x.applied.Load() {
		return 0, false
	}
	info, err := x.near.Info(ctx, part)
	return info.Chunks, err == nil
}

// countAll lets the cluster count terms, and if all is set the documents too. It stores the result in c.
func (x *index) countAll(ctx context.Context, part backend.Partition, terms []string, all bool, c *counts) error {
	for all || len(terms) > 0 {
		some := terms[:min(countTerms, len(terms))]
		terms = terms[len(some):]
		if err := x.count(ctx, spaceOf(part), some, all, c); err != nil {
			return err
		}
		all = false
	}
	return nil
}

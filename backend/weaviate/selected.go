package weaviate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
)

const (
	// minCandidates is the minimum number of chunks that the cluster selects by its own BM25, and moreCandidates the share, one in
	// moreCandidates, by which they are more than a search returns.
	minCandidates, moreCandidates = 128, 4
	scoreFields                   = " _additional{id score}"
	candidateFields               = rankFields + " _additional{score}"
	// fewOthers is partitionCache.others. The cluster takes the average length of chunks from all partitions.
	fewOthers = 4
	// sampledHits is the number of best hits whose exact scores are compared with those of a node, and maxScoreError the relative
	// error up to which the node's other scores are used.
	sampledHits, maxScoreError = 10, .02
	// checkedHits is the number of best hits that have to be in the first half of what a node selects.
	checkedHits = 20
)

// query returns the text of the cluster's BM25 search. c has the statistics of the terms, and objects is the number of chunks of all
// partitions. The cluster takes the rarity of a term from all of them, and weighs the term by the number of its repeats. Its scores, times
// scale, are about those by the statistics of the partition.
func (q *keywordQuery) query(c *counts, objects int) (text string, scale float64) {
	var terms []string
	var weights, matter []float64
	all := counts{docs: max(objects, c.docs), df: c.df}
	for _, t := range q.terms {
		if !isStop(t.Term) && c.df[t.Term] > 0 {
			scores := float64(t.Weight) * c.idf(t.Term)
			terms = append(terms, wordOf(q.space, t.Term)+" ")
			weights, matter = append(weights, scores/all.idf(t.Term)), append(matter, scores)
		}
	}
	var b strings.Builder
	times, scale := repeats(weights, matter)
	for i, n := range times {
		b.WriteString(strings.Repeat(terms[i], n))
	}
	return b.String(), scale
}

// maxRepeats is how often the text of a BM25 search repeats a term at most, and repeatError the error of a weight at which the
// repeats are fewer.
const (
	maxRepeats  = 40
	repeatError = .01
	// minMatter is the share of the best term's score below which the error of a term's weight does not count.
	minMatter = .02
)

// repeats returns small numbers that times scale are about weights, except those that hardly matter.
func repeats(weights, matter []float64) (times []int, scale float64) {
	if len(weights) == 0 {
		return nil, 0
	}
	heaviest, most, least := slices.Max(weights), slices.Max(matter), math.Inf(1)
	for n := 1; n <= maxRepeats && least > repeatError; n++ {
		some, worst := make([]int, len(weights)), 0.0
		for i, w := range weights {
			exact := w / heaviest * float64(n)
			some[i] = max(1, int(math.Round(exact)))
			if matter[i] > minMatter*most {
				worst = max(worst, math.Abs(float64(some[i])-exact)/exact)
			}
		}
		if worst < least {
			times, scale, least = some, heaviest/float64(n), worst
		}
	}
	return times, scale
}

// selected searches those chunks alone that the cluster selects by its own BM25, and recent ones, if there are many matches. It
// returns false if that may leave out some of the best.
//
// A node counts chunks that were deleted or stored again in the statistics of a term until it has compacted its segments. So each
// answer is checked: by how many chunks it has, and by the exact scores of its best ones.
func (x *index) selected(ctx context.Context, q *keywordQuery, c *counts, of *backend.KeywordQuery) ([]backend.Hit, bool, error) {
	most := max(minCandidates, of.K+of.K/moreCandidates)
	if len(q.phrases) > 0 || most > maxResults || q.matches(c) <= most {
		return nil, false, nil
	}
	objects := x.objects(ctx)
	words, scale := q.query(c, objects)
	if words == "" {
		return nil, false, nil
	}
	w, ok := withFilter(q.whereRequired(), of.Filter) // the words are those of the partition
	if !ok {
		return nil, true, nil
	}
	var recent []backend.Hit
	if !x.useRecent(ctx, of.Part, func(r *partitionRecent) { recent = r.search(q, c, of.Filter, of.K) }) {
		return nil, false, nil
	}
	exact := make(map[int64]bool, len(recent))
	for _, h := range recent {
		exact[h.Chunk] = true
	}
	a := searchRequest{collection: x.x.schema.chunks(), tenant: x.uid, where: w, words: words, limit: most, fields: candidateFields}
	var hits []backend.Hit
	var err error
	ok = false
	if mostly := objects > 0 && (objects-c.docs)*x.x.partitions.others <= c.docs; mostly {
		hits, ok, err = x.scored(ctx, q, c, of, a, scale, exact)
	}
	if !ok && err == nil {
		hits, ok, err = x.ranked(ctx, q, c, of, a)
	}
	if !ok || err != nil {
		return nil, false, err
	}
	hits = append(slices.DeleteFunc(hits, func(h backend.Hit) bool { return exact[h.Chunk] }), recent...)
	sortHits(hits)
	return hits[:min(of.K, len(hits))], true, nil
}

// ranked ranks the chunks that a node selects exactly. It returns false if the node finds fewer than it should, or ranks them so
// differently that it may leave out some of the best.
func (x *index) ranked(ctx context.Context, q *keywordQuery, c *counts, of *backend.KeywordQuery, a searchRequest) ([]backend.Hit, bool, error) {
	found, err := x.get(ctx, a)
	if err != nil || len(found) < a.limit {
		return nil, false, err
	}
	places := make(map[int64]int, len(found))
	for i, o := range found {
		chunk, err := o.number(propChunk)
		if err != nil {
			return nil, false, err
		}
		if score, ok := o.score(); !ok {
			return nil, false, errNoScore
		} else if score <= 0 {
			return nil, false, nil
		}
		places[chunk] = i
	}
	hits, err := q.rank(found, c, of.Answer.Into)
	if err != nil {
		return nil, false, err
	}
	for _, h := range hits[:min(checkedHits, of.K, len(hits))] {
		if places[h.Chunk] > len(found)/2 {
			return nil, false, nil
		}
	}
	return hits, true, nil
}

// scored returns the best chunks with the scores of a node, times scale, and the best of them with exact scores. It returns false
// if that is not possible, or if the exact scores show that the node's are wrong. known are chunks whose scores are known.
func (x *index) scored(ctx context.Context, q *keywordQuery, c *counts, of *backend.KeywordQuery, a searchRequest, scale float64,
	known map[int64]bool) (hits []backend.Hit, ok bool, err error) {
	if !x.useDictionary(ctx, of.Part, func(*partitionDictionary) {}) {
		return nil, false, nil
	}
	sample := a
	sample.limit = sampledHits
	a.fields, a.limit = scoreFields, of.K+tieMargin
	var found []object
	var best []backend.Hit
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		found, err = x.get(gctx, a)
		return err
	})
	g.Go(func() error {
		some, err := x.get(gctx, sample)
		if err == nil {
			best, err = q.rank(some, c, nil)
		}
		return err
	})
	if err := g.Wait(); err != nil || len(found) < a.limit {
		return nil, false, err
	}
	if !x.useDictionary(ctx, of.Part, func(d *partitionDictionary) { hits, err = d.hits(found, scale, of.Answer.Into) }) || err != nil {
		return nil, false, err // it was dropped meanwhile
	}
	return hits, agree(hits, best, known), nil
}

// agree reports whether the scores of hits, which are a node's, are positive, and those of the best about the exact ones, with which it replaces them.
// It leaves out known chunks: a node may skip those that it has in memory.
func agree(hits, best []backend.Hit, known map[int64]bool) bool {
	at := make(map[int64]int, len(hits))
	for i, h := range hits {
		if h.Score <= 0 {
			return false
		}
		at[h.Chunk] = i
	}
	for _, h := range best {
		if known[h.Chunk] {
			continue
		}
		i, ok := at[h.Chunk]
		if !ok || math.Abs(float64(hits[i].Score/h.Score)-1) > maxScoreError {
			return false
		}
		hits[i].Score, hits[i].Rough = h.Score, false
	}
	return true
}

var errNoScore = fmt.Errorf("weaviate: a hit has no score: %w", backend.ErrCorrupt)

// hits returns the chunks of objects that the cluster's BM25 has found, with their scores. It leaves out chunks that were put after the
// last change that the dictionary includes.
func (d *partitionDictionary) hits(found []object, scale float64, into []backend.Hit) ([]backend.Hit, error) {
	hits := into[:0]
	for _, o := range found {
		score, ok := o.score()
		if !ok {
			return nil, errNoScore
		}
		if c, ok := d.chunks.of(nameOf(o.id())); ok {
			hits = append(hits, backend.Hit{Chunk: c.chunk, Source: c.source, Score: float32(score * scale), Rough: true})
		}
	}
	return hits, nil
}

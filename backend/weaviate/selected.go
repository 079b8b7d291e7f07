package weaviate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
)

const (
	// minCandidates is the minimum number of chunks that the cluster selects by its own BM25, and moreCandidates the share, one in
	// moreCandidates, by which they are more than a search returns. If they may lack some of the best, and are fewer than enoughCandidates, twice as many are selected.
	minCandidates, moreCandidates, enoughCandidates = 80, 4, 128
	// candidateFields are the fields of candidates, and explainedFields those of candidates whose names a dictionary has.
	candidateFields = rankFields + " _additional{score}"
	explainedFields = " _additional{id score " + explained + "}"
	// unaskedMore is how many times as many candidates are selected if terms are left out. Their terms are read.
	unaskedMore = 2
	// checkedHits is the number of best hits that have to be in the first half of what a node selects.
	checkedHits = 20
	// losesFrom is the number of terms from which the cluster's BM25 loses chunks unless everyTerm is among them, and maxAsked the maximum number of terms
	// with which it loses none then. 1.35.2 sorts its lists of chunks with sort.Sort, and relies on that equal ones stay in order: that is so up to 12.
	losesFrom, maxAsked = 3, 12
)

// asked returns the terms for the cluster's BM25 search, which selects most chunks. c has the statistics of the terms, and of says how many chunks the cluster has. The cluster takes the rarity of a
// term from the chunks of all partitions, and weighs the term by the number of its repeats. So terms weigh about as much as by the statistics of the partition. The last
// one is everyTerm if the chunks have it and it is needed. If most is set there are at most maxAsked. unasked is how much the others weigh together.
func (q *keywordQuery) asked(c *counts, of objectCounts, most int) (terms []askedTerm, unasked float64) {
	all, at := counts{docs: max(of.all, c.docs), df: c.df}, map[string]int{}
	for _, t := range q.terms {
		if isStop(t.Term) || c.df[t.Term] == 0 {
			continue
		}
		i, known := at[t.Term]
		if !known {
			i, at[t.Term] = len(terms), len(terms)
			terms = append(terms, askedTerm{term: t.Term, name: encodeTerm(t.Term), df: c.df[t.Term], inAll: c.df[t.Term] == c.docs, once: all.idf(t.Term)})
		}
		terms[i].weight += float64(t.Weight) * c.idf(t.Term)
	}
	if most > 0 && len(terms) >= maxAsked {
		slices.SortStableFunc(terms, func(a, b askedTerm) int { return cmp.Compare(b.weight, a.weight) })
		for _, t := range terms[maxAsked-1:] {
			unasked += t.weight
		}
		terms = terms[:maxAsked-1]
	}
	if len(terms) >= losesFrom && of.haveEvery(c.docs) {
		every := counts{docs: all.docs, df: map[string]int{everyTerm: of.every}}
		terms = append(terms, askedTerm{name: everyTerm, inAll: true, once: every.idf(everyTerm)})
	}
	setRepeats(terms, most/fewShare)
	return terms, unasked
}

// setRepeats sets how often terms are repeated: everyTerm once, and the others so often that it hardly matters beside them. Terms that at most few chunks have are only
// repeated about as often as they should be: whatever such a term weighs, the node selects all that have it if it weighs enough. So the others can have the
// ratios of their weights.
func setRepeats(terms []askedTerm, few int) {
	scoring := scoringOf(terms)
	var weights, matter []float64
	for _, t := range scoring {
		if t.df > few {
			weights, matter = append(weights, t.weight/t.once), append(matter, t.weight)
		}
	}
	if len(weights) == 0 {
		if few > 0 {
			setRepeats(terms, 0)
		}
		return
	}
	times, heaviest, most := repeats(weights, matter), 0.0, 0
	scale := float64(slices.Max(times)) / slices.Max(weights)
	for i := range scoring {
		t := &scoring[i]
		if t.df > few {
			t.times, times = times[0], times[1:]
			heaviest = max(heaviest, t.once*float64(t.times))
		} else {
			t.times = min(max(1, int(math.Round(t.weight/t.once*scale))), maxRepeats)
		}
		most = max(most, t.times)
	}
	if n := len(scoring); n < len(terms) {
		every := &terms[n]
		every.times = 1
		more := max(1, min(int(math.Ceil(besideEvery*max(every.once, leastEvery)/heaviest)), maxRepeats/most))
		for i := range scoring {
			scoring[i].times *= more
		}
	}
}

// scoringOf returns the terms without everyTerm.
func scoringOf(terms []askedTerm) []askedTerm {
	if n := len(terms); n > 0 && terms[n-1].name == everyTerm {
		return terms[:n-1]
	}
	return terms
}

// text returns the text of a BM25 search.
func (q *keywordQuery) text(terms []askedTerm) string {
	var b strings.Builder
	for _, t := range terms {
		b.WriteString(strings.Repeat(tokenOf(q.space, t.name)+" ", t.times))
	}
	return b.String()
}

// query returns the text of the cluster's BM25 search; see asked.
func (q *keywordQuery) query(c *counts, of objectCounts) string {
	terms, _ := q.asked(c, of, 0)
	return q.text(terms)
}

// maxRepeats is how often the text of a BM25 search repeats a term at most, and repeatError the error of a weight at which the
// repeats are fewer.
const (
	maxRepeats  = 100
	repeatError = .01
	// besideEvery is how many times as much as everyTerm the heaviest term should weigh. A node that counts gone chunks may take off for everyTerm: leastEvery is
	// what it is taken to weigh at least.
	besideEvery, leastEvery = 20, .5
	// minMatter is the share of the best term's score below which the error of a term's weight counts as a share of the best term's, and it does not matter if a node
	// takes off for a term.
	minMatter = .02
	// fewShare says which terms are in few chunks: at most one in fewShare of the chunks that the cluster selects.
	fewShare = 2
)

// repeats returns small numbers that have about the ratios of weights. matter is the scores of the terms.
func repeats(weights, matter []float64) (times []int) {
	if len(weights) == 0 {
		return nil
	}
	heaviest, most, least := slices.Max(weights), slices.Max(matter), math.Inf(1)
	for n := 1; n <= maxRepeats && least > repeatError; n++ {
		some, worst := make([]int, len(weights)), 0.0
		for i, w := range weights {
			exact := w / heaviest * float64(n)
			some[i] = max(1, int(math.Round(exact)))
			off := math.Abs(float64(some[i])-exact) / exact
			if matter[i] <= minMatter*most {
				off *= matter[i] / most
			}
			worst = max(worst, off)
		}
		if worst < least {
			times, least = some, worst
		}
	}
	return times
}

// selected ranks those chunks alone that the cluster selects by its own BM25, and recent ones, if there are many matches. It
// returns false if that may leave out some of the best.
func (x *index) selected(ctx context.Context, q *keywordQuery, c *counts, of *backend.KeywordQuery) (hits []backend.Hit, ok bool, err error) {
	for most := max(minCandidates, of.K+of.K/moreCandidates); ; most *= 2 {
		if hits, ok, err = x.selectedOf(ctx, q, c, of, most); ok || err != nil || most >= enoughCandidates {
			return hits, ok, err
		}
	}
}

// selectedOf is selected for most chunks that the cluster selects, or more if terms are left out.
//
// A node counts chunks that were deleted or stored again in the statistics of a term until it has compacted its segments. So each
// answer is checked: by how many chunks it has, by their scores, which must show that it weighs lengths and what each term weighs, and by how the node ranks the
// best ones. If terms weigh too little the node is asked once more, with repeats by what they weigh there.
func (x *index) selectedOf(ctx context.Context, q *keywordQuery, c *counts, of *backend.KeywordQuery, most int) ([]backend.Hit, bool, error) {
	if len(q.phrases) > 0 || most > maxResults || q.matches(c) <= most {
		return nil, false, nil
	}
	objects := x.objects(ctx, q.space)
	terms, unasked := q.asked(c, objects, most)
	if len(terms) == 0 || len(terms) >= losesFrom && !objects.haveEvery(c.docs) {
		return nil, false, nil
	}
	fields := ""
	if unasked > 0 {
		fields, most = candidateFields, min(unaskedMore*most, maxResults)
	}
	w, ok := withFilter(q.whereRequired(), of.Filter) // the words are those of the partition
	if !ok {
		return nil, true, nil
	}
	var recent []backend.Hit
	settled := x.useRecent(ctx, of.Part, func(r *partitionRecent) {
		recent = r.search(q, c, of.Filter, of.K)
		for i := range terms {
			if t := &terms[i]; t.df <= most { // the node may select all others that have it
				t.recent = r.having(t.name)
			}
		}
	})
	if !settled {
		return nil, false, nil
	}
	var found []candidate
	leftOut := 0.0
	for again := false; ; again = true {
		var err error
		found, err = x.candidates(ctx, q, of.Part, objects.haveEvery(c.docs), searchRequest{collection: x.x.schema.chunks(), tenant: x.uid, where: w, words: q.text(terms), limit: most, fields: fields})
		if err != nil || len(found) == 0 {
			return nil, false, err
		}
		weighs, ok := weighingOf(terms, c.average(), x.averageAtNodes.load(), found)
		if !ok {
			return nil, false, nil
		}
		x.averageAtNodes.store(weighs.average)
		weighs.unasked = unasked
		if leftOut = weighs.leftOut(terms, found, of.K); leftOut <= leftOutShare {
			break
		}
		if again || !weighs.correct(terms) {
			return nil, false, nil
		}
	}
	hits, weights := of.Answer.Into[:0], c.weigh(q.terms)
	for i := range found {
		hits = append(hits, found[i].hit(&weights))
	}
	if !sortSelected(hits, of.K) {
		return nil, false, nil
	}
	known := make(map[int64]bool, len(recent))
	for _, h := range recent {
		known[h.Chunk] = true
	}
	hits = append(slices.DeleteFunc(hits, func(h backend.Hit) bool { return known[h.Chunk] }), recent...)
	sortHits(hits)
	hits = hits[:min(of.K, len(hits))]
	if of.Answer.Unlisted != nil {
		*of.Answer.Unlisted = hits[len(hits)-1].Score * float32(leftOut)
	}
	return hits, true, nil
}

// candidate is a chunk that a node has selected. bag has no terms that its BM25 does not score.
type candidate struct {
	cachedChunk
	bag
	own float64 // score of the node
}

// hit returns the chunk with its score by the statistics of the partition.
func (f *candidate) hit(w *weights) backend.Hit {
	return backend.Hit{Chunk: f.chunk, Source: f.source, Score: float32(w.score(&f.bag))}
}

// candidates returns the chunks that a node selects, in its order. It returns none if the node finds fewer than it should, or gives one no
// score, or one that has no term but everyTerm. Where there is a dictionary it takes the frequencies of terms from the node's explanations of its scores, which is
// faster than to read the terms, unless the request has fields. haveEvery says whether chunks have everyTerm.
func (x *index) candidates(ctx context.Context, q *keywordQuery, part backend.Partition, haveEvery bool, a searchRequest) ([]candidate, error) {
	explains := a.fields == "" && !q.scoresStops() && x.useDictionary(ctx, part, func(*partitionDictionary) {})
	if a.fields = candidateFields; explains {
		a.fields = explainedFields
	}
	found, err := x.get(ctx, a)
	if err != nil || len(found) < a.limit {
		return nil, err
	}
	for _, o := range found {
		if score, ok := o.score(); !ok {
			return nil, fmt.Errorf("weaviate: a hit has no score: %w", backend.ErrCorrupt)
		} else if !(score > 0) { // a term counts more chunks than there are, or it is no number
			return nil, nil
		}
	}
	var out []candidate
	if !explains {
		if out, err = q.candidates(found, haveEvery); err != nil {
			return nil, err
		}
	} else {
		x.useDictionary(ctx, part, func(d *partitionDictionary) { out = d.candidates(q.space, found) }) // none if it was dropped meanwhile
	}
	if slices.ContainsFunc(out, func(f candidate) bool { return !f.matches() }) {
		return nil, nil
	}
	return out, nil
}

// matches reports whether the chunk has another term than everyTerm.
func (f *candidate) matches() bool {
	return len(f.tf) > 1 || f.tf[everyTerm] == 0
}

// candidates decodes candidates whose terms were read. haveEvery says whether they have everyTerm, which bags lack.
func (q *keywordQuery) candidates(found []object, haveEvery bool) ([]candidate, error) {
	want := make(map[string]bool, len(q.terms))
	for _, t := range q.terms {
		want[encodeTerm(t.Term)] = true
	}
	out := make([]candidate, len(found))
	for i, o := range found {
		c, err := o.cachedChunk()
		if err != nil {
			return nil, err
		}
		of, err := readBag(o.text(propBag), want, false)
		if err != nil {
			return nil, err
		}
		if haveEvery {
			of.tf[everyTerm] = 1
			of.tokens++
		}
		out[i] = candidate{cachedChunk: c, bag: of}
		out[i].own, _ = o.score()
	}
	return out, nil
}

// candidates decodes candidates whose scores a node has explained. It leaves out chunks that were put after the last change that the dictionary includes, and
// returns none if an explanation is missing.
func (d *partitionDictionary) candidates(sp space, found []object) []candidate {
	out := make([]candidate, 0, len(found))
	for _, o := range found {
		c, ok := d.chunks.of(nameOf(o.id()))
		if !ok {
			continue
		}
		f := candidate{cachedChunk: cachedChunk{chunk: c.chunk, source: c.source}, bag: o.explanation(sp)}
		if len(f.tf) == 0 {
			return nil
		}
		f.bag.length = int(c.length)
		f.own, _ = o.score()
		out = append(out, f)
	}
	return out
}

// sortSelected sorts hits, which a node has selected and are in its order. It returns false if there are none, or if one of the best of k was not in
// the first half: then others may be missing.
func sortSelected(hits []backend.Hit, k int) bool {
	first := make(map[int64]bool, len(hits)/2+1)
	for i := range len(hits)/2 + 1 {
		if i < len(hits) {
			first[hits[i].Chunk] = true
		}
	}
	sortHits(hits)
	for _, h := range hits[:min(checkedHits, k, len(hits))] {
		if !first[h.Chunk] {
			return false
		}
	}
	return len(hits) > 0
}

package lexical

import (
	"context"
	"math"
	"sync"
)

// run is the state of one search over the parts of a partition. It has the distinct terms of the
// query with their weights, and the best rows of the parts searched so far. Their worst score is
// the threshold with which the search of the next part starts.
type run struct {
	scorer
	query  *Query
	stats  Stats
	df     []int // number of live documents of all parts that have each term
	boosts []float64
	need   []bool
	seen   termSet
	ids    []uint32 // set by Part.count; indexed by part, then by term
	top    topK     // of rows
	seed   uint32   // a score that at least k rows exceed

	below  uint32    // View.Below of the part that is searched
	scores []float32 // see Score; a part may write there instead of to top
}

var runs = sync.Pool{New: func() any { return new(run) }}

// newRun returns a pooled run for the k best rows of the given number of parts. release returns it
// to the pool.
func newRun(q *Query, k, parts int) *run {
	r := runs.Get().(*run)
	r.query, r.seed, r.below, r.stats = q, 0, 0, Stats{}
	r.top.reset(k)
	r.addTerms()
	r.order()
	n := len(r.terms)
	r.df = append(r.df[:0], make([]int, n)...)
	r.ids = append(r.ids[:0], make([]uint32, n*parts)...)
	return r
}

func (r *run) release() {
	r.query, r.scores = nil, nil
	r.top.trim()
	clear(r.terms)
	r.seen.reset()
	runs.Put(r)
}

// addTerms lists the distinct terms, with the sum of their boosts.
func (r *run) addTerms() {
	q := r.query
	r.scorer = scorer{terms: r.terms[:0], any: q.Op == Or}
	r.boosts, r.need = r.boosts[:0], r.need[:0]
	add := func(term string, boost float64, required bool) {
		k, fresh := r.seen.place(term)
		if fresh {
			r.terms = append(r.terms, scoreTerm{term: term})
			r.boosts, r.need = append(r.boosts, 0), append(r.need, false)
		}
		r.boosts[k] += boost
		r.need[k] = r.need[k] || required
	}
	for _, t := range q.Terms {
		boost := float64(t.Boost)
		if !(boost > 0) || math.IsInf(boost, 1) {
			boost = 0
		}
		add(t.Term, boost, !r.any && !t.Optional)
	}
	if r.any {
		return
	}
	for _, p := range q.Phrases {
		for _, t := range p {
			add(t.Term, 0, true)
		}
	}
}

// order moves the terms that a conjunction requires to the front. If it requires none, documents
// need only one of the terms.
func (r *run) order() {
	if r.any {
		return
	}
	terms, boosts := make([]scoreTerm, 0, len(r.terms)), make([]float64, 0, len(r.terms))
	for _, required := range []bool{true, false} {
		for i, t := range r.terms {
			if r.need[i] == required {
				terms, boosts = append(terms, t), append(boosts, r.boosts[i])
			}
		}
		if required {
			r.required = len(terms)
		}
	}
	r.terms, r.boosts = terms, boosts
	r.any = r.required == 0
}

// idsOf returns the numbers of the terms in a part.
func (r *run) idsOf(part int) []uint32 {
	n := len(r.terms)
	return r.ids[part*n : (part+1)*n]
}

// prepare sets what all parts are searched by.
func (r *run) prepare(views []View) error {
	if err := r.count(views); err != nil {
		return err
	}
	r.weigh()
	return nil
}

// search searches the parts.
func (r *run) search(ctx context.Context, views []View) error {
	for i, v := range views {
		r.below = v.Below
		if err := v.Part.search(ctx, r, r.idsOf(i), v.Accept); err != nil {
			return err
		}
	}
	return nil
}

// count adds up the statistics of the parts, and sets r.ids.
func (r *run) count(views []View) error {
	for i, v := range views {
		if err := v.Part.count(r, r.idsOf(i)); err != nil {
			return err
		}
	}
	return nil
}

// weigh computes the weights of the terms, the norms and the unit from the statistics.
func (r *run) weigh() {
	total := 0.0
	for i := range r.terms {
		if r.df[i] == 0 && IsStem(r.terms[i].term) { // no document is in this language; the stem must not enlarge the unit
			r.boosts[i] = 0
		}
		r.boosts[i] *= IDF(r.stats.Docs, r.df[i])
		total += r.boosts[i]
	}
	_, exp := math.Frexp(total / maxScore) // total/maxScore < 2^exp
	if total == 0 || exp < -maxUnitExp || exp > maxUnitExp {
		exp = 0
		clear(r.boosts)
	}
	r.unit = float32(math.Ldexp(1, exp))
	for i := range r.terms {
		r.terms[i].weight = float32(math.Ldexp(r.boosts[i], -exp))
	}
	r.norm0 = bm25K1 * (1 - bm25B)
	r.norm1 = float32(bm25K1 * bm25B / r.stats.Average())
}

// floor returns the score that row and the rows after it must exceed to be among the best.
func (r *run) floor(row uint32) uint32 {
	if r.top.min == 0 {
		return r.seed
	}
	score := uint32(r.top.min >> 32)
	if score > 0 && ^uint32(r.top.min) > row { // row wins against the k-th best if their scores are equal
		score--
	}
	return max(score, r.seed)
}

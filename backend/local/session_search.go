package local

import (
	"context"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/lexical"
)

// BM25 parameters, equal to those of package lexical (Robertson and Zaragoza,
// "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
const (
	k1 = 1.2
	b  = 0.75
)

// SearchSessions scores sessions as documents; see [backend.Keywords]. A session passes the
// filter if one of its chunks does. Its score counts all its chunks.
func (x *index) SearchSessions(ctx context.Context, q backend.KeywordQuery) (hits []backend.Hit, err error) {
	parsed := x.parseQuery(&q)
	err = x.read(ctx, q.Part, facetSessions|needOf(q.Filter), func(p *partition) error {
		if q.K <= 0 || p.sessions.live == 0 {
			return nil
		}
		met, err := p.scoreSessions(ctx, parsed)
		if err != nil {
			return err
		}
		if met, err = p.keepPhrases(ctx, parsed, met); err != nil {
			return err
		}
		rows, sc := p.accept(q.Filter)
		defer sc.release()
		best := bestHits{limit: q.K}
		for _, m := range met {
			if !best.takes(m.score) {
				continue
			}
			if row := p.firstOf(m.session, rows); row != none {
				best.push(backend.Hit{Chunk: p.chunk[row], Source: p.number(m.session), Score: m.score})
			}
		}
		hits = best.hits
		sortHits(hits)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return hits, nil
}

// bestHits collects the first hits in the order of compareHits, at most limit. When full,
// hits is a heap whose root is the last hit in that order.
type bestHits struct {
	hits  []backend.Hit
	limit int
}

// takes reports whether a hit with this score can be among the best.
func (h *bestHits) takes(score float32) bool {
	return len(h.hits) < h.limit || score >= h.hits[0].Score
}

func (h *bestHits) push(hit backend.Hit) {
	if len(h.hits) < h.limit {
		h.hits = append(h.hits, hit)
		if len(h.hits) == h.limit {
			slices.SortFunc(h.hits, func(a, b backend.Hit) int { return compareHits(b, a) }) // a sorted slice is a heap
		}
		return
	}
	s, i := h.hits, 0
	if compareHits(hit, s[0]) >= 0 {
		return
	}
	for {
		c := 2*i + 1
		if c >= len(s) {
			break
		}
		if c+1 < len(s) && compareHits(s[c+1], s[c]) > 0 {
			c++
		}
		if compareHits(s[c], hit) <= 0 {
			break
		}
		s[i] = s[c]
		i = c
	}
	s[i] = hit
}

// firstOf returns the first row of a session that is in a set, or none.
func (p *partition) firstOf(k uint32, rows *bitset.Set) uint32 {
	row := p.sources[p.sessions.all[k].first].first
	for row != none && !rows.Has(row) {
		row = p.after(row)
	}
	return row
}

// scored is a session that matches a query.
type scored struct {
	session uint32
	score   float32
}

// tally is pooled memory of a search over sessions: the frequencies of the query's terms
// in each session that has one of them.
type tally struct {
	place []uint32  // by session: its index in met plus 1; all 0 between searches
	met   []uint32  // sessions with a term
	tf    []float64 // frequency of each term, session by session in the order of met
}

var tallies = sync.Pool{New: func() any { return new(tally) }}

// maxTally is the greatest number of sessions for which a tally goes back to the pool (4 MB of places).
const maxTally = 1 << 20

func (t *tally) release() {
	for _, k := range t.met {
		t.place[k] = 0
	}
	t.met = t.met[:0]
	if len(t.place) <= maxTally && cap(t.tf) <= maxTally {
		tallies.Put(t)
	}
}

// scoreSessions returns the sessions that match q with their scores, in no particular order.
func (p *partition) scoreSessions(ctx context.Context, q *lexical.Query) ([]scored, error) {
	terms := termsOf(q)
	ty := tallies.Get().(*tally)
	defer ty.release()
	if n := len(p.sessions.all); len(ty.place) < n {
		ty.place = make([]uint32, n+n/4)
	}
	ty.tf = ty.tf[:0]
	df := make([]int, len(terms))
	for i, t := range terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, v := range p.views(nil, p.live) {
			err := v.Part.EachPosting(t.text, v.Accept, func(row, n uint32) {
				k := p.link(p.of[row]).session
				if k == none {
					return
				}
				at := ty.place[k]
				if at == 0 {
					ty.met = append(ty.met, k)
					at = uint32(len(ty.met))
					ty.place[k] = at
					ty.tf = append(ty.tf, make([]float64, len(terms))...)
				}
				tf := &ty.tf[int(at-1)*len(terms)+i]
				if *tf == 0 {
					df[i]++
				}
				*tf += float64(n)
			})
			if err != nil {
				return nil, err
			}
		}
	}
	weights := make([]float64, len(terms))
	for i, t := range terms {
		weights[i] = t.boost * lexical.IDF(p.sessions.live, df[i])
	}
	out := make([]scored, 0, len(ty.met))
	average := max(float64(p.sessions.length)/float64(p.sessions.live), 1)
	for at, k := range ty.met {
		norm := k1 * (1 - b + b*float64(p.sessions.all[k].length)/average)
		score, matches, all := 0.0, false, true
		for i, n := range ty.tf[at*len(terms) : (at+1)*len(terms)] {
			if n == 0 {
				all = all && !terms[i].required
				continue
			}
			matches = matches || terms[i].boost > 0
			score += weights[i] * n / (n + norm)
		}
		if all && matches {
			out = append(out, scored{k, float32(score)})
		}
	}
	return out, nil
}

// sessionTerm is a term of a query over sessions.
type sessionTerm struct {
	text     string
	boost    float64
	required bool
}

// termsOf returns the distinct terms of a query. It includes the terms of phrases unless
// the operator is Or.
func termsOf(q *lexical.Query) []sessionTerm {
	var terms []sessionTerm
	place := make(map[string]int, len(q.Terms))
	add := func(text string, boost float64, required bool) {
		i, ok := place[text]
		if !ok {
			i = len(terms)
			place[text] = i
			terms = append(terms, sessionTerm{text: text})
		}
		terms[i].boost += max(boost, 0)
		terms[i].required = terms[i].required || required
	}
	for _, t := range q.Terms {
		add(t.Term, float64(t.Boost), q.Op != lexical.Or && !t.Optional)
	}
	if q.Op != lexical.Or {
		for _, phrase := range q.Phrases {
			for _, t := range phrase {
				add(t.Term, 0, true)
			}
		}
	}
	return terms
}

// keepPhrases removes from met each session that lacks a required phrase. A session has a phrase if one of its rows has it.
func (p *partition) keepPhrases(ctx context.Context, q *lexical.Query, met []scored) ([]scored, error) {
	if q.Op == lexical.Or {
		return met, nil
	}
	for _, phrase := range q.Phrases {
		one := &lexical.Query{Op: lexical.Phrase, Phrases: [][]lexical.PhraseTerm{phrase}}
		for _, t := range phrase {
			one.Terms = append(one.Terms, lexical.QueryTerm{Term: t.Term, Boost: 1})
		}
		rows, err := lexical.Search(ctx, one, p.liveN, p.views(nil, p.live))
		if err != nil {
			return nil, err
		}
		has := make(map[uint32]bool)
		for _, h := range rows {
			has[p.link(p.of[h.Row]).session] = true
		}
		met = slices.DeleteFunc(met, func(m scored) bool { return !has[m.session] })
	}
	return met, nil
}

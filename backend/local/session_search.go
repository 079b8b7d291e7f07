package local

import (
	"context"
	"math"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/lexical"
)

// BM25 parameters, the same as those of the keyword engine (Robertson and Zaragoza,
// "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
const (
	k1 = 1.2
	b  = 0.75
)

// SearchSessions scores sessions as documents; see [backend.Keywords]. A session
// passes the filter with any of its chunks, and is scored as a whole.
func (x *index) SearchSessions(ctx context.Context, q backend.KeywordQuery) (hits []backend.Hit, err error) {
	parsed := parseQuery(&q)
	err = x.read(ctx, q.Part, facetSessions|needOf(q.Filter), func(p *partition) error {
		if q.K <= 0 || p.sessions.live == 0 {
			return nil
		}
		var scores map[uint32]float32
		if p.sessions.impure == 0 {
			scores, err = p.scoreGroups(ctx, parsed)
		} else {
			scores, err = p.scoreSessions(ctx, parsed)
		}
		if err != nil {
			return err
		}
		if err := p.keepPhrases(ctx, parsed, scores); err != nil {
			return err
		}
		rows, sc := p.accept(q.Filter)
		defer sc.release()
		for k, score := range scores {
			if row := p.firstOf(k, rows); row != none {
				hits = append(hits, backend.Hit{Chunk: p.chunk[row], Source: p.number(k), Score: score})
			}
		}
		sortHits(hits)
		hits = hits[:min(q.K, len(hits))]
		return nil
	})
	if err != nil {
		return nil, err
	}
	return hits, nil
}

// firstOf returns the first row of a session that is in a set.
func (p *partition) firstOf(k uint32, rows *bitset.Set) uint32 {
	row := p.sources[p.sessions.all[k].first].first
	for row != none && !rows.Has(row) {
		row = p.after(row)
	}
	return row
}

// scoreGroups scores sessions where groups are sessions.
func (p *partition) scoreGroups(ctx context.Context, q *lexical.Query) (map[uint32]float32, error) {
	groups, err := lexical.SearchGroups(ctx, q, math.MaxInt, p.views(nil))
	if err != nil {
		return nil, err
	}
	scores := make(map[uint32]float32, len(groups))
	for _, g := range groups {
		// A group that has no session yet belongs to rows that are just coming.
		if k, ok := p.sessions.ofGroup[g.Group]; ok {
			scores[k] = g.Score
		}
	}
	return scores, nil
}

// scoreSessions scores sessions from the frequencies of the terms in every row.
func (p *partition) scoreSessions(ctx context.Context, q *lexical.Query) (map[uint32]float32, error) {
	terms := termsOf(q)
	tf := make([][]float64, len(terms)) // by session
	var met []uint32                    // sessions with a term
	seen := make([]bool, len(p.sessions.all))
	df := make([]int, len(terms))
	for i, t := range terms {
		tf[i] = make([]float64, len(p.sessions.all))
		err := p.frequencies(ctx, t.text, func(row uint32, n float64) {
			k := p.sources[p.of[row]].session
			if k == none {
				return
			}
			if !seen[k] {
				seen[k] = true
				met = append(met, k)
			}
			if tf[i][k] == 0 {
				df[i]++
			}
			tf[i][k] += n
		})
		if err != nil {
			return nil, err
		}
	}
	scores := make(map[uint32]float32, len(met))
	average := max(float64(p.sessions.length)/float64(p.sessions.live), 1)
	for _, k := range met {
		norm := k1 * (1 - b + b*float64(p.sessions.all[k].length)/average)
		score, matches, all := 0.0, false, true
		for i, t := range terms {
			n := tf[i][k]
			if n == 0 {
				all = all && !t.required
				continue
			}
			matches = matches || t.boost > 0
			score += t.boost * lexical.IDF(p.sessions.live, df[i]) * n / (n + norm)
		}
		if all && matches {
			scores[k] = float32(score)
		}
	}
	return scores, nil
}

// frequencies calls f for every live row with a term. The keyword engine tells
// scores alone, so the frequency is read back from the score of the term: where the
// mean length is beyond that of any row the score is idf*tf/(tf+k1*(1-b)). That is
// exact up to frequencies of some hundreds; above, a score does not depend on them.
func (p *partition) frequencies(ctx context.Context, term string, f func(row uint32, tf float64)) error {
	one := &lexical.Query{Op: lexical.Or, Terms: []lexical.QueryTerm{{Term: term, Boost: 1}}}
	st := &lexical.Stats{Docs: 1, TotalLen: math.MaxInt64, DF: map[string]int{term: 0}}
	idf := st.IDF(term)
	var hits []lexical.Hit
	for _, v := range p.views(p.live) {
		var err error
		if hits, err = v.Part.Search(ctx, one, st, v.Part.Len(), v.Accept, hits[:0]); err != nil {
			return err
		}
		for _, h := range hits {
			share := min(float64(h.Score)/idf, 1-1e-6)
			f(h.Row, max(1, math.Round(k1*(1-b)*share/(1-share))))
		}
	}
	return nil
}

// sessionTerm is a term of a query over sessions.
type sessionTerm struct {
	text     string
	boost    float64
	required bool
}

// termsOf returns the distinct terms of a query, those of its phrases included when
// they must match.
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

// keepPhrases drops sessions in which no row has one of the phrases that must match.
func (p *partition) keepPhrases(ctx context.Context, q *lexical.Query, scores map[uint32]float32) error {
	if q.Op == lexical.Or {
		return nil
	}
	for _, phrase := range q.Phrases {
		one := &lexical.Query{Op: lexical.Phrase, Phrases: [][]lexical.PhraseTerm{phrase}}
		for _, t := range phrase {
			one.Terms = append(one.Terms, lexical.QueryTerm{Term: t.Term, Boost: 1})
		}
		rows, _, err := lexical.Search(ctx, one, p.liveN, p.views(p.live))
		if err != nil {
			return err
		}
		has := make(map[uint32]bool)
		for _, h := range rows {
			has[p.sources[p.of[h.Row]].session] = true
		}
		for k := range scores {
			if !has[k] {
				delete(scores, k)
			}
		}
	}
	return nil
}

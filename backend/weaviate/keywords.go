package weaviate

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// keywordQuery is a parsed query.
type keywordQuery struct {
	space    space
	terms    []backend.WeightedTerm // terms that score
	required []string
	phrases  [][]lexical.PhraseTerm
}

func isStop(term string) bool { return (&lexical.Token{Term: term}).Stop() }

func parse(q *backend.KeywordQuery) keywordQuery {
	out := keywordQuery{space: spaceOf(q.Part)}
	add := func(term string, weight float32) {
		if weight > 0 && term != "" {
			out.terms = append(out.terms, backend.WeightedTerm{Term: term, Weight: weight})
		}
	}
	if q.Terms != nil && q.Operator == backend.Or {
		for _, t := range q.Terms {
			add(t.Term, t.Weight)
		}
		return out
	}
	op := map[backend.Operator]lexical.Operator{backend.Or: lexical.Or, backend.And: lexical.And, backend.Phrase: lexical.Phrase}[q.Operator]
	parsed := lexical.Parser{FirstPerson: q.Part.Class == backend.Memory}.Parse(q.Text, op)
	for _, t := range parsed.Terms {
		add(t.Term, t.Boost)
		if op != lexical.Or && !t.Optional {
			out.required = append(out.required, t.Term)
		}
	}
	if op != lexical.Or {
		out.phrases = parsed.Phrases
	}
	return out
}

// scoresStops reports whether a stop word scores. The cluster does not rank by them.
func (q *keywordQuery) scoresStops() bool {
	return slices.ContainsFunc(q.terms, func(t backend.WeightedTerm) bool { return isStop(t.Term) })
}

// names returns the terms whose statistics the query needs.
func (q *keywordQuery) names() (out []string) {
	seen := map[string]bool{}
	for _, t := range q.terms {
		if !seen[t.Term] {
			seen[t.Term] = true
			out = append(out, t.Term)
		}
	}
	for _, t := range q.required {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// matches returns an upper bound of the number of chunks that have all required terms, or any term if none is required.
func (q *keywordQuery) matches(c *counts) int {
	if len(q.required) > 0 {
		least := math.MaxInt
		for _, t := range q.required {
			least = min(least, c.df[t])
		}
		return least
	}
	sum := 0
	for _, t := range q.terms {
		sum += c.df[t.Term]
	}
	return min(sum, c.docs)
}

// rarest returns the query with only its rarest terms: as many as match at most budget chunks, but at least one. rest is
// the maximum that the other terms can add to a score.
func (q *keywordQuery) rarest(c *counts, budget int) (some keywordQuery, rest float64) {
	some = *q
	some.terms = slices.Clone(q.terms)
	slices.SortStableFunc(some.terms, func(a, b backend.WeightedTerm) int { return cmp.Compare(c.df[a.Term], c.df[b.Term]) })
	n := 1
	for sum := c.df[some.terms[0].Term]; n < len(some.terms); n++ {
		if sum += c.df[some.terms[n].Term]; min(sum, c.docs) > budget {
			break
		}
	}
	for _, t := range some.terms[n:] {
		rest += float64(t.Weight) * c.idf(t.Term)
	}
	some.terms = some.terms[:n]
	return some, rest
}

// whereRequired returns the filter for the required terms.
func (q *keywordQuery) whereRequired() where {
	var parts []where
	for _, t := range q.required {
		parts = append(parts, hasTerm(q.space, t))
	}
	return allOf(parts...)
}

// where returns the filter of the query. It returns false if nothing can match.
func (q *keywordQuery) where(f backend.Filter) (where, bool) {
	if len(q.required) > 0 {
		return withFilter(q.whereRequired(), f)
	}
	var words, stops []string
	for _, t := range q.terms {
		if isStop(t.Term) {
			stops = append(stops, wordOf(q.space, t.Term))
		} else {
			words = append(words, wordOf(q.space, t.Term))
		}
	}
	switch {
	case len(words) == 0 && len(stops) == 0:
		return where{}, false
	case len(stops) == 0:
		return withFilter(anyOf(propWords, words), f)
	case len(words) == 0:
		return withFilter(anyOf(propStops, stops), f)
	}
	return withFilter(where{op: "Or", parts: []where{anyOf(propWords, words), anyOf(propStops, stops)}}, f)
}

const (
	// fewMatches is the minimum number of matches read in the first round.
	fewMatches = 2000
	rankFields = propChunk + " " + propSource + " " + propBag
	bagFields  = rankFields + " " + propTags
)

// wordsHere returns the keyword index of the other Indexers if it has the words of a partition, with all changes that the
// cluster has; else nil. It has those of memories, for their sessions.
func (x *index) wordsHere(part backend.Partition) backend.Keywords {
	if !x.x.wordsHere || part.Class != backend.Memory || x.sessions.Applied() < x.applied.Load() {
		return nil
	}
	return x.sessions
}

// SearchKeywords implements [backend.Keywords]. Memories are searched in the other Indexers, which have their words. The terms
// of other partitions are cached as far as Options.CacheBytes allows, and brought up to date with the changes. Until a large
// partition is cached, and for phrases, the cluster is searched, for at most 10,000 hits. It selects candidates by its own BM25,
// if this process has seen all recent changes; see partitionRecent and index.selected. Otherwise chunks that have one of the rarest terms are ranked by
// all terms. Further terms are included until no chunk without the rarest ones can be among the best, or until 10,000 chunks are
// ranked. If more than 10,000 chunks have the rarest term, or all required terms, the cluster selects 10,000 of them.
func (x *index) SearchKeywords(ctx context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	if err := x.enterSearch(ctx); err != nil {
		return nil, err
	}
	defer x.leave()
	if near := x.wordsHere(q.Part); near != nil {
		return near.SearchKeywords(ctx, q)
	}
	query := parse(&q)
	if q.K <= 0 || len(query.terms) == 0 && len(query.required) == 0 {
		return nil, nil
	}
	if len(query.phrases) == 0 {
		var hits []backend.Hit
		ok, err := x.useTerms(ctx, q.Part, func(t *partitionTerms) {
			hits = t.search(&query, t.counts(query.names()), q.Filter, q.K, q.Answer.Into)
		})
		if ok || err != nil {
			return hits, err
		}
	}
	c, err := x.counts(ctx, q.Part, query.names())
	if err != nil || query.matches(c) == 0 {
		return nil, err
	}
	if hits, ok, err := x.selected(ctx, &query, c, &q); ok || err != nil {
		return hits, err
	}
	for budget := max(fewMatches, 2*min(q.K, maxResults)); ; budget *= 4 {
		budget = min(budget, maxResults)
		some, rest := query, 0.0
		if len(query.required) == 0 {
			some, rest = query.rarest(c, budget)
		}
		w, ok := some.where(q.Filter)
		if !ok {
			return nil, nil
		}
		a := searchRequest{collection: x.x.schema.chunks(), tenant: x.uid, where: w, limit: maxResults, fields: rankFields}
		if some.matches(c) > maxResults {
			a.words = query.query(c, x.objects(ctx, query.space))
		}
		found, err := x.get(ctx, a)
		if err != nil {
			return nil, err
		}
		hits, err := query.rank(found, c, q.Answer.Into)
		if err != nil {
			return nil, err
		}
		if rest == 0 || budget == maxResults || len(hits) >= q.K && float64(hits[q.K-1].Score) > rest {
			return hits[:min(q.K, len(hits))], nil
		}
	}
}

// rank returns the found chunks that match, with their scores, in descending order of score.
func (q *keywordQuery) rank(found []object, c *counts, into []backend.Hit) ([]backend.Hit, error) {
	want := make(map[string]bool, len(q.terms))
	for _, t := range q.terms {
		want[encodeTerm(t.Term)] = true
	}
	for _, p := range q.phrases {
		for _, t := range p {
			want[encodeTerm(t.Term)] = true
		}
	}
	hits, weights := into[:0], c.weigh(q.terms)
	for _, o := range found {
		of, err := readBag(o.text(propBag), want, len(q.phrases) > 0)
		if err != nil {
			return nil, err
		}
		if !q.holdsPhrases(&of) {
			continue
		}
		hit, err := o.cachedChunk()
		if err != nil {
			return nil, err
		}
		hits = append(hits, backend.Hit{Chunk: hit.chunk, Source: hit.source, Score: float32(weights.score(&of))})
	}
	sortHits(hits)
	return hits, nil
}

// cachedChunk returns the chunk and the source of an object.
func (o object) cachedChunk() (out cachedChunk, err error) {
	chunk, err1 := o.number(propChunk)
	source, err2 := o.number(propSource)
	return cachedChunk{chunk: chunk, source: source}, errors.Join(err1, err2)
}

// holdsPhrases reports whether the terms of each phrase are adjacent in one field.
func (q *keywordQuery) holdsPhrases(of *bag) bool {
	for _, phrase := range q.phrases {
		if !of.has(phrase) {
			return false
		}
	}
	return true
}

func (of *bag) has(phrase []lexical.PhraseTerm) bool {
	rest := make([]map[spot]bool, len(phrase))
	for i, t := range phrase {
		rest[i] = make(map[spot]bool)
		for _, s := range of.places[encodeTerm(t.Term)] {
			rest[i][s] = true
		}
	}
next:
	for at := range rest[0] {
		for i, t := range phrase {
			if !rest[i][spot{at.field, at.pos + t.Offset - phrase[0].Offset}] {
				continue next
			}
		}
		return true
	}
	return false
}

// SearchSessions implements [backend.Keywords]. It calls the other Indexers, which know the chunks of each session.
func (x *index) SearchSessions(ctx context.Context, q backend.KeywordQuery) ([]backend.Hit, error) {
	if err := x.enterSearch(ctx); err != nil {
		return nil, err
	}
	defer x.leave()
	return x.sessions.SearchSessions(ctx, q)
}

// Terms implements [backend.Keywords].
func (x *index) Terms(ctx context.Context, part backend.Partition, text string) (terms []backend.TermInfo, docs int, avgTerms float32, err error) {
	if err := x.enterSearch(ctx); err != nil {
		return nil, 0, 0, err
	}
	defer x.leave()
	if near := x.wordsHere(part); near != nil {
		return near.Terms(ctx, part, text)
	}
	query := parse(&backend.KeywordQuery{Part: part, Text: text})
	c, err := x.counts(ctx, part, query.names())
	if err != nil {
		return nil, 0, 0, err
	}
	for _, t := range query.terms {
		if lexical.IsStem(t.Term) {
			continue
		}
		terms = append(terms, backend.TermInfo{Term: t.Term, DF: c.df[t.Term], IDF: float32(c.idf(t.Term))})
	}
	return terms, c.docs, float32(c.average()), nil
}

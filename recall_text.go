package contextmem

import (
	"context"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/recall"
)

// booleanRecall searches by keywords alone.
func (s *Service) booleanRecall(ctx context.Context, sub Sub, q TextQuery) (*Result, error) {
	const op = "boolean recall"
	if err := checkQuery(op, "query", q.Query); err != nil {
		return nil, err
	}
	if err := completeRequestID(op, &q.RequestID); err != nil {
		return nil, err
	}
	if q.Class == 0 {
		q.Class = ClassKnowledge
	}
	if q.Class != ClassKnowledge && q.Class != ClassMemory && q.Class != ClassAll {
		return nil, fieldError(op, KindInvalid, ResourceSearch, "type", "unknown class %d", q.Class)
	}
	if q.MaxResults == 0 {
		q.MaxResults = 10
	}
	if q.MaxResults < 1 || q.MaxResults > 1000 {
		return nil, fieldError(op, KindInvalid, ResourceSearch, "max_results", "must be between 1 and 1000")
	}
	ops := map[Operator]backend.Operator{"": backend.Or, OperatorOr: backend.Or, OperatorAnd: backend.And, OperatorPhrase: backend.Phrase}
	bop, ok := ops[q.Operator]
	if !ok {
		return nil, fieldError(op, KindInvalid, ResourceSearch, "operator", "must be or, and or phrase")
	}
	if err := checkNames(op, q.IDs, q.Titles, q.Principals); err != nil {
		return nil, err
	}
	if err := checkSubs(op, q.Subs); err != nil {
		return nil, err
	}
	h, err := s.open(ctx, op, sub.org, sub.tenant)
	if err != nil {
		return nil, err
	}
	defer h.release()
	scopes, err := sub.scopes(ctx, h, q.Class, q.Subs, nil)
	if err != nil {
		return nil, wrap(op, ResourceSub, sub.sub, err)
	}
	filter, warnings, err := s.sourceFilter(op, h.rec.data.Schema, q.Filters, q.IDs, q.Titles, q.Principals)
	if err != nil {
		return nil, err
	}
	if err := h.fresh(ctx); err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	r := &recallRun{svc: s, held: h, op: op, now: time.Now(), filter: filter, scopes: scopes, q: Recall{Query: q.Query, Class: q.Class, MaxResults: q.MaxResults},
		res: &Result{RequestID: q.RequestID, Mode: ModeFast, Warnings: warnings, Chunks: []Chunk{}, memory: resultMemories.Get().(*resultMemory)}}
	for i := range scopes {
		sc := &scopes[i]
		hits, err := h.ws.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: sc.part, Text: q.Query, Operator: bop, K: q.MaxResults + q.MaxResults/2, Filter: filter})
		if err != nil {
			return nil, wrap(op, ResourceSearch, "", err)
		}
		for _, x := range hits {
			score := float64(x.Score)
			r.hits = append(r.hits, &scopeHit{Scored: recall.Scored{Chunk: x.Chunk, Source: x.Source, Score: score}, scope: sc,
				parts: &Explain{Keyword: score, RawKeyword: score}})
		}
	}
	slices.SortStableFunc(r.hits, compareWeighted)
	hits, err := r.hydrate(ctx, q.MaxResults)
	if err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	for _, x := range hits {
		var c Chunk
		err := r.fillChunk(&c, x.row)
		if err != nil {
			return nil, wrap(op, ResourceSearch, "", err)
		}
		c.Score, c.Explain = x.Score, x.parts
		r.res.Chunks = append(r.res.Chunks, c)
	}
	if err := r.sources(hits); err != nil {
		return nil, wrap(op, ResourceSearch, "", err)
	}
	if len(r.res.Chunks) == 0 {
		if err := r.hint(ctx); err != nil {
			return nil, wrap(op, ResourceSearch, "", err)
		}
	}
	s.requests.add(r.res.RequestID, sub, &r.q, scopes, r.res.Sources)
	return r.res, nil
}

package recall

import (
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/rank"
)

// Boolean searches only by keywords. It uses the request's Query, Scopes, MaxResults, Filter and Now and ignores the
// other fields. The caller releases the result.
func (e *Engine) Boolean(ctx context.Context, ws *Workspace, req *Request, op backend.Operator) (*Result, error) {
	r := newRun(ctx, e, ws, req)
	for k := r.MaxResults + r.MaxResults/2; ; k = min(k*moreHits, maxCandidates) {
		cut, err := r.match(op, k)
		if err != nil {
			return nil, err
		}
		r.Laps.Lap("rank")
		hits, err := r.spread(r.MaxResults, r.hydrate)
		if err != nil {
			return nil, err
		}
		r.Laps.Lap("read")
		few := cut && r.places(hits) < r.MaxResults
		if few && k < maxCandidates {
			continue
		}
		if few {
			r.bounded()
		}
		if hits, err = r.condense(hits); err != nil {
			return nil, err
		}
		hits = hits[:min(len(hits), r.MaxResults)]
		r.Superseded = Mark
		if hits, err = r.succeed(hits); err != nil {
			return nil, err
		}
		r.Laps.Lap("succeed")
		r.setHits(hits)
		break
	}
	for _, h := range r.res.Hits {
		h.Score = h.ranked.Score // the BM25 score, without the weight of the scope
	}
	if err := r.replaced(); err != nil {
		return nil, err
	}
	r.passages()
	r.warnDamaged()
	return &r.res, r.hint()
}

// match sets r.hits to the best k of each scope, and reports whether there may be more.
func (r *run) match(op backend.Operator, k int) (cut bool, err error) {
	r.hits = r.hits[:0]
	for i := range r.scopes {
		sc := &r.scopes[i]
		found, err := r.Keywords.SearchKeywords(r.ctx, backend.KeywordQuery{Part: sc.Part, Text: r.Query, Operator: op, K: k, Filter: r.Filter})
		if err != nil {
			return false, err
		}
		cut = cut || len(found) >= k
		for _, x := range found {
			score := float64(x.Score)
			r.hits = append(r.hits, &Hit{Score: score * sc.Weight, Parts: &Parts{Keyword: score, RawKeyword: score},
				ranked: rank.Scored{Chunk: x.Chunk, Source: x.Source, Score: score}, scope: sc})
		}
	}
	slices.SortStableFunc(r.hits, compareScores)
	return cut, nil
}

package weaviate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// Remote implements [backend.Remote].
func (x *index) Remote() {}

// exactVectors is the number of vectors passing a filter up to which the cluster compares all of them with the query.
const exactVectors = 40_000

// ExactUpTo implements [backend.Exact].
func (x *index) ExactUpTo() int { return exactVectors }

const (
	// hitFields are the fields that a vector search returns.
	hitFields = propChunk + " " + propSource + " _additional{distance}"
	// distanceFields are the fields of vectors whose chunks are known by their names.
	distanceFields = " _additional{id distance}"
	// rowFields are the fields of vectors that are cached.
	rowFields = propChunk + " " + propSource + " " + propTags + " _additional{vector}"
)

// SearchVectors implements [backend.Vectors]. The vectors of a lane in a partition are cached as far as
// Options.CacheBytes allows, and brought up to date with the changes. Until a large one is cached the cluster is searched, for at most 10,000 hits. If up
// to 40,000 vectors pass the filter that search is exact too; otherwise it is approximate, regardless of q.Recall.
func (x *index) SearchVectors(ctx context.Context, q backend.VectorQuery) ([]backend.Hit, error) {
	if err := x.enterSearch(ctx); err != nil {
		return nil, err
	}
	defer x.leave()
	if len(q.Vector) == 0 {
		return nil, errors.New("search vectors: the query has no vector")
	}
	lane := laneSpace(q.Part, q.Lane)
	if dims, known := x.stats.dimsOf(lane); known && !slices.Contains(dims, len(q.Vector)) {
		return nil, wrongLength(dims, len(q.Vector))
	}
	var hits []backend.Hit
	some := false // whether the lane has vectors of this length
	cached, err := x.useVectors(ctx, partitionKey{of: x, part: q.Part, lane: q.Lane, dim: len(q.Vector)}, func(v *partitionVectors) {
		if some = len(v.chunks) > 0; some && q.K > 0 {
			hits = v.search(q.Vector, q.Filter, q.K, q.Answer.Into)
		}
	})
	if err != nil || some {
		return hits, err
	}
	w, ok := withFilter(equal(propSpace, lane), q.Filter)
	if ok && q.K > 0 && !cached {
		hits, err := x.nearest(ctx, w, q.Vector, q.K, q.Answer.Into)
		if err != nil || len(hits) > 0 {
			return hits, err
		}
	}
	dims, err := x.dimsOf(ctx, lane)
	if err != nil || slices.Contains(dims, len(q.Vector)) {
		return nil, err
	}
	return nil, wrongLength(dims, len(q.Vector))
}

// wrongLength returns an error for a query of length dim, or nil if the lane has no vectors.
func wrongLength(dims []int, dim int) error {
	if len(dims) == 0 {
		return nil
	}
	return fmt.Errorf("search vectors: the query has %d numbers, the vectors have %d", dim, dims[0])
}

// tieMargin is the number of extra hits requested, so that equal scores at the end of the list can be ordered.
const tieMargin = 8

// nearest returns the k best hits among the vectors that match a filter.
func (x *index) nearest(ctx context.Context, w where, vec []float32, k int, into []backend.Hit) ([]backend.Hit, error) {
	collection := x.x.schema.vectors(len(vec))
	there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
	if err != nil || !there {
		return nil, err
	}
	k = min(k, maxResults)
	for limit := min(k+tieMargin, maxResults); ; limit = min(4*limit, maxResults) {
		found, err := x.get(ctx, searchRequest{collection: collection, tenant: x.uid, where: w, near: vec, limit: limit, fields: hitFields})
		if err != nil {
			return nil, err
		}
		hits, err := hitsOf(found, into[:0])
		if err != nil {
			return nil, err
		}
		sortHits(hits)
		// A missing hit with the same score as the last one could come before it.
		if len(found) < limit || limit == maxResults || len(hits) > k && hits[k-1].Score > hits[len(hits)-1].Score {
			return hits[:min(k, len(hits))], nil
		}
	}
}

// hitsOf decodes the hits of a vector search.
func hitsOf(found []object, into []backend.Hit) ([]backend.Hit, error) {
	for _, o := range found {
		chunk, err1 := o.number(propChunk)
		source, err2 := o.number(propSource)
		distance, ok := o.distance()
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("weaviate: a hit has no distance: %w", backend.ErrCorrupt)
		}
		into = append(into, backend.Hit{Chunk: chunk, Source: source, Score: float32(-distance)})
	}
	return into, nil
}

// sortHits sorts hits in the order that package backend prescribes: descending by score, then by chunk.
func sortHits(hits []backend.Hit) {
	slices.SortFunc(hits, func(a, b backend.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Chunk, b.Chunk))
	})
}

// dimsOf returns the lengths of the vectors of a lane of a partition, and caches them.
func (x *index) dimsOf(ctx context.Context, lane string) ([]int, error) {
	turn := x.stats.currentTurn()
	var out []int
	for _, dim := range x.x.schema.dims() {
		collection := x.x.schema.vectors(dim)
		there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		found, err := x.get(ctx, searchRequest{collection: collection, tenant: x.uid, where: equal(propSpace, lane), limit: 1, fields: propChunk})
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			out = append(out, dim)
		}
	}
	x.stats.storeDims(lane, out, turn)
	return out, nil
}

// ScoreChunks implements [backend.ChunkScorer].
func (x *index) ScoreChunks(ctx context.Context, q backend.ScoreQuery) ([]backend.Hit, error) {
	if err := x.enterSearch(ctx); err != nil {
		return nil, err
	}
	defer x.leave()
	out := q.Into[:0]
	if len(q.Vector) == 0 {
		return out, nil
	}
	cached, err := x.useVectors(ctx, partitionKey{of: x, part: q.Part, lane: q.Lane, dim: len(q.Vector)}, func(v *partitionVectors) {
		out = scoresOf(q.Chunks, v.score(q.Vector, q.Chunks), out)
	})
	if err != nil || cached {
		return out, err
	}
	for some := range slices.Chunk(q.Chunks, maxChunksPerSearch) {
		places := make([]string, len(some))
		for i, c := range some {
			places[i] = place(c, q.Lane)
		}
		w := allOf(equal(propSpace, laneSpace(q.Part, q.Lane)), anyOf(propPlace, places))
		var hits []backend.Hit
		if named := x.namedPlaces(ctx, q.Part, some, places); named != nil {
			hits, err = x.scoresOfNamed(ctx, w, q.Vector, named)
		} else {
			hits, err = x.nearest(ctx, w, q.Vector, len(some), nil)
		}
		if err != nil {
			return nil, err
		}
		out = scoresOf(some, hits, out)
	}
	return out, nil
}

// namedPlaces returns chunks by the names of their vectors, whose places are given. It returns nil without a dictionary that has all
// chunks.
func (x *index) namedPlaces(ctx context.Context, part backend.Partition, chunks []int64, places []string) map[uint64]namedChunk {
	out := make(map[uint64]namedChunk, len(chunks))
	ok := x.useDictionary(ctx, part, func(d *partitionDictionary) {
		for i, c := range chunks {
			if known, ok := d.chunks.of(nameOfChunk(c)); ok {
				out[nameOf(uuidOf("vector", places[i]))] = known
			}
		}
	})
	if !ok || len(out) < len(chunks) {
		return nil
	}
	return out
}

// scoresOfNamed returns the scores of the vectors that match a filter, which are those of named chunks.
func (x *index) scoresOfNamed(ctx context.Context, w where, vec []float32, named map[uint64]namedChunk) ([]backend.Hit, error) {
	collection := x.x.schema.vectors(len(vec))
	there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
	if err != nil || !there {
		return nil, err
	}
	found, err := x.get(ctx, searchRequest{collection: collection, tenant: x.uid, where: w, near: vec, limit: len(named), fields: distanceFields})
	if err != nil {
		return nil, err
	}
	var hits []backend.Hit
	for _, o := range found {
		distance, ok := o.distance()
		if !ok {
			return nil, fmt.Errorf("weaviate: a hit has no distance: %w", backend.ErrCorrupt)
		}
		if c, ok := named[nameOf(o.id())]; ok {
			hits = append(hits, backend.Hit{Chunk: c.chunk, Source: c.source, Score: float32(-distance)})
		}
	}
	return hits, nil
}

// scoresOf appends to out the hits of chunks, in the order of chunks.
func scoresOf(chunks []int64, hits, out []backend.Hit) []backend.Hit {
	of := make(map[int64]backend.Hit, len(hits))
	for _, h := range hits {
		of[h.Chunk] = h
	}
	for _, c := range chunks {
		if h, ok := of[c]; ok {
			out = append(out, h)
		}
	}
	return out
}

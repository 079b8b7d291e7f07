package contextmem

import (
	"context"

	"github.com/contextmem/contextmem/internal/vectors"
)

// Vector is a vector that the caller made.
type Vector struct {
	ChunkID string
	Vector  []float32 // the tenant's dimension, finite numbers
}

// VectorSource groups vectors under a source id.
type VectorSource struct {
	SourceID string
	Metadata map[string]any
	Vectors  []Vector // at least one
}

// VectorHit is a vector found.
type VectorHit struct {
	SourceID string
	ChunkID  string
	Vector   []float32 // only when asked for
	Score    float64   // cosine similarity, higher is closer
	Distance float64   // 1 - Score
	Metadata map[string]any
}

// InsertVectorsRequest is what InsertVectors takes: at most 2000 vectors in all.
type InsertVectorsRequest struct {
	Sources []VectorSource
	Upsert  bool // replace existing source ids; without it an existing one is fault.ErrExists
}

// InsertVectors stores vectors in an embeddings tenant. They can be searched when
// it returns. It returns the chunk ids.
func (s scope) InsertVectors(ctx context.Context, r InsertVectorsRequest) ([]string, error) {
	const op = "insert vectors"
	ref, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	in := vectors.Insert{Sources: make([]vectors.Source, len(r.Sources)), Upsert: r.Upsert}
	for i, src := range r.Sources {
		in.Sources[i] = vectors.Source{ID: src.SourceID, Metadata: src.Metadata, Vectors: make([]vectors.Vector, len(src.Vectors))}
		for j, v := range src.Vectors {
			in.Sources[i].Vectors[j] = vectors.Vector(v)
		}
	}
	return s.svc.vectors.Insert(ctx, op, ref, s.sub, in)
}

// SearchVectorsRequest asks for the vectors nearest to a query by cosine similarity.
type SearchVectorsRequest struct {
	Vector      []float32
	Limit       int            // 1 to 1000; default 10
	Metadata    map[string]any // equality
	WithVectors bool
	Recall      float64 // share of the nearest that is found on average in large sub-tenants, .9 to 1; default [Options].VectorRecall
	Exact       bool    // find all of the nearest, whatever it takes
}

// SearchVectors finds nearest vectors in an embeddings tenant.
func (s scope) SearchVectors(ctx context.Context, r SearchVectorsRequest) ([]VectorHit, error) {
	const op = "search vectors"
	ref, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	hits, err := s.svc.vectors.Search(ctx, op, ref, s.sub, vectors.Search(r))
	return vectorHits(hits), err
}

// VectorSelection names vectors: exactly one of the two.
type VectorSelection struct {
	SourceID string
	ChunkIDs []string
}

// FilterVectors returns vectors by source or chunk id, at most limit (1 to 10000, default 100).
func (s scope) FilterVectors(ctx context.Context, r VectorSelection, limit int) ([]VectorHit, error) {
	const op = "filter vectors"
	ref, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	hits, err := s.svc.vectors.Filter(ctx, op, ref, s.sub, vectors.Select(r), limit)
	return vectorHits(hits), err
}

// DeleteVectors removes vectors by source or chunk id and returns how many.
func (s scope) DeleteVectors(ctx context.Context, r VectorSelection) (int, error) {
	const op = "delete vectors"
	ref, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return 0, err
	}
	defer ref.Release()
	return s.svc.vectors.Delete(ctx, op, ref, s.sub, vectors.Select(r))
}

func vectorHits(hits []vectors.Hit) []VectorHit {
	if hits == nil {
		return nil
	}
	out := make([]VectorHit, len(hits))
	for i, h := range hits {
		out[i] = VectorHit{SourceID: h.SourceID, ChunkID: h.ChunkID, Vector: h.Vector, Score: h.Score, Distance: h.Distance, Metadata: h.Metadata}
	}
	return out
}

package contextmem

import "context"

// RawVector is a vector that the caller made.
type RawVector struct {
	ChunkID string
	Vector  []float32 // the tenant's dimension, finite numbers
}

// RawSource groups vectors under a source id.
type RawSource struct {
	SourceID string
	Metadata map[string]any
	Vectors  []RawVector // at least one
}

// RawHit is a vector found.
type RawHit struct {
	SourceID string
	ChunkID  string
	Vector   []float32 // only when asked for
	Score    float64   // cosine similarity, higher is closer
	Distance float64   // 1 - Score
	Metadata map[string]any
}

// RawInsert is what InsertVectors takes: at most 2000 vectors in all.
type RawInsert struct {
	Sources []RawSource
	Upsert  bool // replace existing source ids; without it an existing one is ErrExists
}

// InsertVectors stores vectors in an embeddings tenant. They can be searched when
// it returns. It returns the chunk ids.
func (s Sub) InsertVectors(ctx context.Context, r RawInsert) ([]string, error) {
	return s.svc.insertVectors(ctx, s, r)
}

// RawSearch asks for the vectors nearest to a query by cosine similarity.
type RawSearch struct {
	Vector      []float32
	Limit       int            // 1 to 1000; default 10
	Metadata    map[string]any // equality
	WithVectors bool
}

// SearchVectors finds nearest vectors in an embeddings tenant.
func (s Sub) SearchVectors(ctx context.Context, r RawSearch) ([]RawHit, error) {
	return s.svc.searchVectors(ctx, s, r)
}

// RawSelect names vectors: exactly one of the two.
type RawSelect struct {
	SourceID string
	ChunkIDs []string
}

// FilterVectors returns vectors by source or chunk id, at most limit (1 to 10000, default 100).
func (s Sub) FilterVectors(ctx context.Context, r RawSelect, limit int) ([]RawHit, error) {
	return s.svc.filterVectors(ctx, s, r, limit)
}

// DeleteVectors removes vectors by source or chunk id and returns how many.
func (s Sub) DeleteVectors(ctx context.Context, r RawSelect) (int, error) {
	return s.svc.deleteVectors(ctx, s, r)
}

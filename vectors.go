package contextmem

import (
	"context"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Types of vectors that callers supply. They are declared in package content.
type (
	// Vector is a vector that the caller made: content.Vector.
	Vector = content.Vector
	// VectorSource groups vectors under a source id: content.VectorSource.
	VectorSource = content.VectorSource
	// VectorHit is a vector found: content.VectorHit.
	VectorHit = content.VectorHit
	// VectorSelection names vectors: content.VectorSelection.
	VectorSelection = content.VectorSelection
	// InsertVectorsRequest is the input of InsertVectors: content.InsertVectorsRequest.
	InsertVectorsRequest = content.InsertVectorsRequest
	// SearchVectorsRequest asks for the vectors nearest to a query: content.SearchVectorsRequest.
	SearchVectorsRequest = content.SearchVectorsRequest
)

// InsertVectors stores vectors in an embeddings tenant. They can be searched when
// it returns. It returns the chunk ids.
func (s scope) InsertVectors(ctx context.Context, r InsertVectorsRequest) ([]string, error) {
	const op = "insert vectors"
	return opened(ctx, s, op, func(ref *workspace.Ref) ([]string, error) { return s.svc().vectors.Insert(ctx, op, ref, s.sub, r) })
}

// SearchVectors finds nearest vectors in an embeddings tenant.
func (s scope) SearchVectors(ctx context.Context, r SearchVectorsRequest) ([]VectorHit, error) {
	const op = "search vectors"
	return opened(ctx, s, op, func(ref *workspace.Ref) ([]VectorHit, error) { return s.svc().vectors.Search(ctx, op, ref, s.sub, r) })
}

// FilterVectors returns vectors by source or chunk id, at most limit (1 to 10000, default 100).
func (s scope) FilterVectors(ctx context.Context, r VectorSelection, limit int) ([]VectorHit, error) {
	const op = "filter vectors"
	return opened(ctx, s, op, func(ref *workspace.Ref) ([]VectorHit, error) {
		return s.svc().vectors.Filter(ctx, op, ref, s.sub, r, limit)
	})
}

// DeleteVectors removes vectors by source or chunk id and returns how many.
func (s scope) DeleteVectors(ctx context.Context, r VectorSelection) (int, error) {
	const op = "delete vectors"
	return opened(ctx, s, op, func(ref *workspace.Ref) (int, error) { return s.svc().vectors.Delete(ctx, op, ref, s.sub, r) })
}
